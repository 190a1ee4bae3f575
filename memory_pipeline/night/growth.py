"""A pattern grows: what new memories say again becomes the next version of it, instead of another pattern.

The next version is made from the raw memories of the pattern and the new ones, never from the pattern's own words.
The version before it is archived into it with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memory_pipeline.config.policies import Policy
from memory_pipeline.embedding.model import Vectors
from memory_pipeline.night.clustering import describe_cluster, takes
from memory_pipeline.night.eligibility import as_eligible
from memory_pipeline.night.pairs import exact_scores, proposal_margin
from memory_pipeline.night.plan import NightPlan
from memory_pipeline.night.reading import NightReader
from memory_pipeline.records import Cluster, EligibleMemory, Memory
from memory_pipeline.wording.agreement import says_the_same
from memory_pipeline.wording.conflicts import find_conflict
from memory_pipeline.wording.sentences import split_statements, strip_lead_in


def find_growth(reader: NightReader, policy: Policy, eligible: Sequence[EligibleMemory]) -> list[Cluster]:
    """By pattern that new memories say again, a cluster of it and of these, largest first.

    A memory joins the nearest pattern of its project at or above the policy's threshold, if it has a statement that
    one of the two says in the words of the other, and contradicts nothing in it. Patterns made tonight or later are
    left to the next night.
    """
    plan = reader.plan
    with reader.store.reading() as tx:
        patterns = tx.memories.patterns(plan.as_of, policy.name, plan.settings.compression.critical_floor)
    mine = [pattern for pattern in patterns if plan.may_touch(pattern.project_id)]
    joined: dict[str, list[tuple[EligibleMemory, float]]] = {}
    for project in sorted({pattern.project_id for pattern in mine}):
        here = {pattern.id: pattern for pattern in mine if pattern.project_id == project}
        others = {memory.id: memory for memory in eligible if memory.project_id == project}
        cut = policy.of_project(project)
        if cut is None:
            continue
        others = {i: memory for i, memory in others.items() if takes(cut, memory)}
        for pattern_id, memory_id, score in _nearest(reader, cut, here, others):
            joined.setdefault(pattern_id, []).append((others[memory_id], score))
    found = [
        describe_cluster([_member(plan, here), *(memory for memory, _ in new)], [score for _, score in new], policy)
        for here, new in ((next(p for p in mine if p.id == i), new) for i, new in sorted(joined.items()))
    ]
    return sorted(found, key=lambda cluster: (-cluster.member_count, cluster.fingerprint))


def _member(plan: NightPlan, pattern: Memory) -> EligibleMemory:
    return as_eligible(plan.settings, pattern, 1)


def _nearest(
    reader: NightReader, policy: Policy, patterns: Mapping[str, Memory], others: Mapping[str, EligibleMemory]
) -> list[tuple[str, str, float]]:
    """For each memory that says again what a pattern says: the nearest such pattern, the memory and their cosine."""
    pattern_ids, pattern_vectors = reader.vectors_of(sorted(patterns))
    ids, vectors = reader.vectors_of(sorted(others))
    if not pattern_ids or not ids:
        return []
    pairs = _pairs(pattern_vectors, vectors, policy.threshold)
    contents = reader.memories({ids[j] for _, j, _ in pairs})
    best: dict[str, tuple[float, str]] = {}
    for i, j, score in pairs:
        pattern, memory = patterns[pattern_ids[i]], contents[ids[j]]
        if policy.group_by == "memory_type" and pattern.memory_type != memory.memory_type:
            continue
        if says_again(pattern.content, memory.content) and (-score, pattern.id) < best.get(memory.id, (1.0, "")):
            best[memory.id] = (-score, pattern.id)
    return [(pattern_id, memory_id, -score) for memory_id, (score, pattern_id) in sorted(best.items())]


def _pairs(patterns: Vectors, vectors: Vectors, threshold: float) -> list[tuple[int, int, float]]:
    """Rows of both with a cosine at or above the threshold. Vectors: float32 (n, dimension), unit length."""
    product = patterns @ vectors.T
    i, j = np.nonzero(product >= np.float32(threshold - proposal_margin(vectors.shape[1])))
    both = np.concatenate([patterns, vectors])
    scores = exact_scores(both, i, j + len(patterns))
    return [(int(a), int(b), float(s)) for a, b, s in zip(i, j, scores, strict=True) if s >= threshold]


def says_again(pattern: str, content: str) -> bool:
    """Whether a content has a statement that a pattern makes as well, in its words, and contradicts nothing in it."""
    ours, theirs = ([strip_lead_in(text) for text in split_statements(text)] for text in (pattern, content))
    same = any(says_the_same(one, other) or says_the_same(other, one) for one in ours for other in theirs)
    return same and find_conflict(pattern, content) is None
