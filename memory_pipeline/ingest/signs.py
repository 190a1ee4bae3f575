"""What in the first rows of a file shows that it is of a row format, without reading the rest."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.full_import import is_full_export
from memory_pipeline.ingest.lines import bounded_lines, opened
from memory_pipeline.ingest.parquet import parquet_columns
from memory_pipeline.ingest.tables import SEPARATORS

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
