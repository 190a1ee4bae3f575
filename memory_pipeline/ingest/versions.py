"""Which words of a row hold that the store has in other words, and the causes and effects that a source states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from memory_pipeline.ingest.admission import Found, version_id
from memory_pipeline.ingest.candidates import Finding
from memory_pipeline.ingest.gate import mask_id
from memory_pipeline.ingest.memories import Admitted
from memory_pipeline.records import Atom, Causal, LineageLink, derived_id
from memory_pipeline.store import Store, Transaction
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.normalise import clean_text
from memory_pipeline.text.redaction import redact

_PAGE = 500


@dataclass
class Versions:
    """What an import has seen of rows whose words changed: by id, the memory that has the words of today."""

    _todays: dict[str, str] = field(default_factory=dict)

    def note(
        self, tx: Transaction, admitted: Sequence[Admitted], known: Mapping[str, tuple[str, str]], found: Found
    ) -> None:
        """Take note of the rows of a batch. `known`: by id, project and words of what was in the store before."""
        fresh = {entry.memory.id for entry in found.fresh}
        told: list[tuple[str, str]] = []
        for entry in admitted:
            if known.get(entry.memory.id, (entry.memory.project_id,))[0] != entry.memory.project_id:
                continue
            own, version = entry.memory.id, version_id(entry.memory)
            told.append((own, version if version in fresh or version in known else own))
        replaced = tx.lineage.replaced_by_words({memory_id for _, memory_id in told if memory_id in known})
        for own, memory_id in told:
            by = replaced.get(memory_id)
            is_back = by is not None and (by == own or by.startswith(f"{own}@"))
            if is_back or own in self._todays or (memory_id != own and memory_id in fresh):
                self._todays[own] = memory_id

    def settle(self, store: Store, at: datetime, critical_floor: float, actor: str) -> int:
        """Write what was noted; returns how many memories were replaced."""
        replaced = 0
        ids = list(self._todays)
        for start in range(0, len(ids), _PAGE):
            page = {own: self._todays[own] for own in ids[start : start + _PAGE]}
            with store.writing(actor) as tx:
                tx.memories.take_back(list(page.values()), at=at)
                versions = tx.lineage.active_versions(list(page))
                for own, memory_id in versions:
                    if memory_id != page[own] and tx.memories.supersede(
                        memory_id,
                        winner=page[own],
                        archived_by=derived_id("edit", memory_id, page[own]),
                        at=at,
                        critical_floor=critical_floor,
                    ):
                        tx.lineage.add([LineageLink(page[own], memory_id, "superseded", 1.0)])
                        replaced += 1
        return replaced


def bring_findings(store: Store, findings: Sequence[Finding], *, project: str, mask: bool, actor: str) -> list[str]:
    """Write the findings that the store does not have as atoms; returns what was done as sentences.

    A source that is not a memory of the project in use is left out; the atom stands without it, because someone stated
    it. Its vectors are made when it is first searched for.
    """
    if not findings:
        return []
    counts: Counter[str] = Counter()
    no_vectors = np.empty((0, 0), dtype=np.float32)
    with store.writing(actor) as tx:
        known = {atom.id for atom in tx.atoms.read(retracted=True)}
        memories = tx.memories.read({_id(one, mask) for finding in findings for one in finding.source_ids})
        for finding in findings:
            atom_id = _id(finding.native_id, mask)
            if atom_id in known:
                counts["known"] += 1
                continue
            known.add(atom_id)
            sources = {_id(one, mask) for one in finding.source_ids}
            standing = [m.id for m in memories.values() if m.id in sources and m.project_id == project]
            causal = finding.causal
            told = (causal.subject, causal.action, causal.outcome, causal.consequences)
            tx.atoms.write(
                Atom(
                    atom_id,
                    project,
                    Causal(*(_storable(part, mask) for part in told)),
                    finding.confidence,
                    tuple(sorted(standing)),
                    finding.created_at,
                    stated_by=_storable(finding.stated_by, mask),
                ),
                no_vectors,
                (),
                "",
            )
            counts["new"] += 1
    return [f"{how_many(counts['new'], 'causal atom')} imported, {counts['known']} known already."]


def _id(native_id: str, mask: bool) -> str:
    return mask_id(native_id) if mask else native_id


def _storable(text: str, mask: bool) -> str:
    text = clean_text(text)
    return redact(text)[0] if mask else text
