"""The playbook: what patterns and principles advise becomes guidance, each piece once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillers.evidence import evidence_confidence, single_orders
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import Contribution, Memory, PlaybookEntry, derived_id
from memory_pipeline.store import Guidance, Transaction
from memory_pipeline.text.conflicts import find_conflict
from memory_pipeline.text.guidance import advice_of, category_of, guidance_of
from memory_pipeline.text.normalise import embedding_text
from memory_pipeline.text.steering import attempt_in
from memory_pipeline.text.whole import TEMPORARY
from memory_pipeline.workspace.playbook_pages import write_playbook

#: Memories that are compared with the playbook with one query.
_MEMORIES_AT_ONCE = 50
#: Guidance at or above this cosine is the same guidance.
SAME_GUIDANCE = 0.95


def update_playbook(night: Night) -> list[Contribution]:
    """Compare every new pattern and principle with the playbook, and return the contribution of each.

    The same guidance (cosine 0.95 and no conflict) updates its entry, other guidance creates one; a memory that advises
    nothing has no part in it. Entries whose memories are gone, or that try to steer their reader, are retracted. A
    memory that arrives after its position is still processed there: later ones are compared with the playbook again.
    """
    night.hold_lease()
    with night.writing() as tx:
        tx.playbook.refresh(night.as_of)
        _withdraw_steering(night, tx)
        new = [memory for memory in tx.playbook.pending_contributors(night.as_of) if night.may_touch(memory.project_id)]
    new = [memory for memory in new if _may_guide(night, memory) and advice_of(memory) is not None]
    with night.writing() as tx:
        decided_by = tx.playbook.reopen_later([memory.id for memory in new], night.as_of)
        again = tx.memories.read(decided_by).values()
    waiting = sorted([*new, *again], key=lambda memory: (memory.created_at, memory.abstraction_level, memory.id))
    index = _Index(night) if waiting else None
    for start in range(0, len(waiting), _MEMORIES_AT_ONCE):
        assert index is not None
        _contribute_all(night, waiting[start : start + _MEMORIES_AT_ONCE], index, decided_by)
        night.progress("playbook", min(start + _MEMORIES_AT_ONCE, len(waiting)), len(waiting))
    if not night.is_preview:
        for problem in write_playbook(night.store):  # it is in the store; the next night writes its page again
            night.note_error("", "export", f"cannot write the playbook: {problem}")
    with night.store.reading() as tx:
        return tx.playbook.contributions_of(night.options.run_id)


def _may_guide(night: Night, memory: Memory) -> bool:
    """Whether a pattern or principle is neither passing nor an attempt to steer its reader."""
    return TEMPORARY not in memory.tags and not _steers(night, memory)


def _steers(night: Night, memory: Memory) -> bool:
    """Whether a memory's text is not guidance but an attempt to steer the reader of the playbook."""
    attempt = attempt_in(guidance_of(memory)) or attempt_in(advice_of(memory) or "")
    if attempt:
        night.log.warning("memory %s is kept out of the playbook: it %s", memory.id, attempt)
    return attempt is not None


def _withdraw_steering(night: Night, tx: Transaction) -> None:
    """Remove contributions of earlier nights that would not be accepted now."""
    suspects = [i for entry in tx.playbook.read() if attempt_in(entry.content) for i in entry.source_ids]
    if suspects:
        memories = tx.memories.read(suspects).values()
        tx.playbook.withdraw([memory.id for memory in memories if _steers(night, memory)], night.as_of)


