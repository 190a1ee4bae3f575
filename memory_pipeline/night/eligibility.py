"""Second step: which memories tonight's clustering may use.

Eligible: importance under the critical floor, not distilled from others, not archived, not pinned,
level 0 or 1, at least 24 hours old as of the night, with a vector of the current model.
"""

from __future__ import annotations

from datetime import timedelta

from memory_pipeline.errors import EmbeddingError
from memory_pipeline.night.context import Night
from memory_pipeline.records import DuplicateGroup, EligibleMemory, Memory
from memory_pipeline.store import count_before_night, select_candidates


def select_eligible(night: Night, duplicates: list[DuplicateGroup]) -> list[EligibleMemory]:
    """The eligible memories by creation and id, after embedding what has no vector yet.

    `duplicates` are left out (in a dry run they are not archived). With fewer active memories than
    `compression.min_active_memories` nothing is eligible. When the embedder fails, the error is noted
    and only memories that have a vector take part.
    """
    night.hold_lease()
    if too_few(night) is not None:
        return []
    try:
        night.embed_missing()
    except EmbeddingError as error:
        night.note_error("", "embed", error)
    created_from = night.as_of - timedelta(days=night.options.days) if night.options.days else None
    copies = {memory_id for group in duplicates for memory_id in group.duplicate_ids}
    with night.store.reading() as tx:
        candidates = select_candidates(
            tx,
            created_before=night.fresh_after,
            created_from=created_from,
            critical_floor=night.settings.critical_floor,
        )
        embedded = night.with_vector(tx, [memory.id for memory in candidates])
    return [_without_content(memory) for memory in candidates if memory.id in embedded and memory.id not in copies]


def too_few(night: Night) -> str | None:
    """Why the night ends early, or None: it began with fewer active memories than the setting asks for."""
    least = night.settings.min_active_memories
    with night.store.reading() as tx:
        count = count_before_night(tx, night.as_of)
    return f"Insufficient memories (min {least}, found {count})" if count < least else None


def _without_content(memory: Memory) -> EligibleMemory:
    return EligibleMemory(
        id=memory.id,
        project_id=memory.project_id,
        memory_type=memory.memory_type,
        categories=memory.categories,
        importance=memory.importance,
        token_count=memory.token_count,
        created_at=memory.created_at,
        effective_date=memory.effective_date,
    )
