"""Metadata of record fields, given where each field is defined: `name: Annotated[type, Column("what it is")]`.

The store's columns, the rows of exports and imports, the log's guards and the reference are derived from it.
"""

from __future__ import annotations

import math
import types
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

#: The largest number of a column of counts.
MOST_COUNT = 2**31 - 1
#: In every export, only in exports of everything, or in none because it is derived from the rest.
Export = Literal["every", "everything", "none"]


@dataclass(frozen=True, slots=True)
class Column:
    """One field of a record, as everything that handles rows has to know it.

    `changes`: it may be another after the row was written, and then the audit log keeps both states (`unlogged`: it
    keeps none). `low` and `high`: the bounds of a number, both included. `choices`: the words that a text may be.
    `is_id`: it names a memory or a project. `is_json`: its text is JSON. `prefix`: how the columns of a record in this
    field are called beside their own names.
    `name`, `kind` (of a list `tuple`) and `optional` are the field's own.
    """

    meaning: str
    changes: bool = False
    unlogged: bool = False
    export: Export = "every"
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    is_id: bool = False
    is_json: bool = False
    prefix: str = ""
    name: str = ""
    kind: type = str
    optional: bool = False


@cache
def columns_of(record: type) -> tuple[Column, ...]:
    """The annotated fields of a record, in order."""
    hints = get_type_hints(record, include_extras=True)
    columns = (_column(field.name, hints[field.name]) for field in fields(record))
    return tuple(column for column in columns if column is not None)


@cache
def flat_columns_of(record: type) -> tuple[Column, ...]:
    """The columns that a record takes in a table: those of the records in it stand in their place."""
    flat: list[Column] = []
    for column in columns_of(record):
        if is_dataclass(column.kind):
            flat += [replace(part, name=column.prefix + part.name) for part in flat_columns_of(column.kind)]
        else:
            flat.append(column)
    return tuple(flat)


@cache
def state_of(record: type) -> tuple[Column, ...]:
    """The fields of a record that may change and are logged when they do."""
    return tuple(column for column in flat_columns_of(record) if column.changes and not column.unlogged)


@cache
def fixed_in(record: type) -> tuple[Column, ...]:
    """The fields of a record that never change."""
    return tuple(column for column in flat_columns_of(record) if not column.changes)


def _column(name: str, hint: Any) -> Column | None:
    column = next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Column)), None)
    if column is None:
        return None
    kind = get_args(hint)[0]
    parts = get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    kind = next(part for part in parts if part is not type(None))
    if get_origin(kind) is Literal:
        column, kind = replace(column, choices=get_args(kind)), str
    return replace(column, name=name, kind=get_origin(kind) or kind, optional=type(None) in parts)
