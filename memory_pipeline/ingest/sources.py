"""Reads a source as of a night: only files with something new, and only what is dated before the night's end.

What a file holds goes through the same door as an import. A file whose bytes are those of the last reading is skipped,
unless something in it was left for a later night. What the program itself wrote is never read back.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import cause_and_mend, resolve_links
from memory_pipeline.ingest.candidates import UNREADABLE, ImportSummary, Item, Rejected, Skipped
from memory_pipeline.ingest.dates import zone
from memory_pipeline.ingest.exporting import is_export
from memory_pipeline.ingest.formats import IMPORTERS, check_path, importer_of, read_format
from memory_pipeline.ingest.gate import says_same, version_id
from memory_pipeline.ingest.importer import FileChoice
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.ingest.values import MAX_ENTRY_TOKENS
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.models.embedders.missing import Progress
from memory_pipeline.records import Memory, SourceFile
from memory_pipeline.store import Store
from memory_pipeline.store.sources import Words, words_of

#: Counts how readers changed: the next night reads every file again when it is another.
_READER = 2


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a source on disk; `digest` is empty until its bytes are read. `parts`: the files that hold what it
    says, if those are several; size and time are those of all together."""

    name: str
    path: Path
    size: int
    modified_ns: int
    parts: tuple[Path, ...]
    digest: str = ""

    @classmethod
    def of(cls, name: str, file: Path, parts: tuple[Path, ...]) -> FoundFile:
        """A file as it is now. Raises OSError if it cannot be looked at."""
        first = file.stat()
        others = [part.stat() for part in parts[1:] if part.exists()]
        size = first.st_size + sum(status.st_size for status in others)
        modified = max([first.st_mtime_ns, *(status.st_mtime_ns for status in others if status.st_size)])
        return cls(name, file, size, modified, parts)


@dataclass
class SourceContents:
    """The contents of a source that were read.

    `summary`: of the import; None if no file had anything new. `standing`: by file that was read, the memories in the
    store whose words stand in it, in order. `vanished`: files of the last reading that no longer exist; `unreadable`:
    files that could not be read, with the reason. `lasting`: files whose words stay said, whatever becomes of them.
    `words`: all that stands in the files that were read, also what waits. `read`: the states to keep of the files that
    were read, and `pending` the entries in them that are left for their own night.
    """

    files: list[FoundFile]
    summary: ImportSummary | None = None
    standing: dict[str, list[str]] = field(default_factory=dict)
    vanished: tuple[str, ...] = ()
    unreadable: dict[str, str] = field(default_factory=dict)
    lasting: frozenset[str] = frozenset()
    words: set[Words] = field(default_factory=set)
    read: list[SourceFile] = field(default_factory=list)
    pending: dict[str, datetime] = field(default_factory=dict)

    def modified(self, file: str) -> datetime | None:
        """The time at which a file was last changed; None if it no longer exists."""
        current = next((entry for entry in self.files if entry.name == file), None)
        return datetime.fromtimestamp(current.modified_ns / 1e9, UTC) if current else None


def project_of(source: SourceTable) -> str:
    """The project of a source's memories that name none."""
    return source.project or importer_of(source.format).default_project(Path(source.path))


def workspace_of(settings: Settings, project_id: str) -> Path | None:
    """The workspace that a project is read from, which may not exist: its first enabled source of format `openclaw`.

    A source of which the project follows from what it brought needs `with_known_projects` first.
    """
    for source in settings.sources_of_store:
        if source.format == "openclaw" and project_of(source) == project_id:
            return Path(source.path)
    return None


def with_known_projects(settings: Settings, store: Store) -> Settings:
    """The settings, in which each source of a directory has its project, also if its directory has another name now."""
    if not store.exists():
        return settings
    with store.reading() as tx:
        projects = tx.sources.projects()
    named = tuple(_with_known_project(source, projects.get(source.name, ())) for source in settings.sources)
    return settings if named == settings.sources else settings.with_values({"sources": named})


def _with_known_project(source: SourceTable, projects: Sequence[str]) -> SourceTable:
    """The source with the one project of the memories that it has brought, if it is called like its directory."""
    may_have_moved = source.format in IMPORTERS and importer_of(source.format).takes_directory is not False
    if source.project or not may_have_moved or len(projects) != 1:
        return source
    return source.model_copy(update={"project": projects[0]})


