"""One memory from one row (of JSONL, CSV or Parquet): any subset of the columns that includes `content`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

from memory_pipeline.ingest import values
from memory_pipeline.ingest.candidates import Candidate, RowError
from memory_pipeline.ingest.dates import names_a_day, parse_moment
from memory_pipeline.ingest.turns import speaker_of
from memory_pipeline.moments import minutes_ahead
from memory_pipeline.records import MADE, MEMORY_TYPES, MOST_OFFSET, TIME_QUALITIES, MemoryBase, Source
from memory_pipeline.records.columns import Column, columns_of
from memory_pipeline.text.entries import Entry, entry_text

_LINE = next(column for column in columns_of(Source) if column.name == "line")
#: Why such names are left out; a program may mean anything by that word.
PROJECT_NOT_READ = "names in a column 'project', which is not read: the column for a project is 'project_id'"
#: The columns that need no reading of their own.
_AS_GIVEN = [
    column
    for column in columns_of(MemoryBase)
    if column.name not in ("content", "source", "memory_type", "tags", "created_at_quality", "utc_offset")
]


def candidate_from_row(row: Mapping[str, Any], source: Source, default_zone: tzinfo, now: datetime | None) -> Candidate:
    """Read one row. Raises RowError that names the column and its unusable value.

    A row with a `role` is a turn of a conversation, with the tag `human` or `agent`; its time may be in `timestamp`. A
    row that states no memory type is typed by its words when it is admitted.
    """
    content = _content(row)
    role = values.text_value(row, "role")
    tags = values.labels(row, "tags")
    if role:  # one that is neither a human's nor an agent's keeps its own name
        tags = tuple(dict.fromkeys((*tags, speaker_of(role) or f"role:{role}")))
    when = values.first_of(row, "created_at", "timestamp", "date")
    created = parse_moment(when, default_zone, now)
    known = ("date" if names_a_day(when) else "exact") if created else "import"
    columns = {column.name: _value(row, column, default_zone, now) for column in _AS_GIVEN}
    if values.flag(row, "archived") and columns["archived_at"] is None:
        raise RowError("archived is true but archived_at is missing")
    stated = values.text_value(row, "memory_type") or ("conversation" if role else "")
    quality = row.get("created_at_quality")
    offset = values.whole_number(row, "utc_offset", -MOST_OFFSET, MOST_OFFSET)
    return Candidate(
        **{name: value for name, value in columns.items() if value is not None},
        content=content,
        source=_source(row, source),
        native_id=values.identifier(row.get("id"), "id"),
        project_id=values.identifier(row.get("project_id"), "project_id"),
        memory_type=stated if stated in MEMORY_TYPES else "other",
        typed_under=None if stated in MEMORY_TYPES else (stated,),
        tags=tags,
        created_at=_utc(created),
        utc_offset=minutes_ahead(created) if created and offset is None else offset or 0,
        created_at_quality=str(quality) if quality in TIME_QUALITIES else known,
        effective_date=_utc(parse_moment(row.get("effective_date"), default_zone, now, "effective_date")),
        source_links=_links(row),
        embedding=_vector(row),
        embedding_model=values.text_value(row, "embedding_model"),
    )


def names_project_otherwise(row: Mapping[str, Any]) -> bool:
    """True if a row names its project in a column that is not read."""
    named = row.get("project")
    return isinstance(named, str) and bool(named.strip()) and values.is_absent(row.get("project_id"))


def is_turn(row: Mapping[str, Any]) -> bool:
    """True if a row is a turn of a conversation: it has a role, and states no other type."""
    role, stated = row.get("role"), row.get("memory_type")
    return isinstance(role, str) and bool(role.strip()) and (values.is_absent(stated) or stated == "conversation")


def _value(row: Mapping[str, Any], column: Column, default_zone: tzinfo, now: datetime | None) -> Any:
    """The value of a column, or None if it is absent or empty."""
    name = column.name
    if column.kind is tuple:
        return values.labels(row, name)
    if column.kind is bool:
        return values.flag(row, name)
    if column.kind is float:
        return values.number(row, name, column.low, column.high)
    if column.kind is int:
        return values.whole_number(row, name, column.low, column.high)
    if column.kind is datetime:
        return _utc(parse_moment(row.get(name), default_zone, now, name))
    if column.is_json:
        content = values.mapping(row.get(name), name)
        return json.dumps(content, sort_keys=True) if content else None
    if column.is_id:
        return values.identifier(row.get(name), name)
    text = values.text_value(row, name)
    if text is not None and column.choices and text not in column.choices:
        raise RowError(f"{name} is {values.shown(text)}; use one of {', '.join(column.choices)}")
    return text


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC)


def _content(row: Mapping[str, Any]) -> str:
    value = row.get("content")
    if value is None and isinstance(row.get("recommendation"), str):
        value = _entry(row)
    if isinstance(value, list):  # blocks of a chat message: their text parts
        blocks = [part.get("text") for part in value if isinstance(part, Mapping)]
        value = "\n".join(block for block in blocks if isinstance(block, str))
    if not isinstance(value, str):
        raise RowError(
            "the row has no 'content'"
            if values.is_absent(value)
            else f"content is {values.shown(value)}, which is not text"
        )
    if not value.strip():
        raise RowError("content is empty")
    return values.check_storable(value, "content")


def _entry(row: Mapping[str, Any]) -> str:
    """A knowledge-base entry in its text form, from the fields title, recommendation and examples."""

    def text(fields: Mapping[str, Any], name: str) -> str:
        return values.text_value(fields, name, values.MAX_PATH) or ""

    examples = (item for item in values.listed(row, "examples") if isinstance(item, Mapping))
    told = tuple((text(item, "story"), text(item, "context")) for item in examples)
    return entry_text(Entry(text(row, "title"), (row["recommendation"],), told))


def _source(row: Mapping[str, Any], default: Source) -> Source:
    given = row.get("source")
    if not isinstance(given, Mapping) and not (isinstance(given, str) and given.startswith("{")):
        return default  # other tools store a name or an address under this word
    stated = values.mapping(given, "source")
    if not stated:
        return default
    connector = values.text_value(stated, "connector") or default.connector
    if connector == MADE and not row.get("sources") and not row.get("rolled_back_at"):
        connector = default.connector  # an empty value gives an empty one
    file = values.text_value(stated, "file", values.MAX_PATH)
    return Source(connector, file, values.whole_number(stated, "line", _LINE.low, _LINE.high))


def _links(row: Mapping[str, Any]) -> tuple[tuple[str, str, float], ...]:
    """Lineage: `sources` with relation and similarity if this program wrote it, else plain `source_ids`."""
    given = row.get("sources")
    if isinstance(given, str) and given:
        given = values.parsed(given, "sources")
    if isinstance(given, list) and given:
        return tuple(_link(entry) for entry in given[: values.MAX_SOURCES + 1])
    return tuple((source_id, "distilled", 1.0) for source_id in values.labels(row, "source_ids", values.MAX_SOURCES))


def _link(given: object) -> tuple[str, str, float]:
    if not isinstance(given, Mapping):
        raise RowError(
            f"an entry of sources is {values.shown(given)}, which is not an object with id, relation and similarity"
        )
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
        raise RowError("embedding is not a list of numbers") from None
