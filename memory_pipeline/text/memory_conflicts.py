"""Whether two memories contradict each other, and which of them is the newer word on something that can change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memory_pipeline.records import Conflict, Memory
from memory_pipeline.text.contradictions import Contradiction, find_contradiction
from memory_pipeline.text.entries import claim_of
from memory_pipeline.text.subject import states_of_another

#: The kind of a conflict that a model found; it is not judged again by its words.
BY_MODEL = "contradiction"


def contradiction_of(a: Memory, b: Memory) -> Contradiction | None:
    """The contradiction between two memories, or None."""
    if states_of_another(a, b):
        return None
    return find_contradiction(claim_of(a.content), claim_of(b.content), same_day=_are_of_one_day(a, b))


def newer_of(a: Memory, b: Memory) -> Memory | None:
    """The memory that supersedes the other one: it says later, on another day, how a setting, a preference or a state
    is now. None if the two contradict each other at one time, or about what does not change."""
    found = None if _are_of_one_day(a, b) else contradiction_of(a, b)
    if found is None or not found.can_change:
        return None
    return a if a.effective_date > b.effective_date else b


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


def clear_conflicts(conflicts: Iterable[Conflict], memories: Mapping[str, Memory]) -> list[Conflict]:
    """The conflicts that a person is asked to decide: what a model found, and what is clear by its words. The others
    keep two memories apart, and the newer one before the older. `memories`: the sides of the conflicts, by id."""
    return [
        conflict
        for conflict in conflicts
        if conflict.kind == BY_MODEL
        or ((found := contradiction_of(memories[conflict.a], memories[conflict.b])) is not None and found.is_clear)
    ]


def contradicting_ids(conflicts: Iterable[Conflict]) -> dict[str, tuple[str, ...]]:
    """By memory, the others with which it is in conflict."""
    found: dict[str, tuple[str, ...]] = {}
    for conflict in conflicts:
        for one, other in ((conflict.a, conflict.b), (conflict.b, conflict.a)):
            found[one] = (*found.get(one, ()), other)
    return found


def _are_of_one_day(a: Memory, b: Memory) -> bool:
    return a.day == b.day
