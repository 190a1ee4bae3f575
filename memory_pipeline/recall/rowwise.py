"""What ranking has to know of each row, and memories that are given, by row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.recall.neighbours import neighbours_in, places_table
from memory_pipeline.recall.ranking import Rowwise
from memory_pipeline.records import MADE, Source

#: How much use may raise a rank: at most a tenth, a twentieth for each doubling of the times it was called useful, a
#: hundredth for each doubling of the times it was recalled.
_MOST_FOR_USE, _FOR_USEFUL, _FOR_RECALLED = 0.1, 0.05, 0.01

#: Steps in which a chain of replacements is followed, each twice as long as the one before: only a circle needs more.
_DOUBLINGS = 24


class Searchable(Protocol):
    """What a search has to know of a memory."""

    @property
    def id(self) -> str: ...
    @property
    def project_id(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def memory_type(self) -> str: ...
    @property
    def effective_date(self) -> datetime: ...
    @property
    def day(self) -> date: ...
    @property
    def source(self) -> Source: ...
    @property
    def archived_at(self) -> datetime | None: ...
    @property
    def consolidated_into_id(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Listed:
    """Memories that were given, by row. `days`: datetime64[D] that each refers to; `was_noted`: whether no night made
    it."""

    ids: list[str]
    days: NDArray[np.datetime64]
    was_noted: NDArray[np.bool_]
    rowwise: Rowwise


def weights_of(
    archived: NDArray[np.bool_],
    superseded: NDArray[np.bool_],
    recalled: NDArray[np.int64],
    useful: NDArray[np.int64],
    archived_weight: float,
) -> NDArray[np.float64]:
    """The weight of each row in search: archived and superseded ones by the setting, and a little for use."""
    use = _FOR_USEFUL * np.log2(1.0 + useful) + _FOR_RECALLED * np.log2(1.0 + recalled)
    weight: NDArray[np.float64] = np.where(archived | superseded, archived_weight, 1.0) * (
        1.0 + np.minimum(use, _MOST_FOR_USE)
    )
    return weight


def ends_of(into: NDArray[np.int64], is_archived: NDArray[np.bool_]) -> NDArray[np.int64]:
    """By row, the active one at the end of its chain of replacements: itself if it is active, -1 if there is none.
    `into`: the row that replaced it, -1 for none."""
    ends = np.where(is_archived, into, np.arange(len(into)))
    for _ in range(_DOUBLINGS):
        following = np.where(ends >= 0, ends[ends], -1)
        if (following == ends).all():
            break
        ends = following
    return np.where((ends >= 0) & ~is_archived[ends], ends, -1)


def listed(memories: Sequence[Searchable], archived_weight: float, superseded: Collection[str] = ()) -> Listed:
    """What ranking has to know of memories; their uses do not count."""
    ids = [memory.id for memory in memories]
    row_of = {memory_id: row for row, memory_id in enumerate(ids)}
    archived = np.array([memory.archived_at is not None for memory in memories], dtype=bool)
    into = rows_of((memory.consolidated_into_id for memory in memories), row_of)
    older = np.array([memory_id in superseded for memory_id in ids], dtype=bool)
    none = np.zeros(len(ids), dtype=np.int64)
    before, after = neighbours_in(places_table([_place_of(memory) for memory in memories]))
    weight = weights_of(archived, older, none, none, archived_weight)
    days = np.array([memory.day for memory in memories], dtype="datetime64[D]")
    was_noted = np.array([memory.source.connector != MADE for memory in memories], dtype=bool)
    return Listed(ids, days, was_noted, Rowwise(before, after, weight, ends_of(into, archived)))


def rows_of(ids: Iterable[str | None], row_of: Mapping[str, int]) -> NDArray[np.int64]:
    """The rows of ids; -1 for none and for unknown ones."""
    return np.array([-1 if one is None else row_of.get(one, -1) for one in ids], dtype=np.int64)


def _place_of(memory: Searchable) -> tuple[object, ...]:
    """Where a memory stands, as a row of PLACE."""
    source, at = memory.source, memory.effective_date.astimezone(UTC).replace(tzinfo=None)
    return source.connector, source.file, source.line, at, memory.memory_type, memory.content
