"""Eligibility: which memories the night may cluster.

Eligible memories are below the critical floor, not distilled from others, not archived, not pinned, of level 0 or 1, at
least 24 hours old as of the night, no readings (series.py), and have a vector of the current model.
"""

from __future__ import annotations

from datetime import timedelta

from memory_pipeline.consolidation.context import PAGE, Night
from memory_pipeline.consolidation.review.proposals import find_awaiting
from memory_pipeline.errors import EmbeddingError
from memory_pipeline.records import LEAST_READINGS, LEVEL_RAW, MADE, DuplicateGroup, EligibleMemory, Memory
from memory_pipeline.text.entries import is_entry
from memory_pipeline.text.kinds import OTHER, kind_of
from memory_pipeline.text.normalise import line_shape

_LINES_AT_ONCE = 2000


def select_eligible(night: Night, duplicates: list[DuplicateGroup]) -> list[EligibleMemory]:
    """The eligible memories, ordered by creation time and id, after embedding those without a vector.

    `duplicates` are excluded (in a dry run they are not archived). With fewer active memories than
    `compression.min_active_memories`, nothing is eligible. If the embedder fails, the error is recorded and only
    memories with a vector take part.
    """
    night.hold_lease()
    if too_few(night) is not None:
        return []
    try:
        night.embed_missing()
    except EmbeddingError as error:
        night.note_error("", "embed", error)
    note_shapes(night)
    created_from = night.as_of - timedelta(days=night.options.days) if night.options.days else None
    copies = {memory_id for group in duplicates for memory_id in group.duplicate_ids}
    with night.store.reading() as tx:
        readings = tx.series.reading_ids(tx.series.reading_shapes(night.fresh_after, LEAST_READINGS))
        left_alone = copies | find_awaiting(tx) | readings
        left_alone |= tx.conversations.turns_kept_elsewhere(night.as_of)
    eligible: list[EligibleMemory] = []
    after: Memory | None = None
    while True:
        with night.store.reading() as tx:
            page = tx.memories.candidates(
                created_before=night.fresh_after,
                created_from=created_from,
                as_of=night.as_of,
                critical_floor=night.critical_floor,
                after=after,
                most=PAGE,
            )
            embedded = tx.vectors.embedded([m.id for m in page], night.embedder.name, night.embedder.dimension)
            witnesses = tx.lineage.witnesses_of([m.id for m in page if m.source.connector == MADE])
        eligible += [
            as_eligible(memory, len(witnesses.get(memory.id, (memory.id,))))
            for memory in page
            if memory.id in embedded
            and memory.id not in left_alone
            and night.may_touch(memory.project_id)
            and _is_in_scope(night, memory)
        ]
        if len(page) < PAGE:
            return eligible
        after = page[-1]


def note_shapes(night: Night) -> None:
    """Find and keep the shape of every raw memory that has none yet."""
    while True:
        with night.store.reading() as tx:
            page = tx.series.without_shape(_LINES_AT_ONCE)
        if not page:
            return
        shapes = {memory_id: line_shape(content) for memory_id, content in page}
        night.hold_lease()
        with night.writing() as tx:
            tx.series.keep_shapes(shapes)


def _is_in_scope(night: Night, memory: Memory) -> bool:
    """True if this memory is in the scope of the run; a night includes all."""
    scope = night.options
    if scope.memory_types and memory.memory_type not in scope.memory_types:
        return False
    if scope.unconsolidated_only and memory.abstraction_level != LEVEL_RAW:
        return False
    day = memory.created_at.date()
    return (scope.first_day is None or day >= scope.first_day) and (scope.last_day is None or day <= scope.last_day)


def too_few(night: Night) -> str | None:
    """The reason why the night ends early, or None: it began with fewer active memories than the setting requires."""
    least = night.settings.compression.min_active_memories
    with night.store.reading() as tx:
        count = tx.memories.count_before_night(night.as_of)
    return f"Insufficient memories (min {least}, found {count})" if count < least else None


def as_eligible(memory: Memory, stands_for: int) -> EligibleMemory:
    """The fields of a memory that clustering needs; `stands_for`: the number of raw memories it was merged from."""
    return EligibleMemory(
        id=memory.id,
        project_id=memory.project_id,
        memory_type=memory.memory_type,
        categories=memory.categories,
        importance=memory.importance,
        token_count=memory.token_count,
        created_at=memory.created_at,
        effective_date=memory.effective_date,
        stands_for=stands_for,
        is_entry=is_entry(memory.content),
        type_is_told=memory.memory_type == OTHER or memory.memory_type == kind_of(memory.content),
    )
