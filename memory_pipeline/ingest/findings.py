"""Causes and effects that a source states become atoms, which rest on the memories that came from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from memory_pipeline.ingest.candidates import Finding
from memory_pipeline.ingest.masking import mask_id
from memory_pipeline.records import Atom, Causal
from memory_pipeline.store import Store
from memory_pipeline.wording.counts import how_many
from memory_pipeline.wording.normalise import clean_text
from memory_pipeline.wording.redaction import redact


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
