"""One memory as a row of an export, and the columns of such rows."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory_pipeline.records import LineageLink, Memory
from memory_pipeline.records.columns import Column, columns_of

if TYPE_CHECKING:
    import pyarrow as pa

#: Marks a Parquet file as an export, which the next one may replace.
MARK = {b"memory_pipeline": b"export"}
#: How the first row of an export of everything says what it is: its `record` and its `format`.
EVERYTHING_FIRST, EVERYTHING_FORMAT = "export", "memory-pipeline"
#: The columns that scripts rely on, in a fixed order; the others follow.
_FIRST = (
    "id", "project_id", "content", "memory_type", "categories", "tags", "importance", "created_at", "effective_date",
    "abstraction_level", "archived", "archived_by", "archived_at", "consolidated_into_id", "source_ids", "pinned",
    "confidence_score",
)  # fmt: skip
#: Additional columns, besides the fields of the memory.
_DERIVED = (
    Column("Whether it was archived.", name="archived", kind=bool),
    Column("The memories that it was made from or that it replaced.", name="source_ids", kind=tuple),
    Column("The direct sources, each with `id`, `relation` and `similarity`.", name="sources", is_json=True),
)
_FIELDS = [column for column in columns_of(Memory) if column.export == "every"]
_MORE = [column for column in columns_of(Memory) if column.export == "everything"]


def export_columns() -> tuple[Column, ...]:
    """The columns of an exported row, in order."""
    known = {column.name: column for column in (*_FIELDS, *_DERIVED)}
    return tuple(known[name] for name in (*_FIRST, *(name for name in known if name not in _FIRST)))


def is_export_row(row: object) -> bool:
    """Whether a JSON value is a row of an export, or the first one of an export of everything."""
    if not isinstance(row, dict):
        return False
    begins_all = (row.get("record"), row.get("format")) == (EVERYTHING_FIRST, EVERYTHING_FORMAT)
    return begins_all or row.keys() >= _ALWAYS


def columns_of_everything() -> tuple[str, ...]:
    """The additional columns of a memory in an export of everything."""
    return tuple(column.name for column in _MORE)


def export_row(memory: Memory, sources: list[LineageLink]) -> dict[str, Any]:
    """One memory as a row: first the columns that scripts rely on, then the others that a complete copy needs."""
    values = {column.name: _exported(memory, column) for column in _FIELDS}
    values["archived"] = memory.archived_at is not None
    values["source_ids"] = [link.source_id for link in sources]
    values["sources"] = [
        {"id": link.source_id, "relation": link.relation, "similarity": link.similarity} for link in sources
    ]
    return {name: values[name] for name in _NAMES}


def row_of_everything(memory: Memory, sources: list[LineageLink]) -> dict[str, Any]:
    """One memory as a row of an export of everything."""
    return export_row(memory, sources) | {column.name: _exported(memory, column) for column in _MORE}


def parquet_schema() -> pa.Schema:
    """The columns of a row in Parquet. Nested ones are JSON text, so that every file has the same schema."""
    import pyarrow as pa

    kinds = {tuple: pa.list_(pa.string()), int: pa.float64(), float: pa.float64(), bool: pa.bool_()}
    return pa.schema([(column.name, kinds.get(column.kind, pa.string())) for column in export_columns()], metadata=MARK)


def parquet_row(row: dict[str, Any]) -> dict[str, Any]:
    """An exported row in its Parquet form."""
    return {name: json.dumps(row[name]) if name in _NESTED and row[name] is not None else row[name] for name in _NAMES}


def _exported(memory: Memory, column: Column) -> Any:
    value = getattr(memory, column.name)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return list(value)
    if is_dataclass(column.kind):
        return asdict(value)
    return json.loads(value) if column.is_json and value else value


_NAMES = tuple(column.name for column in export_columns())
#: What the rows of every version have.
_ALWAYS = {*_FIRST, *(column.name for column in _DERIVED)}
_NESTED = {column.name for column in export_columns() if column.is_json or is_dataclass(column.kind)}
