"""Writes the principle behind a group of patterns with its links, or gives a reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memory_pipeline.config.policies import PRINCIPLE
from memory_pipeline.consolidation.archive import SourcesChangedError
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillation import note_failure
from memory_pipeline.consolidation.distillers.evidence import evidence_confidence
from memory_pipeline.consolidation.plan import NightPlan
from memory_pipeline.errors import in_words
from memory_pipeline.models.embedders import check_vectors
from memory_pipeline.records import (
    COMPRESSED_CATEGORY,
    LEVEL_PATTERN,
    LEVEL_PRINCIPLE,
    MADE,
    Cluster,
    Decided,
    LineageLink,
    LogRow,
    Memory,
    PrincipleResult,
    PrincipleStatus,
    Source,
    derived_id,
    offset_of_newest,
)
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.injections.detect import steering_draft
from memory_pipeline.text.normalise import content_hash, embedding_text, shape_hash
from memory_pipeline.text.preservation import find_contradiction

#: Part of the id of every principle.
PRINCIPLE_VERSION = "principle-4"


def decide_group(night: Night, group: Cluster, text: str, replaces: tuple[str, ...]) -> PrincipleResult:
    """The result for a group whose patterns share this rule, as a model says; `replaces`: earlier principles from some
    of them. A group that fails is tried again next week."""
    blank = replace(result_of(group, "skipped", None), replaces=replaces)
    try:
        patterns = list(night.reader.memories(group.member_ids).values())
        reason = _find_refusal(patterns, text, night)
        if reason:
            with night.writing() as tx:
                tx.journal.log([_log_row(night.plan, replace(blank, reason=reason), None)])
            return replace(blank, reason=reason)
        witnesses = {one.id: one for behind in night.reader.witnesses(group.member_ids).values() for one in behind}
        confidence = round(evidence_confidence(witnesses.values() or patterns), 4)
        return _write(night, replace(blank, status="created", content=text), patterns, confidence)
    except SourcesChangedError as change:
        refused = replace(blank, reason=str(change))
        with night.writing() as tx:
            tx.journal.log([_log_row(night.plan, refused, None)])
        return refused
    except Exception as error:  # one failing group leaves the others; it is logged and reported
        note_failure(night, group, error)
        return replace(blank, status="failed", reason=in_words(error)[:500])


def _find_refusal(patterns: Sequence[Memory], text: str, night: Night) -> str | None:
    """Why a text is no principle of some patterns, although their reader found it borne out; or None. They contradict
    neither each other nor the text, which must not steer its reader."""
    ids = {pattern.id for pattern in patterns}
    with night.store.reading() as tx:
        opposed = sum({conflict.a, conflict.b} <= ids for conflict in tx.conflicts.open())
    if opposed:
        return f"{how_many(opposed, 'pair')} of its patterns contradict each other"
    if steering := steering_draft(text):
        return steering
    if clash := find_contradiction([pattern.content for pattern in patterns], text):
        return f"contradicts a pattern: {clash}"
    tokens, most = night.embedder.count_tokens(text), night.settings.compression.max_abstraction_tokens
    return f"principle has {tokens} tokens; the maximum is {most}" if tokens > most else None


def misplaced_among(memories: Mapping[str, Memory], ids: Iterable[str]) -> list[str]:
    """Those of these ids that are not active patterns. Used before a principle is written, and by the check
    afterwards."""
    return [
        i
        for i in ids
        if i not in memories or memories[i].archived_at is not None or memories[i].abstraction_level != LEVEL_PATTERN
    ]


def _write(night: Night, result: PrincipleResult, patterns: Sequence[Memory], confidence: float) -> PrincipleResult:
    """Write the principle with its links, and archive the principles that it replaces into it, in one transaction."""
    memory = _memory(night.plan, night.embedder.count_tokens, result, patterns, confidence)
    vector = np.asarray(night.embedder.embed([embedding_text(memory.content)]), dtype=np.float32)
    check_vectors(vector, [memory.id], night.embedder.dimension, night.embedder.name)
    theirs = night.reader.vectors_in_order([pattern.id for pattern in patterns]).astype(np.float64)
    links = [
        LineageLink(memory.id, pattern.id, PRINCIPLE, round(min(1.0, float(score)), 6))
        for pattern, score in zip(patterns, theirs @ vector[0], strict=True)
    ]
    with night.writing() as tx:
        gone = misplaced_among(tx.memories.read(result.pattern_ids), result.pattern_ids)
        if gone:
            raise SourcesChangedError(f"{len(gone)} patterns changed since the group was formed, first '{gone[0]}'")
        there = tx.memories.read([memory.id]).get(memory.id)
        if there is not None and there.rolled_back_at is not None:
            tx.memories.revive([memory.id])
        elif there is None:
            tx.memories.add([memory])
            tx.vectors.add([memory.id], vector, night.embedder.name)
        tx.lineage.add(links)
        for earlier in result.replaces:
            replaced = tx.memories.supersede(
                earlier,
                winner=memory.id,
                archived_by=result.group.cluster_id,
                at=night.as_of,
                critical_floor=night.settings.compression.critical_floor,
            )
            if replaced:
                tx.lineage.add([LineageLink(memory.id, earlier, "superseded", 1.0)])
        done = replace(result, principle_id=memory.id)
        tx.journal.log([_log_row(night.plan, done, _ratio(patterns, memory))])
    return done


def _memory(
    plan: NightPlan,
    count_tokens: Callable[[str], int],
    result: PrincipleResult,
    patterns: Sequence[Memory],
    confidence: float,
) -> Memory:
    kinds = [pattern.memory_type for pattern in patterns]
    types = [pattern.pattern_type for pattern in patterns if pattern.pattern_type]
    subjects = [c for pattern in patterns for c in pattern.categories if c != COMPRESSED_CATEGORY]
    top = sorted(set(subjects), key=lambda c: (-subjects.count(c), c))[:2]
    return Memory(
        id=derived_id("principle", result.group.cluster_id, PRINCIPLE_VERSION, content_hash(result.content)),
        project_id=result.group.project_id,
        content=result.content,
        memory_type=max(sorted(set(kinds)), key=kinds.count),
        created_at=plan.as_of,
        effective_date=max(pattern.effective_date for pattern in patterns),
        utc_offset=offset_of_newest(patterns),
        content_hash=content_hash(result.content),
        shape_hash=shape_hash(result.content),
        token_count=count_tokens(result.content),
        categories=tuple(top),
        importance=max(1.0, *(pattern.importance for pattern in patterns)),
        abstraction_level=LEVEL_PRINCIPLE,
        pattern_type=max(sorted(set(types)), key=types.count) if types else None,
        confidence_score=confidence,
        consolidation_method="llm",
        source=Source(MADE, PRINCIPLE),
    )


def _ratio(patterns: Sequence[Memory], principle: Memory) -> float:
    return round(sum(pattern.token_count for pattern in patterns) / principle.token_count, 4)


def result_of(group: Cluster, status: PrincipleStatus, reason: str | None) -> PrincipleResult:
    """A result without a principle."""
    return PrincipleResult(group, status, reason)


def _log_row(plan: NightPlan, result: PrincipleResult, ratio: float | None) -> LogRow:
    status: Decided = "compressed" if result.principle_id else "skipped"
    return LogRow(
        id=derived_id("log", PRINCIPLE, result.group.fingerprint, plan.as_of.isoformat(), status),
        cluster_fingerprint=result.group.fingerprint,
        policy=PRINCIPLE,
        compressed_memory_id=result.principle_id,
        status=status,
        reason=result.reason,
        member_count=len(result.pattern_ids),
        compression_ratio=ratio,
        run_id=plan.run_id,
        created_at=plan.as_of,
    )
