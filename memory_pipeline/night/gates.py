"""What must hold before anything is archived, checked again from the store and apart from the steps above."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from memory_pipeline.night.clustering import FIGURE_KINDS, SERIES_LEAST
from memory_pipeline.night.context import Night
from memory_pipeline.records import Distillation
from memory_pipeline.store import read_memories, series_shapes
from memory_pipeline.wording.conflicts import find_conflict


def lossy_distillations(distillations: Sequence[Distillation]) -> list[str]:
    """Accepted drafts that lose facts or save nothing, in words."""
    return [
        f"{d.cluster_id}: {d.facts_kept}+{d.facts_attached} of {d.facts_found} facts, "
        f"{d.tokens_after} of {d.tokens_before} tokens"
        for d in _accepted(distillations)
        if d.facts_kept + d.facts_attached < d.facts_found or d.tokens_after >= d.tokens_before
    ]


def unsafe_members(night: Night, distillations: Sequence[Distillation]) -> list[str]:
    """Sources of accepted drafts that a night may not touch, in words."""
    problems: list[str] = []
    if not _accepted(distillations):
        return problems
    with night.store.reading() as tx:
        memories = read_memories(tx, {i for d in _accepted(distillations) for i in d.member_ids})
    for distillation in _accepted(distillations):
        for memory_id in distillation.member_ids:
            memory = memories.get(memory_id)
            if memory is None:
                problems.append(f"'{memory_id}' does not exist")
            elif memory.archived_at is not None and memory.archived_by != distillation.cluster_id:
                problems.append(f"'{memory_id}' is archived")
            elif max(memory.importance, memory.importance_before or 0.0) >= night.settings.critical_floor:
                problems.append(f"'{memory_id}' is critical")
            elif memory.pinned:
                problems.append(f"'{memory_id}' is pinned")
            elif memory.created_at > night.fresh_after:
                problems.append(f"'{memory_id}' is fresh")
            elif memory.project_id != distillation.project_id:
                problems.append(f"'{memory_id}' is of project '{memory.project_id}'")
    return problems


def conflicts_inside(night: Night, distillations: Sequence[Distillation]) -> list[str]:
    """Pairs of sources of one accepted draft that contradict each other, in words."""
    if not _accepted(distillations):
        return []
    with night.store.reading() as tx:
        memories = read_memories(tx, {i for d in _accepted(distillations) for i in d.member_ids})
        series = series_shapes(tx, night.fresh_after, SERIES_LEAST)
    problems = []
    for distillation in _accepted(distillations):
        members = [memories[i] for i in distillation.member_ids if i in memories]
        for a, b in combinations(members, 2):
            finding = find_conflict(a.content, b.content)
            same_series = a.shape_hash == b.shape_hash and (a.project_id, a.shape_hash) in series
            if finding and not (same_series and finding.kind in FIGURE_KINDS):
                problems.append(f"'{a.id}' and '{b.id}': {finding.kind}, {finding.detail}")
    return problems


def _accepted(distillations: Sequence[Distillation]) -> list[Distillation]:
    return [d for d in distillations if d.outcome == "accepted"]