def find_files(source: SourceTable, settings: Settings, skipped: Skipped) -> list[FoundFile]:
    """The files of a source, by name. Raises InputError if it cannot be read at all."""
    importer, path = importer_of(source.format), Path(source.path)
    check_path(importer, path)
    others = _find_owners(source, settings)
    try:
        files = [(name, file) for name, file in _list_files(source, skipped) if not _is_ours(file, settings)]
        own = [(name, file) for name, file in files if resolve_links(file) not in others]
        chosen = [FoundFile.of(name, file, importer.parts(file)) for name, file in own]
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {cause_and_mend(error)}") from error
    skipped.add("files of another source", len(files) - len(own))
    if files and not own:
        owner = others[resolve_links(files[0][1])]
        raise InputError(f"every file of '{path}' is read by source '{owner}' already; remove one of the two")
    if not chosen:
        choice = FileChoice(source.include, source.exclude)
        for _ in read_format(source.format, path, UTC, datetime.now(UTC), settings, Skipped(), choice):
            break  # a format says itself what a directory lacks
        raise InputError(f"'{path}' has no file that format {source.format} reads; check its path and patterns")
    return sorted(chosen, key=lambda file: file.name)


def _list_files(source: SourceTable, skipped: Skipped) -> Iterator[tuple[str, Path]]:
    choice = FileChoice(source.include, source.exclude)
    return importer_of(source.format).files(Path(source.path), choice, skipped)


def _find_owners(source: SourceTable, settings: Settings) -> dict[Path, str]:
    """The files that sources of the same project read which the settings name before this one, each with the name of
    that source. Only a path within this one or around it has any of its files."""
    owners: dict[Path, str] = {}
    place = resolve_links(Path(source.path))
    for other in settings.sources_of_store:
        if other.name == source.name:
            break
        there = resolve_links(Path(other.path))
        if other.format not in IMPORTERS or not (place.is_relative_to(there) or there.is_relative_to(place)):
            continue
        with suppress(OSError, InputError):
            if project_of(other) == project_of(source):
                owners |= {resolve_links(file): other.name for _, file in _list_files(other, Skipped())} | owners
    return owners


def check_not_ours(source: SourceTable) -> None:
    """Raises InputError if the source is a file that this program has exported."""
    path, ours = Path(source.path), False
    with suppress(OSError):  # one that cannot be opened is told of when it is read
        ours = path.is_file() and is_export(source.format, path)
    if ours:
        raise InputError(
            f"'{path}' is an export of this program, which is not read back; import it once with 'memory-pipeline "
            f"import {source.format} {path}'"
        )


def _is_ours(file: Path, settings: Settings) -> bool:
    """True if the file lies where this program writes: among the reports, or beside the store."""
    real, store = resolve_links(file), resolve_links(Path(settings.store.path))
    if real.parent == store.parent and real.name.startswith(store.stem):
        return True
    beside = real.is_relative_to(store.parent) and real.relative_to(store.parent).parts[0].startswith(f"{store.stem}.")
    return beside or real.is_relative_to(resolve_links(settings.reports_path))


def changed_files(
    files: Iterable[FoundFile], known: Mapping[str, SourceFile], source: SourceTable, settings: Settings
) -> Iterator[FoundFile]:
    """The files whose bytes, or how they are read, differ from the last reading; only files with another size or time
    are hashed. Files that cannot be read come without a hash."""
    salt = _salt(source, settings)
    for file in files:
        before = known.get(file.name)
        is_same = before and (before.size, before.modified_ns) == (file.size, file.modified_ns)
        if before and is_same and before.digest.endswith(salt):
            continue
        of_bytes = _compute_digest(file)
        if not of_bytes or not before or before.digest != of_bytes + salt:
            yield replace(file, digest=of_bytes + salt if of_bytes else "")


def _compute_digest(file: FoundFile) -> str:
    """SHA-256 of a file's bytes, and of those of its other parts; empty if it cannot be read."""
    digest = hashlib.sha256()
    try:
        for part in file.parts:
            if part == file.path or part.is_file():
                with part.open("rb") as opened:
                    hashlib.file_digest(opened, lambda: digest)
    except OSError:
        return ""
    return digest.hexdigest()


def _salt(source: SourceTable, settings: Settings) -> str:
    """A hash of what decides, beside its bytes, what a file is read as."""
    rules = settings.import_
    parts = [source.format, source.timezone or rules.timezone, project_of(source), rules.redact, MAX_ENTRY_TOKENS]
    parts.append(_READER)
    return f":{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"


