"""Contradictions: two notes of one project that cannot both hold are linked for a person to decide.

A cross-encoder (`models/relations.py`) judges each note that is new to the project beside those that are nearest to it,
however they are worded. A night that takes the notes of many days judges those pairs that a night for each day would.
The conflict guard is another thing: it keeps two memories apart in case of doubt, which costs a few tokens, and no
person is asked.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np

from memory_pipeline.consolidation.context import Night
from memory_pipeline.models.conflicts import find_conflict, should_ask
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.models.embedders.minilm import MiniLM, is_installed
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.models.relations import chances_of_contradiction
from memory_pipeline.reading.classifier import routine_among
from memory_pipeline.records import (
    CONTRADICTION,
    IN_OTHER_WORDS,
    LIKELY,
    SERIES,
    Conflict,
    Memory,
    binds,
    is_series,
    matters_until,
)
from memory_pipeline.text.entries import claim_of, is_entry
from memory_pipeline.text.facts import content_words, locate_values
from memory_pipeline.text.normalise import line_shape
from memory_pipeline.text.steering import may_guide
from memory_pipeline.text.subject import titles_apart
from memory_pipeline.text.superseding import later_of
from memory_pipeline.text.whole import is_temporary
from memory_pipeline.workspace.worth import is_unmarked

#: Something that takes so many values is measured or happens again, and none of them contradicts another.
SERIES_OF_VALUES = 4
#: A new note is judged beside so many others, the nearest of at least this cosine, and beside what says one of them in
#: the same words: of 799 labelled contradictions 81% have it.
NEAREST, LEAST_COSINE = 3, 0.5
#: From this probability on the later of two notes likely takes back the other one. In a log of 398 notes with 45
#: planted changes 36 pairs of neighbours have it, 16 of them changes and none of 30 look-alikes.
LEAST_LIKELY = 0.2
#: Pairs that are judged, and rows that are compared with all others, before the run may end.
_JUDGED_AT_ONCE, _ROWS_AT_ONCE = 64, 512
#: What machines write: `key=value`, lists, records, arrows, ids of many parts, links; and what may end a statement.
_MACHINE = re.compile(r"\w=\S|[{}\[\]<>|]|→|->|\b\w+_\d{6,}|https?://")
_CLOSING = " \t*_\"'”’).!"
#: The number of a night before all others.
_LONG_AGO = -(1 << 40)
#: Of so many that a float32 product finds the nearest are chosen by exact scores.
_LOOKED_AT = 8


def link_contradictions(night: Night, project: str, ids: Sequence[str], fresh: Sequence[str]) -> None:
    """Link the contradictions between new memories of a project and others of it. Of one that is only likely no person
    is asked: a search puts the later side first. `ids`: the project's memories, including the fresh ones."""
    if not (fresh and looks_for_contradictions(night)):
        return
    embedded_ids, vectors = night.vectors_of(ids)
    with night.store.reading() as tx:
        new = tx.memories.read(fresh)
    first_nights = {memory_id: _first_night(night, memory) for memory_id, memory in new.items()}
    pairs = nearest_pairs(embedded_ids, vectors, first_nights, partial(_words_of, night))
    with night.store.reading() as tx:
        series_before = tx.conflicts.series_shapes(project)
        known = {(conflict.a, conflict.b) for conflict in tx.conflicts.open() if conflict.project_id == project}
        known.update(tx.conflicts.likely(project))
        memories = tx.memories.read({side for pair in (*pairs, *known) for side in pair})
        scopes = tx.conflicts.scopes_of(list(memories))
    routine: frozenset[str] = frozenset()
    if night.embedder.name == MiniLM.name:  # the classifier of notes knows its vectors alone
        unmarked = [memory for memory in memories.values() if is_unmarked(memory)]
        routine = routine_among(unmarked, dict(zip(embedded_ids, vectors, strict=True)))
    judged = {
        pair: _claims_of(memories[pair[0]], memories[pair[1]])
        for pair in sorted(pairs)
        if pair not in known and not routine.issuperset(pair) and not _apply_apart(pair, scopes)
        if _may_contradict(memories[pair[0]], memories[pair[1]])
    }
    chances = _judge(night, judged)
    asked = {pair for pair, chance in chances.items() if routine.isdisjoint(pair) and should_ask(*judged[pair], chance)}
    likely = {
        (a, b)
        for (a, b), chance in chances.items()
        if chance >= LEAST_LIKELY and _may_give_way(memories[a], memories[b], night.critical_floor)
    }
    linked_by_now = known | asked | likely
    measured = series_before | _measured((memories[a].content, memories[b].content) for a, b in linked_by_now)
    series = {pair for pair in linked_by_now if line_shape(memories[pair[0]].content) in measured}
    linked = [
        Conflict(project, *pair, CONTRADICTION if pair in asked else LIKELY, differing(*judged[pair]), pairs[pair])
        for pair in sorted((asked | likely) - series)
    ]
    if linked or known & series:
        with night.writing() as tx:
            tx.conflicts.resolve(sorted(series), SERIES)
            tx.conflicts.record(linked, night.as_of)


def _judge(night: Night, claims: Mapping[tuple[str, str], tuple[str, str]]) -> dict[tuple[str, str], float]:
    """By pair, the probability that its claims contradict each other."""
    chances: dict[tuple[str, str], float] = {}
    left = list(claims)
    while some := left[:_JUDGED_AT_ONCE]:
        night.keep_going()
        del left[:_JUDGED_AT_ONCE]
        chances.update(zip(some, chances_of_contradiction([claims[pair] for pair in some]), strict=True))
    return chances


