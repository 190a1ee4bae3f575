"""What a format tells of itself so that it can be imported: a class derived from `Importer`, listed in `formats`."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import ClassVar

from memory_pipeline.config.settings import Settings
from memory_pipeline.ingest.candidates import Candidate, Reading, Rejected, Skipped


class Importer(ABC):
    """One import format. `name` is what the command line calls it and what its memories' sources name; `takes` the kind
    of path in words; `about` what is read, for the reference."""

    name: ClassVar[str]
    about: ClassVar[str]
    takes: ClassVar[str] = "a file"
    takes_directory: ClassVar[bool] = False

    @abstractmethod
    def read(self, path: Path, default_zone: tzinfo, now: datetime, settings: Settings, skipped: Skipped) -> Reading:
        """The memories at a path, streamed, and the rows that hold none.

        `default_zone` is that of times that name none, `now` stands in for a date that cannot be had; what is left out
        on purpose is counted in `skipped`. Raises InputError when nothing there can be read.
        """

    def recognises(self, path: Path) -> bool:
        """Whether a directory is an agent's workspace of this format, from which `init` may start."""
        return False

    def default_project(self, path: Path) -> str:
        """The project of memories that name none, when the user names none either."""
        return "default"

    def id_stem(self, project: str, content: str, candidate: Candidate) -> str:
        """The id of a memory that has none of its own; a second one with the same stem has `~2` added."""
        return row_id(project, content, candidate)

    def guess(self, path: Path, rejected: Sequence[Rejected]) -> str:
        """What may be wrong with a file of which not one row could be read, as the end of a sentence."""
        return ""


def row_id(project: str, content: str, candidate: Candidate) -> str:
    """The id of a row, from what it says: wherever in its file it stands, however often it is read."""
    told = [project, content, candidate.memory_type, str(candidate.created_at), json.dumps(candidate.tags)]
    return f"row:{project}:{hashlib.sha256(chr(31).join(told).encode()).hexdigest()[:20]}"
