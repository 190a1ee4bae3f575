"""Which memories stand beside each other in a conversation or a log.

What a turn means often stands in the turn before it. A stand-alone fact, a lesson or an abstraction has no neighbours.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.records import MADE

#: Entries of one file that are further apart than this belong to different conversations.
_APART = timedelta(hours=6)
#: A log or a transcript is named by its day.
_NAMED_BY_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_SPEAKER = re.compile(r"\s*(?:\[[^\]]{1,40}\]\s*)?([^\W\d_][\w .'-]{0,30}?)\s*:\s")
#: A file whose rows begin with the names of few speakers is a conversation.
_LEAST_TURNS, _SHARE_OF_TURNS, _MOST_SPEAKERS = 4, 0.8, 12


class Place(NamedTuple):
    """Where a memory stands: its row, source, time, type, and the name of its speaker, if it begins with one."""

    row: int
    connector: str
    file: str | None
    line: int | None
    at: datetime
    memory_type: str
    speaker: str | None


Stream = tuple[str, str | None]


def speaker_of(content: str) -> str | None:
    """The name that a text begins with, as `Dana: ...` does."""
    found = _SPEAKER.match(content[:80])
    return found[1].casefold() if found else None


def in_order(places: Sequence[Place]) -> list[int]:
    """The rows of one stream (connector and file) in their order, if it is a conversation or a log; none otherwise."""
    if not places or places[0].connector == MADE:
        return []
    is_log = places[0].file is not None and bool(_NAMED_BY_DAY.search(places[0].file))
    if not is_log:
        turns = [place for place in places if place.memory_type == "conversation"]
        places = places if _speak_in_turns(places) else turns
    by_line = all(place.line is not None for place in places)
    ordered = sorted(places, key=lambda place: (place.line if by_line else 0, place.at, place.row))
    return [place.row for place in ordered]


def link_rows(streams: Iterable[Sequence[Place]], before: NDArray[np.int64], after: NDArray[np.int64]) -> None:
    """Set the neighbours of every row of these streams in two arrays by row, -1 for none."""
    for places in streams:
        at = {place.row: place.at for place in places}
        rows = list(at)
        before[rows] = after[rows] = -1
        ordered = in_order(places)
        for one, other in pairwise(ordered):
            if abs(at[other] - at[one]) <= _APART:
                after[one], before[other] = other, one


def streams_of(places: Iterable[Place]) -> dict[Stream, list[Place]]:
    """Places by connector and file."""
    streams: dict[Stream, list[Place]] = defaultdict(list)
    for place in places:
        streams[place.connector, place.file].append(place)
    return streams


def _speak_in_turns(places: Sequence[Place]) -> bool:
    speakers = Counter(place.speaker for place in places if place.speaker)
    recurring = {name: count for name, count in speakers.items() if count >= 2}
    turns = sum(recurring.values())
    return turns >= max(_LEAST_TURNS, _SHARE_OF_TURNS * len(places)) and 2 <= len(recurring) <= _MOST_SPEAKERS