def _may_contradict(a: Memory, b: Memory) -> bool:
    """True if two memories may say something of one thing. What sums up readings, turns of a conversation, entries of a
    knowledge base, what is temporary or tries to steer its reader, a question, a line of a machine beside another one,
    and what another one says word for word contradict nothing."""
    if any(is_series(memory) or is_entry(memory.content) or memory.memory_type == "conversation" for memory in (a, b)):
        return False
    if any(is_temporary(memory.content, memory.tags) or not may_guide(memory) for memory in (a, b)):
        return False
    one, other = claim_of(a.content), claim_of(b.content)
    is_asked = one.rstrip(_CLOSING).endswith("?") or other.rstrip(_CLOSING).endswith("?")
    are_of_machines = _MACHINE.search(one) is not None and _MACHINE.search(other) is not None
    return not (is_asked or are_of_machines or one.rstrip(_CLOSING) in other or other.rstrip(_CLOSING) in one)


def _may_give_way(a: Memory, b: Memory, critical_floor: float) -> bool:
    """True if the earlier of two memories may stand behind the later one, which only likely takes it back: no rule or
    preference of the human may, nothing that is pinned or critical, and nothing behind what holds for a while."""
    later = later_of(a, b)
    if later is None or matters_until(later.tags):
        return False
    earlier = a if later is b else b
    return not (earlier.pinned or earlier.importance >= critical_floor or binds(earlier.tags))


def _claims_of(a: Memory, b: Memory) -> tuple[str, str]:
    """What two memories claim, behind their headings where these say that it is of different things."""
    one, other = claim_of(a.content), claim_of(b.content)
    titles = titles_apart(a, b)
    return (f"{titles[0]}: {one}", f"{titles[1]}: {other}") if titles else (one, other)


def _apply_apart(pair: tuple[str, str], scopes: Mapping[str, Sequence[str]]) -> bool:
    """True if a person said that both hold, each in another place, also in words edited since."""
    a, b = (set(scopes.get(side, ())) for side in pair)
    return bool(a and b) and a.isdisjoint(b)


def _measured(pairs: Iterable[tuple[str, str]]) -> set[str]:
    """The shapes of lines of which so many contradict each other that something is measured, or happens again."""
    values: dict[str, set[str]] = defaultdict(set)
    for one, other in pairs:
        if (shape := line_shape(one)) == line_shape(other):
            values[shape] |= {one, other}
    return {shape for shape, contents in values.items() if len(contents) >= SERIES_OF_VALUES}


def looks_for_contradictions(night: Night) -> bool:
    """True if a night looks for contradictions: where words alone are compared, no model is to run."""
    return night.embedder.name != Lexical.name and is_installed()


def _first_night(night: Night, memory: Memory) -> int:
    """The number of the first night that takes a memory."""
    return -((datetime(1970, 1, 1, tzinfo=UTC) - night.ripe_at(memory)) // timedelta(days=1))


def _words_of(night: Night, ids: Collection[str]) -> dict[str, frozenset[str]]:
    contents = night.contents(ids)
    return {memory_id: frozenset(content_words(claim_of(content))) for memory_id, (_, content) in contents.items()}


def _each_its_own(ids: Collection[str]) -> Mapping[str, Hashable]:
    return {memory_id: memory_id for memory_id in ids}


def nearest_pairs(
    ids: Sequence[str],
    vectors: Vectors,
    fresh: Mapping[str, int],
    words_of: Callable[[Collection[str]], Mapping[str, Hashable]] = _each_its_own,
) -> dict[tuple[str, str], float]:
    """The cosine of each fresh memory and the nearest others, by pair, the smaller id first; those of the same words
    count once, and those of its own not at all. `vectors`: float32 (n, d) of unit length, in the order of `ids`;
    `fresh`: the number of the first night of each, and beside it stands no fresh memory of a later one; `words_of`: the
    words of memories, by id."""
    near_of: dict[str, list[tuple[float, str]]] = {}
    wanted = [row for row, memory_id in enumerate(ids) if memory_id in fresh]
    nights = np.array([fresh.get(memory_id, _LONG_AGO) for memory_id in ids], dtype=np.int64)
    for start in range(0, len(wanted), _ROWS_AT_ONCE):
        rows = wanted[start : start + _ROWS_AT_ONCE]
        cosines = np.where(nights[rows, None] >= nights, vectors[rows] @ vectors.T, np.float32(-2))
        proposed = np.argpartition(-cosines, min(_LOOKED_AT, len(ids) - 1))[:, : _LOOKED_AT + 1]
        for row, near in zip(rows, proposed, strict=True):
            near = near[nights[near] <= nights[row]]
            exact = vectors[near].astype(np.float64) @ vectors[row].astype(np.float64)
            others = zip((-exact).tolist(), (ids[place] for place in near), strict=True)
            near_of[ids[row]] = sorted((score, i) for score, i in others if i != ids[row] and -score >= LEAST_COSINE)
    words = words_of({*near_of, *(i for nearest in near_of.values() for _, i in nearest)})
    pairs: dict[tuple[str, str], float] = {}
    for memory_id, nearest in near_of.items():
        told = {words[memory_id]}
        for score, i in nearest:
            if words[i] in told or len(told) <= NEAREST:
                told.add(words[i])
                pairs[min(memory_id, i), max(memory_id, i)] = -score
    return pairs


def differing(one: str, other: str) -> str:
    """The words in which two claims differ, as they are written: what the guard finds, or the values that only one of
    them has."""
    finding = find_conflict(one, other)
    if finding is not None:
        return finding.detail
    values = [{fact.text for fact, _, _ in locate_values(text)} for text in (one, other)]
    sides = [", ".join(sorted(mine - others)) for mine, others in (values, values[::-1])]
    return " / ".join(filter(None, sides)) or IN_OTHER_WORDS
