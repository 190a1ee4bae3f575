"""The implementation of `sources`: what the settings file names, and what it would bring."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError

from memory_pipeline.config.broken_sources import BrokenSource
from memory_pipeline.config.editing import add_table, remove_table
from memory_pipeline.config.memory_sources import SourceTable, key_of
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.plan import next_night, night_of
from memory_pipeline.documents import Document, Moment
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import real_path
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
from memory_pipeline.orchestration.home import config_file, load_project_settings
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


def broken_source(settings: Settings, name: str) -> BrokenSource | None:
    """The source of this name whose table cannot be used, if no other one has the name."""
    if any(source.key == key_of(name) for source in settings.sources):
        return None
    return next((broken for broken in settings.broken_sources if broken.key == key_of(name)), None)


def named_source(settings: Settings, name: str) -> SourceTable:
    """A source of the settings. Raises InputError for an unknown name."""
    for source in settings.sources:
        if source.key == key_of(name):
            return source
    names = [source.name for source in settings.sources] + [broken.name for broken in settings.broken_sources]
    known = ", ".join(names) or "none"
    raise InputError(f"the settings have no source '{name}'; they have {known}")


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
    place = real_path(Path(os.path.expanduser(path)), "the path")  # noqa: PTH111 - never raises
    importer = importer_of(format_) if format_ else importer_of(_format_of(place))
    check_path(importer, place)
    if not str(place).isprintable():
        raise InputError(f"{str(place)!r} cannot be written to a settings file; rename it")
    fed = str(utf8_path(store, "--store")) if store else settings.store.path
    same = next((s for s in settings.sources if Path(s.path) == place and Path(s.store) == Path(fed)), None)
    if same is not None:
        raise InputError(f"'{place}' is source '{same.name}' already; 'memory-pipeline sources list' shows it")
    taken = {source.key for source in settings.sources} | {broken.key for broken in settings.broken_sources}
    if name is not None and key_of(name) in taken:
        raise InputError(f"there is a source '{name}' already; give another --name")
    try:
        source = SourceTable(
            name=name or _free_name(place, taken),
            format=importer.name,
            path=str(place),
            project=project or importer.default_project(place),  # so that it stays if the path changes
            timezone=timezone or "",
            include=include,
            exclude=exclude,
            store="" if Path(fed) == Path(settings.store.path) else fed,
        )
    except ValidationError as error:
        first = error.errors()[0]
        option = {"timezone": "tz"}.get(str(first["loc"][0]), first["loc"][0])
        raise InputError(f"--{option} is {first['input']!r}: {first['msg'].removeprefix('Value error, ')}") from None
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


def _free_name(place: Path, taken: set[str]) -> str:
    stem = place.name if place.is_dir() else place.stem
    name = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-").lower()[:50] or "source"
    numbered = (name if number == 1 else f"{name}-{number}" for number in range(1, len(taken) + 2))
    return next(one for one in numbered if key_of(one) not in taken)


def save_source(source: SourceTable) -> Path:
    """Write a source to the settings file, which is returned. Raises InputError if the environment sets the sources."""
    _check_file_counts()
    add_table(config_file(), "sources", source)
    return config_file()


def drop_source(source: SourceTable | BrokenSource) -> Path:
    """Remove a source from the settings file, which is returned."""
    _check_file_counts()
    place = source.number if isinstance(source, BrokenSource) and source.number >= 0 else None
    broken = {one.number for one in load_project_settings().values.broken_sources if one is not source}
    remove_table(config_file(), "sources", source.name, place, broken - {-1} if place is None else frozenset())
    return config_file()


def _check_file_counts() -> None:
    origin = load_project_settings().origins["sources"]
    if origin.startswith("environment "):
        raise InputError(f"the sources come from the {origin}, not from a file; change them there")
