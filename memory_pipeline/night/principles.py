"""The weekly step: related patterns of a project become a principle. The patterns stay active, with links both ways.

Patterns that contradict each other are linked as conflicts and never support the same principle. A principle is only
made from patterns, never from another principle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa

from memory_pipeline.config.policies import PRINCIPLE, Policy
from memory_pipeline.knowledge.playbook import guidance_of
from memory_pipeline.night.clustering import conflicts_in, find_clusters
from memory_pipeline.night.context import Night
from memory_pipeline.night.distillation import propose
from memory_pipeline.night.eligibility import as_eligible
from memory_pipeline.night.plan import NightPlan
from memory_pipeline.night.principle_writing import decide_group, misplaced_among, result_of
from memory_pipeline.night.similarity import guard_edges, similar_pairs
from memory_pipeline.records import LEAST_PATTERNS, LEVEL_PATTERN, LEVEL_PRINCIPLE, Cluster, Memory, PrincipleResult
from memory_pipeline.store import EDGE_SCHEMA, Store, create_snapshot

#: Kinds of conflicts between patterns that are contradictions, whatever the subject.
CONTRADICTING = frozenset(("opposite", "negation", "quantifier", "order"))
#: Cosine from which patterns are related: far under that of one statement, as a principle is what differing ones share.
RELATED = 0.55


def form_principles(night: Night) -> list[PrincipleResult]:
    """Link contradicting patterns, and let the model make a principle of every group of related ones; returns the
    result of each group, and none without a model.

    A group with all patterns of an earlier principle replaces it.
    """
    night.hold_lease()
    patterns, principles = _patterns(night.store, night.plan)
    if len(patterns) < LEAST_PATTERNS:
        return []
    edges = _edges(night, patterns)
    _link_contradictions(night, edges)
    if night.distiller.method == "heuristic":
        return []
    taken = _sources_of(night.store, principles)
    current = _current(night.store, taken)
    groups = [group for group in _related(night, patterns, edges) if _is_new(group, taken, current)]
    results = _settled(night.store, night.plan, groups)
    todo = [group for group in groups if group.cluster_id not in results]
    if todo and not night.is_preview:
        create_snapshot(night.store, "principles", datetime.now(UTC), night.settings.store.snapshots_kept)
    for group, task, draft in propose(night, night.distiller, todo, guidance_of):
        night.hold_lease()
        replaces = tuple(sorted(i for i, sources in current.items() if sources & set(group.member_ids)))
        results[group.cluster_id] = decide_group(night, group, task, draft, replaces)
        night.progress("principles", len(results), len(groups))
    return [results[group.cluster_id] for group in groups]


def misplaced_patterns(store: Store, results: Sequence[PrincipleResult]) -> list[str]:
    """Patterns behind the principles of this run that are not active patterns linked to it, recomputed, in words."""
    problems = []
    for result in results:
        if result.principle_id is None:
            continue
        with store.reading() as tx:
            linked = {link.source_id for link in tx.lineage.of([result.principle_id]) if link.relation == PRINCIPLE}
            patterns = tx.memories.read(result.pattern_ids)
        wrong = {i for i in result.pattern_ids if i not in linked} | {*misplaced_among(patterns, result.pattern_ids)}
        problems += [f"'{i}' behind '{result.principle_id}'" for i in sorted(wrong)]
    return problems


def _patterns(store: Store, plan: NightPlan) -> tuple[list[Memory], list[Memory]]:
    """The active patterns, and the active principles, of the projects that take part."""
    with store.reading() as tx:
        active = tx.memories.all(include_archived=False, created_by=plan.as_of)
    mine = [memory for memory in active if plan.may_touch(memory.project_id)]
    return (
        [memory for memory in mine if memory.abstraction_level == LEVEL_PATTERN],
        [memory for memory in mine if memory.abstraction_level == LEVEL_PRINCIPLE],
    )


def _edges(night: Night, patterns: Sequence[Memory]) -> pa.Table:
    """Every related pair of patterns of one project, with the conflict guard's finding."""
    night.embed_missing()
    tables = [EDGE_SCHEMA.empty_table()]
    for project in sorted({pattern.project_id for pattern in patterns}):
        ids, vectors = night.reader.vectors_of([pattern.id for pattern in patterns if pattern.project_id == project])
        pairs = similar_pairs(vectors, RELATED, block_size=night.settings.compression.block_size)
        tables.append(guard_edges(night, project, ids, pairs))
    return pa.concat_tables(tables)


def _link_contradictions(night: Night, edges: pa.Table) -> None:
    conflicts = [
        c for c in conflicts_in(edges) if c.kind in CONTRADICTING or c.score >= night.plan.threshold_of(c.project_id)
    ]
    if conflicts:
        with night.writing() as tx:
            tx.conflicts.record(conflicts, night.as_of)


def _related(night: Night, patterns: Sequence[Memory], edges: pa.Table) -> list[Cluster]:
    """Groups of related patterns: those that are alike on average."""
    settings = night.settings
    policy = Policy(PRINCIPLE, "distill", RELATED, LEAST_PATTERNS, linkage="average")
    members = [replace(as_eligible(settings, pattern, 1), is_entry=False) for pattern in patterns]
    return find_clusters(members, _between_subjects(edges), policy)


def _settled(store: Store, plan: NightPlan, groups: Sequence[Cluster]) -> dict[str, PrincipleResult]:
    """By group, those that were decided recently."""
    days = plan.settings.compression.fingerprint_ttl_days
    with store.reading() as tx:
        settled = tx.journal.settled_fingerprints(plan.as_of, days)
    return {
        group.cluster_id: result_of(group, "settled", f"{before} within {days} days")
        for group in groups
        if (before := settled.get((PRINCIPLE, group.fingerprint)))
    }


def _between_subjects(edges: pa.Table) -> pa.Table:
    """The edges with only contradictions as conflicts: one rule may apply to two subjects."""
    place = edges.schema.get_field_index("conflict_kind")
    kinds = [kind if kind in CONTRADICTING else None for kind in edges["conflict_kind"].to_pylist()]
    return edges.set_column(place, edges.schema.field(place), pa.array(kinds, type=pa.string()))


def _sources_of(store: Store, principles: Sequence[Memory]) -> dict[str, frozenset[str]]:
    with store.reading() as tx:
        links = tx.lineage.of([principle.id for principle in principles])
    of: dict[str, set[str]] = {principle.id: set() for principle in principles}
    for link in links:
        if link.relation == PRINCIPLE:
            of[link.memory_id].add(link.source_id)
    return {principle_id: frozenset(sources) for principle_id, sources in of.items()}


def _current(store: Store, taken: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """By principle, what stands today for its patterns: patterns of stores of earlier versions grew without it."""
    with store.reading() as tx:
        ends = tx.lineage.replacements_of({i for sources in taken.values() for i in sources})
    return {principle: frozenset(ends[i] for i in sources) for principle, sources in taken.items()}


def _is_new(group: Cluster, taken: Mapping[str, frozenset[str]], current: Mapping[str, frozenset[str]]) -> bool:
    """Whether a group extends the principles of its patterns without splitting any of them, or renews one whose
    patterns have grown."""
    members = set(group.member_ids)
    touched = {principle: sources for principle, sources in current.items() if sources & members}
    return all(
        sources < members or (sources == members and sources != taken[principle])
        for principle, sources in touched.items()
    )
