"""Where an extraction goes: the one decision table, by its kind and by who said it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memory_pipeline.records import Destination, Extraction, ExtractionKind, Speaker


@dataclass(frozen=True, slots=True)
class Route:
    """Where the extractions of a kind go. `is_inferred`: several sentences show it, and none says it. `in_daily_log`:
    the daily log has it too."""

    destination: Destination
    is_inferred: bool = False
    in_daily_log: bool = False


_DROP = Route("drop")
#: Only a human's own words reach USER.md.
ROUTES: Mapping[tuple[ExtractionKind, Speaker], Route] = {
    ("marker", "human"): Route("memory"),
    ("marker", "agent"): _DROP,
    ("correction", "human"): Route("memory"),
    ("correction", "agent"): Route("memory"),
    ("trust", "human"): Route("relational"),
    ("trust", "agent"): _DROP,
    ("boundary", "human"): Route("relational"),
    ("boundary", "agent"): _DROP,
    ("repetition", "human"): Route("user", is_inferred=True),
    ("repetition", "agent"): _DROP,
    ("emotion", "human"): Route("user"),
    ("emotion", "agent"): _DROP,
    ("decision", "human"): Route("memory", in_daily_log=True),
    ("decision", "agent"): Route("memory", in_daily_log=True),
    ("fact", "human"): Route("user"),
    ("fact", "agent"): _DROP,
    ("preference", "human"): Route("user"),
    ("preference", "agent"): Route("soul"),
    ("dynamic", "human"): Route("relational"),
    ("dynamic", "agent"): Route("relational"),
    ("learning", "human"): Route("memory"),
    ("learning", "agent"): Route("soul"),
    ("context", "human"): Route("memory"),
    ("context", "agent"): Route("memory"),
}


def route_of(extraction: Extraction, least: float = 0.0) -> Route:
    """Where an extraction goes. One that matters less than `least` is dropped, unless its speaker marked it."""
    if extraction.significance < least and not extraction.priority:
        return _DROP
    return ROUTES[extraction.kind, extraction.speaker]


#: What an extraction becomes that goes to memory, by its kind.
MEMORY_TYPE: Mapping[ExtractionKind, str] = {
    "marker": "fact",
    "correction": "fact",
    "decision": "decision",
    "learning": "lesson",
    "context": "fact",
}
#: Added to the significance of an extraction: its importance as a memory, which is never critical.
IMPORTANCE = 0.6


def importance_of(extraction: Extraction) -> float:
    """The importance of the memory that an extraction becomes: 0.6 to 1.6. What somebody says never makes it more."""
    return round(IMPORTANCE + extraction.significance, 3)
