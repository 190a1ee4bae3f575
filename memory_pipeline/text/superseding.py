"""The conclusions from linked contradictions: which memory is newer, which ones speak against each other, and which
contradictions are of one thing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memory_pipeline.records import Conflict, Memory
from memory_pipeline.text.normalise import line_shape


def later_of(a: Memory, b: Memory) -> Memory | None:
    """Of two memories the one of the later day; None for two of one day, or if nobody knows when one of them was
    said."""
    if a.undated or b.undated or a.day == b.day:
        return None
    return a if a.effective_date > b.effective_date else b


def newer_of(a: Memory, b: Memory) -> Memory | None:
    """Of two memories that contradict each other the one that supersedes the other: what gives other values in the same
    words on a later day. None for two of one day, or if nobody knows when one of them was said; and where words differ,
    since then both may be true after all: an allergy to nuts ends none to penicillin."""
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


def contradicting_ids(conflicts: Iterable[Conflict]) -> dict[str, tuple[str, ...]]:
    """By memory, the others with which it is in conflict."""
    opponents: dict[str, tuple[str, ...]] = {}
    for conflict in conflicts:
        for one, other in ((conflict.a, conflict.b), (conflict.b, conflict.a)):
            opponents[one] = (*opponents.get(one, ()), other)
    return opponents


def group_conflicts(conflicts: Sequence[Conflict]) -> list[list[Conflict]]:
    """Conflicts that share a memory, directly or through others, in one group: a person is asked once about each. Those
    in which the fewest words differ come first, in each group and among the groups; equals stay in the given order."""
    linked: dict[str, str] = {}

    def first(memory_id: str) -> str:
        while (other := linked.setdefault(memory_id, memory_id)) != memory_id:
            linked[memory_id], memory_id = linked[other], other
        return memory_id

    for conflict in conflicts:
        linked[first(conflict.a)] = first(conflict.b)
    groups: dict[str, list[Conflict]] = {}
    for conflict in sorted(conflicts, key=plainness):
        groups.setdefault(first(conflict.a), []).append(conflict)
    return list(groups.values())


def plainness(conflict: Conflict) -> int:
    """How many differing words a conflict has beside the first: the fewer, the plainer it is."""
    return conflict.detail.count(",")
