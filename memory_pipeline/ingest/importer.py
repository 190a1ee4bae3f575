"""The description of an import format: a class derived from `Importer`, listed in `formats`; and which files of a
directory it reads."""

from __future__ import annotations

import hashlib
import json
import logging
import zlib
from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pathspec import GitIgnoreSpec

from memory_pipeline.config.exports import COPIES, NO_MEMORIES
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import resolve_links
from memory_pipeline.ingest.candidates import UNREADABLE, Candidate, Reading, Rejected, Skipped
from memory_pipeline.ingest.sqlite_files import beside, is_sqlite
from memory_pipeline.moments import FIRST_MEMORY
from memory_pipeline.text.redaction import redact

_log = logging.getLogger(__name__)
#: Why a file gives no memory.
EXCLUDED = "left out by a pattern; a pattern '!FILE' in the source's exclude takes one back"


@dataclass(frozen=True)
class FileChoice:
    """Files by their path relative to the directory, with patterns as in `.gitignore`.

    `include`: only files that match (all, if empty). `exclude`: besides those that hold no memories; a pattern that
    begins with `!` takes a file back. `among`: only these files, whose choice was made before.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    among: frozenset[str] | None = None

    def takes(self, relative: str) -> bool:
        """True if a file is read."""
        if self.among is not None:
            return relative in self.among
        return not self._excluded.match_file(relative) and (not self.include or self._included.match_file(relative))

    @cached_property
    def _excluded(self) -> GitIgnoreSpec:
        return GitIgnoreSpec.from_lines([*NO_MEMORIES, *COPIES, *self.exclude])

    @cached_property
    def _included(self) -> GitIgnoreSpec:
        return GitIgnoreSpec.from_lines(self.include)


#: Every file that holds memories.
ALL_FILES = FileChoice()
_COPIES = GitIgnoreSpec.from_lines(COPIES)


def is_copy(relative: str) -> bool:
    """True if a file is a copy that was left beside another one, by its name."""
    return _COPIES.match_file(relative)


def readable_name(name: str) -> str:
    """A file name as text that can be stored: bytes that are not UTF-8, and line breaks, are written like `\\xe9`."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def chosen_files(
    root: Path, files: Iterable[Path], choice: FileChoice, skipped: Skipped, place: str = "directory"
) -> Iterator[tuple[str, Path]]:
    """Each file that is chosen once, by its path below the directory; links that leave the directory are skipped."""
    base, seen = resolve_links(root), set[Path]()
    for file in files:
        try:
            real = resolve_links(file)
            if not file.is_file() or real in seen:
                continue
        except OSError:
            continue
        seen.add(real)
        name = readable_name(file.relative_to(root).as_posix())
        if not real.is_relative_to(base):
            skipped.add(f"links out of the {place}")
        elif choice.takes(name):
            yield name, file
        elif choice.among is None:
            skipped.add_file(EXCLUDED, name)
            skipped.add("backup copies" if is_copy(name) else "files without memories, or excluded")


@dataclass(frozen=True)
class OneFile:
    """A file that is read, under the name that its memories have for it.

    `zone` is that of times that name none, `now` replaces a missing date, and `skipped` counts what is skipped on
    purpose. `is_own`: it is the session whose agent asks for its memory; also if a program runs it, that agent is read.
    """

    path: Path
    name: str
    zone: tzinfo
    now: datetime
    settings: Settings
    skipped: Skipped
    is_own: bool = False

    @cached_property
    def undated(self) -> tuple[datetime, str]:
        """The time of what tells none, and its quality: when the file was last changed, else the time of the import."""
        try:
            written = datetime.fromtimestamp(self.path.stat().st_mtime, UTC).replace(microsecond=0)
        except (OSError, OverflowError, ValueError):  # removed since, or a time beyond the calendar
            return self.now, "import"
        return (written.astimezone(self.zone), "mtime") if FIRST_MEMORY <= written <= self.now else (self.now, "import")

    def masked(self, text: str, *, keep_lines: bool = False) -> str:
        """The text with its secrets masked and counted, if they are to be; not yet split: a key may span lines."""
        if not self.settings.import_.redact:
            return text
        text, counts = redact(text, keep_lines=keep_lines)
        self.skipped.masked.update(counts)
        return text


