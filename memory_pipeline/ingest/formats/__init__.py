"""The import formats by name, which of them a path is of, and the places where agents usually keep their memories. To
add one, write a file with its `Importer` and add it to the list here."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, tzinfo
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import cause_and_mend, check_has_contents, real_path
from memory_pipeline.ingest.candidates import Item, Skipped
from memory_pipeline.ingest.formats.basic_memory import BasicMemoryImporter
from memory_pipeline.ingest.formats.brain import BrainImporter
from memory_pipeline.ingest.formats.chatgpt import ChatGptImporter
from memory_pipeline.ingest.formats.claude_code import ClaudeCodeImporter
from memory_pipeline.ingest.formats.codex import CodexImporter
from memory_pipeline.ingest.formats.langgraph import LangGraphImporter
from memory_pipeline.ingest.formats.letta import LettaImporter
from memory_pipeline.ingest.formats.mcp_memory import McpMemoryImporter
from memory_pipeline.ingest.formats.mem0 import Mem0Importer
from memory_pipeline.ingest.formats.openclaw_sessions import OpenClawSessionsImporter
from memory_pipeline.ingest.full_import import FullExport
from memory_pipeline.ingest.importer import ALL_FILES, FileChoice, Importer, OneFile, readable_name
from memory_pipeline.ingest.openclaw import OpenClawImporter
from memory_pipeline.ingest.tables import CsvImporter, JsonlImporter, ParquetImporter, is_full_export

#: What stands for a format on the command line if the content is to tell it.
AUTO = "auto"
#: In the order in which they are shown to users.
IMPORTERS: Mapping[str, Importer] = {
    importer.name: importer
    for importer in (
        OpenClawImporter(),
        JsonlImporter(),
        CsvImporter(),
        ParquetImporter(),
        BrainImporter(),
        Mem0Importer(),
        McpMemoryImporter(),
        LettaImporter(),
        LangGraphImporter(),
        BasicMemoryImporter(),
        ClaudeCodeImporter(),
        OpenClawSessionsImporter(),
        CodexImporter(),
        ChatGptImporter(),
    )
}


def importer_of(name: str) -> Importer:
    """The importer of a format. Raises InputError for an unknown one."""
    if name not in IMPORTERS:
        meant = get_close_matches(name, IMPORTERS, 1)
        guess = f"did you mean {meant[0]}? " if meant else ""
        raise InputError(f"no format is called '{name}'; {guess}use auto, or one of {', '.join(IMPORTERS)}")
    return IMPORTERS[name]


def read_format(
    name: str,
    path: Path,
    default_zone: tzinfo,
    now: datetime,
    settings: Settings,
    skipped: Skipped,
    choice: FileChoice = ALL_FILES,
) -> Iterable[Item]:
    """Open `path` as format `name`. Raises InputError for an unknown format or a path of the wrong kind."""
    importer = importer_of(name)
    check_path(importer, path)
    place = OneFile(path, readable_name(path.name), default_zone, now, settings, skipped)
    if importer.takes_directory is False and is_full_export(path, name):
        return FullExport(place, name)
    return importer.read(place, choice)


def check_path(importer: Importer, path: Path) -> None:
    """Raises InputError unless the path is a directory or a file, as the format takes it."""
    if importer.takes_address(path):
        return
    check_has_contents(path)
    if importer.takes_directory not in (None, is_directory := path.is_dir()):
        what = "directory" if is_directory else "file"
        raise InputError(f"'{path}' is a {what}; format {importer.name} takes {importer.takes}")


class Recognised(NamedTuple):
    """A format that a path may be of, and what shows it, as words that follow "it has"."""

    importer: Importer
    evidence: str


def recognise(path: Path) -> list[Recognised]:
    """Every format that the content of a path shows signs of, in the order of the registry."""
    if not (path.is_file() or path.is_dir()):
        return []
    return [
        Recognised(importer, evidence)
        for importer in IMPORTERS.values()
        if importer.takes_directory in (None, path.is_dir()) and (evidence := importer.evidence(path))
    ]


def the_format_of(path: Path, command: str = "memory-pipeline import {format} {path}") -> Recognised:
    """The one format that a path is of. `command` is what names a format, for the errors.

    Raises InputError if the path does not exist, or if none or several formats know it.
    """
    check_has_contents(path)
    try:
        if not path.is_dir():
            with path.open("rb"):
                pass
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {cause_and_mend(error)}") from error
    matches = recognise(path)
    at_home = [match for match in matches if match.importer.is_home(path)]
    if len(matches) == 1 or len(at_home) == 1:
        return (at_home or matches)[0]
    if matches:
        signs = " and ".join(f"as {match.importer.name} (it has {match.evidence})" for match in matches)
        commands = " or ".join(_filled(command, match.importer.name, path) for match in matches)
        raise InputError(f"'{path}' can be read {signs}; name the format: {commands}")
    kind = "directory" if path.is_dir() else "file"
    *names, last = (
        importer.name for importer in IMPORTERS.values() if importer.takes_directory in (None, path.is_dir())
    )
    known = f"{', '.join(names)} or {last}" if names else last
    raise InputError(
        f"'{path}' is a {kind} that no format knows; if it is of one, name it: {_filled(command, 'FORMAT', path)}, "
        f"where FORMAT is {known}"
    )


def looks_like(path: Path, name: str) -> str:
    """The other format that a path that gave nothing as `name` seems to be of, as the end of a sentence."""
    others = [match for match in recognise(path) if match.importer.name != name]
    if not others:
        return ""
    command = _filled("memory-pipeline import {format} {path}", others[0].importer.name, path)
    return f"; it looks like {others[0].importer.name}, since it has {others[0].evidence}: {command}"


def _filled(command: str, name: str, path: Path) -> str:
    return f"'{command.format(format=name, path=shlex.quote(str(path)))}'"


#: Paths below the home directory, with the formats that are looked for there; and what names a brain's file.
USUAL_PLACES = (
    (".openclaw/workspace", "openclaw"),
    (".openclaw/agents", "openclaw-sessions"),
    (".claude/projects", "claude-code"),
    (".codex/memories", "codex"),
    (".openclaw/workspace/brain.db", "brain"),
    ("basic-memory", "basic-memory"),
)
BRAIN = "HELIOS_DB_PATH"


class FoundPlace(NamedTuple):
    """A path with memories: its format, what shows it, and how many files it has."""

    path: Path
    format: str
    evidence: str
    files: int


def find_places(environment: Mapping[str, str], home: Path, here: Path) -> list[FoundPlace]:
    """The usual places that hold memories, each once, in a fixed order; the working directory comes last."""
    asked: list[tuple[Path, str | None]] = [(home / name, format_) for name, format_ in USUAL_PLACES]
    if environment.get(BRAIN):
        asked.insert(0, (Path(environment[BRAIN]), "brain"))
    places: dict[tuple[Path, str], FoundPlace] = {}
    for named, format_ in [*asked, (here, None)]:
        with suppress(InputError, OSError):
            path = real_path(named)
            signs = [sign for sign in recognise(path) if format_ in (None, sign.importer.name)]
            for importer, evidence in signs if len(signs) == 1 else ():  # what several know is of none
                files = sum(1 for _ in importer.files(path, ALL_FILES, Skipped()))
                places.setdefault((path, importer.name), FoundPlace(path, importer.name, evidence, files))
    return list(places.values())
