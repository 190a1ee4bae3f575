"""What a step has done, as one sentence of a run's log; nothing if it found nothing to do, so that the log of a quiet
night stays short."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

import pyarrow as pa

from memory_pipeline.night.clustering import conflicts_in
from memory_pipeline.night.plan import NightPlan
from memory_pipeline.records import (
    DIGEST,
    Archive,
    AtomDecision,
    Cluster,
    Contribution,
    Distillation,
    DuplicateGroup,
    EligibleMemory,
    PrincipleResult,
)
from memory_pipeline.wording.counts import how_many


def memories(count: int) -> str:
    """`1 memory`, `2 memories`."""
    return how_many(count, "memory")


def of_duplicates(groups: Sequence[DuplicateGroup]) -> str:
    """Copies and the memories that they went into."""
    copies = sum(len(group.duplicate_ids) for group in groups if not group.proposed)
    waiting = sum(len(group.duplicate_ids) for group in groups if group.proposed)
    done = sum(not group.proposed for group in groups)
    parts = [f"{how_many(copies, 'exact copy')} archived into {memories(done)}"] if copies else []
    parts += [f"{how_many(waiting, 'exact copy')} proposed for approval"] if waiting else []
    return _sentence(parts)


def of_eligible(eligible: Sequence[EligibleMemory], plan: NightPlan) -> str:
    """What the night may touch, if some of it has come of age since the night before."""
    new = _come_of_age(eligible, plan)
    projects = len({memory.project_id for memory in eligible})
    told = f"{memories(len(eligible))} of {how_many(projects, 'project')} may be touched, {new:,} for the first time"
    return _sentence([told] if new else [])


def of_pairs(pairs: pa.Table, eligible: Sequence[EligibleMemory], plan: NightPlan) -> str:
    """Pairs that are alike, and those that only seem so, if there are memories that no earlier night has compared."""
    if not pairs.num_rows or not _come_of_age(eligible, plan):
        return ""
    apart = len(conflicts_in(pairs))
    guarded = f", {apart:,} of them kept apart because they contradict each other" if apart else ""
    return f"{how_many(pairs.num_rows, 'pair')} of memories alike{guarded}."


def _come_of_age(eligible: Sequence[EligibleMemory], plan: NightPlan) -> int:
    """How many memories the night before could not touch yet."""
    return sum(memory.created_at > plan.fresh_after - timedelta(days=1) for memory in eligible)


def of_clusters(clusters: Sequence[Cluster]) -> str:
    """How many clusters, where, and how large."""
    settled = sum(cluster.settled is not None for cluster in clusters)
    if settled == len(clusters):
        return ""
    projects = len({cluster.project_id for cluster in clusters})
    largest = max(cluster.member_count for cluster in clusters)
    known = f"; {settled:,} of them decided on an earlier night" if settled else ""
    return (
        f"{how_many(len(clusters), 'cluster')} found in {how_many(projects, 'project')}, the largest of "
        f"{memories(largest)}{known}."
    )


def of_distillations(drafts: Sequence[Distillation]) -> str:
    """Drafts and their outcomes."""
    counts = {name: sum(d.outcome == name for d in drafts) for name in ("accepted", "refused", "deferred", "failed")}
    return f"{how_many(len(drafts), 'draft')}: {_counted(counts)}." if drafts else ""


def of_archives(archives: Sequence[Archive]) -> str:
    """What was written, and what was left."""
    done = [archive for archive in archives if archive.status == "compressed"]
    archived = sum(len(archive.archived_ids) for archive in done)
    saved = sum(archive.measured.tokens_before - archive.measured.tokens_after for archive in done)
    parts = []
    if done:
        parts.append(f"{memories(archived)} archived into {len(done):,}, {saved:,} tokens saved")
    left = {name: sum(a.status == name for a in archives) for name in ("skipped", "failed", "proposed")}
    if words := _counted(left):
        parts.append(f"clusters left as they were: {words}")
    return _sentence(parts)


def of_readings(archives: Sequence[Archive]) -> str:
    """Statements, and the notes that were put away."""
    statements = sum(archive.cluster.policy != DIGEST for archive in archives)
    archived = sum(len(archive.archived_ids) for archive in archives)
    told = f"{how_many(statements, 'statement')} kept of the notes, {memories(archived)} put away"
    return _sentence([told] if archives else [])


def of_series(archives: Sequence[Archive]) -> str:
    """Series and their readings."""
    done = [archive for archive in archives if archive.status == "compressed"]
    archived = sum(len(archive.archived_ids) for archive in done)
    told = f"{len(done):,} series brought up to date, {memories(archived)} archived into them"
    return _sentence([told] if done else [])


def of_atoms(decisions: Sequence[AtomDecision]) -> str:
    """Causes and effects, and what became of them."""
    words = {"created": "new", "strengthened": "strengthened", "skipped": "skipped"}
    counts = {word: sum(d.status == status for d in decisions) for status, word in words.items()}
    found = sum(counts.values())
    return f"{how_many(found, 'cause and effect', 'causes and effects')} found: {_counted(counts)}." if found else ""


def of_playbook(done: Sequence[Contribution]) -> str:
    """Advice that entered the playbook."""
    counts = {name: sum(one.status == name for one in done) for name in ("created", "updated")}
    return f"{how_many(len(done), 'piece')} of advice: {_counted(counts)}." if done else ""


def of_principles(results: Sequence[PrincipleResult]) -> str:
    """Groups of related patterns, and what became of them."""
    names = ("created", "skipped", "failed", "deferred", "settled")
    counts = {name: sum(one.status == name for one in results) for name in names}
    return f"{how_many(len(results), 'group')} of related patterns: {_counted(counts)}." if results else ""


def of_phase(phase: str, figures: Mapping[str, int]) -> str:
    """The figures of a phase of a consolidation job that are not zero."""
    told = [f"{value:,} {name.removeprefix(f'{phase}_').replace('_', ' ')}" for name, value in figures.items() if value]
    return f"{phase}: {', '.join(told)}." if told else ""


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def _sentence(parts: Sequence[str]) -> str:
    return f"{'; '.join(parts)}." if parts else ""
