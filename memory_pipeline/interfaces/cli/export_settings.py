"""The implementation of `exports`: what the settings file names for the night's last step."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError

from memory_pipeline.config.broken_sources import BrokenSource
from memory_pipeline.config.editing import add_table, remove_table
from memory_pipeline.config.exports import EXPORT_FORMATS, ExportTable
from memory_pipeline.config.memory_sources import key_of
from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import real_path
from memory_pipeline.ingest import check_export
from memory_pipeline.interfaces.cli.base import check_target, utf8_path
from memory_pipeline.interfaces.cli.exports import check_options
from memory_pipeline.orchestration.home import config_file, load_project_settings
from memory_pipeline.store import Store
from memory_pipeline.workspace import DIRECTORY_FORMATS, EXPORT_NAMES
from memory_pipeline.workspace.contents import project_named


class DescribedExport(Document):
    """An export of the settings."""

    name: str = Field(description="Its name.")
    format: str = Field(description="Its format.")
    problem: str | None = Field(description="Why its table in the settings cannot be used; null if nothing is wrong.")
    path: str = Field(description="The directory, or the file.")
    project: str = Field(description="The project; empty for the only one of the store, or for rows of all.")
    budget: int = Field(description="Maximum tokens of `MEMORY.md`.")
    contents: tuple[str, ...] = Field(default=(), description="What goes into a workspace, by name.")
    enabled: bool = Field(description="Whether nights write it.")
    store: str = Field(description="The store that it is made of.")

    @classmethod
    def of(cls, export: ExportTable, settings: Settings) -> Self:
        """The export as it stands in the settings."""
        unknown = None if export.format in EXPORT_NAMES else f"no export format is called '{export.format}'"
        return cls(
            name=export.name,
            format=export.format,
            problem=unknown,
            path=export.path,
            project=export.project,
            budget=export.budget or settings.export.budget_tokens,
            contents=export.chosen if export.format == "openclaw" else (),
            enabled=export.enabled,
            store=export.store or settings.store.path,
        )

    @classmethod
    def of_broken(cls, broken: BrokenSource) -> Self:
        """An export whose table cannot be used, as far as it tells."""
        told = {key: str(broken.given.get(key, "")) for key in ("format", "path", "project", "store")}
        return cls(name=broken.name, problem=broken.problem, budget=0, enabled=False, **told)


def describe_exports(settings: Settings) -> list[DescribedExport]:
    """Every export of the settings."""
    good = [DescribedExport.of(export, settings) for export in settings.exports]
    return [*good, *map(DescribedExport.of_broken, settings.broken_exports)]


def add_export(
    settings: Settings,
    name: str | None,
    format_: str,
    path: Path,
    project: str | None,
    budget: int | None,
    contents: str | None,
    store: Path | None,
) -> tuple[ExportTable, Path]:
    """Write an export to the settings file; the export, and the file. Raises InputError if it cannot be one, and
    OutputError if no night could write it."""
    if format_ not in EXPORT_NAMES:
        raise InputError(f"no export format is called '{format_}'; use one of {', '.join(EXPORT_NAMES)}")
    chosen = check_options(format_, False, project, budget, contents)
    place = real_path(Path(os.path.expanduser(path)), "the path")  # noqa: PTH111 - never raises
    if place.exists() and place.is_dir() != (format_ in DIRECTORY_FORMATS):
        what, other = ("directory", "file") if place.is_dir() else ("file", "directory")
        raise InputError(f"'{path}' is a {what}; format {format_} writes a {other}")
    if not str(place).isprintable():
        raise InputError(f"{str(place)!r} cannot be written to a settings file; rename it")
    check_target(settings, place)
    same = next((one for one in settings.exports if Path(one.path) == place), None)
    if same is not None:
        raise InputError(f"export '{same.name}' writes '{place}' already; 'memory-pipeline exports list' shows it")
    taken = {one.key for one in settings.exports} | {one.key for one in settings.broken_exports}
    if name is not None and key_of(name) in taken:
        raise InputError(f"there is an export '{name}' already; give another --name")
    fed = str(utf8_path(store, "--store")) if store else settings.store.path
    _check_project(Path(fed), format_, project)
    if format_ in EXPORT_FORMATS:
        check_export(Store(Path(fed).expanduser()), format_, place, force=None)
    try:
        export = ExportTable(
            name=name or _free_name(format_, taken),
            format=format_,
            path=str(place),
            project=project or "",
            budget=budget or 0,
            contents=chosen,
            store="" if Path(fed) == Path(settings.store.path) else fed,
        )
    except ValidationError as error:
        first = error.errors()[0]
        says = first["msg"].removeprefix("Value error, ")
        raise InputError(f"--{first['loc'][0]} is {first['input']!r}: {says}") from None
    _check_file_counts()
    add_table(config_file(), "exports", export)
    return export, config_file()


def remove_export(settings: Settings, name: str) -> tuple[DescribedExport, Path]:
    """Remove an export from the settings file; what it was, and the file."""
    _check_file_counts()
    good = next((one for one in settings.exports if one.key == key_of(name)), None)
    wrong = next((one for one in settings.broken_exports if one.key == key_of(name)), None)
    if good is not None:
        others = {one.number for one in settings.broken_exports} - {-1}
        remove_table(config_file(), "exports", good.name, None, others)
        return DescribedExport.of(good, settings), config_file()
    if wrong is not None:
        remove_table(config_file(), "exports", wrong.name, wrong.number if wrong.number >= 0 else None)
        return DescribedExport.of_broken(wrong), config_file()
    known = ", ".join([*(one.name for one in settings.exports), *(one.name for one in settings.broken_exports)])
    raise InputError(f"the settings have no export '{name}'; they have {known or 'none'}")


def _check_project(path: Path, format_: str, project: str | None) -> None:
    """Raises InputError for a directory without a project if the store has several: every night would fail."""
    store = Store(path.expanduser())
    if project or format_ not in DIRECTORY_FORMATS or not store.exists():
        return
    with store.reading() as tx:
        several = len(tx.memories.projects()) > 1
    if several:
        project_named(store, None)


def _free_name(stem: str, taken: set[str]) -> str:
    base = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-").lower()
    numbered = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(one for one in numbered if key_of(one) not in taken)


def _check_file_counts() -> None:
    origin = load_project_settings().origins["exports"]
    if origin.startswith("environment "):
        raise InputError(f"the exports come from the {origin}, not from a file; change them there")
