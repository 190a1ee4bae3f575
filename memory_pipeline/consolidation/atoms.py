"""Causal atoms: causal statements in the night's abstractions become atoms, or strengthen known ones.

Each finding is decided in its own transaction, separate from the archive, so that nothing here can undo or stop a
compression; a failing one waits for the next night.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, replace

from memory_pipeline.consolidation.context import Night
from memory_pipeline.models.conflicts import WORDING, find_conflict, find_contradiction
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.recall.atoms import FIELDS, AtomIndex, embed_atom
from memory_pipeline.records import Atom, AtomDecision, Causal, derived_id
from memory_pipeline.store import FIRST_CONFIDENCE
from memory_pipeline.text.entailment import Evidence, find_unborne
from memory_pipeline.text.facts import content_words

#: At least this share of a statement's content words must be in what supports it.
_SUPPORT_SHARE = 0.5
_LONGEST_FIELD = 300
#: Cosines from which two atoms have one subject, and one action.
_SAME_SUBJECT, _SAME_ACTION = 0.85, 0.75


def find_addition(statement: str, evidence: Evidence) -> str | None:
    """Words or facts of a statement, or of a part of one, that the sources do not have."""
    source_words = {word for source in evidence.texts for word in content_words(source)}
    words = content_words(statement)
    if sum(word in source_words for word in words) < _SUPPORT_SHARE * len(words):
        return f"'{' '.join(statement.split())[:80]}' is not what the sources say"
    return next(iter(find_unborne(statement, evidence)), None)


def grow_atoms(night: Night) -> list[AtomDecision]:
    """Decide every waiting causal finding, and return the decisions, including those that are not causal."""
    night.hold_lease()
    with night.store.reading() as tx:
        decisions = tx.atoms.decisions_of(night.options.run_id)
        pending = tx.atoms.pending_candidates(night.as_of)
        sources = tx.lineage.raw_sources_of(memory_id for memory_id, _, _ in pending)
        memories = tx.memories.read({i for ids in sources.values() for i in ids})
    indexes: dict[str, AtomIndex] = {}
    for done, (memory_id, project, causal) in enumerate(pending, start=1):
        night.hold_lease()
        try:
            source_texts = [memories[i].content for i in sources.get(memory_id, [])]
            decisions.append(_settle(night, memory_id, project, causal, source_texts, indexes))
        except Exception as error:  # an atom never stops the night; its error is in the report, and it is retried
            night.note_error(memory_id, "enrich", error)
        night.progress("atoms", done, len(pending))
    return sorted(decisions, key=lambda decision: decision.memory_id)


def _settle(
    night: Night, memory_id: str, project: str, draft: Causal, sources: Sequence[str], indexes: dict[str, AtomIndex]
) -> AtomDecision:
    run_id, causal = night.options.run_id, Causal(*(" ".join(part.split()) for part in astuple(draft)))
    problem = _problem(causal, sources)
    decision = AtomDecision(memory_id, project, "skipped", None, problem, causal)
    if problem:
        with night.writing() as tx:
            tx.atoms.decide(decision, run_id, night.as_of)
        return decision
    if project not in indexes:
        indexes[project] = AtomIndex.of(night.store, night.embedder, project, night.holder, run_id)
    index, vectors = indexes[project], embed_atom(night.embedder, causal)
    known = find_known_atom(index, causal, vectors)
    atom = known or Atom(
        id=derived_id("atom", memory_id),
        project_id=project,
        causal=causal,
        confidence=FIRST_CONFIDENCE,
        source_ids=(memory_id,),
        created_at=night.as_of,
    )
    decision = replace(decision, status="strengthened" if known else "created", atom_id=atom.id)
    with night.writing() as tx:
        if known:
            tx.atoms.strengthen(known.id, [memory_id], night.as_of)
        else:
            tx.atoms.write(atom, vectors, FIELDS, night.embedder.name)
        tx.atoms.decide(decision, run_id, night.as_of)
    if not known:
        index.add(atom, vectors)
    return decision


def find_known_atom(index: AtomIndex, causal: Causal, vectors: Vectors) -> Atom | None:
    """The atom that says the same: a similar subject and action, and no contradiction.

    `vectors`: as returned by `embed_atom`.
    """
    subject, action = (vectors[FIELDS.index(field)] for field in ("subject", "action"))
    for match in index.nearest("subject", subject, _SAME_SUBJECT):
        same_action = float(index.vector(match.atom, "action") @ action) >= _SAME_ACTION
        conflict = find_conflict(_sentence(match.atom.causal), _sentence(causal))
        if same_action and (conflict is None or conflict.kind == WORDING):
            return match.atom
    return None


def _problem(causal: Causal, sources: Sequence[str]) -> str | None:
    """Why a finding does not become an atom: a field is missing or too long, or the sources do not support it."""
    for name in ("subject", "action", "outcome"):
        if not getattr(causal, name):
            return f"no {name}"
    longest = max(astuple(causal), key=len)
    if len(longest) > _LONGEST_FIELD:
        return f"a field of {len(longest)} characters; the maximum is {_LONGEST_FIELD}"
    evidence = Evidence(sources)
    problem = next((addition for part in astuple(causal) if (addition := find_addition(part, evidence))), None)
    if problem is None and (clash := find_contradiction(sources, _sentence(causal))):
        problem = f"it contradicts a source ({clash})"
    return f"unsupported: {problem}" if problem else None


def _sentence(causal: Causal) -> str:
    return f"{causal.subject} {causal.action}: {causal.outcome}"