class _Index:
    """The entries with their vectors, kept up to date while a night adds to them."""

    def __init__(self, night: Night) -> None:
        self._night = night
        self.look()

    def look(self) -> None:
        """Read the current entries with their vectors from the store, and the ids of all entries that ever existed."""
        night, model = self._night, self._night.embedder
        with night.store.reading() as tx:
            self.entries = {entry.id: entry for entry in tx.playbook.read()}
            self.ids = tx.playbook.ids()
            self.vectors = tx.playbook.vectors(model.name, model.dimension)
        missing = sorted(self.entries.keys() - self.vectors.keys())
        if missing:
            vectors = self.embed([self.entries[i].content for i in missing])
            with night.writing() as tx:
                self.keep(tx, missing, vectors)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.asarray(self._night.embedder.embed([embedding_text(text) for text in texts]), dtype=np.float32)

    def keep(self, tx: Transaction, ids: Sequence[str], vectors: Vectors) -> None:
        tx.playbook.keep_vectors(ids, vectors, self._night.embedder.name)
        self.vectors.update(zip(ids, vectors, strict=True))

    def expect(self, given: Guidance, vector: Vectors) -> None:
        """Add an entry that is about to be created from this memory alone."""
        made, at = given.contribution, given.made_at
        self.entries[made.entry_id] = PlaybookEntry(
            id=made.entry_id,
            project_id=given.project_id,
            category=made.category,
            content=made.guidance,
            confidence=made.confidence,
            source_ids=(made.memory_id,),
            created_at=at,
            updated_at=at,
        )
        self.vectors[made.entry_id] = vector

    def note(self, entries: Sequence[PlaybookEntry]) -> None:
        """Update the entries as the store returned them."""
        self.entries.update((entry.id, entry) for entry in entries)
        self.ids.update(entry.id for entry in entries)

    def categories(self, project_id: str) -> set[str]:
        """The categories of a project's entries."""
        return {entry.category for entry in self.entries.values() if entry.project_id == project_id}

    def same(self, project_id: str, guidance: str, vector: Vectors) -> PlaybookEntry | None:
        """The nearest entry of the project that gives the same guidance."""
        near = sorted(
            (-score, entry.id)
            for entry in self.entries.values()
            if entry.project_id == project_id
            and entry.id in self.vectors
            and (score := float(self.vectors[entry.id] @ vector)) >= SAME_GUIDANCE
        )
        for _, entry_id in near:
            if find_conflict(self.entries[entry_id].content, guidance) is None:
                return self.entries[entry_id]
        return None


def _contribute_all(night: Night, memories: Sequence[Memory], index: _Index, decided_by: Mapping[str, str]) -> None:
    """Compare memories with the playbook, one after the other. If one fails, each remaining one is processed
    separately, without that one."""
    left = list(memories)
    try:
        _contribute(night, left, index, decided_by)
    except Exception as error:  # guidance never stops the night; the error is in the report, and it is retried
        index.look()
        if len(memories) > 1:
            for memory in left:
                _contribute_all(night, [memory], index, decided_by)
            return
        night.log.error("the guidance of %s", memories[0].id, exc_info=error)
        night.note_error(memories[0].id, "enrich", error)


def _contribute(night: Night, left: list[Memory], index: _Index, decided_by: Mapping[str, str]) -> None:
    """Compare memories with the playbook; processed ones are removed from `left`.

    Memories that create their own entries are written together, up to the first that changes one: only the store
    knows the resulting text of that one.
    """
    witnesses = night.witnesses([memory.id for memory in left])
    left[:] = [memory for memory in left if not _orders_alone(memory, witnesses.get(memory.id, []))]
    together: list[tuple[Guidance, Vectors]] = []
    for memory in list(left):
        guidance = advice_of(memory) or guidance_of(memory)
        vector: Vectors = index.embed([guidance])[0]
        known = index.same(memory.project_id, guidance, vector)
        sources = witnesses.get(memory.id, [])
        contribution = Contribution(
            memory_id=memory.id,
            entry_id=known.id if known else derived_id("playbook", memory.id),
            guidance=guidance,
            category=known.category if known else category_of(memory, sources, index.categories(memory.project_id)),
            confidence=_confidence(memory, sources),
            level=memory.abstraction_level,
            status="updated" if known else "created",
        )
        run_id = decided_by.get(memory.id, night.options.run_id)
        given = Guidance(contribution, memory.project_id, run_id, memory.created_at)
        together.append((given, vector))
        if known or contribution.entry_id in index.ids:
            _write(night, index, left, together)
        else:
            index.expect(given, vector)
    _write(night, index, left, together)


def _orders_alone(memory: Memory, witnesses: Sequence[Memory]) -> bool:
    """Whether its advice is what one source alone tells its reader to do. An imported pattern has no witnesses."""
    return bool(witnesses) and bool(single_orders(advice_of(memory) or guidance_of(memory), witnesses))


def _write(night: Night, index: _Index, left: list[Memory], together: list[tuple[Guidance, Vectors]]) -> None:
    if not together:
        return
    night.hold_lease()
    # Either one of these memories now provides the entry's text, or the previous one still does.
    said = {(given.contribution.entry_id, given.contribution.guidance): vector for given, vector in together}
    with night.writing() as tx:
        entries = tx.playbook.contribute([given for given, _ in together])
        vectors = [said[key] if (key := (e.id, e.content)) in said else index.vectors[e.id] for e in entries]
        index.keep(tx, [entry.id for entry in entries], np.stack(vectors))
    index.note(entries)
    del left[: len(together)]
    together.clear()


def _confidence(memory: Memory, witnesses: Sequence[Memory]) -> float:
    """From evidence: the raw memories behind it, see `evidence_confidence`. A pattern imported without its sources
    has the confidence that it was imported with, or counts as one witness."""
    if not witnesses and memory.confidence_score is not None:
        return memory.confidence_score
    return round(evidence_confidence(witnesses or [memory]), 4)
