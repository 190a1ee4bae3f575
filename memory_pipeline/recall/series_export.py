"""Writes the readings of series to a file: every value of every reading as a row, as CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memory_pipeline.errors import InputError
from memory_pipeline.files import writing_whole
from memory_pipeline.places import check_is_free
from memory_pipeline.recall.series import series_rows
from memory_pipeline.store import Store

SERIES_FORMATS = ("csv", "json", "parquet")
#: The columns of a row and their meanings, in order.
SERIES_COLUMNS = {
    "series_id": "The series memory.",
    "project_id": "Its project.",
    "memory_id": "The memory with the reading.",
    "at": "The time of the reading, ISO 8601 in UTC.",
    "place": "The place in the line, from 1.",
    "name": "What the place is called; empty without a name.",
    "value": "The value as it was written.",
    "breaks": "Whether the reading breaks the series.",
}
_MARK = {b"memory_pipeline": b"series"}


def export_series(store: Store, name: str, path: Path, series_ids: Sequence[str] = (), *, force: bool = False) -> int:
    """Write the values of these series, or of all, to `path`, completely or not at all; return the number of rows.

    Raises InputError for an unknown format or series, and OutputError for a path that cannot or must not be written
    and for a full disk. An existing file is replaced if it is an earlier export of series, or with `force`.
    """
    if name not in SERIES_FORMATS:
        raise InputError(f"no format for series is called '{name}'; use one of {', '.join(SERIES_FORMATS)}")
    check_is_free(path, store.path)
    with store.reading() as tx:
        rows = series_rows(tx, series_ids)
    with writing_whole(path, lambda found: _is_export(name, found), force=force) as file:
        file.write(_WRITERS[name](rows))
    return len(rows)


def _csv(rows: Sequence[dict[str, Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, SERIES_COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _json(rows: Sequence[dict[str, Any]]) -> bytes:
    return (json.dumps({"series": list(rows)}, ensure_ascii=False, indent=1) + "\n").encode()


def _parquet(rows: Sequence[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"place": pa.int32(), "breaks": pa.bool_()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in SERIES_COLUMNS], metadata=_MARK)
    target = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), target)
    return target.getvalue()


_WRITERS = {"csv": _csv, "json": _json, "parquet": _parquet}


def _is_export(name: str, path: Path) -> bool:
    """Whether a file is an earlier export of series in this format."""
    if name == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return _MARK.items() <= (pq.read_schema(path).metadata or {}).items()
        except (pa.ArrowException, OSError):
            return False
    start = _csv([]) if name == "csv" else b'{"series": ['
    with path.open("rb") as file:
        head = file.read(len(start) + 8)
    return head.startswith(start) or (name == "json" and b"".join(head.split()).startswith(b'{"series":['))
