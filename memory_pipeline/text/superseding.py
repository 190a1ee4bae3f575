"""The conclusions from linked contradictions: which memory is newer, which ones speak against each other, and which
contradictions are of one thing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple, TypeVar

from memory_pipeline.records import Conflict, Memory, connected_groups
from memory_pipeline.text.normalise import line_shape

_Placed = TypeVar("_Placed", bound=Hashable)


class Opponent(NamedTuple):
    """A memory that contradicts another one. `later_on`: its day, if it is known to be the later word."""

    id: str
    later_on: date | None = None


def later_of(a: Memory, b: Memory) -> Memory | None:
    """Of two memories the one of a later day; None for two of one day, or if nobody knows when one of them was said."""
    if a.undated or b.undated or a.day == b.day:
        return None
    return a if a.day > b.day else b


def newer_of(a: Memory, b: Memory) -> Memory | None:
    """Of two memories that contradict each other the one that supersedes the other: what gives other values in the same
    words on a later day. None where words differ, since then both may be true after all: an allergy to nuts ends none
    to penicillin."""
    return later_of(a, b) if line_shape(a.content) == line_shape(b.content) else None


def superseded_ids(conflicts: Iterable[Conflict], memories: Mapping[str, Memory]) -> dict[str, str]:
    """By memory that a newer one supersedes, the newest of these. `memories`: the sides of the conflicts, by id."""
    newest: dict[str, Memory] = {}
    for conflict in conflicts:
        a, b = memories[conflict.a], memories[conflict.b]
        newer = newer_of(a, b)
        if newer is not None:
            older = b.id if newer.id == a.id else a.id
            newest[older] = max(newest.get(older, newer), newer, key=lambda memory: (memory.effective_date, memory.id))
    return {older: newer.id for older, newer in newest.items()}


def opponents_of(conflicts: Iterable[Conflict], memories: Mapping[str, Memory]) -> dict[str, tuple[Opponent, ...]]:
    """By memory, those that contradict it and are not the earlier word, latest first. `memories`: the sides, by id."""
    opponents: dict[str, list[Opponent]] = defaultdict(list)
    for conflict in conflicts:
        later = later_of(memories[conflict.a], memories[conflict.b])
        for one, other in ((conflict.a, conflict.b), (conflict.b, conflict.a)):
            if later is None or later.id == other:
                opponents[one].append(Opponent(other, later.day if later else None))
    return {
        one: tuple(sorted(others, key=lambda other: (other.later_on or date.min, other.id), reverse=True))
        for one, others in opponents.items()
    }


def doubt_of(later_on: object) -> str:
    """What is said of a memory that another one contradicts. `later_on`: the day of this one, if it is later."""
    return f"a later note of {later_on} says otherwise" if later_on else "another note says otherwise"


def put_later_first(order: Sequence[_Placed], later_ones: Mapping[_Placed, Iterable[_Placed]]) -> list[_Placed]:
    """The order in which before each stand the later ones that contradict it: directly before it, if they stood behind.
    All others follow each other as they did. `later_ones`: of each, the latest first; of a circle the order is not
    defined."""
    known, placed = set(order), dict[_Placed, None]()
    for one in order:
        waiting = [one]
        while waiting:
            later = (
                each
                for each in later_ones.get(waiting[-1], ())
                if each in known and each not in placed and each not in waiting
            )
            first = next(later, None)
            if first is None:
                placed[waiting.pop()] = None
            else:
                waiting.append(first)
    return list(placed)


def group_conflicts(conflicts: Sequence[Conflict]) -> list[list[Conflict]]:
    """Conflicts that share a memory, directly or through others, in one group: a person is asked once about each. Those
    in which the fewest words differ come first, in each group and among the groups; equals stay in the given order."""
    ids = dict.fromkeys(side for conflict in conflicts for side in (conflict.a, conflict.b))
    connected = connected_groups(ids, ((conflict.a, conflict.b) for conflict in conflicts))
    number = {memory_id: n for n, group in enumerate(connected) for memory_id in group}
    groups: dict[int, list[Conflict]] = {}
    for conflict in sorted(conflicts, key=plainness):
        groups.setdefault(number[conflict.a], []).append(conflict)
    return list(groups.values())


def plainness(conflict: Conflict) -> int:
    """How many differing words a conflict has beside the first: the fewer, the plainer it is."""
    return conflict.detail.count(",")
