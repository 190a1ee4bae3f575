"""A person's word that something which was extracted from conversations is not so: it is kept, and written nowhere."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Literal

from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.records import KeptExtraction, PatternDecision
from memory_pipeline.rollups.running import renew_stale
from memory_pipeline.store import Store
from memory_pipeline.store.rows import only_one
from memory_pipeline.workspace.conversation_pages import write_files


class DecidedExtraction(Document):
    """Something that was extracted, and what a person decided about it."""

    id: str = Field(description="The extraction.")
    project_id: str = Field(description="The project.")
    text: str = Field(description="What was said.")
    decision: Literal["confirmed", "rejected"] = Field(description="`rejected`: it is not so, and is written nowhere.")
    note: str | None = Field(default=None, description="Where else it is told, and stays; null if nowhere.")
    problems: tuple[str, ...] = Field(default=(), description="What could not be written; the next night writes it.")
    moved: tuple[str, ...] = Field(
        default=(), description="Lines that a person wrote between our marks, and where they stand now."
    )


def decide_extraction(
    store: Store,
    settings: Settings,
    wanted: str,
    decision: Literal["confirmed", "rejected"],
    *,
    actor: str,
    now: datetime,
) -> DecidedExtraction:
    """Refuse something that was extracted, given its id, the start of it, or the id of its memory; or take that back.
    Its memory, the files of its day and project, rollups and `MEMORY.md` follow.

    Raises InputError for an unknown id, StoreBusyError while a night runs.
    """
    holder, run_id = f"conversations {decision} by {actor}", str(uuid.uuid4())
    store.take_lease(run_id, holder)
    try:
        with store.reading() as tx:
            one = _found(tx.refusals.known(), wanted)
        kept = PatternDecision(
            id=one.id, project_id=one.project_id, text=one.text, decision=decision, decided_at=now, decided_by=actor
        )
        with store.writing(holder) as tx:
            tx.refusals.decide(one, kept)
            tx.rollups.mark_stale([one.turn_id, *([one.memory_id] if one.memory_id else [])])
            still = tx.refusals.active([one.memory_id] if one.memory_id else [])
        written = write_files(store, settings, holder, run_id)
        _, failed = renew_stale(store, settings, holder=holder, run_id=run_id)
    finally:
        store.release_lease(run_id)
    note = f"a night has archived memory '{still[0]}', and what it was archived into stays" if still else None
    return DecidedExtraction(
        id=one.id,
        project_id=one.project_id,
        text=one.text,
        decision=decision,
        note=note if decision == "rejected" else None,
        problems=(*written.problems, *failed),
        moved=written.moved,
    )


def _found(known: list[KeptExtraction], wanted: str) -> KeptExtraction:
    where = "'memory-pipeline conversations show DAY' has the ids"
    if not wanted:
        raise InputError(f"give the id of what was extracted; {where}")
    by_id = {one.memory_id: one for one in reversed(known) if one.memory_id} | {one.id: one for one in known}
    return only_one(by_id, wanted, "extraction", where)
