"""Turns a group of related patterns into a principle with its links, or gives a reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memory_pipeline.config.policies import PRINCIPLE
from memory_pipeline.config.settings import Settings
from memory_pipeline.distillers import (
    COMPRESSED_CATEGORY,
    DistillationModel,
    Draft,
    Task,
    find_contradiction,
    find_invention,
    steering_draft,
)
from memory_pipeline.errors import ModelError, in_words
from memory_pipeline.models import Declined
from memory_pipeline.models.embedders import check_vectors
from memory_pipeline.night.archive import SourcesChangedError
from memory_pipeline.night.context import Night
from memory_pipeline.night.distillation import note_failure
from memory_pipeline.night.plan import NightPlan
from memory_pipeline.records import (
    LEVEL_PATTERN,
    LEVEL_PRINCIPLE,
    MADE,
    Cluster,
    Conflict,
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
from memory_pipeline.wording.normalise import content_hash, embedding_text, shape_hash

#: Part of the id of every principle.
PRINCIPLE_VERSION = "principle-3"


def decide_group(
    night: Night,
    group: Cluster,
    task: Task | None,
    draft: Draft | Declined | Exception,
    replaces: tuple[str, ...],
) -> PrincipleResult:
    """The result for a group with this proposal; `replaces`: earlier principles from some of its patterns.

    A group that fails, or without an available answer, is tried again next week.
    """
    blank = replace(result_of(group, "skipped", None), replaces=replaces)
    try:
        if isinstance(draft, Exception):
            raise draft
        if isinstance(draft, Declined) and draft.again:
            return replace(blank, status="deferred", reason=draft.reason)
        patterns = list(night.reader.memories(group.member_ids).values())
        if isinstance(draft, Declined):
            reason: str | None = draft.reason
        else:
            texts = [pattern.content for pattern in patterns]
            reason = _find_refusal(texts, draft, night.settings, night.embedder.count_tokens)
        if reason or isinstance(draft, Declined):
            _log_refusal(night, replace(blank, reason=reason), draft, task)
            return replace(blank, reason=reason)
        made = replace(blank, status="created", content=draft.text)
        return _write(night, made, patterns, draft.confidence)
    except SourcesChangedError as change:
        refused = replace(blank, reason=str(change))
        with night.writing() as tx:
            tx.journal.log([_log_row(night.plan, refused, None)])
        return refused
    except Exception as error:  # one failing group leaves the others; it is logged and reported
        if task is not None or not isinstance(error, ModelError):
            note_failure(night, group, error)
        return replace(blank, status="failed", reason=in_words(error)[:500])


def _find_refusal(
    patterns: Sequence[str], draft: Draft, settings: Settings, count_tokens: Callable[[str], int]
) -> str | None:
    """Why a draft is not a principle, or None. It must say nothing that the patterns do not say, and contradict none
    of them.

    `patterns`: their texts.
    """
    if draft.contradictions:
        return f"{len(draft.contradictions)} pairs of its patterns contradict each other"
    if not draft.text.strip():
        return "the patterns share no rule"
    if steering := steering_draft(draft.text):
        return steering
    invented = find_invention(patterns, draft.text)
    if invented:
        return f"invented: no pattern has the {invented.kind} '{invented.text}'"
    clash = find_contradiction(patterns, draft.text)
    if clash:
        return f"contradicts a pattern: {clash}"
    tokens = count_tokens(draft.text)
    if tokens > settings.compression.max_abstraction_tokens:
        return f"principle has {tokens} tokens; the maximum is {settings.compression.max_abstraction_tokens}"
    least = settings.consolidation.confidence.min
    return None if draft.confidence >= least else f"confidence {draft.confidence:.2f} is below {least:g}"


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
    memory = _memory(night.plan, night.distiller, night.embedder.count_tokens, result, patterns, confidence)
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
    model: DistillationModel,
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
        consolidation_method=model.method,
        source=Source(MADE, PRINCIPLE),
    )


def _ratio(patterns: Sequence[Memory], principle: Memory) -> float:
    return round(sum(pattern.token_count for pattern in patterns) / principle.token_count, 4)


def result_of(group: Cluster, status: PrincipleStatus, reason: str | None) -> PrincipleResult:
    """A result without a principle."""
    return PrincipleResult(group, status, reason)


def _log_refusal(night: Night, result: PrincipleResult, draft: Draft | Declined, task: Task | None) -> None:
    """Log the refusal, and link the patterns that a model found contradictory as conflicts."""
    conflicts = []
    if task is not None and isinstance(draft, Draft):
        place = {member.memory.id: number for number, member in enumerate(task.members)}
        conflicts = [
            Conflict(
                result.group.project_id,
                pair.a,
                pair.b,
                "contradiction",
                "found among the patterns of a principle",
                round(float(task.similarities[place[pair.a], place[pair.b]]), 6),
            )
            for pair in draft.contradictions
        ]
    with night.writing() as tx:
        tx.conflicts.record(conflicts, night.as_of)
        tx.journal.log([_log_row(night.plan, result, None)])


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