def read_source(
    store: Store,
    settings: Settings,
    source: SourceTable,
    *,
    as_of: datetime,
    now: datetime,
    embedder: Callable[[], Embedder],
    embed: bool = True,
    everything: bool = False,
    progress: Progress = lambda step, done, total: None,
) -> SourceContents:
    """Import what a source holds that is dated before `as_of` and that the store does not have.

    `now`: times after it in an entry are about the future, not those of its writing. Raises InputError if the source
    cannot be read at all; a file that cannot be read costs only itself. With `everything`, unchanged files are read.
    """
    skipped = Skipped()
    path = Path(source.path)
    known: dict[str, SourceFile] = {}
    seen_before: dict[str, datetime] = {}
    if store.exists():
        with store.reading() as tx:
            source = _with_known_project(source, tx.sources.projects().get(source.name, ()))
            known = {} if everything else tx.sources.files(source.name)
            seen_before = tx.sources.pending(source.name)
    files = find_files(source, settings, skipped)
    check_not_ours(source)
    importer = importer_of(source.format)
    contents = SourceContents(files, vanished=tuple(sorted(known.keys() - {file.name for file in files})))
    names = {*known, *(file.name for file in files)}
    contents.lasting = frozenset(name for name in names if name.endswith(importer.said_for_good))
    due = {file.name: file for file in changed_files(files, known, source, settings)}
    contents.unreadable = {name: "it cannot be opened" for name, file in due.items() if not file.digest}
    waiting = {name for name, state in known.items() if state.pending_from and state.pending_from < as_of}
    due |= {f.name: replace(f, digest=known[f.name].digest) for f in files if f.name in waiting - due.keys()}
    due = {name: file for name, file in due.items() if name not in contents.unreadable}
    if not due:
        return contents
    undated = max(datetime.fromtimestamp(file.modified_ns / 1e9, UTC) for file in due.values())
    ledger = _Ledger(as_of, seen_before, importer.file_of)
    reading = read_format(
        source.format, path, zone(source.timezone or settings.import_.timezone), now, settings, skipped,
        FileChoice(among=frozenset(due)),
    )  # fmt: skip
    contents.summary = import_memories(
        store,
        _without_unreadable(reading, contents.unreadable),
        project=project_of(source),
        embedder=embedder(),
        now=min(undated, now) if path.is_file() else now,
        mask=settings.import_.redact,
        actor=f"source {source.name}",
        accept=ledger.take,
        accept_finding=lambda finding: ledger.is_due(finding.file, finding.created_at),
        progress=progress,
        embed=embed,
    )
    contents.summary.note_skipped(skipped)
    contents.pending = ledger.waiting
    contents.standing = _standing(store, ledger, due)
    contents.words = {words_of(memory) for memories in ledger.read.values() for memory in memories}
    contents.read = [
        SourceFile(source.name, name, file.size, file.modified_ns, file.digest, as_of, ledger.pending_from.get(name))
        for name, file in sorted(due.items())
        if name not in contents.unreadable
    ]
    return contents


@dataclass
class _Ledger:
    """The memories that are read, in order, by file; `waiting`: what is dated after the night's end, with its time.

    Words without a date are as old as their file. Those that an earlier night had to leave keep the time at which it
    saw them: a file that is changed every night would otherwise never be read.
    """

    as_of: datetime
    seen_before: Mapping[str, datetime]
    file_of: Callable[[str], str]
    read: dict[str, list[Memory]] = field(default_factory=lambda: defaultdict(list))
    waiting: dict[str, datetime] = field(default_factory=dict)
    pending_from: dict[str, datetime] = field(default_factory=dict)

    def take(self, memory: Memory) -> Memory | None:
        """The memory as the night takes it; None if it is left for a later one."""
        before = self.seen_before.get(memory.id)
        if before and memory.undated and before < memory.created_at:
            memory = replace(memory, created_at=before, effective_date=min(before, memory.effective_date))
        file = self.file_of(memory.source.file or "")
        self.read[file].append(memory)
        if self.is_due(file, memory.created_at):
            return memory
        self.waiting[memory.id] = memory.created_at
        return None

    def is_due(self, file: str, moment: datetime) -> bool:
        """True if the night takes what is dated so; what it leaves waits in its file."""
        if moment >= self.as_of:
            self.pending_from[file] = min(self.pending_from.get(file, moment), moment)
        return moment < self.as_of


def _without_unreadable(reading: Iterable[Item], unreadable: dict[str, str]) -> Iterator[Item]:
    """The reading; a file that cannot be read is noted, so that the next night tries it again."""
    for item in reading:
        if isinstance(item, Rejected) and item.reason.startswith(UNREADABLE):
            unreadable[item.file] = item.reason
        yield item


def _standing(store: Store, ledger: _Ledger, files: Iterable[str]) -> dict[str, list[str]]:
    """By file, the ids under which the store has what stands in it: changed content under a known id has its own."""
    with store.reading() as tx:
        ids = [i for memories in ledger.read.values() for memory in memories for i in (memory.id, version_id(memory))]
        known = tx.memories.existing(ids)
    standing: dict[str, list[str]] = {}
    for file in files:
        own_ids = []
        for memory in ledger.read.get(file, ()):
            project, digest = known.get(memory.id, ("", ""))
            same = project == memory.project_id and says_same(memory, digest)
            own_ids.append(memory.id if same else version_id(memory))
        standing[file] = list(dict.fromkeys(i for i in own_ids if i in known))
    return standing
