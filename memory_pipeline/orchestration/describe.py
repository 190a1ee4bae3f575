"""The columns, tables and plots in which the Dagster UI shows a value."""

from __future__ import annotations

import types
import typing
from base64 import b64encode
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from dagster import AssetKey, MetadataValue, TableColumn, TableColumnDep, TableColumnLineage, TableSchema

from memory_pipeline.documents import Document
from memory_pipeline.records import (
    Memory,
)
from memory_pipeline.records.columns import columns_of
from memory_pipeline.wording.quoting import clipped, plain


def schema_of(record: type, inner: Collection[str] = (), without: Collection[str] = ()) -> TableSchema:
    """The columns of a record class, with their types and, if given, their meanings: a field that a record shares
    with a memory has the same meaning. A nested record is one column, so that a page does not begin with a long table;
    of its fields, those `inner` ones follow that lineage names, as `cluster.member_ids`. `without`: fields that it
    never fills."""
    columns = [column for column in _columns(record) if "." not in column.name or column.name in inner]
    return TableSchema(columns=[column for column in columns if column.name not in without])


def schema_of_document(document: type[Document], meaning: str) -> TableSchema:
    """The one column of an asset that is a document; the reference lists its fields."""
    return TableSchema([TableColumn(document.__name__.lower(), "json", meaning)])


def schema_of_rows(document: type[Document]) -> TableSchema:
    """The columns of an asset whose rows are documents: their fields."""
    hints = document.model_fields
    return TableSchema(
        [
            TableColumn(field.alias or name, _type_name(field.annotation), field.description)
            for name, field in hints.items()
        ]
    )


def _columns(record: type, prefix: str = "") -> Iterator[TableColumn]:
    hints = typing.get_type_hints(record)
    meanings = {column.name: column.meaning for column in (*columns_of(Memory), *columns_of(record))}
    for field in fields(record):
        hint = hints[field.name]
        yield TableColumn(prefix + field.name, _type_name(hint), meanings.get(field.name))
        inner = next((part for part in typing.get_args(hint) if is_dataclass(part)), hint)
        if is_dataclass(inner) and typing.get_origin(hint) is not tuple:
            yield from _columns(typing.cast(type, inner), f"{prefix}{field.name}.")


def _type_name(hint: Any) -> str:
    if isinstance(hint, types.UnionType):
        return " or ".join(_type_name(part) for part in hint.__args__ if part is not type(None)) + "?"
    if typing.get_origin(hint) is tuple:
        return f"list of {_type_name(typing.get_args(hint)[0])}"
    if typing.get_origin(hint) is typing.Literal:
        return "str"
    return str(getattr(hint, "__name__", hint))


def lineage_of_columns(mapping: dict[str, list[tuple[str, str]]]) -> TableColumnLineage:
    """Column lineage from `{column: [(asset, column), ...]}`."""
    return TableColumnLineage(
        {
            column: [TableColumnDep(asset_key=AssetKey(asset), column_name=source) for asset, source in sources]
            for column, sources in mapping.items()
        }
    )


Row = dict[str, object]
#: Characters below which Dagster shows Markdown in its place, and of a cell of such a preview.
INLINE, _CELL = 1000, 130
#: A plot in pixels.
_WIDE, _HIGH = 320, 60


def preview(rows: Sequence[Row], empty: str) -> dict[str, MetadataValue]:
    """Rows as a Markdown table `preview`, or a sentence if there are none.

    Dagster shows Markdown in its place only below a length, and otherwise a link: so the first rows, their cells
    clipped, are the preview, and `all_shown` is the whole table if there is more.
    """
    whole = table(rows)
    if len(whole) < INLINE:
        return {"preview": MetadataValue.md(whole or empty)}
    lines = table([{name: clipped(value, _CELL) for name, value in row.items()} for row in rows]).split("\n")
    while len("\n".join(lines)) >= INLINE:
        lines.pop()
    return {"preview": MetadataValue.md("\n".join(lines)), "all_shown": MetadataValue.md(whole)}


def table(rows: Sequence[Row]) -> str:
    """Rows as a Markdown table; nothing without rows."""
    if not rows:
        return ""
    head = list(rows[0])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(plain(row[name], in_table=True) for name in head) + " |" for row in rows]
    return "\n".join(lines)


def plot(values: Sequence[int], caption: str) -> MetadataValue:
    """Values, oldest first, as a line in a drawing that is small enough to be shown in its place."""
    if len(values) < 2:
        told = f"{values[0]:,}; a plot is drawn from the second night on" if values else "no night yet"
        return MetadataValue.md(f"{caption}: {told}.")
    least, greatest = min(values), max(values)
    scale = _HIGH / ((greatest - least) or 1)
    step = _WIDE / (len(values) - 1)
    points = " ".join(f"{n * step:.0f},{_HIGH - (v - least) * scale:.0f}" for n, v in enumerate(values))
    drawing = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDE}" height="{_HIGH + 4}">'
        f'<polyline points="{points}" fill="none" stroke="#4a78b5" stroke-width="2"/></svg>'
    )
    image = b64encode(drawing.encode()).decode()
    return MetadataValue.md(
        f"![{caption}](data:image/svg+xml;base64,{image})\n\n{caption}: {values[0]:,} to {values[-1]:,}"
    )
