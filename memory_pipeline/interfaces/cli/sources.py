"""The commands about sources, which nights read first: what the settings file names, and what is new there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Self

import typer
from pydantic import Field

from memory_pipeline.config.exports import BrokenSource, SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.source_checks import check_sources, checked_broken, checked_text
from memory_pipeline.documents import Document, Moment
from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.formats import IMPORTERS, check_path, importer_of, recognise, the_format_of
from memory_pipeline.ingest.sources import check_not_ours, find_files, project_of, with_known_projects
from memory_pipeline.interfaces.cli.base import Answer, NamesOption, QuietOption, StoreOption, group, settings_of
from memory_pipeline.interfaces.cli.output import progress_printer, say, table
from memory_pipeline.interfaces.cli.settings import (
    DescribedTable,
    check_place,
    drop_table,
    listed,
    named_table,
    new_table,
    save_table,
    store_of,
    tables_of,
)
from memory_pipeline.moments import end_of, read_day
from memory_pipeline.store import Store

sources_app = group("sources", "The workspaces and files that nights read first: list, add, remove, check, gone.")

_COLUMNS = ["name", "format", "path", "project", "timezone", "enabled", "feeds", "files", "last read"]


@sources_app.command("list", epilog="Example: memory-pipeline sources list")
def sources_list(settings: Settings) -> Answer:
    """Show every source of the settings: what it is, which store it feeds, and when a night last read it."""
    sources = describe_sources(settings)
    rows = [
        {
            **source.as_json(),
            "enabled": "yes" if source.enabled else "no",
            "feeds": "this store" if source.feeds_store else source.store,
            "files": "-" if source.files is None else source.files,
            "last read": f"as of {source.last_read:%Y-%m-%d %H:%M} UTC" if source.last_read else "never",
        }
        for source in sources
    ]
    hint = "No source yet; 'memory-pipeline sources add PATH' adds a workspace or a file."
    return listed(sources, rows, _COLUMNS, hint)


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
    source = new_source(
        settings_of(None),
        path,
        name=name,
        format_=format_,
        project=project,
        store=store,
        timezone=tz or "",
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
    )
    file = save_table(source)
    text = (
        f"Source '{source.name}' ({source.format}, {source.path}) is in {file}; the next night reads it.\n"
        f"See what it would import: memory-pipeline sources check {source.name}"
    )
    return Answer(DescribedSource.of(source, settings_of(store)), text)


@sources_app.command("remove", epilog="Example: memory-pipeline sources remove workspace")
def sources_remove(settings: Settings, name: Annotated[str, typer.Argument(help="The name of the source.")]) -> Answer:
    """Remove a source from the settings file. The memories that it brought stay."""
    source, file = drop_table(SourceTable, settings, name)
    text = f"Source '{source.name}' was removed from {file}; its memories stay in the store."
    return Answer(DescribedSource.of(source, settings), text)


@sources_app.command("check", epilog="Examples: memory-pipeline sources check; memory-pipeline sources check workspace")
def sources_check(
    settings: Settings,
    name: Annotated[str | None, typer.Argument(help="The name of a source (default: all enabled ones).")] = None,
    quiet: QuietOption = False,
    verbose: NamesOption = False,
) -> Answer:
    """Read sources without writing anything: what would be imported or quarantined as of now, and what is wrong. Exits
    with 1 if a source cannot be read."""
    sources, broken = settings.sources_of_store, settings.broken("sources")
    if name:
        named = named_table(SourceTable, settings, name)
        sources, broken = ((), (named,)) if isinstance(named, BrokenSource) else ((named,), ())
    if not sources and not broken:
        raise InputError("no source feeds this store; 'memory-pipeline sources add PATH' adds one")
    checks = [
        *check_sources(settings, sources, progress_printer(), say),
        *(checked_broken(source, settings) for source in broken),
    ]
    return Answer(
        checks,
        "\n".join(checked_text(check, verbose=verbose) for check in checks),
        failed=any(check.error for check in checks),
    )


_NONE_GONE = (
    "No memory is marked as gone from its source. A removal counts from the first night of a day that ends after the "
    "file was changed."
)


@sources_app.command("gone", epilog="Examples: memory-pipeline sources gone; memory-pipeline sources gone 2026-03-14")
def sources_gone(
    store: Store,
    day: Annotated[str | None, typer.Argument(metavar="[DATE]", help="As of the end of this day (UTC).")] = None,
) -> Answer:
    """Show memories whose words were edited or removed in their source, with what replaced them."""
    as_of = end_of(read_day(day, "DATE")) if day else None
    with store.reading() as tx:
        entries = [entry for entry in tx.sources.gone(as_of) if entry.gone_at]
        memories = tx.memories.read([entry.memory_id for entry in entries])
    gone = [GoneMemory.of_record(entry, content=memories[entry.memory_id].content) for entry in entries]
    rows = [
        {
            "memory": memory.memory_id,
            "gone": f"{memory.gone_at:%Y-%m-%d}",
            "superseded by": memory.superseded_by or "-",
            "content": " ".join(memory.content.split())[:80],
        }
        for memory in gone
    ]
    return Answer(gone, table(rows, none=_NONE_GONE))


class DescribedSource(DescribedTable, SourceTable):
    """A source of the settings."""

    feeds_store: bool = Field(default=False, description="Whether it feeds the store of this command.")
    files: int | None = Field(default=None, description="How many files it has now; null if it cannot be read.")
    last_read: Moment | None = Field(default=None, description="As of when a night last read a changed file of it.")

    @classmethod
    def of(cls, source: SourceTable | BrokenSource, settings: Settings, last_read: datetime | None = None) -> Self:
        """The source as it stands in the settings and on disk."""
        if isinstance(source, BrokenSource):
            return cls.made_of(source)
        files, problem = None, None
        try:
            check_not_ours(source)
            files = len(find_files(source, settings, Skipped()))
        except InputError as error:
            problem = str(error)
        return cls.made_of(
            source,
            problem=problem,
            project=project_of(source) if source.format in IMPORTERS else source.project,
            timezone=source.timezone or settings.import_.timezone,
            store=source.store or settings.store.path,
            feeds_store=Path(source.store or settings.store.path) == Path(settings.store.path),
            files=files,
            last_read=last_read,
        )


class GoneMemory(Document):
    """A memory whose words are no longer in its source."""

    memory_id: str = Field(description="The memory.")
    source: str = Field(description="The source that brought it.")
    file: str = Field(description="The file in which its words stood.")
    content: str = Field(description="What it says.")
    gone_at: Moment = Field(description="As of when its words were found to be gone.")
    superseded_by: str | None = Field(description="The memory of the words that stand there instead; null if none do.")


def describe_sources(settings: Settings) -> list[DescribedSource]:
    """Every source of the settings, with the time of its last reading into this store."""
    store = Store.of(settings)
    settings = with_known_projects(settings, store)
    last: Mapping[str, datetime] = {}
    if store.exists():
        with store.reading() as tx:
            last = tx.sources.last_read()
    fed = {source.name for source in settings.sources_of_store}
    return [
        DescribedSource.of(source, settings, last.get(source.name) if source.name in fed else None)
        for source in tables_of(SourceTable, settings)
    ]


def new_source(
    settings: Settings,
    path: Path,
    *,
    name: str | None = None,
    format_: str | None = None,
    project: str | None = None,
    store: Path | None = None,
    **fields: object,
) -> SourceTable:
    """A source for a path, from which format and name follow unless they are given. `fields`: further ones of it.

    Raises InputError if the path is no source, or its name or path is taken.
    """
    place = check_place(path)
    importer = importer_of(format_) if format_ else importer_of(_recognise_format(place))
    check_path(importer, place)
    fed = store_of(store, settings)
    same = next((s for s in settings.sources if Path(s.path) == place and Path(s.store) == Path(fed)), None)
    if same is not None:
        raise InputError(f"'{place}' is source '{same.name}' already; 'memory-pipeline sources list' shows it")
    stem = place.name if place.is_dir() else place.stem
    source = new_table(
        SourceTable,
        settings,
        name,
        stem,
        fed,
        format=importer.name,
        path=str(place),
        project=project or importer.default_project(place),  # so that it stays if the path changes
        **fields,
    )
    check_not_ours(source)
    find_files(source, settings, Skipped())
    return source


def _recognise_format(place: Path) -> str:
    """The format that the content shows; if it shows none, as of a file that is still empty, that of the name."""
    ending = place.suffix.lower().removeprefix(".")
    rows = [name for name, importer in IMPORTERS.items() if importer.takes_directory is False]
    if ending in rows and not place.is_dir() and (not place.exists() or not recognise(place)):
        return ending
    return the_format_of(place, "memory-pipeline sources add --format {format} {path}").importer.name
