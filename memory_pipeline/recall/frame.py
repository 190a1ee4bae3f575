"""Memories, and what recall answers, as pandas data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory_pipeline.documents import Document
from memory_pipeline.records import Memory
from memory_pipeline.store import memory_table

if TYPE_CHECKING:
    import pandas as pd


def frame_of(memories: Sequence[Memory]) -> pd.DataFrame:
    """One row a memory, indexed by id; the columns are the fields of a memory, times aware and in UTC."""
    frame = memory_table(memories).to_pandas().set_index("id")
    for name in frame.columns:
        if frame[name].dtype.kind == "M":
            frame[name] = frame[name].dt.tz_localize("UTC")
    return frame


def frame_of_documents(rows: Sequence[Document], kind: type[Document]) -> pd.DataFrame:
    """One row a document, indexed by id; the columns are the fields of its kind, also without a row."""
    import pandas as pd

    names = list(kind.model_fields)
    return pd.DataFrame.from_records([[getattr(row, name) for name in names] for row in rows], columns=names).set_index(
        "id"
    )
