"""The commands about sources: what nights read first."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import (
    Answer,
    NamesOption,
    QuietOption,
    StoreOption,
    group,
    settings_of,
)
from memory_pipeline.interfaces.cli.output import complain, progress_printer, table
from memory_pipeline.moments import read_day
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many

sources_app = group("sources", "The workspaces and files that nights read first: list, add, remove, check, gone.")

_COLUMNS = ["name", "format", "path", "project", "timezone", "enabled", "feeds", "files", "last read", "waiting"]


@sources_app.command("list", epilog="Example: memory-pipeline sources list")
def sources_list(settings: Settings) -> Answer:
    """Show every source of the settings: what it is, which store it feeds, and when a night last read it."""
    from memory_pipeline.interfaces.cli.source_settings import describe_sources

    shown = describe_sources(settings)
    rows = [
        {
            **source.as_json(),
            "enabled": "yes" if source.enabled else "no",
            "feeds": "this store" if source.feeds_store else source.store,
            "files": "-" if source.files is None else source.files,
            "last read": f"as of {source.last_read:%Y-%m-%d %H:%M} UTC" if source.last_read else "never",
            "waiting": _waiting(source.files_waiting, source.waits_for),
        }
        for source in shown
    ]
    hint = "No source yet; 'memory-pipeline sources add PATH' adds a workspace or a file."
    if settings.connectors.workspace:
        old = settings.connectors.workspace
        hint = f"connectors.workspace is not read by nights; add it with 'memory-pipeline sources add {old}'."
    wrong = [f"PROBLEM with {source.name}: {source.problem}." for source in shown if source.problem]
    return Answer(shown, "\n".join([table(rows, _COLUMNS), *wrong]) if rows else hint)


def _waiting(files: int, night: date | None) -> str:
    return f"{how_many(files, 'file')}, from the night of {night} on" if night else "-"


@sources_app.command(
    "add",
    epilog="Examples: memory-pipeline sources add ~/.openclaw/workspace --tz Europe/Lisbon; "
    "memory-pipeline sources add notes.jsonl --project webshop",
)
def sources_add(
    path: Annotated[Path, typer.Argument(help="A workspace directory, or a file.")],
    name: Annotated[str | None, typer.Option(help="Name of the source (default: that of the path).")] = None,
    format_: Annotated[str | None, typer.Option("--format", help="Import format (default: by the content).")] = None,
    project: Annotated[str | None, typer.Option(help="Project of memories that name none.")] = None,
    tz: Annotated[str | None, typer.Option(metavar="ZONE", help="Time zone of times that name none.")] = None,
    include: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Only files that match, as in .gitignore.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="No files that match; !PATTERN takes one back.")
    ] = None,
    store: StoreOption = None,
) -> Answer:
    """Add a source to the settings file; the next night reads it. Nothing is imported now."""
    from memory_pipeline.ingest.sources import overlaps
    from memory_pipeline.interfaces.cli.source_settings import DescribedSource, new_source
    from memory_pipeline.interfaces.cli.tables import save_table

    source = new_source(
        settings_of(None),
        path,
        name=name,
        format_=format_,
        project=project,
        timezone=tz,
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
        store=store,
    )
    file = save_table("sources", source)
    for problem in overlaps(source, settings_of(store)):
        complain(f"Warning: {problem}.")
    text = (
        f"Source '{source.name}' ({source.format}, {source.path}) is in {file}; the next night reads it.\n"
        f"See what it would import: memory-pipeline sources check {source.name}"
    )
    return Answer(DescribedSource.of(source, settings_of(store)), text)


@sources_app.command("remove", epilog="Example: memory-pipeline sources remove workspace")
def sources_remove(settings: Settings, name: Annotated[str, typer.Argument(help="The name of the source.")]) -> Answer:
    """Remove a source from the settings file. The memories that it brought stay."""
    from memory_pipeline.config.broken_sources import BrokenSource
    from memory_pipeline.interfaces.cli.source_settings import DescribedSource
    from memory_pipeline.interfaces.cli.tables import drop_table, named_table

    source = named_table("sources", name, settings.sources, settings.broken_sources)
    file = drop_table("sources", source)
    text = f"Source '{source.name}' was removed from {file}; its memories stay in the store."
    if isinstance(source, BrokenSource):
        described = DescribedSource.of_broken(source)
    else:
        described = DescribedSource.of(source, settings)
    return Answer(described, text)


@sources_app.command("check", epilog="Examples: memory-pipeline sources check; memory-pipeline sources check workspace")
def sources_check(
    settings: Settings,
    name: Annotated[str | None, typer.Argument(help="The name of a source (default: all enabled ones).")] = None,
    quiet: QuietOption = False,
    verbose: NamesOption = False,
) -> Answer:
    """Read sources without writing anything: what would be imported or quarantined as of now, and what is wrong. Exits
    with 1 if a source cannot be read."""
    from memory_pipeline.config.broken_sources import BrokenSource
    from memory_pipeline.interfaces.cli.source_checks import check_sources, checked_broken, checked_text
    from memory_pipeline.interfaces.cli.tables import named_table

    sources, broken = settings.sources_of_store, settings.broken_sources
    if name:
        named = named_table("sources", name, settings.sources, broken)
        sources, broken = ((), (named,)) if isinstance(named, BrokenSource) else ((named,), ())
    if not sources and not broken:
        raise InputError("no source feeds this store; 'memory-pipeline sources add PATH' adds one")
    found = [*check_sources(settings, sources, progress_printer()), *(checked_broken(one, settings) for one in broken)]
    return Answer(
        found, "\n".join(checked_text(one, verbose=verbose) for one in found), failed=any(one.error for one in found)
    )


_NONE_GONE = (
    "No memory is marked as gone from its source. An edit counts from the first night of a day that ends after the "
    "file was changed."
)


@sources_app.command("gone", epilog="Examples: memory-pipeline sources gone; memory-pipeline sources gone 2026-03-14")
def sources_gone(
    store: Store,
    day: Annotated[str | None, typer.Argument(metavar="[DATE]", help="As of the end of this day (UTC).")] = None,
) -> Answer:
    """Show memories whose words were edited or removed in their source, with what replaced them."""
    from memory_pipeline.interfaces.cli.source_settings import gone_memories

    found = gone_memories(store, read_day(day, "DATE") if day else None)
    rows = [
        {
            "memory": one.memory_id,
            "gone": f"{one.gone_at:%Y-%m-%d}",
            "superseded by": one.superseded_by or "-",
            "content": " ".join(one.content.split())[:80],
        }
        for one in found
    ]
    return Answer(found, table(rows, none=_NONE_GONE))
