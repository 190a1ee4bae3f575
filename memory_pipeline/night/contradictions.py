"""Links the contradictions among the eligible memories, for a person to settle, and closes those that turn out to be
none.

The pairs come from two places: from the similarity pass, and from texts that begin or end alike, because one other
name in a sentence may lower its cosine below every threshold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memory_pipeline.knowledge.contradictions import BY_MODEL, contradiction_of
from memory_pipeline.night.context import Night
from memory_pipeline.records import SERIES, Conflict
from memory_pipeline.wording.contradictions import Contradiction

#: Something that takes so many values is measured or happens again, and none of them contradicts another.
SERIES_OF_VALUES = 4
#: How a night closes a conflict between statements that can both be true; between readings, it is SERIES.
COMPATIBLE = "compatible"


@dataclass(frozen=True, slots=True)
class _Case:
    conflict: Conflict
    found: Contradiction


def link_contradictions(night: Night, candidates: Sequence[Conflict]) -> None:
    """Record the contradictions among the candidates of the similarity pass, and close open conflicts that are none,
    as an earlier version found them or because of what has been told since."""
    with night.store.reading() as tx:
        known = [conflict for conflict in tx.conflicts.open() if conflict.kind != BY_MODEL]
        pairs = {(conflict.a, conflict.b): conflict for conflict in (*candidates, *known)}
        memories = tx.memories.read({side for pair in pairs for side in pair})
    cases: list[_Case] = []
    closed: dict[str, list[tuple[str, str]]] = {SERIES: [], COMPATIBLE: []}
    for pair, conflict in sorted(pairs.items()):
        found = contradiction_of(memories[pair[0]], memories[pair[1]])
        if found is None:
            closed[COMPATIBLE].append(pair)
        else:
            cases.append(_Case(replace(conflict, kind=found.kind, detail=found.detail), found))
    repeated = _repeated(cases)
    closed[SERIES] = [(case.conflict.a, case.conflict.b) for case in cases if _subject(case) in repeated]
    new = [case.conflict for case in cases if _subject(case) not in repeated]
    before = {(conflict.a, conflict.b) for conflict in known}
    if any((c.a, c.b) not in before for c in new) or any(before & set(pairs) for pairs in closed.values()):
        with night.writing() as tx:
            tx.conflicts.record(new, night.as_of)
            for resolution, settled in closed.items():
                tx.conflicts.resolve(settled, resolution)


def link_alike(night: Night, ids: Sequence[str], fresh: Sequence[str]) -> None:
    """Record the contradictions of fresh memories with others of their project whose texts begin or end alike,
    however low their cosine. `ids`: the project's memories, including the fresh ones."""
    with night.store.reading() as tx:
        pairs = tx.conflicts.pairs_alike(ids, set(fresh), night.embedder.name)
        memories = tx.memories.read({side for pair in pairs for side in (pair.a, pair.b)})
    found = [(pair, contradiction_of(memories[pair.a], memories[pair.b])) for pair in pairs]
    conflicts = [replace(pair, kind=one.kind, detail=one.detail) for pair, one in found if one is not None]
    if conflicts:
        with night.writing() as tx:
            tx.conflicts.record(conflicts, night.as_of)


def _subject(case: _Case) -> tuple[str, str]:
    return case.conflict.project_id, case.found.about


def _repeated(cases: Iterable[_Case]) -> set[tuple[str, str]]:
    """Projects and subjects with so many values that they are a series."""
    told: dict[tuple[str, str], set[str]] = {}
    for case in cases:
        told.setdefault(_subject(case), set()).update(side.casefold() for side in case.found.sides)
    return {subject for subject, values in told.items() if len(values) >= SERIES_OF_VALUES}
