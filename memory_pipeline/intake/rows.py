"""One memory from one row (of JSONL, CSV or Parquet): any subset of the columns that has `content`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from memory_pipeline.intake.candidates import Candidate, RowError
from memory_pipeline.intake.dates import parse_moment
from memory_pipeline.records import CONSOLIDATION_METHODS, MADE, MEMORY_TYPES, PATTERN_TYPES, Source

#: Longest id that is taken from a source.
MAX_ID = 200


def candidate_from_row(row: Mapping[str, Any], source: Source, default_zone: tzinfo, now: datetime) -> Candidate:
    """Read one row. Raises RowError that names the column and the value that cannot be used.

    A row with a `role` is a turn of a conversation; its time may stand in `timestamp`.
    """
    content = _content(row)
    role = _text(row, "role")
    tags = _list(row, "tags")
    created = parse_moment(_first(row, "created_at", "timestamp", "date"), default_zone, now)
    archived_at = parse_moment(row.get("archived_at"), default_zone, now, "archived_at")
    if _flag(row, "archived") and archived_at is None:
        raise RowError("archived is true but archived_at is missing")
    memory_type = _text(row, "memory_type") or ("conversation" if role else "other")
    return Candidate(
        content=content,
        source=_source(row, source),
        native_id=_id(row),
        project_id=_text(row, "project_id"),
        memory_type=memory_type if memory_type in MEMORY_TYPES else "other",
        categories=_list(row, "categories"),
        tags=(*tags, f"role:{role}") if role and f"role:{role}" not in tags else tags,
        importance=_number(row, "importance", 0.0, 3.0, 1.0) or 0.0,
        created_at=created,
        created_at_quality=_text(row, "created_at_quality") or ("exact" if created else "import"),
        effective_date=parse_moment(row.get("effective_date"), default_zone, now, "effective_date"),
        abstraction_level=int(_number(row, "abstraction_level", 0, 3, 0) or 0),
        pinned=_flag(row, "pinned"),
        confidence_score=_number(row, "confidence_score", 0.0, 1.0, None),
        pattern_type=_choice(row, "pattern_type", PATTERN_TYPES),
        consolidation_method=_choice(row, "consolidation_method", CONSOLIDATION_METHODS),
        is_canonical=_flag(row, "is_canonical"),
        reuse_count=int(_number(row, "reuse_count", 0, 2**31 - 1, 0) or 0),
        useful_count=int(_number(row, "useful_count", 0, 2**31 - 1, 0) or 0),
        archived_by=_text(row, "archived_by") if archived_at else None,
        archived_at=archived_at,
        consolidated_into_id=_text(row, "consolidated_into_id") if archived_at else None,
        importance_before=_number(row, "importance_before", 0.0, 3.0, 1.0) if archived_at else None,
        rolled_back_at=parse_moment(row.get("rolled_back_at"), default_zone, now, "rolled_back_at"),
        compressed_from=_compressed_from(row),
        source_links=_links(row),
        embedding=_vector(row),
        embedding_model=_text(row, "embedding_model"),
    )


def _content(row: Mapping[str, Any]) -> str:
    value = row.get("content")
    if value is None and isinstance(row.get("recommendation"), str):
        value = _entry(row)
    if isinstance(value, list):  # blocks of a chat message: their text parts
        value = "\n".join(str(part.get("text", "")) for part in value if isinstance(part, Mapping))
    if not isinstance(value, str):
        raise RowError("the row has no 'content'" if value is None else f"content is {type(value).__name__}, no text")
    if "\x00" in value:
        raise RowError("content holds a NUL character")
    if not value.strip():
        raise RowError("content is empty")
    return value


def _entry(row: Mapping[str, Any]) -> str:
    """A knowledge-base entry in its written form, from the fields title, recommendation and examples."""
    lines = [f"Title: {row.get('title') or ''}".rstrip(), f"Recommendation: {row['recommendation']}"]
    examples = row.get("examples")
    shown = [one for one in examples if isinstance(one, Mapping)] if isinstance(examples, list) else []
    lines += ["Examples:"] if shown else []
    lines += [f"- {one.get('story', '')}: {one.get('context', '')}" for one in shown]
    return "\n".join(lines)


def _id(row: Mapping[str, Any]) -> str | None:
    value = row.get("id")
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    text = str(value)
    if len(text) > MAX_ID or not text.isprintable() or text != text.strip():
        raise RowError(f"id {text[:40]!r} is longer than {MAX_ID} characters or holds control characters")
    return text


def _source(row: Mapping[str, Any], default: Source) -> Source:
    given = _mapping(row.get("source"))
    if not given:
        return default
    line = given.get("line")
    connector = str(given.get("connector") or default.connector)
    if connector == MADE and not row.get("sources"):
        connector = default.connector  # nothing is made of nothing
    return Source(
        connector,
        str(given["file"]) if given.get("file") else None,
        int(line) if isinstance(line, int | float) and not math.isnan(line) else None,
    )


def _compressed_from(row: Mapping[str, Any]) -> str | None:
    value = row.get("compressed_from")
    if value is None or value == "":
        return None
    mapping = _mapping(value)
    if not mapping:
        raise RowError("compressed_from is no JSON object")
    return json.dumps(mapping, sort_keys=True)


def _mapping(value: object) -> Mapping[str, Any] | None:
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    return value if isinstance(value, Mapping) else None


def _links(row: Mapping[str, Any]) -> tuple[tuple[str, str, float], ...]:
    """Lineage: `sources` with relation and similarity where this program wrote it, else plain `source_ids`."""
    given = row.get("sources")
    if isinstance(given, str) and given:
        given = json.loads(given)
    if isinstance(given, list):
        return tuple((str(s["id"]), str(s["relation"]), float(s["similarity"])) for s in given)
    return tuple((source_id, "distilled", 1.0) for source_id in _list(row, "source_ids"))


def _vector(row: Mapping[str, Any]) -> tuple[float, ...] | None:
    value = row.get("embedding")
    if isinstance(value, str) and value:
        value = json.loads(value)
    if value is None or (isinstance(value, str) and not value):
        return None
    try:
        return tuple(float(number) for number in value)
    except (TypeError, ValueError):
        raise RowError("embedding is no list of numbers") from None


def _first(row: Mapping[str, Any], *names: str) -> object:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _text(row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(value)


def _choice(row: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> str | None:
    value = _text(row, name)
    if value is not None and value not in allowed:
        raise RowError(f"{name} is '{value[:40]}'; use one of {', '.join(allowed)}")
    return value


def _list(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = row.get(name)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ()
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            try:
                value = json.loads(value)
            except ValueError:
                raise RowError(f"{name} is no JSON list") from None
        else:
            value = [part.strip() for part in value.split(";") if part.strip()]
    if not isinstance(value, list | tuple):
        raise RowError(f"{name} is {type(value).__name__}, no list")
    return tuple(str(item) for item in value)


def _number(row: Mapping[str, Any], name: str, low: float, high: float, default: float | None) -> float | None:
    value = row.get(name)
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return default
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise RowError(f"{name} is {str(value)[:40]!r}, no number") from None
    if not low <= number <= high:
        raise RowError(f"{name} is {number:g}; use {low:g} to {high:g}")
    return number


def _flag(row: Mapping[str, Any], name: str) -> bool:
    value = row.get(name)
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return False
    if isinstance(value, str):
        if value.lower() in ("true", "1", "yes"):
            return True
        if value.lower() in ("false", "0", "no"):
            return False
        raise RowError(f"{name} is '{value[:40]}'; use true or false")
    return bool(value)
