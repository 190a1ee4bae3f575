"""One memory from one row (of JSONL, CSV or Parquet): any subset of the columns that has `content`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from memory_pipeline.ingest import values
from memory_pipeline.ingest.candidates import Candidate, RowError
from memory_pipeline.ingest.dates import parse_moment
from memory_pipeline.records import CONSOLIDATION_METHODS, MADE, MEMORY_TYPES, PATTERN_TYPES, Source

_COUNT = 2**31 - 1
_QUALITIES = ("exact", "date", "mtime", "import")


def candidate_from_row(row: Mapping[str, Any], source: Source, default_zone: tzinfo, now: datetime) -> Candidate:
    """Read one row. Raises RowError that names the column and the value that cannot be used.

    A row with a `role` is a turn of a conversation; its time may stand in `timestamp`.
    """
    content = _content(row)
    role = values.text_value(row, "role")
    tags = values.labels(row, "tags")
    created = parse_moment(_first(row, "created_at", "timestamp", "date"), default_zone, now)
    archived_at = parse_moment(row.get("archived_at"), default_zone, now, "archived_at")
    if values.flag(row, "archived") and archived_at is None:
        raise RowError("archived is true but archived_at is missing")
    memory_type = values.text_value(row, "memory_type") or ("conversation" if role else "other")
    quality = row.get("created_at_quality")
    importance = values.number(row, "importance", 0.0, 3.0)
    return Candidate(
        content=content,
        source=_source(row, source),
        native_id=values.identifier(row.get("id"), "id"),
        project_id=values.identifier(row.get("project_id"), "project_id"),
        memory_type=memory_type if memory_type in MEMORY_TYPES else "other",
        categories=values.labels(row, "categories"),
        tags=(*tags, f"role:{role}") if role and f"role:{role}" not in tags else tags,
        importance=1.0 if importance is None else importance,
        created_at=created,
        created_at_quality=str(quality) if quality in _QUALITIES else "exact" if created else "import",
        effective_date=parse_moment(row.get("effective_date"), default_zone, now, "effective_date"),
        abstraction_level=values.whole_number(row, "abstraction_level", 0, 3) or 0,
        pinned=values.flag(row, "pinned"),
        confidence_score=values.number(row, "confidence_score", 0.0, 1.0),
        pattern_type=values.choice(row, "pattern_type", PATTERN_TYPES),
        consolidation_method=values.choice(row, "consolidation_method", CONSOLIDATION_METHODS),
        is_canonical=values.flag(row, "is_canonical"),
        reuse_count=values.whole_number(row, "reuse_count", 0, _COUNT) or 0,
        useful_count=values.whole_number(row, "useful_count", 0, _COUNT) or 0,
        archived_by=values.text_value(row, "archived_by"),
        archived_at=archived_at,
        consolidated_into_id=values.identifier(row.get("consolidated_into_id"), "consolidated_into_id"),
        importance_before=values.number(row, "importance_before", 0.0, 3.0),
        rolled_back_at=parse_moment(row.get("rolled_back_at"), default_zone, now, "rolled_back_at"),
        compressed_from=values.json_text(row, "compressed_from"),
        source_links=_links(row),
        embedding=_vector(row),
        embedding_model=values.text_value(row, "embedding_model"),
    )


def _content(row: Mapping[str, Any]) -> str:
    value = row.get("content")
    if value is None and isinstance(row.get("recommendation"), str):
        value = _entry(row)
    if isinstance(value, list):  # blocks of a chat message: their text parts
        blocks = [part.get("text") for part in value if isinstance(part, Mapping)]
        value = "\n".join(block for block in blocks if isinstance(block, str))
    if not isinstance(value, str):
        raise RowError(
            "the row has no 'content'" if values.is_absent(value) else f"content is {values.shown(value)}, no text"
        )
    if not value.strip():
        raise RowError("content is empty")
    return values.check_storable(value, "content")


def _entry(row: Mapping[str, Any]) -> str:
    """A knowledge-base entry in its written form, from the fields title, recommendation and examples."""
    title = values.text_value(row, "title", values.MAX_PATH) or ""
    lines = [f"Title: {title}".rstrip(), f"Recommendation: {row['recommendation']}"]
    examples = row.get("examples")
    shown = [one for one in examples if isinstance(one, Mapping)] if isinstance(examples, list) else []
    lines += ["Examples:"] if shown else []
    limit = values.MAX_PATH
    for one in shown:
        story, context = values.text_value(one, "story", limit) or "", values.text_value(one, "context", limit) or ""
        lines.append(f"- {story}: {context}")
    return "\n".join(lines)


def _source(row: Mapping[str, Any], default: Source) -> Source:
    given = row.get("source")
    if not isinstance(given, Mapping) and not (isinstance(given, str) and given.startswith("{")):
        return default  # other tools keep a name or an address under this word
    found = values.mapping(given, "source")
    if not found:
        return default
    connector = values.text_value(found, "connector") or default.connector
    if connector == MADE and not row.get("sources") and not row.get("rolled_back_at"):
        connector = default.connector  # nothing is made of nothing
    file = values.text_value(found, "file", values.MAX_PATH)
    return Source(connector, file, values.whole_number(found, "line", 0, _COUNT))


def _links(row: Mapping[str, Any]) -> tuple[tuple[str, str, float], ...]:
    """Lineage: `sources` with relation and similarity where this program wrote it, else plain `source_ids`."""
    given = row.get("sources")
    if isinstance(given, str) and given:
        given = values.parsed(given, "sources")
    if isinstance(given, list) and given:
        return tuple(_link(one) for one in given[: values.MAX_SOURCES + 1])
    return tuple((one, "distilled", 1.0) for one in values.labels(row, "source_ids", values.MAX_SOURCES))


def _link(given: object) -> tuple[str, str, float]:
    if not isinstance(given, Mapping):
        raise RowError(f"an entry of sources is {values.shown(given)}, no object with id, relation and similarity")
    source_id = values.identifier(given.get("id"), "the id in sources")
    similarity = values.number(given, "similarity", -1.0001, 1.0001)
    if source_id is None or similarity is None:
        raise RowError("an entry of sources lacks its id or its similarity")
    return source_id, values.text_value(given, "relation") or "", similarity


def _vector(row: Mapping[str, Any]) -> tuple[float, ...] | None:
    value = row.get("embedding")
    if isinstance(value, str) and value:
        value = values.parsed(value, "embedding")
    if values.is_absent(value):
        return None
    if not isinstance(value, list | tuple) or not 0 < len(value) <= values.MAX_DIMENSION:
        raise RowError(f"embedding is {values.shown(value)}; use a list of 1 to {values.MAX_DIMENSION} numbers")
    try:
        return tuple(float(number) for number in value)
    except (TypeError, ValueError, OverflowError):
        raise RowError("embedding is no list of numbers") from None


def _first(row: Mapping[str, Any], *names: str) -> object:
    return next((row[name] for name in names if row.get(name) is not None), None)
