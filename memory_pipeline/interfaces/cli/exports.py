"""The implementation of `export`, and of `exports`: what the settings file names for the night's last step."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError

from memory_pipeline.config.broken_sources import BrokenSource
from memory_pipeline.config.exports import ExportTable, check_contents
from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.ingest import EXPORT_FORMATS, check_export, export_memories
from memory_pipeline.interfaces.cli.base import check_target, utf8_path
from memory_pipeline.interfaces.cli.tables import check_place, drop_table, named_table, new_name, refusal, save_table
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many
from memory_pipeline.workspace import DIRECTORY_FORMATS, EXPORT_NAMES, Exported, export_to
from memory_pipeline.workspace.contents import project_named


def check_options(
    name: str, everything: bool, project: str | None, budget: int | None, contents: str | None = None
) -> tuple[str, ...]:
    """The contents that are named. Raises InputError for options that the format does not take, before anything is
    done."""
    if everything and name in DIRECTORY_FORMATS:
        raise InputError(f"--all is for {' and '.join(EXPORT_FORMATS)}; format {name} writes one project")
    if everything and project is not None:
        raise InputError("--all exports every project; leave --project out")
    if budget is not None and name != "openclaw":
        raise InputError("--budget is for openclaw; leave it out")
    if contents is not None and name != "openclaw":
        raise InputError("--contents is for openclaw; leave it out")
    try:
        return check_contents([one.strip() for one in contents.split(",")]) if contents is not None else ()
    except ValueError as error:
        raise InputError(f"--contents: {error}") from None


def export_once(
    settings: Settings,
    store: Store,
    name: str,
    path: Path,
    *,
    everything: bool,
    project: str | None,
    budget: int | None,
    contents: Sequence[str],
    force: bool,
    preview: bool,
    with_diff: bool,
) -> Exported:
    """Export to a file or a directory."""
    place = Path(os.path.expanduser(path))  # noqa: PTH111 - never raises
    if not everything:
        return export_to(
            store,
            settings,
            name,
            place,
            project=project,
            budget=budget,
            contents=contents,
            force=force,
            preview=preview,
            with_diff=with_diff,
        )
    count = export_memories(store, name, place, everything=True, force=force)
    return Exported.of_file(name, place, None, count)


def exported_text(done: Exported) -> str:
    """The result of an export as text."""
    would = "Would export" if done.dry_run else "Exported"
    named = f" ({', '.join(done.contents)})" if done.contents else ""
    lines = [f"{would} {how_many(done.exported, 'memory')} to {done.path}{named}."]
    if done.format not in DIRECTORY_FORMATS:
        return lines[0]
    removed = f", {len(done.removed):,} removed" if done.removed else ""
    if done.dry_run:
        lines.append("Nothing was written; each file would be:")
    else:
        lines.append(f"Files: {len(done.written):,} written, {done.unchanged:,} unchanged{removed}.")
    for one in done.changes:
        if one.outcome != "kept":
            lines.append(f"  {one.outcome}: {one.file} (lines +{one.added:,} -{one.removed:,})")
            lines += [f"    its first original is kept in {one.original}"] if one.original else []
            lines += [f"    {line}" for line in one.diff.split("\n")] if one.diff else []
    if done.tokens:
        lines.append(f"Its agent loads {done.tokens:,} tokens of it at every start.")
    lines += [f"Left out, {reason}: {number:,}" for reason, number in done.left_out.items()]
    lines += [f"Kept as a person changed it: {name}" for name in done.kept]
    lines += [f"Note: {told}." for told in done.moved]
    return "\n".join(lines)


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
    place = check_place(path)
    if place.exists() and place.is_dir() != (format_ in DIRECTORY_FORMATS):
        what, other = ("directory", "file") if place.is_dir() else ("file", "directory")
        raise InputError(f"'{path}' is a {what}; format {format_} writes a {other}")
    check_target(settings, place)
    same = next((one for one in settings.exports if Path(one.path) == place), None)
    if same is not None:
        raise InputError(f"export '{same.name}' writes '{place}' already; 'memory-pipeline exports list' shows it")
    name = new_name("exports", name, format_, settings.exports, settings.broken_exports)
    fed = str(utf8_path(store, "--store")) if store else settings.store.path
    _check_project(Path(fed), format_, project)
    if format_ in EXPORT_FORMATS:
        check_export(Store(Path(fed).expanduser()), format_, place, force=None)
    try:
        export = ExportTable(
            name=name,
            format=format_,
            path=str(place),
            project=project or "",
            budget=budget or 0,
            contents=chosen,
            store="" if Path(fed) == Path(settings.store.path) else fed,
        )
    except ValidationError as error:
        raise refusal(error) from None
    return export, save_table("exports", export)


def remove_export(settings: Settings, name: str) -> tuple[DescribedExport, Path]:
    """Remove an export from the settings file; what it was, and the file."""
    found = named_table("exports", name, settings.exports, settings.broken_exports)
    if isinstance(found, BrokenSource):
        return DescribedExport.of_broken(found), drop_table("exports", found)
    return DescribedExport.of(found, settings), drop_table("exports", found)


def _check_project(path: Path, format_: str, project: str | None) -> None:
    """Raises InputError for a directory without a project if the store has several: every night would fail."""
    store = Store(path.expanduser())
    if project or format_ not in DIRECTORY_FORMATS or not store.exists():
        return
    with store.reading() as tx:
        several = len(tx.memories.projects()) > 1
    if several:
        project_named(store, None)
