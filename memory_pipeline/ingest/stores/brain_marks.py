"""The marks that this program leaves in a `brain.db`: which rows it made, and which it archived."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

_MADE_BY = "memory_pipeline"
_ARCHIVED = re.compile(rf"{_MADE_BY}:(?P<by>.*?)(?: into [^\n]{{1,200}})?:(?P<importance>[^:]{{1,40}})", re.DOTALL)


class ArchivedHere(NamedTuple):
    """What a row's `archived_by` says if this program archived it: by what, and its importance before."""

    by: str
    importance: float


def made_mark(memory_id: str, content: str, source_ids: Sequence[str], told: str | None) -> str:
    """The `compressed_from` of a row that this program makes; `told`: that of the memory in the store."""
    more = json.loads(told) if told else {}
    made = {"made_by": _MADE_BY, "memory_id": memory_id, "sha256": _sha256(content)}
    return json.dumps(
        {**more, **made, "source_ids": list(source_ids)},
        ensure_ascii=False,
        sort_keys=True,
    )


def made_as(compressed_from: object, content: object) -> str | None:
    """The memory as which this program made a row, if its words are still those that were written."""
    told = _object(compressed_from)
    if told is None or told.get("made_by") != _MADE_BY or not isinstance(content, str):
        return None
    memory_id = told.get("memory_id")
    return memory_id if isinstance(memory_id, str) and told.get("sha256") == _sha256(content) else None


def is_made_here(compressed_from: object) -> bool:
    """Whether this program made a row, whatever it says now."""
    told = _object(compressed_from)
    return told is not None and told.get("made_by") == _MADE_BY


def archived_mark(by: str, importance: float, into: object = None) -> str:
    """The `archived_by` of a row that this program archives; `into`: the id of the row that says the same."""
    named = str(into) if isinstance(into, str | int) else ""
    return f"{_MADE_BY}:{by}{f' into {named}' if named.isprintable() and 0 < len(named) <= 200 else ''}:{importance!r}"


def archived_here(archived_by: object) -> ArchivedHere | None:
    """What this program noted when it archived a row; None if it did not."""
    found = _ARCHIVED.fullmatch(archived_by) if isinstance(archived_by, str) else None
    try:
        return ArchivedHere(found["by"], _number(found["importance"])) if found else None
    except ValueError:
        return None


def _number(text: str) -> float:
    """A number as `repr` writes it; a whole one stays whole."""
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


def sources_of(compressed_from: object) -> list[str]:
    """The ids in a `compressed_from`: a JSON list, or an object with `source_ids`."""
    told = _parsed(compressed_from)
    named = told.get("source_ids") if isinstance(told, dict) else told
    return list(dict.fromkeys(one for one in named if isinstance(one, str))) if isinstance(named, list) else []


def _object(text: object) -> dict[str, Any] | None:
    told = _parsed(text)
    return told if isinstance(told, dict) else None


def _parsed(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _sha256(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
