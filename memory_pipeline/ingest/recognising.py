"""Recognises the format of a file from its first rows, without reading the rest."""

from __future__ import annotations

import csv
import json
import logging
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from memory_pipeline.errors import InputError
from memory_pipeline.files import cause_and_mend, check_has_contents
from memory_pipeline.ingest.formats import IMPORTERS
from memory_pipeline.ingest.full_import import is_full_export
from memory_pipeline.ingest.importer import Importer
from memory_pipeline.ingest.lines import bounded_lines, opened
from memory_pipeline.ingest.parquet import parquet_columns
from memory_pipeline.ingest.tables import SEPARATORS

#: What stands for a format on the command line if the content is to tell it.
AUTO = "auto"
_log = logging.getLogger(__name__)


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