class Importer(ABC):
    """One import format. `name`: on the command line and in the sources of its memories; `takes`: the kind of path;
    `takes_directory`: None if that may be a file as well as a directory; `about`: the content, for the reference."""

    name: ClassVar[str]
    about: ClassVar[str]
    takes: ClassVar[str] = "a file"
    takes_directory: ClassVar[bool | None] = False
    project: ClassVar[str] = "default"
    #: How the names of files end whose words were said, so that they stay true when the file is removed or rewritten:
    #: transcripts, which their program deletes after a while. Of others, words that are gone were edited or removed.
    said_for_good: ClassVar[tuple[str, ...]] = ()

    def read(self, place: OneFile, choice: FileChoice = ALL_FILES) -> Reading:
        """Stream the memories at a place, of the chosen files of a directory, and the rows that cannot become memories.
        A format of files gives `read_file` instead. Raises InputError if nothing can be read."""
        return self.read_file(place)

    def read_file(self, file: OneFile) -> Reading:
        """The same of one file."""
        raise NotImplementedError

    def files(self, path: Path, choice: FileChoice, skipped: Skipped) -> Iterator[tuple[str, Path]]:
        """The file that a path is, or the chosen ones in a directory, under the names that memories have for them."""
        if path.is_dir():
            yield from chosen_files(path, self.found(path), choice, skipped)
        else:
            yield readable_name(path.name), path

    def found(self, directory: Path) -> Iterable[Path]:
        """The files of this format in a directory, in order, which need not exist; none for a format of one file."""
        return ()

    def takes_address(self, path: Path) -> bool:
        """True if a path is not one of a file, but the address of a database that this format reads."""
        return False

    def parts(self, file: Path) -> tuple[Path, ...]:
        """The files that together hold what a file says, itself first: programs keep what they wrote last in a log
        beside their database. They need not exist."""
        return beside(file) if is_sqlite(file) else (file,)

    def evidence(self, path: Path) -> str | None:
        """What shows that a path is of this format, as words that follow "it has"; None if nothing does, or fails."""
        try:
            return self.sign_of(path)
        except Exception:  # a file of another format may hold anything
            _log.debug("format %s cannot tell whether '%s' is of it", self.name, path, exc_info=True)
            return None

    def sign_of(self, path: Path) -> str | None:
        """The same, which may raise. Reads little, and changes nothing."""
        return None

    def is_home(self, path: Path) -> bool:
        """True if a path is where its program keeps things, whatever else they look like."""
        return False

    def default_path(self, settings: Settings) -> Path | None:
        """The path that is read if the user names none; None if one has to be named."""
        return None

    def file_of(self, source_file: str) -> str:
        """The file, as `files` names it, of what a memory names as its file: it may hold several conversations."""
        return source_file

    def warnings(self, unread: Mapping[str, datetime], now: datetime) -> Sequence[str]:
        """Sentences for a user about files that no night has read; they come by name with their last change."""
        return ()

    def default_project(self, path: Path) -> str:
        """The project of memories that name none, if the user names none either: `project`, or what the path says."""
        return self.project

    def id_stem(self, project: str, content: str, candidate: Candidate) -> str:
        """The id of a memory without its own id; a second one with the same stem gets the suffix `~2`."""
        return row_id(project, content, candidate)


class FilesImporter(Importer):
    """A format of several files, some of which may be chosen: its class gives `found`, and `read_file` or `reader` for
    each of them. `lacks` says what a path has none of that is not of this format, and what to give."""

    lacks: ClassVar[str]

    def read(self, place: OneFile, choice: FileChoice = ALL_FILES) -> Reading:
        """The memories of the chosen files; an unreadable one costs only itself. Raises InputError without any."""
        files = list(self.files(place.path, choice, place.skipped))
        if not files and choice.among is None:
            raise InputError(f"'{place.path}' has {self.lacks}")
        read = self.reader(place, files)
        for name, file in files:
            try:
                yield from read(replace(place, path=file, name=name))
            except (InputError, OSError, EOFError, zlib.error) as error:
                yield Rejected(name, 0, f"{UNREADABLE}: {error}")

    def reader(self, place: OneFile, files: Sequence[tuple[str, Path]]) -> Callable[[OneFile], Reading]:
        """The function that reads each of these files, after what they share; raises InputError for that."""
        return self.read_file


def row_id(project: str, content: str, candidate: Candidate) -> str:
    """The id of a row, derived from its content: independent of its position and of how often it is read."""
    parts = [
        project,
        candidate.own_words or content,
        candidate.memory_type,
        str(candidate.created_at),
        json.dumps(candidate.tags),
    ]
    return f"row:{project}:{hashlib.sha256(chr(31).join(parts).encode()).hexdigest()[:20]}"


def entry_id(project: str, file: str, content: str, format_name: str = "openclaw") -> str:
    """The id of an entry of a note: it depends on the words, not on the line, so that a file may grow anywhere."""
    return f"{format_name}:{project}:{file}#{hashlib.sha256(content.encode()).hexdigest()[:12]}"
