"""What must hold before anything is archived, checked again from the store and apart from the steps above."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from memory_pipeline.knowledge.entries import claim_of, find_loss, read_entry
from memory_pipeline.knowledge.merging import find_unmerged
from memory_pipeline.night.clustering import FIGURE_KINDS, SERIES_LEAST
from memory_pipeline.night.context import Night
from memory_pipeline.night.preservation_check import losses_of
from memory_pipeline.records import MADE, Archive, Distillation
from memory_pipeline.store import series_shapes
from memory_pipeline.wording.conflicts import find_conflict


def problems_of(night: Night, distillations: Sequence[Distillation]) -> list[str]:
    """Everything for which accepted drafts must not be written, in words."""
    return [
        *lossy_distillations(night, distillations),
        *unsafe_members(night, distillations),
        *conflicts_inside(night, distillations),
    ]


def lossy_distillations(night: Night, distillations: Sequence[Distillation]) -> list[str]:
    """Accepted drafts that lose something or save nothing, in words. Their sources are read again from the store, and
    by another reader than the one by which they were accepted. A canonical entry may be longer than its members, for it
    lists them."""
    accepted = _accepted(distillations)
    memories = night.memories({i for d in accepted for i in d.member_ids}) if accepted else {}
    problems = []
    for d in accepted:
        lost = losses_of([memories[i].content for i in d.member_ids if i in memories], d.content)
        if lost:
            problems.append(f"preservation: {len(lost)} facts lost, first {lost[0]}")
        elif d.relation != "canonical" and d.tokens_after >= d.tokens_before:
            problems.append(f"{d.cluster_id}: {d.tokens_after} of {d.tokens_before} tokens")
    return problems


def lost_in_levels(night: Night, archives: Sequence[Archive]) -> list[str]:
    """What merged memories and canonical entries lack of their sources, all read again from the store, in words."""
    memories = night.memories({i for a in archives for i in (*a.member_ids, a.abstraction_id or "")})
    problems = []
    for archive in archives:
        made = memories.get(archive.abstraction_id or "")
        members = [memories[i] for i in archive.member_ids]
        if made is None:
            problems.append(f"{archive.cluster_id}: nothing was written")
        elif made.is_canonical:
            lost = find_loss([(member.id, read_entry(member)) for member in members], made.content, made.tags)
            problems += [f"'{made.id}': {text}" for text in lost]
        else:
            lost = find_unmerged([member.content for member in members], made.content)
            problems += [f"'{made.id}' lacks: {text}" for text in lost]
    return problems


def unsafe_members(night: Night, distillations: Sequence[Distillation]) -> list[str]:
    """Sources of accepted drafts that a night may not touch, in words."""
    problems: list[str] = []
    if not _accepted(distillations):
        return problems
    memories = night.memories({i for d in _accepted(distillations) for i in d.member_ids})
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
            elif memory.created_at > (night.as_of if memory.source.connector == MADE else night.fresh_after):
                problems.append(f"'{memory_id}' is fresh")
            elif memory.project_id != distillation.project_id:
                problems.append(f"'{memory_id}' is of project '{memory.project_id}'")
    return problems


def conflicts_inside(night: Night, distillations: Sequence[Distillation]) -> list[str]:
    """Pairs of sources of one accepted draft that contradict each other, in words."""
    if not _accepted(distillations):
        return []
    memories = night.memories({i for d in _accepted(distillations) for i in d.member_ids})
    with night.store.reading() as tx:
        series = series_shapes(tx, night.fresh_after, SERIES_LEAST)
    problems = []
    for distillation in _accepted(distillations):
        members = [memories[i] for i in distillation.member_ids if i in memories]
        for a, b in combinations(members, 2):
            finding = find_conflict(claim_of(a.content), claim_of(b.content))
            same_series = a.shape_hash == b.shape_hash and (a.project_id, a.shape_hash) in series
            if finding and not (same_series and finding.kind in FIGURE_KINDS):
                problems.append(f"'{a.id}' and '{b.id}': {finding.kind}, {finding.detail}")
    return problems


def _accepted(distillations: Sequence[Distillation]) -> list[Distillation]:
    return [d for d in distillations if d.outcome == "accepted"]
