"""Where an extraction goes, by its kind and by who said it, and how much it matters."""

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


#: Of each kind, where no reader said how much it matters.
BASE: Mapping[ExtractionKind, float] = {
    "boundary": 0.8,
    "correction": 0.7,
    "decision": 0.7,
    "trust": 0.65,
    "marker": 0.6,
    "fact": 0.6,
    "dynamic": 0.6,
    "learning": 0.6,
    "preference": 0.55,
    "emotion": 0.45,
    "context": 0.4,
    "repetition": 0.4,
}
#: What a mark of its speaker adds.
MARKED = 0.2


def significance_of(kind: ExtractionKind, *, is_marked: bool = False) -> float:
    """The significance of an extraction of a kind, 0 to 1."""
    return round(min(1.0, BASE[kind] + (MARKED if is_marked else 0.0)), 3)


def valued_by_use(significance: float, utility: float) -> float:
    """The significance, given how useful extractions of its kind have been, from -1 to 1: it moves by as much as a mark
    does, at most."""
    return round(min(1.0, max(0.0, significance + MARKED * utility)), 3)
