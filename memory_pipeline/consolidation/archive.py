"""Writes accepted distillations to the store: one transaction writes the abstraction and archives its sources.

The abstraction is embedded before the transaction starts, and becomes searchable at the same instant in which its
sources are archived. Several clusters share a transaction; if one of them fails, it is rolled back, the others are
written one by one, and the failure is logged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from memory_pipeline.config.policies import PRINCIPLE
from memory_pipeline.consolidation.abstractions import (
    DISTILLED,
    abstraction_id,
    make_abstraction,
    vectors_of_abstractions,
)
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.gates import refusals_of
from memory_pipeline.consolidation.growth import carry_principles
from memory_pipeline.consolidation.review.proposals import propose
from memory_pipeline.errors import in_words
from memory_pipeline.models.embedders import check_vectors
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import (
    CONTRADICTION,
    ESTABLISHED,
    REPLACED,
    SERIES,
    Archive,
    ArchiveStatus,
    Conflict,
    Distillation,
    LineageLink,
    LogRow,
    Memory,
    derived_id,
)
from memory_pipeline.store import AWAITS_REVIEW, Replacement, Transaction

#: Clusters written in one transaction; each of them is compressed as a whole or not at all.
_CLUSTERS_AT_ONCE = 50


class SourcesChangedError(Exception):
    """Sources were archived, pinned or raised to critical since the cluster was formed."""


def archive_distillations(night: Night, distillations: Iterable[Distillation]) -> list[Archive]:
    """The result for every distillation, in their order."""
    todo = list(distillations)
    results: list[Archive] = []
    for start in range(0, len(todo), _CLUSTERS_AT_ONCE):
        night.hold_lease()
        results += _settle(night, todo[start : start + _CLUSTERS_AT_ONCE])
        night.progress("archive", len(results), len(todo))
    return results


def _settle(night: Night, drafts: Sequence[Distillation]) -> list[Archive]:
    """Write several clusters in one transaction; if one of them fails, write each one separately, without that one."""
    try:
        return _settle_together(night, drafts)
    except Exception as error:  # a failing cluster is rolled back completely; the others continue
        if len(drafts) > 1:
            return [result for draft in drafts for result in _settle(night, [draft])]
        (draft,) = drafts
        if isinstance(error, SourcesChangedError):
            result = _result(draft, "skipped", str(error))
        else:
            night.note_error(draft.id, "write", error)
            result = _result(draft, "failed", in_words(error)[:500])
    with night.writing() as tx:
        tx.journal.log([_log_row(night, result)])
    return [result]


def _settle_together(night: Night, drafts: Sequence[Distillation]) -> list[Archive]:
    refusals = refusals_of(night, drafts)
    for cluster_id, refusal in refusals.items():
        night.log.info("cluster %s is left alone: %s", cluster_id, refusal)
    written: list[Distillation] = []
    proposed: list[Distillation] = []
    results: dict[str, Archive] = {}
    for draft in drafts:
        if draft.outcome != "accepted":
            results[draft.id] = _result(draft, "failed" if draft.outcome == "failed" else "skipped", draft.reason)
        elif draft.id in refusals:
            results[draft.id] = _result(draft, "skipped", refusals[draft.id])
        else:
            (proposed if night.settings.is_reviewed(draft.cluster.project_id) else written).append(draft)
    made = make_abstractions(night, written)
    with night.writing() as tx:
        tx.journal.log([_log_row(night, archive) for archive in results.values()])
        results |= {archive.id: archive for archive in write_abstractions(night, tx, written, made)}
        for draft in proposed:
            propose(night, tx, draft)
            # A pattern may depend on what a merge would make.
            would_make = abstraction_id(draft) if draft.relation not in (DISTILLED, ESTABLISHED) else None
            results[draft.id] = _result(draft, "proposed", AWAITS_REVIEW, would_make)
    return [results[d.id] for d in drafts]


def apply_distillation(
    night: Night, distillation: Distillation, also: Callable[[Transaction], None], vectors: Vectors | None = None
) -> Archive:
    """Write one abstraction, archive its sources and do `also`, in one transaction. `vectors`: its own, float32 (1,
    dimension), if it is embedded already.

    Raises SourcesChangedError if a source may no longer be archived.
    """
    made = make_abstractions(night, [distillation], vectors)
    with night.writing() as tx:
        (result,) = write_abstractions(night, tx, [distillation], made)
        also(tx)
    return result


def make_abstractions(
    night: Night, distillations: Sequence[Distillation], vectors: Vectors | None = None
) -> tuple[list[Memory], Vectors]:
    """The memories made from accepted distillations, in their order, and their vectors by the night's model, float32
    (n, dimension), which are made if they are not given; before any transaction starts."""
    memories = [make_abstraction(distillation, night.as_of) for distillation in distillations]
    if vectors is None:
        vectors = vectors_of_abstractions(distillations, night.embedder, night.vectors_of)
    check_vectors(vectors, [memory.id for memory in memories], night.embedder.dimension, night.embedder.name)
    return memories, vectors


def write_abstractions(
    night: Night, tx: Transaction, distillations: Sequence[Distillation], made: tuple[Sequence[Memory], Vectors]
) -> list[Archive]:
    """Write the abstractions and archive their sources, with lineage, log, causal findings and contradictions.
    `made`: as `make_abstractions` returns it.

    Raises SourcesChangedError if a source may no longer be archived; the caller must roll back the transaction.
    """
    (new, vectors), model = made, night.embedder.name
    there = tx.memories.read([memory.id for memory in new])
    memories = [_under_free_id(tx, memory) if memory.id in there else memory for memory in new]
    there = tx.memories.read([memory.id for memory in memories]) if there else {}
    tx.memories.revive([memory.id for memory in memories if memory.id in there])
    tx.memories.add([memory for memory in memories if memory.id not in there])
    tx.vectors.add([memory.id for memory in memories], vectors, model)
    pairs = list(zip(distillations, memories, strict=True))
    sources = [
        Replacement(source, d.id, memory.id, is_version=d.relation == DISTILLED)
        for d, memory in pairs
        for source in d.archived_ids
    ]
    if len({source.id for source in sources}) < len(sources):
        raise SourcesChangedError("a source is in two clusters")
    archived = tx.memories.archive(sources, archived_at=night.as_of, critical_floor=night.critical_floor)
    for distillation in distillations:
        gone = sorted(set(distillation.archived_ids) - archived)
        if gone:
            raise SourcesChangedError(f"{len(gone)} sources changed since the cluster was formed, first '{gone[0]}'")
    tx.lineage.add(
        [
            LineageLink(memory.id, source, d.relation, similarity)
            for d, memory in pairs
            for source, similarity in zip(d.member_ids, d.similarities, strict=True)
        ]
    )
    for old, later, by in tx.lineage.replaced_since(there):  # that a later night had replaced before they were undone
        tx.memories.supersede(old, winner=later, archived_by=by, at=night.as_of, critical_floor=night.critical_floor)
    for d, memory in pairs:
        for old in d.replaces:
            night.supersede(tx, old, memory.id, d.id, "superseded" if d.relation == PRINCIPLE else REPLACED)
    grown = {source: memory for d, memory in pairs for source in _earlier_versions(tx, d)}
    new_vectors = {memory.id: vector for memory, vector in zip(memories, vectors, strict=True)}
    carry_principles(night, tx, grown, new_vectors, model)
    results = [_result(d, "compressed", None, memory.id, d.archived_ids) for d, memory in pairs]
    tx.journal.log([_log_row(night, result) for result in results])
    causes = [(memory.id, memory.project_id, d.causal) for d, memory in pairs if d.relation == DISTILLED]
    tx.atoms.note_candidates(causes, night.run_id, night.as_of)
    for memory in (memory for d, memory in pairs if d.relation == SERIES):
        tx.conflicts.settle_within(tx.lineage.raw_sources_of([memory.id]).get(memory.id, []), SERIES)
    conflicts = []  # members that contradict each other according to the model; the abstraction quotes both
    for d in distillations:
        near = dict(zip(d.member_ids, d.similarities, strict=True))
        for a, b in ((pair.a, pair.b) for pair in d.contradictions):
            kind, detail, score = CONTRADICTION, "found in distillation", min(near[a], near[b])
            conflicts.append(Conflict(d.cluster.project_id, a, b, kind, detail, score))
    tx.conflicts.record(conflicts, night.as_of)
    return results


def _earlier_versions(tx: Transaction, distillation: Distillation) -> list[str]:
    """The patterns that a new one is the next version of: the pattern among its sources, or those that its statement
    replaced and whose notes it has."""
    if distillation.relation == DISTILLED:
        return list(distillation.member_ids)
    if distillation.relation != ESTABLISHED:
        return []
    older = [i for ids in tx.lineage.replaced_by(distillation.archived_ids).values() for i in ids]
    return [i for i, notes in tx.lineage.witnesses_of(older).items() if set(notes) <= set(distillation.stays)]


def _under_free_id(tx: Transaction, memory: Memory) -> Memory:
    """The abstraction with a usable id. If a rolled-back one is made again with the same text, it returns under its
    own id; otherwise the new one gets the next id."""
    candidate, generation = memory, 1
    while True:
        there = tx.memories.read([candidate.id]).get(candidate.id)
        if there is None or there.rolled_back_at is None:
            return candidate
        before = replace(
            there,
            importance=there.importance_before if there.importance_before is not None else there.importance,
            importance_before=None,
            archived_by=None,
            archived_at=None,
            rolled_back_at=None,
            updated_at=None,
            reuse_count=candidate.reuse_count,
            useful_count=candidate.useful_count,
        )
        if before == candidate:
            return candidate
        generation += 1
        candidate = replace(memory, id=derived_id("abstraction", memory.id, str(generation)))


def _result(
    draft: Distillation, status: ArchiveStatus, reason: str | None, made: str | None = None, gone: tuple[str, ...] = ()
) -> Archive:
    return Archive(draft.cluster, status, reason, made, gone, draft.measured)


def _log_row(night: Night, result: Archive) -> LogRow:
    assert result.status != "proposed" and result.status != "settled", "what is proposed or settled is not logged"
    return night.log_row(
        result.cluster.policy,
        result.cluster.fingerprint,
        result.status,
        result.reason,
        len(result.member_ids),
        result.abstraction_id,
        result.measured.compression_ratio,
    )
