"""Writes one memory that an agent or a person tells, through the same gate as imports: cleaned, masked, checked, dated,
embedded, and in the audit log."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import numpy as np

from memory_pipeline.errors import EmbeddingError, InputError
from memory_pipeline.ingest.candidates import Candidate, RowError
from memory_pipeline.ingest.gate import Gate, check_times, only_new, reject_candidate, storable, version_id
from memory_pipeline.ingest.values import identifier
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.records import Memory
from memory_pipeline.store import Store
from memory_pipeline.text.normalise import embedding_text

Outcome = Literal["created", "unchanged", "new_version"]


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a memory that was told: the memory as the store has it, what was masked in it, by kind, and the
    number of the log's entry from which on the store has it."""

    memory: Memory
    outcome: Outcome
    masked: Counter[str]
    sequence: int


def remember(
    store: Store, candidate: Candidate, project: str, embedder: Embedder, *, actor: str, now: datetime, mask: bool
) -> Told:
    """Write a candidate as a memory of a project. It has its vector at once, unless the embedder fails: then the next
    night embeds it.

    An id that the store has with the same words changes nothing; with other words, these become a memory of their
    own. Raises InputError for what cannot be stored, which is quarantined.
    """
    try:
        identifier(project, "the project's name")
        identifier(candidate.native_id, "id")
        entry = Gate(project, embedder, now, mask).admit(candidate)
        check_times(candidate, now)
        entry = replace(entry, memory=_with_an_id_of_its_own(store, entry.memory))
    except (RowError, EmbeddingError) as error:
        rejected = storable(reject_candidate(candidate, str(error)), mask)
        if store.exists():
            with store.writing(actor) as tx:
                tx.journal.keep_quarantine([(rejected.file, rejected.line, rejected.reason, rejected.excerpt)], now)
        raise InputError(f"this cannot be remembered: {error}") from None
    try:
        vector = embedder.embed([embedding_text(entry.memory.content)])
    except EmbeddingError:
        vector = np.empty((0, embedder.dimension), dtype=np.float32)
    with store.writing(actor) as tx:
        known = tx.memories.existing([entry.memory.id, version_id(entry.memory)])
        found = only_new([entry], known)
        if found.wrong:
            raise InputError(f"this cannot be remembered: {found.wrong[0].reason}")
        if not found.fresh:
            same = (
                entry.memory.id if known[entry.memory.id][1] == entry.memory.content_hash else version_id(entry.memory)
            )
            return Told(tx.memories.read([same])[same], "unchanged", entry.masked, 0)
        memory = found.fresh[0].memory
        if tx.forgotten.among([entry.memory]):
            raise InputError("this cannot be remembered: a person has had it forgotten in this project")
        tx.memories.add([memory])
        if len(vector):
            tx.vectors.add([memory.id], vector, embedder.name)
        sequence = tx.recallable.generation().sequence
    return Told(memory, "new_version" if found.new_versions else "created", entry.masked, sequence)


def _with_an_id_of_its_own(store: Store, memory: Memory) -> Memory:
    """The memory with another id if another project has the one it was given: nobody learns of what another project has
    (law 8)."""
    if not store.exists():
        return memory
    with store.reading() as tx:
        owner = tx.memories.existing([memory.id]).get(memory.id)
    if owner is None or owner[0] == memory.project_id:
        return memory
    return replace(memory, id=f"{memory.id}@{hashlib.sha256(memory.project_id.encode()).hexdigest()[:12]}")
