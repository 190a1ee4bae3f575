"""The judge: measures a draft against its sources, and accepts it or refuses it with a reason.

A model's claims about itself do not count; ratios, facts and lengths are measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.config.policies import PRINCIPLE
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.distillers.evidence import DistillationModel, Draft, Task, with_quotes
from memory_pipeline.models import Declined
from memory_pipeline.records import (
    COMPRESSED_CATEGORY,
    Cluster,
    Distillation,
    Measured,
    Outcome,
    offset_of_newest,
    tags_of_all,
)
from memory_pipeline.text.entailment import Evidence, find_unborne_in
from memory_pipeline.text.preservation import check_preservation, find_contradiction, find_invention
from memory_pipeline.text.steering import steering_draft
from memory_pipeline.text.subject import with_subject
from memory_pipeline.text.whole import TEMPORARY, is_temporary

#: The pattern that memories of a type make together.
_PATTERN_OF = {
    "error_fix": "failure",
    "warning": "gotcha",
    "decision": "decision",
    "lesson": "workflow",
    "learning": "workflow",
    "feedback": "workflow",
}


def judge(
    task: Task,
    draft: Draft,
    model: DistillationModel,
    settings: Settings,
    count_tokens: Callable[[str], int],
) -> Distillation:
    """The distillation with its measured figures, accepted or refused."""
    cluster, members = task.cluster, task.members
    if cluster.policy != PRINCIPLE:
        draft = with_quotes(draft, [witness for member in members for witness in member.witnesses])
    sources = [member.memory.content for member in members]
    before = sum(member.memory.token_count for member in members)
    after = count_tokens(draft.content) if draft.content.strip() else 0
    preserved = check_preservation(sources, draft.text, draft.attached)
    told = [with_subject(member.memory) for member in members]
    reason = _refusal(task, sources, draft, before, after, settings) or _wrong_content(task, told, draft, model)
    if reason is None and preserved.lost:
        first = preserved.lost[0]
        reason = f"preservation: {len(preserved.lost)} facts lost, first the {first.kind} '{first.text}'"
    types = Counter(member.memory.memory_type for member in members)
    memory_type = min(types, key=lambda kind: (-types[kind], kind))
    return Distillation(
        cluster=cluster,
        similarities=similarities_of(cluster, {m.memory.id: m.centrality for m in members}),
        content=draft.content,
        attached=draft.attached,
        outcome="refused" if reason else "accepted",
        reason=reason,
        measured=Measured.of(cluster.total_tokens, after, preserved.found, preserved.kept, preserved.attached),
        method=model.method,
        prompt_version=draft.prompt_version,
        memory_type=memory_type,
        categories=(*cluster.top_categories, COMPRESSED_CATEGORY),
        importance=max(1.0, cluster.max_importance),
        effective_date=max(member.memory.effective_date for member in members),
        oldest_source_at=min(member.memory.effective_date for member in members),
        utc_offset=offset_of_newest([member.memory for member in members]),
        pattern_type=draft.pattern_type or _PATTERN_OF.get(memory_type),
        confidence=draft.confidence,
        causal=draft.causal,
        contradictions=draft.contradictions,
        tags=(
            *((TEMPORARY,) if any(is_temporary(m.memory.content, m.memory.tags) for m in members) else ()),
            *tags_of_all(member.memory.tags for member in members),
        ),
    )


def similarities_of(cluster: Cluster, means: Mapping[str, float]) -> tuple[float, ...]:
    """Each member's mean cosine to the others, in the order of the cluster's member ids. `means`: by member;
    the previous version of a pattern, whose sources are the members instead, has that of the pairs."""
    return tuple(round(means.get(memory_id, cluster.avg_similarity), 6) for memory_id in cluster.member_ids)


def undistilled(cluster: Cluster, why: Declined | Exception, model: DistillationModel) -> Distillation:
    """The record of a cluster without a draft: refused, deferred to the next night, or failed with an error."""
    outcome: Outcome = "failed"
    reason = f"{type(why).__name__}: {why}"
    if isinstance(why, Declined):
        outcome, reason = ("deferred" if why.again else "refused"), why.reason
    return Distillation(
        cluster=cluster,
        similarities=(),
        content="",
        attached=(),
        outcome=outcome,
        reason=reason[:500],
        measured=Measured(tokens_before=cluster.total_tokens),
        method=model.method,
        prompt_version=model.prompt_version,
        memory_type="other",
        categories=(),
        importance=cluster.max_importance,
        effective_date=cluster.newest_member_at,
        oldest_source_at=cluster.oldest_member_at,
    )


def why_unsure(confidence: float, settings: Settings) -> str | None:
    """Why a draft of this confidence is refused, or None."""
    least = settings.consolidation.confidence.min
    return f"confidence {confidence:.2f} is below {least:g}" if confidence < least else None


def _refusal(
    task: Task, sources: Sequence[str], draft: Draft, before: int, after: int, settings: Settings
) -> str | None:
    if not draft.text.strip():
        return "all that it says are orders of one source" if draft.attached else "empty abstraction"
    if after > settings.compression.max_abstraction_tokens:
        return f"abstraction has {after} tokens; the maximum is {settings.compression.max_abstraction_tokens}"
    told = sum(witness.token_count for member in task.members for witness in member.witnesses)
    before = max(before, told)  # what was said twice and merged earlier was said all the same
    if before < settings.compression.min_ratio * after:
        return f"compression ratio {before / after:.2f} is below {settings.compression.min_ratio:g}"
    if unsure := why_unsure(draft.confidence, settings):
        return unsure
    if any(member_id in draft.content for member_id in task.cluster.member_ids if len(member_id) >= 6):
        return "abstraction contains a member's id"
    return steering_draft(draft.content)


def _wrong_content(task: Task, sources: Sequence[str], draft: Draft, model: DistillationModel) -> str | None:
    """What a draft says beyond its sources or against them, in words, or None. What a model wrote is read statement
    by statement; the other methods only repeat words of their sources."""
    dates = [[memory.day for memory in (member.memory, *member.made_from)] for member in task.members]
    invented = find_invention(sources, draft.content, [day for days in dates for day in days])
    if invented:
        return f"invented: no source has the {invented.kind} '{invented.text}'"
    if model.method == "llm" and task.cluster.policy != PRINCIPLE:
        problem = find_unborne_in(draft.text, Evidence(sources, dates))
        return f"unsupported: {problem}" if problem else None
    contradiction = find_contradiction(sources, draft.text)
    return f"contradicts a source: {contradiction}" if contradiction else None


def mean_similarities(vectors: NDArray[np.float32]) -> tuple[NDArray[np.float64], list[float]]:
    """Cosines between members, float64 (n, n), and each member's mean to the others. Vectors: (n, d), unit."""
    wide = vectors.astype(np.float64)
    cosines = (
        np.clip((wide[:, None, :] * wide[None, :, :]).sum(axis=2), -1.0, 1.0) if len(wide) <= 64 else wide @ wide.T
    )
    n = len(cosines)
    means = (cosines.sum(axis=1) - 1.0) / max(1, n - 1)
    return cosines, [round(float(value), 9) for value in means]
