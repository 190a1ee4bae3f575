"""Sixth step: write each accepted abstraction and archive its sources, in one transaction a cluster.

The abstraction is embedded before the transaction opens and becomes findable in the instant in which
its sources are archived. Whatever fails rolls the whole cluster back and is logged in a write of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from memory_pipeline.embedding import check_vectors
from memory_pipeline.embedding.model import Vectors
from memory_pipeline.errors import in_words
from memory_pipeline.night.context import Night
from memory_pipeline.night.gates import refusal_of
from memory_pipeline.records import (
    LEVEL_MERGED,
    LEVEL_PATTERN,
    MADE,
    Archive,
    Causal,
    Cluster,
    Conflict,
    Distillation,
    LineageLink,
    LogRow,
    Memory,
    Source,
    derived_id,
)
from memory_pipeline.review.proposals import propose_distillation
from memory_pipeline.store import (
    Transaction,
    archive_memories,
    insert_lineage,
    insert_memories,
    note_candidate,
    read_memories,
    revive_memory,
)
from memory_pipeline.wording.normalise import content_hash, embedding_text, shape_hash

DISTILLED = "distilled"


class SourcesChangedError(Exception):
    """Sources were archived, pinned or raised to critical since the cluster was formed."""


def archive_distillations(night: Night, distillations: Iterable[Distillation]) -> list[Archive]:
    """What became of every distillation, in their order. In a dry run nothing is written."""
    todo = list(distillations)
    results = []
    for done, distillation in enumerate(todo, start=1):
        night.hold_lease()
        results.append(_settle(night, distillation))
        night.progress("archive", done, len(todo))
    return results


def _settle(night: Night, distillation: Distillation) -> Archive:
    if distillation.outcome != "accepted":
        status = "failed" if distillation.outcome == "failed" else "skipped"
        result = _result(distillation, status, distillation.reason)
        _log_alone(night, result, distillation)
        return result
    try:
        refusal = refusal_of(night, distillation)
        if refusal is None:
            return _carry_out(night, distillation)
        night.log.warning("cluster %s is left alone: it did not pass a gate", distillation.cluster_id)
        result = _result(distillation, "skipped", refusal)
    except SourcesChangedError as change:
        result = _result(distillation, "skipped", str(change))
    except Exception as error:  # the cluster is rolled back whole; the others go on
        night.log.exception("archiving cluster %s", distillation.cluster_id)
        night.note_error(distillation.cluster_id, "write", error)
        result = _result(distillation, "failed", in_words(error)[:500])
    _log_alone(night, result, distillation)
    return result


def _carry_out(night: Night, distillation: Distillation) -> Archive:
    if night.options.dry_run:
        return _previewed(night, distillation)
    if night.settings.is_reviewed(distillation.project_id):
        with night.store.writing(night.holder, night.options.run_id) as tx:
            propose_distillation(night, tx, distillation)
        return _drafted(night, distillation, _result(distillation, "proposed", "awaits review"))
    return apply_distillation(night, distillation)


def apply_distillation(
    night: Night, distillation: Distillation, also: Callable[[Transaction], None] = lambda tx: None
) -> Archive:
    """Write the abstraction, archive its sources and do `also`, in one transaction.

    Raises SourcesChangedError when a source may no longer be archived.
    """
    memory = make_abstraction(night, distillation)
    vector = _vector_of(night, memory, distillation)
    with night.store.writing(night.holder, night.options.run_id) as tx:
        memory = _under_free_id(tx, memory)
        if memory.id in read_memories(tx, [memory.id]):
            revive_memory(tx, memory.id)
        else:
            insert_memories(tx, [memory])
        tx.vectors.add([memory.id], vector, night.embedder.name)
        archived = archive_memories(
            tx,
            distillation.member_ids,
            archived_by=distillation.cluster_id,
            archived_at=night.as_of,
            into=memory.id,
            critical_floor=night.settings.critical_floor,
        )
        if archived != sorted(distillation.member_ids):
            gone = sorted(set(distillation.member_ids) - set(archived))
            raise SourcesChangedError(f"{len(gone)} sources changed since the cluster was formed, first '{gone[0]}'")
        insert_lineage(
            tx,
            [
                LineageLink(memory.id, source, distillation.relation, similarity)
                for source, similarity in zip(distillation.member_ids, distillation.similarities, strict=True)
            ],
        )
        result = replace(_result(distillation, "compressed", None, archived=tuple(archived)), abstraction_id=memory.id)
        tx.journal.log(_log_row(night, result, distillation))
        if distillation.relation == DISTILLED:
            causal = Causal(*distillation.causal) if distillation.causal else None
            note_candidate(tx, memory.id, memory.project_id, causal, night.options.run_id, night.as_of)
        tx.conflicts.record(_contradictions(distillation), night.as_of)
        also(tx)
    return result


def _previewed(night: Night, distillation: Distillation) -> Archive:
    """What a real night would do."""
    return _drafted(night, distillation, _result(distillation, "compressed", None, archived=distillation.member_ids))


def _drafted(night: Night, distillation: Distillation, result: Archive) -> Archive:
    """The result, with what the next steps build on held in memory: a pattern may rest on a merge that is proposed."""
    if distillation.relation == DISTILLED:
        return result
    memory = make_abstraction(night, distillation)
    night.keep_draft(memory, _vector_of(night, memory, distillation)[0], distillation.member_ids)
    return replace(result, abstraction_id=memory.id)


def _vector_of(night: Night, memory: Memory, distillation: Distillation) -> Vectors:
    """Float32 (1, dimension), unit length: of the content, or for a merged memory the mean of its members',
    normalised again (requirement 13.1)."""
    if distillation.relation == "merged":
        _, members = night.vectors_of(distillation.member_ids)
        mean = members.astype(np.float64).mean(axis=0, keepdims=True)
        vector = mean / np.linalg.norm(mean)
    else:
        vector = night.embedder.embed([embedding_text(memory.content)])
    vector = np.asarray(vector, dtype=np.float32)
    check_vectors(vector, [memory.id], night.embedder.dimension, night.embedder.name)
    return vector


def _under_free_id(tx: Transaction, memory: Memory) -> Memory:
    """The abstraction with an id that it may use. One that was rolled back and is made again word for
    word comes back under its own id; if anything differs, the new one gets the next id."""
    candidate, generation = memory, 1
    while True:
        there = read_memories(tx, [candidate.id]).get(candidate.id)
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


def _contradictions(distillation: Distillation) -> list[Conflict]:
    """Members that the model found to disagree, for a person to look at; the abstraction quotes both."""
    pairs = [tuple(sorted(pair.split("\n", 1))) for pair in distillation.contradictions]
    similarity = dict(zip(distillation.member_ids, distillation.similarities, strict=True))
    return [
        Conflict(
            distillation.project_id, a, b, "contradiction", "found in distillation", min(similarity[a], similarity[b])
        )
        for a, b in pairs
    ]


def abstraction_id(distillation: Distillation) -> str:
    """The id of what an accepted distillation becomes."""
    return derived_id("abstraction", distillation.cluster_id, distillation.prompt_version)


def make_abstraction(night: Night, distillation: Distillation) -> Memory:
    """The memory that an accepted distillation becomes; its id is derived from cluster and prompt version.

    Only a pattern has `compressed_from`: a merged memory may be merged or distilled again (requirement 4.3).
    """
    is_pattern = distillation.relation == DISTILLED
    memory_id = abstraction_id(distillation)
    compressed_from = {
        "source_ids": sorted(distillation.member_ids),
        "compression_ratio": round(distillation.compression_ratio, 2),
        "cluster_size": len(distillation.member_ids),
        "distilled_at": night.as_of.isoformat(),
        "source_date_range": [
            distillation.oldest_member_at.isoformat(),
            distillation.effective_date.isoformat(),
        ],
    }
    return Memory(
        id=memory_id,
        project_id=distillation.project_id,
        content=distillation.content,
        memory_type=distillation.memory_type,
        created_at=night.as_of,
        effective_date=distillation.effective_date,
        content_hash=content_hash(distillation.content),
        shape_hash=shape_hash(distillation.content),
        token_count=distillation.tokens_after,
        categories=distillation.categories,
        importance=distillation.importance,
        abstraction_level=LEVEL_PATTERN if is_pattern else LEVEL_MERGED,
        pattern_type=distillation.pattern_type,
        confidence_score=distillation.confidence,
        consolidation_method=distillation.method,
        source=Source(MADE, distillation.policy),
        compressed_from=json.dumps(compressed_from, sort_keys=True) if is_pattern else None,
        tags=distillation.tags,
        is_canonical=distillation.relation == "canonical",
    )


def _result(distillation: Distillation, status: str, reason: str | None, archived: tuple[str, ...] = ()) -> Archive:
    return Archive(
        cluster_id=distillation.cluster_id,
        fingerprint=distillation.fingerprint,
        policy=distillation.policy,
        project_id=distillation.project_id,
        status=status,
        reason=reason,
        abstraction_id=None,
        archived_ids=archived,
        tokens_before=distillation.tokens_before,
        tokens_after=distillation.tokens_after,
        compression_ratio=distillation.compression_ratio,
        facts_found=distillation.facts_found,
        facts_kept=distillation.facts_kept,
        facts_attached=distillation.facts_attached,
        member_ids=distillation.member_ids,
    )


def settled_archive(cluster: Cluster) -> Archive:
    """The result of a cluster that an earlier night decided: nothing is done and nothing logged."""
    return Archive(
        cluster_id=cluster.cluster_id,
        fingerprint=cluster.fingerprint,
        policy=cluster.policy,
        project_id=cluster.project_id,
        status="settled",
        reason=cluster.settled,
        abstraction_id=None,
        archived_ids=(),
        tokens_before=cluster.total_tokens,
        tokens_after=0,
        compression_ratio=0.0,
        facts_found=0,
        facts_kept=0,
        facts_attached=0,
        member_ids=cluster.member_ids,
        avg_similarity=cluster.avg_similarity,
        min_similarity=cluster.min_similarity,
    )


def _log_row(night: Night, result: Archive, distillation: Distillation) -> LogRow:
    return LogRow(
        id=derived_id("log", result.policy, result.fingerprint, night.as_of.isoformat(), result.status),
        cluster_fingerprint=result.fingerprint,
        policy=result.policy,
        compressed_memory_id=result.abstraction_id,
        status=result.status,
        reason=result.reason,
        member_count=len(distillation.member_ids),
        compression_ratio=result.compression_ratio,
        run_id=night.options.run_id,
        created_at=night.as_of,
    )


def _log_alone(night: Night, result: Archive, distillation: Distillation) -> None:
    if not night.options.dry_run:
        with night.store.writing(night.holder, night.options.run_id) as tx:
            tx.journal.log(_log_row(night, result, distillation))
