"""The night shift for an AI agent's memory: distil, verify, archive, and never lose a thing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from memory_pipeline.interfaces.python import Consolidation
    from memory_pipeline.recall.project import ProjectMemory

__version__ = "0.1.0"
__all__ = ["consolidate", "open"]


def open(store: str | os.PathLike[str] | None = None, project: str | None = None) -> ProjectMemory:
    """The memory of one project in a store: `open("data/store.duckdb", project="webshop").search("deploy")`.

    `store`: the file, by default the configured one. `project` may be left out if the store has only one.
    Raises StoreError if there is no store, and InputError for a project that it does not have.
    """
    from memory_pipeline.interfaces.python import open_memory

    return open_memory(store, project)


def consolidate(
    texts: Iterable[str] | Iterable[tuple[Any, str]] | Mapping[Any, str] | pd.DataFrame,
    settings: Mapping[str, Any] | None = None,
) -> Consolidation:
    """Group texts that say the same, merge each group into one text that loses no fact, and find contradictions:
    `consolidate(["Restart it.", "Restart it!", "Port 80"]).texts`. Nothing is left on disk.

    `texts`: strings, whose ids are their places from 0 on; texts by id, or pairs of both; or a data frame with a column
    `text`, whose ids are its index. `settings`: values by dotted name; without any no model is asked.
    Raises InputError for anything else than texts, for an empty text and for an id that comes twice.
    """
    from memory_pipeline.interfaces import python

    return python.consolidate(texts, settings)
