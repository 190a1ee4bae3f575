"""What a series memory keeps of its series besides its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from memory_pipeline.records.memory import MADE, Memory

#: The policy and the relation of series memories, and the name of the step that makes them.
SERIES: Final = "series"
#: Readings, and days with one, that make a series.
LEAST_READINGS, LEAST_DAYS = 5, 2
#: The most tokens of a series memory.
MOST_TOKENS = 160


@dataclass(frozen=True, slots=True)
class SeriesFacts:
    """The shapes of its lines, the form of its words, the number of readings, the number of memories of these shapes
    when it was made, and the readings that break the series."""

    shapes: tuple[str, ...]
    words: str
    readings: int
    seen: int
    breaking_ids: tuple[str, ...] = ()


def is_series(memory: Memory) -> bool:
    """Whether a memory says what readings of one series amount to."""
    return memory.source.connector == MADE and memory.source.file == SERIES


def only_counts(memory: Memory) -> bool:
    """Whether a series memory tells no more than how often its line came, because nothing in it varies. It is found,
    but neither a context nor an export gives it."""
    return is_series(memory) and memory.memory_type == "other"
