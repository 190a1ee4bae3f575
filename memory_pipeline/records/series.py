"""What a series memory keeps of its series besides its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: The policy and the relation of series memories, and the name of the step that makes them.
SERIES: Final = "series"
#: The relation of a part of a series memory to that memory.
PART: Final = "part"


@dataclass(frozen=True, slots=True)
class SeriesPart:
    """What a memory of its own says beside a series memory, where one has no room for all: its words and tokens."""

    content: str
    token_count: int


@dataclass(frozen=True, slots=True)
class SeriesFacts:
    """The shapes of its lines, the form of its words, the number of readings, the number of memories of these shapes
    when it was made, and the readings that break the series."""

    shapes: tuple[str, ...]
    words: str
    readings: int
    seen: int
    breaking_ids: tuple[str, ...] = ()
