"""Established statements: what a reader kept, and notes of several days say independently, is a pattern as it stands.

A reader unites what notes say again, so that no cluster of them is left to be distilled. The statement is no question
to a model: its words become the pattern's, and the statement is archived into it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from memory_pipeline.consolidation.clustering import describe_cluster, mark_settled
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillers.judge import evidence_confidence, independent_witnesses, single_orders
from memory_pipeline.models.conflicts import find_conflict
from memory_pipeline.records import (
    ESTABLISHED,
    LEVEL_MERGED,
    MADE,
    Cluster,
    Distillation,
    EligibleMemory,
    Measured,
    Memory,
    offset_of_newest,
)
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.preservation import check_preservation

#: Independent notes that a pattern rests on at least, and their days: as many as patterns behind a principle.
LEAST_NOTES = 3
#: The share of an earlier statement's words that one has which stands for its notes too.
_CARRIED = 0.9
VERSION = "established-1"
#: The pattern that statements of a kind are. What passes (threads, context, emotions), plain facts and corrections are
#: none, however often they are said.
_PATTERN_OF: Mapping[str, str] = {
    **dict.fromkeys(("lesson", "procedure", "rule", "preference", "boundary", "trust", "dynamic"), "workflow"),
    "decision": "decision",
    "cause": "failure",
}


def find_established(night: Night, eligible: Sequence[EligibleMemory]) -> list[Cluster]:
    """A cluster for each statement that notes establish: the statement, with the notes behind those that it replaced
    and says again. `eligible`: what merging left.

    At least LEAST_NOTES notes of as many days say it, of which copies of one text count once. What tells its reader
    what to do, and no two sources say in words of their own, stays a statement.
    """
    with night.store.reading() as tx:
        often = tx.readings.often_told(LEAST_NOTES)
        memories = tx.memories.read([row.id for row in eligible if row.id in often])
        statements = {i: memory for i, memory in memories.items() if _pattern_type(memory) is not None}
        behind = _notes_behind(night, list(statements.values()))
    least, clusters = night.settings.consolidation.confidence.min, []
    for i, statement in sorted(statements.items()):
        own, inherited = behind[i]
        notes = independent_witnesses([*own, *inherited])
        if min(len(notes), len({note.day for note in notes})) < LEAST_NOTES:
            continue
        if evidence_confidence(notes) < least or single_orders(statement.content, notes):
            continue
        clusters.append(describe_cluster([statement, *inherited], [1.0], ESTABLISHED))
    return mark_settled(night, ESTABLISHED, clusters)


def _pattern_type(memory: Memory) -> str | None:
    """The pattern that a statement is, also one that was merged of statements; None for what is none."""
    if memory.source.connector != MADE or memory.abstraction_level != LEVEL_MERGED:
        return None
    kinds = (tag.removeprefix("kind:") for tag in memory.tags if tag.startswith("kind:"))
    return next((_PATTERN_OF[kind] for kind in kinds if kind in _PATTERN_OF), None)


def _notes_behind(night: Night, statements: Sequence[Memory]) -> dict[str, tuple[list[Memory], list[Memory]]]:
    """By statement, the raw notes that say it: its own, and the others of the statements that it replaced without
    losing or contradicting anything of them."""
    with night.store.reading() as tx:
        older = tx.lineage.replaced_by([statement.id for statement in statements])
        memories = tx.memories.read(chain.from_iterable(older.values()))
    older_ids = {
        statement.id: [i for i in older[statement.id] if _says_all_of(statement, memories[i])]
        for statement in statements
    }
    witnesses = night.witnesses([*older_ids, *chain.from_iterable(older_ids.values())])
    behind = {}
    for i, ids in older_ids.items():
        own = {note.id: note for note in witnesses.get(i, ())}
        others = {note.id: note for older_id in ids for note in witnesses.get(older_id, ())}
        behind[i] = (list(own.values()), [note for note in others.values() if note.id not in own])
    return behind


def _says_all_of(statement: Memory, older: Memory) -> bool:
    """True if a statement still says what one that it replaced said: its facts, and nearly all of its words. What takes
    the older one back leaves out the word that mattered."""
    words, statement_words = content_words(older.content), set(content_words(statement.content))
    if sum(word in statement_words for word in words) < _CARRIED * len(words):
        return False
    lost = check_preservation([older.content], statement.content, ()).lost
    return not lost and find_conflict(statement.content, older.content) is None


def establish(night: Night, cluster: Cluster) -> Distillation:
    """The pattern that a statement becomes, in its own words."""
    members = list(night.memories(cluster.member_ids).values())
    statement = next(memory for memory in members if _pattern_type(memory) is not None)
    behind = [note for notes in _notes_behind(night, [statement])[statement.id] for note in notes]
    return Distillation(
        cluster=cluster,
        similarities=tuple(1.0 for _ in cluster.member_ids),
        content=statement.content,
        outcome="accepted",
        measured=Measured.of(statement.token_count, statement.token_count),
        method="llm",
        prompt_version=VERSION,
        memory_type=statement.memory_type,
        categories=statement.categories,
        importance=max(1.0, statement.importance),
        effective_date=max(memory.effective_date for memory in members),
        oldest_source_at=min(memory.effective_date for memory in (*members, *behind)),
        utc_offset=offset_of_newest(members),
        pattern_type=_pattern_type(statement),
        confidence=round(evidence_confidence(behind), 4),
        relation=ESTABLISHED,
        tags=statement.tags,
        stays=tuple(i for i in cluster.member_ids if i != statement.id),
    )
