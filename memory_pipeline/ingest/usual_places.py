"""The places where agents usually keep their memories, and what is there."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import real_path
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.formats import recognise
from memory_pipeline.ingest.importer import ALL_FILES
from memory_pipeline.text.counts import how_many

#: Paths below the home directory, with the formats that are looked for there.
_PLACES = (
    (".openclaw/workspace", "openclaw"),
    (".openclaw/agents", "openclaw-sessions"),
    (".claude/projects", "claude-code"),
    (".codex/memories", "codex"),
    (".openclaw/workspace/brain.db", "brain"),
    ("basic-memory", "basic-memory"),
)
#: Names the file of a brain, which may lie anywhere.
_BRAIN = "HELIOS_DB_PATH"


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """A path with memories: its format, what shows it, and how many files it has."""

    path: Path
    format: str
    evidence: str
    files: int

    @property
    def told(self) -> str:
        """What it is, in words."""
        return f"{self.path} ({self.format}, {how_many(self.files, 'file')})"

    @property
    def command(self) -> str:
        """The command that takes it."""
        return f"memory-pipeline init {shlex.quote(str(self.path))}"


def find_places(environment: Mapping[str, str], home: Path, here: Path) -> list[FoundPlace]:
    """The usual places that hold memories, each once, in a fixed order; the working directory comes last."""
    asked: list[tuple[Path, str | None]] = [(home / name, format_) for name, format_ in _PLACES]
    if environment.get(_BRAIN):
        asked.insert(0, (Path(environment[_BRAIN]), "brain"))
    found: dict[tuple[Path, str], FoundPlace] = {}
    for path, format_ in [*asked, (here, None)]:
        with suppress(InputError, OSError):
            for place in _at(real_path(path), format_):
                found.setdefault((place.path, place.format), place)
    return list(found.values())


def _at(path: Path, format_: str | None) -> list[FoundPlace]:
    """What a path holds of one format, or, if none is named, of the only format that knows it."""
    if not path.exists():
        return []
    signs = [one for one in recognise(path) if format_ in (None, one.importer.name)]
    if len(signs) != 1:
        return []
    importer, evidence = signs[0]
    return [FoundPlace(path, importer.name, evidence, sum(1 for _ in importer.files(path, ALL_FILES, Skipped())))]


def the_only_place(places: list[FoundPlace]) -> FoundPlace:
    """The place to take. Raises InputError unless there is exactly one."""
    if len(places) == 1:
        return places[0]
    if not places:
        usual = ", ".join(f"~/{name}" for name, _ in _PLACES)
        raise InputError(
            f"no memories were found in the usual places ({usual}, {_BRAIN}, the current directory); give the path "
            "of a workspace, or see what the program can do with 'memory-pipeline demo'"
        )
    raise InputError("memories were found in several places; choose one by its path, with a command above")
