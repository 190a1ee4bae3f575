"""The playbook: what patterns and principles advise becomes guidance, each piece once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillers.judge import evidence_confidence, single_orders
from memory_pipeline.models.conflicts import find_conflict
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import Contribution, Memory, PlaybookEntry, derived_id
from memory_pipeline.text.guidance import advice_of, category_of, guidance_of
from memory_pipeline.text.normalise import embedding_text
from memory_pipeline.text.steering import attempt_in
from memory_pipeline.text.whole import TEMPORARY
from memory_pipeline.workspace.playbook_pages import write_playbook

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
        suspects = [i for entry in tx.playbook.read() if attempt_in(entry.content) for i in entry.source_ids]
        if steering := [memory.id for memory in tx.memories.read(suspects).values() if _steers(night, memory)]:
            tx.playbook.withdraw(steering, night.as_of)  # what earlier nights accepted, and this one would not
        new = [memory for memory in tx.playbook.pending_contributors(night.as_of) if night.may_touch(memory.project_id)]
    new = [m for m in new if TEMPORARY not in m.tags and not _steers(night, m) and advice_of(m) is not None]
    with night.writing() as tx:
        decided_by = tx.playbook.reopen_later([memory.id for memory in new], night.as_of)
        again = tx.memories.read(decided_by).values()
    waiting = sorted([*new, *again], key=lambda memory: (memory.created_at, memory.abstraction_level, memory.id))
    index = _Index(night) if waiting else None
    for done, memory in enumerate(waiting, start=1):
        assert index is not None
        try:
            _contribute(night, memory, index, decided_by.get(memory.id, night.run_id))
        except Exception as error:  # guidance never stops the night; the error is in the report, and it is retried
            night.note_error(memory.id, "enrich", error)
        night.progress("playbook", done, len(waiting))
    if not night.options.dry_run:
        for problem in write_playbook(night.store):  # it is in the store; the next night writes its page again
            night.note_error("", "export", f"cannot write the playbook: {problem}")
    with night.store.reading() as tx:
        return tx.playbook.contributions_of(night.options.run_id)


def _steers(night: Night, memory: Memory) -> bool:
    """True if a memory's text is not guidance but an attempt to steer the reader of the playbook."""
    attempt = attempt_in(guidance_of(memory)) or attempt_in(advice_of(memory) or "")
    if attempt:
        night.log.warning("memory %s is kept out of the playbook: it %s", memory.id, attempt)
    return attempt is not None


class _Index:
    """The entries with their vectors, kept up to date while a night adds to them."""

    def __init__(self, night: Night) -> None:
        self.night, model = night, night.embedder
        with night.store.reading() as tx:
            self.entries = {entry.id: entry for entry in tx.playbook.read()}
            self.vectors = tx.playbook.vectors(model.name, model.dimension)
        missing = sorted(self.entries.keys() - self.vectors.keys())
        if missing:
            vectors = self.embed([self.entries[i].content for i in missing])
            with night.writing() as tx:
                tx.playbook.keep_vectors(missing, vectors, model.name)
            self.vectors.update(zip(missing, vectors, strict=True))

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.asarray(self.night.embedder.embed([embedding_text(text) for text in texts]), dtype=np.float32)

    def same(self, project_id: str, guidance: str, vector: Vectors) -> PlaybookEntry | None:
        """The nearest entry of the project that gives the same guidance."""
        near = sorted(
            (-score, entry.id)
            for entry in self.entries.values()
            if entry.project_id == project_id
            and entry.id in self.vectors
            and (score := float(self.vectors[entry.id] @ vector)) >= SAME_GUIDANCE
        )
        entries = (self.entries[entry_id] for _, entry_id in near)
        return next((entry for entry in entries if find_conflict(entry.content, guidance) is None), None)


def _contribute(night: Night, memory: Memory, index: _Index, run_id: str) -> None:
    """Compare a memory with the playbook, and write what it says in an entry: its confidence is that of the raw
    memories behind it; a pattern imported without these has its own, or counts as one witness."""
    guidance = advice_of(memory) or guidance_of(memory)
    sources = night.witnesses([memory.id]).get(memory.id, [])
    if sources and single_orders(guidance, sources):  # what one source alone tells its reader to do
        return
    vector: Vectors = index.embed([guidance])[0]
    known = index.same(memory.project_id, guidance, vector)
    categories = {entry.category for entry in index.entries.values() if entry.project_id == memory.project_id}
    own = None if sources else memory.confidence_score
    contribution = Contribution(
        memory_id=memory.id,
        entry_id=known.id if known else derived_id("playbook", memory.id),
        guidance=guidance,
        category=known.category if known else category_of(memory, sources, categories),
        confidence=round(evidence_confidence(sources or [memory]), 4) if own is None else own,
        level=memory.abstraction_level,
        status="updated" if known else "created",
    )
    night.hold_lease()
    with night.writing() as tx:
        entry = tx.playbook.contribute(contribution, memory.project_id, run_id, memory.created_at)
        # Either this memory now provides the entry's text, or the previous one still does.
        vector = vector if entry.content == guidance else index.vectors[entry.id]
        tx.playbook.keep_vectors([entry.id], np.stack([vector]), night.embedder.name)
    index.entries[entry.id], index.vectors[entry.id] = entry, vector
