"""The commands that write what nights made: `export`, `exports`, and `sync` back to where the memories came from."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Self

import typer

from memory_pipeline.config.exports import (
    BUDGET_TOKENS,
    CONTENTS,
    EXPORT_FORMATS,
    BrokenSource,
    ExportTable,
    check_contents,
)
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.ingest.dates import zone
from memory_pipeline.ingest.exporting import check_export
from memory_pipeline.ingest.formats.brain_sync import sync_brain
from memory_pipeline.interfaces.cli.base import Answer, ForceOption, StoreOption, app, check_target, group, settings_of
from memory_pipeline.interfaces.cli.settings import (
    DescribedTable,
    check_place,
    drop_table,
    listed,
    new_table,
    save_table,
    store_of,
    tables_of,
)
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many
from memory_pipeline.workspace.contents import project_named
from memory_pipeline.workspace.exporting import DIRECTORY_FORMATS, EXPORT_NAMES, Exported, export_to

BudgetOption = Annotated[
    int | None, typer.Option(help="openclaw: the most tokens in MEMORY.md (default: 4,000).", min=200)
]
ContentsOption = Annotated[
    str | None, typer.Option(metavar="NAMES", help=f"openclaw: what is written, of {', '.join(CONTENTS)}.")
]


def check_options(
    name: str, everything: bool, project: str | None, budget: int | None, contents: str | None
) -> tuple[str, ...]:
    """The contents that are named. Raises InputError for options that the format does not take."""
    if everything and name in DIRECTORY_FORMATS:
        raise InputError(f"--all is for {' and '.join(EXPORT_FORMATS)}; format {name} writes one project")
    if everything and project is not None:
        raise InputError("--all exports every project; leave --project out")
    for option, given in {"--budget": budget, "--contents": contents}.items():
        if given is not None and name != "openclaw":
            raise InputError(f"{option} is for openclaw; leave it out")
    try:
        return check_contents([part.strip() for part in contents.split(",")]) if contents is not None else ()
    except ValueError as error:
        raise InputError(f"--contents: {error}") from None


def exported_text(done: Exported) -> str:
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
    for change in done.changes:
        if change.outcome != "kept":
            lines.append(f"  {change.outcome}: {change.file} (lines +{change.added:,} -{change.removed:,})")
            lines += [f"    its first original is kept in {change.original}"] if change.original else []
            lines += [f"    {line}" for line in change.diff.split("\n")] if change.diff else []
    if done.tokens:
        lines.append(f"Its agent loads {done.tokens:,} tokens of it at every start.")
    lines += [f"Left out, {reason}: {number:,}" for reason, number in done.left_out.items()]
    lines += [f"Kept as a person changed it: {name}" for name in done.kept]
    lines += [f"Note: {note}." for note in done.moved]
    return "\n".join(lines)


class DescribedExport(DescribedTable, ExportTable):
    """An export of the settings."""

    @classmethod
    def of(cls, export: ExportTable | BrokenSource, settings: Settings) -> Self:
        if isinstance(export, BrokenSource):
            return cls.made_of(export)
        return cls.made_of(
            export,
            problem=None if export.format in EXPORT_NAMES else f"no export format is called '{export.format}'",
            budget=export.budget or BUDGET_TOKENS,
            contents=export.chosen if export.format == "openclaw" else (),
            store=export.store or settings.store.path,
        )


def _check_project(store: Store, format_: str, project: str | None) -> None:
    """Raises InputError for a directory without a project if the store has several: every night would fail."""
    if project or format_ not in DIRECTORY_FORMATS or not store.exists():
        return
    with store.reading() as tx:
        several = len(tx.memories.projects()) > 1
    if several:
        project_named(store, None)


exports_app = group("exports", "What nights write for agents and people to read: list, add, remove.")

_COLUMNS = ["name", "format", "path", "project", "budget", "enabled"]


@exports_app.command("list", epilog="Example: memory-pipeline exports list")
def exports_list(settings: Settings) -> Answer:
    """Show every export of the settings."""
    exports = [DescribedExport.of(export, settings) for export in tables_of(ExportTable, settings)]
    rows = [
        {
            **export.as_json(),
            "project": export.project or "-",
            "budget": export.budget if export.format == "openclaw" else "-",
            "enabled": "yes" if export.enabled else "no",
        }
        for export in exports
    ]
    hint = "No export yet; 'memory-pipeline exports add openclaw PATH' adds one that every night writes."
    return listed(exports, rows, _COLUMNS, hint)


@exports_app.command(
    "add",
    epilog="Examples: memory-pipeline exports add openclaw ~/.openclaw/workspace; "
    "memory-pipeline exports add obsidian ~/vault --project webshop",
)
def exports_add(
    format_: Annotated[
        str, typer.Argument(metavar="FORMAT", help="openclaw, claude-code, obsidian, jsonl or parquet.")
    ],
    path: Annotated[Path, typer.Argument(help="The directory, or the file.")],
    name: Annotated[str | None, typer.Option(help="Name of the export (default: its format).")] = None,
    project: Annotated[str | None, typer.Option(help="The project, where the store has several.")] = None,
    budget: BudgetOption = None,
    contents: ContentsOption = None,
    store: StoreOption = None,
) -> Answer:
    """Add an export to the settings file; the last step of every night writes it. Nothing is written now."""
    settings = settings_of(None)
    if format_ not in EXPORT_NAMES:
        raise InputError(f"no export format is called '{format_}'; use one of {', '.join(EXPORT_NAMES)}")
    chosen = check_options(format_, False, project, budget, contents)
    place = check_place(path)
    if place.exists() and place.is_dir() != (format_ in DIRECTORY_FORMATS):
        given, expected = ("directory", "file") if place.is_dir() else ("file", "directory")
        raise InputError(f"'{path}' is a {given}; format {format_} writes a {expected}")
    check_target(settings, place)
    same = next((export for export in settings.exports if Path(export.path) == place), None)
    if same is not None:
        raise InputError(f"export '{same.name}' writes '{place}' already; 'memory-pipeline exports list' shows it")
    fed = store_of(store, settings)
    _check_project(Store(Path(fed)), format_, project)
    if format_ in EXPORT_FORMATS:
        check_export(Store(Path(fed)), format_, place, force=None)
    export = new_table(
        ExportTable,
        settings,
        name,
        format_,
        fed,
        format=format_,
        path=str(place),
        project=project or "",
        budget=budget or 0,
        contents=chosen,
    )
    file = save_table(export)
    text = (
        f"Export '{export.name}' ({export.format}, {export.path}) is in {file}; the next night writes it.\n"
        f"Write it now: memory-pipeline export {export.format} {export.path}"
        + (f" --project {export.project}" if export.project else "")
        + (f" --contents {','.join(export.contents)}" if export.contents else "")
    )
    return Answer(DescribedExport.of(export, settings_of(store)), text)


@exports_app.command("remove", epilog="Example: memory-pipeline exports remove openclaw")
def exports_remove(settings: Settings, name: Annotated[str, typer.Argument(help="The name of the export.")]) -> Answer:
    """Remove an export from the settings file. What it wrote stays."""
    removed, file = drop_table(ExportTable, settings, name)
    text = f"Export '{removed.name}' was removed from {file}; what it wrote stays."
    return Answer(DescribedExport.of(removed, settings), text)


sync_app = group("sync", "Write what nights made back to where the memories came from.")


@sync_app.command(
    "brain",
    epilog="Examples: memory-pipeline sync brain --dry-run; memory-pipeline sync brain ~/.openclaw/workspace/brain.db "
    "--tz Europe/Lisbon",
)
def sync_brain_(
    settings: Settings,
    store: Store,
    path: Annotated[Path | None, typer.Argument(help="The brain.db (default: setting connectors.brain).")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change; write nothing.")] = False,
    tz: Annotated[
        str | None,
        typer.Option(metavar="ZONE", help="Time zone of its times that name none, unless it was imported in another."),
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait while another program holds it.")] = 30.0,
) -> Answer:
    """Write abstractions, archive fields and the compression log back into a brain.db, in one transaction, after a
    verified copy of it. Only what came from this very brain is written back; a second sync changes nothing."""
    brain = (path or Path(settings.connectors.brain)).expanduser()
    done = sync_brain(
        store,
        brain,
        zone(settings.import_.timezone if tz is None else tz),
        now=datetime.now(UTC),
        dry_run=dry_run,
        wait_s=wait,
        keep=settings.store.snapshots_kept,
    )
    did = "Would write" if dry_run else "Wrote"
    lines = [
        f"{did} to '{brain}': {how_many(done.added, 'abstraction')} added, "
        f"{how_many(done.archived, 'memory')} archived, {done.restored} active again, {done.retired} retired."
    ]
    if not (done.added or done.archived or done.restored or done.retired):
        lines = [f"'{brain}' has everything already; nothing was written."]
    lines += [f"  {change}" for change in done.changes] if dry_run else []
    lines += [f"Left alone: {number} {why}." for why, number in done.left.items()]
    if done.copy_:
        lines.append(f"The file as it was: {done.copy_}")
    return Answer(done, "\n".join(lines))


@app.command(
    epilog="Examples: memory-pipeline export openclaw ~/.openclaw/workspace; memory-pipeline export obsidian ~/vault "
    "--project webshop; memory-pipeline export jsonl active.jsonl; memory-pipeline export parquet all.parquet --all"
)
def export(
    settings: Settings,
    store: Store,
    format_: Annotated[
        str, typer.Argument(metavar="FORMAT", help="jsonl, parquet, openclaw, claude-code or obsidian.")
    ],
    path: Annotated[Path, typer.Argument(help="The file to write, or the directory.")],
    all_: Annotated[
        bool,
        typer.Option(
            "--all", help="jsonl and parquet: export everything in the store, so that an import gives the same store."
        ),
    ] = False,
    project: Annotated[str | None, typer.Option(help="The project, where the store has several.")] = None,
    budget: BudgetOption = None,
    contents: ContentsOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what each file of a directory would have; write nothing.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show the lines that differ, file by file.")] = False,
    force: ForceOption = False,
) -> Answer:
    """Write the active memories, or everything, to a file; or one project to a directory for an agent or a person."""
    chosen = check_options(format_, all_, project, budget, contents)
    if (dry_run or diff) and format_ in EXPORT_FORMATS:
        raise InputError("--dry-run and --diff are for directories; leave them out")
    check_target(settings, path, force=force and not path.is_dir())
    done = export_to(
        store,
        settings,
        format_,
        Path(os.path.expanduser(path)),  # noqa: PTH111 - never raises
        everything=all_,
        project=project,
        budget=budget,
        contents=chosen,
        force=force,
        preview=dry_run,
        with_diff=diff,
    )
    return Answer(done, exported_text(done))
