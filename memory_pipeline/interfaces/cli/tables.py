"""The tables of the settings file that `sources` and `exports` add and remove."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import ValidationError

from memory_pipeline.config.broken_sources import BrokenSource
from memory_pipeline.config.editing import add_table, remove_table
from memory_pipeline.config.exports import ExportTable
from memory_pipeline.config.memory_sources import SourceTable, key_of
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import real_path
from memory_pipeline.orchestration.home import config_file, load_project_settings

Kind = Literal["sources", "exports"]
_Table = TypeVar("_Table", bound=SourceTable | ExportTable)


def named_table(
    kind: Kind, name: str, tables: Sequence[_Table], broken: Sequence[BrokenSource]
) -> _Table | BrokenSource:
    """The table of this name: one that can be used, else one that cannot. Raises InputError for an unknown name."""
    everything: list[_Table | BrokenSource] = [*tables, *broken]
    for table in everything:
        if table.key == key_of(name):
            return table
    known = ", ".join(table.name for table in everything) or "none"
    raise InputError(f"the settings have no {kind[:-1]} '{name}'; they have {known}")


def check_place(path: Path) -> Path:
    """The absolute path. Raises InputError for one that no settings file can hold."""
    place = real_path(Path(os.path.expanduser(path)), "the path")  # noqa: PTH111 - never raises
    if not str(place).isprintable():
        raise InputError(f"{str(place)!r} cannot be written to a settings file; rename it")
    return place


def new_name(kind: Kind, name: str | None, stem: str, tables: Sequence[_Table], broken: Sequence[BrokenSource]) -> str:
    """The name that is given, or a free one made of the stem. Raises InputError for a name that is taken."""
    taken = {table.key for table in tables} | {table.key for table in broken}
    if name is not None:
        if key_of(name) in taken:
            one = "an export" if kind == "exports" else "a source"
            raise InputError(f"there is {one} '{name}' already; give another --name")
        return name
    base = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-").lower()[:50] or kind[:-1]
    numbered = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(one for one in numbered if key_of(one) not in taken)


def refusal(error: ValidationError, **options: str) -> InputError:
    """What is wrong with a table, as an error of the option that gave it. `options`: those that are not called like
    their field."""
    first = error.errors()[0]
    field = str(first["loc"][0])
    says = first["msg"].removeprefix("Value error, ")
    return InputError(f"--{options.get(field, field)} is {first['input']!r}: {says}")


def save_table(kind: Kind, table: SourceTable | ExportTable) -> Path:
    """Write a table to the settings file, which is returned. Raises InputError if the environment sets all of them."""
    _check_file_counts(kind)
    add_table(config_file(), kind, table)
    return config_file()


def drop_table(kind: Kind, table: SourceTable | ExportTable | BrokenSource) -> Path:
    """Remove a table from the settings file, which is returned. Raises InputError as `save_table` does."""
    _check_file_counts(kind)
    number = table.number if isinstance(table, BrokenSource) and table.number >= 0 else None
    values = load_project_settings().values
    broken = values.broken_sources if kind == "sources" else values.broken_exports
    others = {one.number for one in broken} - {-1} if number is None else set()
    remove_table(config_file(), kind, table.name, number, others)
    return config_file()


def _check_file_counts(kind: Kind) -> None:
    origin = load_project_settings().origins[kind]
    if origin.startswith("environment "):
        raise InputError(f"the {kind} come from the {origin}, not from a file; change them there")
