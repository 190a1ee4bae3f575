"""The implementation of `sources`: what the settings file names, and what it would bring."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from pydantic import Field, ValidationError

from memory_pipeline.config.editing import add_source, remove_source
from memory_pipeline.config.memory_sources import SourceTable, key_of
from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document, Moment
from memory_pipeline.embedding import choose_embedder
from memory_pipeline.errors import InputError, MemoryPipelineError
from memory_pipeline.files import real_path
from memory_pipeline.ingest import IMPORTERS, ImportSummary, importer_of, workspace_importer
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.formats import check_path
from memory_pipeline.ingest.sources import find_files, project_of, read_source
from memory_pipeline.ingest.summary import ImportReport
from memory_pipeline.interfaces.cli.base import utf8_path
from memory_pipeline.orchestration.home import config_file, load_project_settings
from memory_pipeline.store import Store


class DescribedSource(Document):
    """A source of the settings."""

    name: str = Field(description="Its name.")
    format: str = Field(description="Its import format.")
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

    @classmethod
    def of(cls, source: SourceTable, settings: Settings, last_read: datetime | None = None) -> Self:
        """The source as it stands in the settings and on disk."""
        try:
            files: int | None = len(find_files(source, settings, Skipped()))
        except InputError:
            files = None
        return cls(
            name=source.name,
            format=source.format,
            path=source.path,
            project=project_of(source) if source.format in IMPORTERS else source.project,
            timezone=source.timezone or settings.import_.timezone,
            include=source.include,
            exclude=source.exclude,
            enabled=source.enabled,
            store=source.store or settings.store.path,
            feeds_store=Path(source.store or settings.store.path) == Path(settings.store.path),
            files=files,
            last_read=last_read,
        )


class CheckedSource(Document):
    """What a source would bring if it were read now; nothing was written."""

    name: str = Field(description="The name of the source.")
    path: str = Field(description="The workspace directory, or the file.")
    error: str | None = Field(description="Why it, or which of its files, cannot be read.")
    files: int = Field(description="Files that it has.")
    import_: ImportReport = Field(alias="import", description="What an import would do, as of now.")


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
    last: dict[str, datetime] = {}
    if store.exists():
        with store.reading() as tx:
            last = tx.sources.last_read()
    shown = [DescribedSource.of(source, settings) for source in settings.sources]
    return [one.model_copy(update={"last_read": last.get(one.name) if one.feeds_store else None}) for one in shown]


def named_source(settings: Settings, name: str) -> SourceTable:
    """A source of the settings. Raises InputError for an unknown name."""
    for source in settings.sources:
        if source.key == key_of(name):
            return source
    known = ", ".join(source.name for source in settings.sources) or "none"
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
    taken = {source.key for source in settings.sources}
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
    find_files(source, settings, Skipped())
    return source


def _format_of(place: Path) -> str:
    if place.is_dir():
        return workspace_importer(place).name
    ending = place.suffix.lower().removeprefix(".")
    known = [name for name, importer in IMPORTERS.items() if not importer.takes_directory]
    if ending in known or not place.exists():
        return ending if ending in known else known[0]
    raise InputError(f"the format of '{place}' does not follow from its name; give --format {', '.join(known)}")


def _free_name(place: Path, taken: set[str]) -> str:
    stem = place.name if place.is_dir() else place.stem
    name = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-").lower()[:50] or "source"
    numbered = (name if number == 1 else f"{name}-{number}" for number in range(1, len(taken) + 2))
    return next(one for one in numbered if key_of(one) not in taken)


def save_source(source: SourceTable) -> Path:
    """Write a source to the settings file, which is returned. Raises InputError if the environment sets the sources."""
    _check_file_counts()
    add_source(config_file(), source)
    return config_file()


def drop_source(source: SourceTable) -> Path:
    """Remove a source from the settings file, which is returned."""
    _check_file_counts()
    remove_source(config_file(), source.name)
    return config_file()


def _check_file_counts() -> None:
    origin = load_project_settings().origins["sources"]
    if origin.startswith("environment "):
        raise InputError(f"the sources come from the {origin}, not from a file; change them there")


def check_sources(settings: Settings, sources: tuple[SourceTable, ...]) -> list[CheckedSource]:
    """Read sources into a copy of the store, or an empty one, that is removed afterwards."""
    store = Store.of(settings)
    with ExitStack() as stack:
        if store.exists():
            scratch = stack.enter_context(store.thrown_away())
        else:
            scratch = Store(Path(stack.enter_context(TemporaryDirectory())) / "store.duckdb")
            with scratch.writing("sources check"):
                pass
        return [_checked(scratch, settings, source) for source in sources]


def _checked(scratch: Store, settings: Settings, source: SourceTable) -> CheckedSource:
    summary, files, error = ImportSummary(), 0, None
    now = datetime.now(UTC)
    try:
        files = len(find_files(source, settings, Skipped()))
        contents = read_source(
            scratch, settings, source, as_of=now, now=now, embedder=lambda: choose_embedder(settings), embed=False
        )
        summary = contents.summary or summary
        error = "; ".join(f"{file}: {why}" for file, why in sorted(contents.unreadable.items())) or None
    except MemoryPipelineError as problem:
        error = str(problem)
    return CheckedSource(name=source.name, path=source.path, error=error, files=files, import_=summary.as_report())


def checked_text(found: CheckedSource) -> str:
    """The result of a check as text."""
    report = found.import_
    lines = [f"{found.name} ({found.path}): " + (f"PROBLEM: {found.error}" if found.error else "readable")]
    if found.files:
        lines.append(
            f"  {found.files} files; {report.read} entries in those with something new: {report.imported} would be "
            f"imported, {report.unchanged} known already, {report.quarantined} quarantined."
        )
    if report.masked:
        lines.append("  Masked: " + ", ".join(f"{n} {kind}" for kind, n in sorted(report.masked.items())) + ".")
    if report.skipped:
        lines.append("  Left out: " + ", ".join(f"{n} {why}" for why, n in sorted(report.skipped.items())) + ".")
    lines += [f"  quarantined {row.file}:{row.line}: {row.reason}" for row in report.rejected[:10]]
    return "\n".join(lines)
