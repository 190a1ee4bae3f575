"""The columns of an asset's value, as the Dagster UI shows them, and what each is derived from."""

import types
import typing
from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from dagster import AssetKey, TableColumn, TableColumnDep, TableColumnLineage, TableSchema

from memory_pipeline.documents import Document
from memory_pipeline.records import Memory
from memory_pipeline.records.columns import columns_of


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
