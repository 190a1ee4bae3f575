"""The description of an import format: a class derived from `Importer`, listed in `formats`."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import ClassVar

from memory_pipeline.config.settings import Settings
from memory_pipeline.ingest.candidates import Candidate, Reading, Rejected, Skipped
from memory_pipeline.ingest.file_choice import ALL_FILES, FileChoice, readable_name


class Importer(ABC):
    """One import format. `name` is its name on the command line and in the sources of its memories; `takes`
    describes the kind of path, and `takes_directory` is None if that may be a file as well as a directory; `about`
    describes the content, for the reference."""

    name: ClassVar[str]
    about: ClassVar[str]
    takes: ClassVar[str] = "a file"
    takes_directory: ClassVar[bool | None] = False

    @abstractmethod
    def read(self, path: Path, default_zone: tzinfo, now: datetime, settings: Settings, skipped: Skipped) -> Reading:
        """Stream the memories at a path, and the rows that cannot become memories.

        `default_zone` is the zone of times that name none, `now` replaces a missing date, and `skipped` counts what
        is skipped on purpose. Raises InputError if nothing can be read.
        """

    def read_chosen(
        self, path: Path, default_zone: tzinfo, now: datetime, settings: Settings, skipped: Skipped, choice: FileChoice
    ) -> Reading:
        """The same of the chosen files of a directory; what is a single file is read as a whole."""
        return self.read(path, default_zone, now, settings, skipped)

    def files(self, path: Path, choice: FileChoice, skipped: Skipped) -> Iterator[tuple[str, Path]]:
        """The chosen files at a path, each under the name that its memories have for it."""
        yield readable_name(path.name), path

    def takes_address(self, path: Path) -> bool:
        """Whether a path is not one of a file, but the address of a database that this format reads."""
        return False

    def parts(self, file: Path) -> tuple[Path, ...]:
        """The files that together hold what a file says, itself first: programs keep what they wrote last in a log
        beside their database. They need not exist."""
        return (file,)

    def evidence(self, path: Path) -> str | None:
        """What in the content of an existing path shows that it is of this format, as words that follow "it has";
        None if nothing does. Reads little, changes nothing, and never raises for bad content."""
        return None

    def is_home(self, path: Path) -> bool:
        """Whether a path is where its program keeps things, whatever else they look like."""
        return False

    def default_path(self, settings: Settings) -> Path | None:
        """The path that is read if the user names none; None if one has to be named."""
        return None

    def file_of(self, source_file: str) -> str:
        """The file, as `files` names it, that holds what a memory names as its file: several conversations may be in
        one."""
        return source_file

    def is_said_for_good(self, file: str) -> bool:
        """Whether the words of a file were said, so that they stay true when the file is removed or rewritten: a
        transcript, which its program deletes after a while. Otherwise words that are gone were edited or removed."""
        return False

    def warnings(self, unread: Mapping[str, datetime], now: datetime) -> Sequence[str]:
        """What a user should know of files that no night has read, by name with the time of their last change, as
        sentences."""
        return ()

    def default_project(self, path: Path) -> str:
        """The project of memories that name none, if the user names none either."""
        return "default"

    def id_stem(self, project: str, content: str, candidate: Candidate) -> str:
        """The id of a memory without its own id; a second one with the same stem gets the suffix `~2`."""
        return row_id(project, content, candidate)

    def guess(self, path: Path, rejected: Sequence[Rejected]) -> str:
        """A guess why not a single row of a file could be read, as the end of a sentence."""
        return ""


class FilesImporter(Importer):
    """A format of several files, some of which may be chosen: its class gives `read_chosen` and `files`."""

    def read(self, path: Path, default_zone: tzinfo, now: datetime, settings: Settings, skipped: Skipped) -> Reading:
        """The memories of every file. Raises InputError if there is none."""
        return self.read_chosen(path, default_zone, now, settings, skipped, ALL_FILES)

    @abstractmethod
    def read_chosen(
        self, path: Path, default_zone: tzinfo, now: datetime, settings: Settings, skipped: Skipped, choice: FileChoice
    ) -> Reading:
        """The memories of the chosen files. Raises InputError if there is none."""

    @abstractmethod
    def files(self, path: Path, choice: FileChoice, skipped: Skipped) -> Iterator[tuple[str, Path]]:
        """The chosen files at a path, each under the name that its memories have for it."""


def row_id(project: str, content: str, candidate: Candidate) -> str:
    """The id of a row, derived from its content: independent of its position and of how often it is read."""
    told = [
        project,
        candidate.own_words or content,
        candidate.memory_type,
        str(candidate.created_at),
        json.dumps(candidate.tags),
    ]
    return f"row:{project}:{hashlib.sha256(chr(31).join(told).encode()).hexdigest()[:20]}"
