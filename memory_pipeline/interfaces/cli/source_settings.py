"""The implementation of `sources`: what the settings file names, and what it would bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError

from memory_pipeline.config.broken_sources import BrokenSource
from memory_pipeline.config.memory_sources import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.plan import next_night, night_of
from memory_pipeline.documents import Document, Moment
from memory_pipeline.errors import InputError
from memory_pipeline.ingest import IMPORTERS, importer_of, recognise, the_format_of
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.formats import check_path
from memory_pipeline.ingest.sources import (
    FoundFile,
    changed_files,
    check_not_ours,
    find_files,
    project_of,
    with_known_projects,
)
from memory_pipeline.interfaces.cli.base import utf8_path
from memory_pipeline.interfaces.cli.tables import check_place, new_name, refusal
from memory_pipeline.records import SourceFile
from memory_pipeline.store import Store


@dataclass(frozen=True, slots=True)
class ReadBefore:
    """What nights have read of a source: the files, as of when, and the night that runs next."""

    files: Mapping[str, SourceFile]
    at: datetime | None
    following: date


def waiting_files(
    found: Sequence[FoundFile], known: Mapping[str, SourceFile], source: SourceTable, settings: Settings, at: date
) -> dict[str, date]:
    """The files with something that no night has taken, also those that are gone, with the first night that takes some
    of it, if `at` is the one that runs next: it takes what a changed file says of earlier days, whenever it changed."""
    left = {name: night_of(state.pending_from, at) for name, state in known.items() if state.pending_from}
    changed = [file.name for file in changed_files(found, known, source, settings)]
    gone = known.keys() - {file.name for file in found}
    return left | dict.fromkeys([*changed, *gone], at)


class DescribedSource(Document):
    """A source of the settings."""

    name: str = Field(description="Its name.")
    format: str = Field(description="Its import format.")
    problem: str | None = Field(
        description="Why it cannot be read, or its table in the settings cannot be used; null if nothing is wrong."
    )
    path: str = Field(description="The workspace directory, or the file.")
    project: str = Field(description="The project of its memories that name none.")
    timezone: str = Field(description="The time zone of its times that name none.")
    include: tuple[str, ...] = Field(description="Patterns of the files that are read; if empty, all.")
    exclude: tuple[str, ...] = Field(description="Patterns of files that are not read, besides those without memories.")
    enabled: bool = Field(description="Whether nights read it.")
    store: str = Field(description="The store that it feeds.")
    feeds_store: bool = Field(description="Whether that is the store of this command.")
    files: int | None = Field(description="How many files it has now; null if it cannot be read.")
    last_read: Moment | None = Field(description="As of when a night last read a changed file of it.")
    files_waiting: int = Field(description="Files with something that no night has taken yet.")
    waits_for: date | None = Field(description="The night that takes the first of it; null if nothing waits.")

    @classmethod
    def of(cls, source: SourceTable, settings: Settings, read: ReadBefore | None = None) -> Self:
        """The source as it stands in the settings and on disk; `read` is what nights have read of it."""
        waiting: dict[str, date] = {}
        problem = None
        try:
            check_not_ours(source)
            found = find_files(source, settings, Skipped())
            files: int | None = len(found)
            if read is not None and source.enabled:
                waiting = waiting_files(found, read.files, source, settings, read.following)
        except InputError as error:
            files, problem = None, str(error)
        return cls(
            name=source.name,
            format=source.format,
            problem=problem,
            path=source.path,
            project=project_of(source) if source.format in IMPORTERS else source.project,
            timezone=source.timezone or settings.import_.timezone,
            include=source.include,
            exclude=source.exclude,
            enabled=source.enabled,
            store=source.store or settings.store.path,
            feeds_store=_feeds(source, settings),
            files=files,
            last_read=read.at if read else None,
            files_waiting=len(waiting),
            waits_for=min(waiting.values(), default=None),
        )

    @classmethod
    def of_broken(cls, broken: BrokenSource) -> Self:
        """A source whose table cannot be used, as far as it tells."""
        told = {name: value for name, value in broken.given.items() if isinstance(value, str)}
        return cls(
            name=broken.name,
            problem=broken.problem,
            enabled=False,
            feeds_store=False,
            files=None,
            last_read=None,
            files_waiting=0,
            waits_for=None,
            include=(),
            exclude=(),
            **{name: told.get(name, "") for name in ("format", "path", "project", "timezone", "store")},
        )


class GoneMemory(Document):
    """A memory whose words are no longer in its source."""

    memory_id: str = Field(description="The memory.")
    source: str = Field(description="The source that brought it.")
    file: str = Field(description="The file in which its words stood.")
    content: str = Field(description="What it says.")
    gone_at: Moment = Field(description="As of when its words were found to be gone.")
    superseded_by: str | None = Field(description="The memory of the words that stand there instead; null if none do.")


def gone_memories(store: Store, day: date | None) -> list[GoneMemory]:
    """The memories whose words are no longer in their source, now or at the end of a day."""
    as_of = datetime.combine(day + timedelta(days=1), time(), UTC) if day else None
    with store.reading() as tx:
        entries = tx.sources.gone(as_of)
        memories = tx.memories.read([entry.memory_id for entry in entries])
    return [
        GoneMemory(
            memory_id=entry.memory_id,
            source=entry.source,
            file=entry.file,
            content=memories[entry.memory_id].content,
            gone_at=entry.gone_at,
            superseded_by=entry.superseded_by,
        )
        for entry in entries
        if entry.gone_at
    ]


def describe_sources(settings: Settings) -> list[DescribedSource]:
    """Every source of the settings, with the time of its last reading into this store."""
    store = Store.of(settings)
    settings = with_known_projects(settings, store)
    following = next_night(store, datetime.now(UTC))
    read = {source.name: ReadBefore({}, None, following) for source in settings.sources if _feeds(source, settings)}
    if store.exists():
        with store.reading() as tx:
            last = tx.sources.last_read()
            read = {name: ReadBefore(tx.sources.files(name), last.get(name), following) for name in read}
    good = [DescribedSource.of(source, settings, read.get(source.name)) for source in settings.sources]
    return [*good, *map(DescribedSource.of_broken, settings.broken_sources)]


def _feeds(source: SourceTable, settings: Settings) -> bool:
    return Path(source.store or settings.store.path) == Path(settings.store.path)


def new_source(
    settings: Settings,
    path: Path,
    *,
    name: str | None = None,
    format_: str | None = None,
    project: str | None = None,
    timezone: str | None = None,
    include: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
    store: Path | None = None,
) -> SourceTable:
    """A source for a path that can be read; format and name follow from the path unless they are given.

    Raises InputError if the path is no source, or its name or path is taken.
    """
    place = check_place(path)
    importer = importer_of(format_) if format_ else importer_of(_format_of(place))
    check_path(importer, place)
    fed = str(utf8_path(store, "--store")) if store else settings.store.path
    same = next((s for s in settings.sources if Path(s.path) == place and Path(s.store) == Path(fed)), None)
    if same is not None:
        raise InputError(f"'{place}' is source '{same.name}' already; 'memory-pipeline sources list' shows it")
    stem = place.name if place.is_dir() else place.stem
    name = new_name("sources", name, stem, settings.sources, settings.broken_sources)
    try:
        source = SourceTable(
            name=name,
            format=importer.name,
            path=str(place),
            project=project or importer.default_project(place),  # so that it stays if the path changes
            timezone=timezone or "",
            include=include,
            exclude=exclude,
            store="" if Path(fed) == Path(settings.store.path) else fed,
        )
    except ValidationError as error:
        raise refusal(error, timezone="tz") from None
    check_not_ours(source)
    find_files(source, settings, Skipped())
    return source


def _format_of(place: Path) -> str:
    """The format that the content shows; if it shows none, as of a file that is still empty, that of the name."""
    ending = place.suffix.lower().removeprefix(".")
    rows = [name for name, importer in IMPORTERS.items() if importer.takes_directory is False]
    if ending in rows and not place.is_dir() and (not place.exists() or not recognise(place)):
        return ending
    found = the_format_of(place, "memory-pipeline sources add --format {format} {path}")
    return found.importer.name
