"""Converts records to table rows and back: the columns, their Arrow types and values are derived from the record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from datetime import UTC, date, datetime
from typing import Any, Generic, TypeVar, cast

import pyarrow as pa

from memory_pipeline.errors import InputError
from memory_pipeline.records.columns import Column, columns_of, flat_columns_of
from memory_pipeline.records.identifiers import Handles

_IDS_TOLD = 3
Thing = TypeVar("Thing")
_Record = TypeVar("_Record")
_ARROW: dict[type, pa.DataType] = {
    str: pa.string(),
    int: pa.int32(),
    float: pa.float64(),
    bool: pa.bool_(),
    datetime: pa.timestamp("us"),
    date: pa.date32(),
    tuple: pa.list_(pa.string()),
}
_INTEGER = 2**31 - 1


def _arrow_type(column: Column) -> pa.DataType:
    is_long = column.kind is int and _INTEGER < column.high < math.inf
    return pa.int64() if is_long else _ARROW[column.kind]


def to_utc(moment: datetime) -> datetime:
    """An aware time in stored form: naive, UTC."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def from_utc(moment: datetime | None) -> Any:
    """A stored time made aware again."""
    return None if moment is None else moment.replace(tzinfo=UTC)


class RowsOf(Generic[_Record]):
    """The mapping of one record class to a table."""

    def __init__(self, record: type[_Record]) -> None:
        """Fields of a record without a meaning have no column."""
        self._record = cast(Any, record)
        flat, own = flat_columns_of(self._record), columns_of(self._record)
        #: The columns, in the order that `read` expects and `values` returns.
        self.names = tuple(column.name for column in flat)
        #: The columns as written in a statement.
        self.columns = ", ".join(self.names)
        #: Their parameters, `$1` to the last.
        self.parameters = ", ".join(f"${number}" for number in range(1, len(flat) + 1))
        #: The assignments of an update, for all but the first column, with the same parameters.
        self.assignments = ", ".join(f"{name} = ${number}" for number, name in enumerate(self.names, 1) if number > 1)
        self._schema = pa.schema([(column.name, _arrow_type(column)) for column in flat])
        self._times = [column.name for column in own if column.kind is datetime]
        self._lists = [column.name for column in own if column.kind is tuple]
        self._inner = {
            column.name: (column.kind, [(part.name, column.prefix + part.name) for part in columns_of(column.kind)])
            for column in own
            if is_dataclass(column.kind)
        }
        self._fields = [column.name for column in own if column.name not in self._inner]

    def selected_from(self, alias: str) -> str:
        """The columns of a table with an alias."""
        return ", ".join(f"{alias}.{name}" for name in self.names)

    def assigned_from(self, alias: str) -> str:
        """The assignments of an update from a table with the same columns, for all but the first."""
        return ", ".join(f"{name} = {alias}.{name}" for name in self.names[1:])

    def read(self, row: Sequence[Any], **fields: Any) -> _Record:
        """The record of a row; `fields` gives the values without a column."""
        values = dict(zip(self.names, row, strict=True))
        for name in self._times:
            values[name] = from_utc(values[name])
        for name in self._lists:
            values[name] = tuple(values[name])
        for name, (kind, parts) in self._inner.items():
            values[name] = kind(**{part: values.pop(column) for part, column in parts})
        record: _Record = self._record(**values, **fields)
        return record

    def values(self, record: _Record) -> list[Any]:
        """The values for a statement with these parameters."""
        row = self._row(record)
        return [row[name] for name in self.names]

    def table(self, records: Sequence[_Record]) -> pa.Table:
        """Records as an Arrow table with these columns."""
        return pa.Table.from_pylist([self._row(record) for record in records], schema=self._schema)

    def _row(self, record: _Record) -> dict[str, Any]:
        row = {name: getattr(record, name) for name in self._fields}
        for name in self._times:
            row[name] = to_utc(row[name]) if row[name] else None
        for name in self._lists:
            row[name] = list(row[name])
        for name, (_, parts) in self._inner.items():
            inner = getattr(record, name)
            row.update((column, getattr(inner, part)) for part, column in parts)
        return row


def only_one(things: Mapping[str, Thing], wanted: str, noun: str, mend: str) -> Thing:
    """The object in `things` whose id is `wanted`, or the only one whose id starts with it, or whose handle it is.
    `mend`: where ids can be found.

    Raises InputError if there is none, and if there are several, with the first ones named.
    """
    if wanted in things:
        return things[wanted]
    found = [known for known in things if known.startswith(wanted)]
    if not found and (of_handle := Handles(things).whole_id(wanted)) in things:
        return things[of_handle]
    if not found:
        raise InputError(f"no {noun} has an id that starts with '{wanted}'; {mend}")
    if len(found) > 1:
        ids = ", ".join(found[:_IDS_TOLD]) + (", ..." if len(found) > _IDS_TOLD else "")
        raise InputError(f"{len(found)} {noun}s have ids that start with '{wanted}'; give more of the id ({ids})")
    return things[found[0]]
