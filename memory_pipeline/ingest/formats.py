"""The import formats by name, and which of them a path is of. To add one, write a file with its `Importer` and add it
to the list here."""

from __future__ import annotations

import csv
import json
import logging
import shlex
from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.files.writing import cause_and_mend, check_has_contents
from memory_pipeline.ingest.agents.chatgpt import ChatGptImporter
from memory_pipeline.ingest.agents.claude_code import ClaudeCodeImporter
from memory_pipeline.ingest.agents.codex import CodexImporter
from memory_pipeline.ingest.agents.openclaw_sessions import OpenClawSessionsImporter
from memory_pipeline.ingest.candidates import Item, Skipped
from memory_pipeline.ingest.full_import import FullExport, is_full_export
from memory_pipeline.ingest.importer import ALL_FILES, FileChoice, Importer
from memory_pipeline.ingest.lines import bounded_lines, opened
from memory_pipeline.ingest.openclaw import OpenClawImporter
from memory_pipeline.ingest.stores.basic_memory import BasicMemoryImporter
from memory_pipeline.ingest.stores.brain import BrainImporter
from memory_pipeline.ingest.stores.langgraph import LangGraphImporter
from memory_pipeline.ingest.stores.letta import LettaImporter
from memory_pipeline.ingest.stores.mcp_memory import McpMemoryImporter
from memory_pipeline.ingest.stores.mem0 import Mem0Importer
from memory_pipeline.ingest.tables import SEPARATORS, CsvImporter, JsonlImporter, ParquetImporter, parquet_columns
from memory_pipeline.ingest.values import MAX_LINE_BYTES

#: What stands for a format on the command line if the content is to tell it.
AUTO = "auto"
_log = logging.getLogger(__name__)
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
    if importer.takes_directory is False and is_full_export(path, name):
        return FullExport(path, name, default_zone, now, MAX_LINE_BYTES)
    return importer.read_chosen(path, default_zone, now, settings, skipped, choice)


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

    def told(self, path: Path) -> str:
        """Which format was taken, and why."""
        return f"'{path}' is read as {self.importer.name}: it has {self.evidence}"


def recognise(path: Path, importers: Iterable[Importer] | None = None) -> list[Recognised]:
    """Every format that the content of a path shows signs of, in the order of the registry."""
    if not (path.is_file() or path.is_dir()):
        return []
    found = []
    for importer in IMPORTERS.values() if importers is None else importers:
        if importer.takes_directory not in (None, path.is_dir()):
            continue
        try:
            evidence = importer.evidence(path)
        except Exception:  # one format's reader must not keep the others from telling
            _log.warning("format %s cannot tell whether '%s' is of it", importer.name, path, exc_info=True)
            continue
        if evidence:
            found.append(Recognised(importer, evidence))
    return found


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
    found = recognise(path)
    at_home = [one for one in found if one.importer.is_home(path)]
    if len(found) == 1 or len(at_home) == 1:
        return (at_home or found)[0]
    if found:
        signs = " and ".join(f"as {one.importer.name} (it has {one.evidence})" for one in found)
        commands = " or ".join(_filled(command, one.importer.name, path) for one in found)
        raise InputError(f"'{path}' can be read {signs}; name the format: {commands}")
    kind = "directory" if path.is_dir() else "file"
    *names, last = (one.name for one in IMPORTERS.values() if one.takes_directory in (None, path.is_dir()))
    known = f"{', '.join(names)} or {last}" if names else last
    raise InputError(
        f"'{path}' is a {kind} that no format knows; if it is of one, name it: {_filled(command, 'FORMAT', path)}, "
        f"where FORMAT is {known}"
    )


def _filled(command: str, name: str, path: Path) -> str:
    return f"'{command.format(format=name, path=shlex.quote(str(path)))}'"


#: Characters of a line that are looked at.
_LONGEST = 1 << 20
EVERYTHING = "everything of a store, as this program exports it"
_TURNS = "turns of a conversation, one JSON object a line"
#: Columns of which transcripts of agents have at least one in every line; a row of memories has none.
_OF_TRANSCRIPTS = frozenset({"sessionId", "parentUuid", "uuid", "parentId", "payload"})


def sign_of_jsonl(path: Path) -> str | None:
    """JSON objects with a text in `content`, one a line."""
    try:
        if is_full_export(path, "jsonl"):
            return EVERYTHING
        with opened(path) as file:
            for _, line, too_long in bounded_lines(file, _LONGEST):
                if text := line.lstrip("\ufeff").strip():
                    return None if too_long else _of_row(json.loads(text))
    except (InputError, ValueError, RecursionError, OSError):
        return None
    return None


def _of_row(row: Any) -> str | None:
    if not isinstance(row, Mapping) or _OF_TRANSCRIPTS & row.keys():
        return None
    if isinstance(row.get("content"), str):
        return _TURNS if row.get("role") else "JSON objects with content, one a line"
    message = row.get("message")
    if isinstance(message, Mapping) and {"role", "content"} <= message.keys() and "type" not in row:
        return _TURNS
    return None


def sign_of_csv(path: Path) -> str | None:
    """A header with the column `content`."""
    try:
        with opened(path, newline="", guess=True) as file:
            line = file.readline(_LONGEST).lstrip("\ufeff")
        named = any("content" in next(csv.reader([line], delimiter=separator), []) for separator in SEPARATORS)
    except (InputError, ValueError, OSError, csv.Error):
        return None
    if not named or line.lstrip().startswith(("{", "[")):
        return None
    return "a header with the column 'content'"


def sign_of_parquet(path: Path) -> str | None:
    """Parquet's mark, and the column `content`."""
    try:
        with path.open("rb") as file:
            if file.read(4) != b"PAR1":
                return None
        if "content" not in parquet_columns(path):
            return None
        return EVERYTHING if is_full_export(path, "parquet") else "a Parquet table with the column 'content'"
    except (InputError, ValueError, OSError):
        return None
