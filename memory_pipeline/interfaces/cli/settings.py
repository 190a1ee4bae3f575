"""The commands `config`: the effective settings, and the files that are trusted; and the tables of the settings file
that `sources` and `exports` add and remove."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Literal, TypeVar

import typer
from pydantic import Field, ValidationError

from memory_pipeline.config.editing import add_table, remove_table
from memory_pipeline.config.exports import BrokenSource, ExportTable, SourceTable, key_of
from memory_pipeline.config.sources import from_file, read_settings_file
from memory_pipeline.config.trust import is_own, trust, withdraw_trust
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import real_path
from memory_pipeline.interfaces.cli.base import Answer, StoreOption, group, named_store, told_of_broken_sources
from memory_pipeline.orchestration.home import INSTANCE_FILES, config_file, load_project_settings

#: Columns of a setting's meaning.
_WIDTH = 100

FileArgument = Annotated[
    Path | None, typer.Argument(help="The settings file (default: the one of this directory).", show_default=False)
]


class TrustedSettings(Document):
    """A settings file that is trusted, or no longer."""

    file: str = Field(description="The file.")
    trusted: bool = Field(description="Whether all of it is obeyed from now on.")
    sha256: str | None = Field(description="SHA-256 of the contents that are trusted; null if they are no longer.")
    settings: tuple[str, ...] = Field(description="The settings that are obeyed now and were not before.")


config_app = group("config", "The effective settings.")


@config_app.command("show", epilog="Example: memory-pipeline config show")
def config_show(store: StoreOption = None) -> Answer:
    """Show every setting, its value and where the value came from; secrets are masked."""
    loaded = told_of_broken_sources(load_project_settings(named_store(store)))
    shown = loaded.shown()
    lines: list[str] = []
    for one in shown:
        lines.append(f"{one.key} = {one.value}  [{one.from_}]")
        lines += wrap(one.meaning, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return Answer(shown, lines)


@config_app.command("trust", epilog="Example: memory-pipeline config trust")
def config_trust(file: FileArgument = None) -> Answer:
    """Obey all of a settings file, until it changes. Read it first: it can name addresses that memories are sent to,
    files that are read and written, and programs that run."""
    path = _absolute(file)
    content = read_settings_file(path)
    if content is None:
        raise InputError(f"there is no settings file '{path}'; name the file")
    refused: tuple[str, ...] = ()
    if path.name not in INSTANCE_FILES:  # Dagster's files have no settings of ours
        refused = tuple(from_file(path, content).refused)
    trust(path, content)
    found = TrustedSettings(file=str(path), trusted=True, sha256=hashlib.sha256(content).hexdigest(), settings=refused)
    what = f" Obeyed from now on: {', '.join(refused)}." if refused else ""
    return Answer(found, f"'{path}' is trusted until it changes.{what}")


@config_app.command("untrust", epilog="Example: memory-pipeline config untrust")
def config_untrust(file: FileArgument = None) -> Answer:
    """Trust a settings file no longer."""
    path = _absolute(file)
    if not withdraw_trust(path) and not is_own(path):
        raise InputError(f"'{path}' was not trusted")
    left = (
        " It lies in your own directory of settings, or the environment names it, so it is obeyed still."
        if is_own(path)
        else ""
    )
    found = TrustedSettings(file=str(path), trusted=is_own(path), sha256=None, settings=())
    return Answer(found, f"'{path}' is not on the list of trusted files any more.{left}")


def _absolute(file: Path | None) -> Path:
    """The file under its own name: what a link leads to is trusted for this name alone."""
    return Path(os.path.abspath((file or config_file()).expanduser()))  # noqa: PTH100 - keeps links


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
