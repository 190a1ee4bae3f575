"""Fourth step: from edges to clusters, with conflicts linked and kept apart, and settled ones marked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memory_pipeline.night.context import Night
from memory_pipeline.night.linkage import Linkage, connected_components, link
from memory_pipeline.records import (
    LEVEL_PATTERN,
    Cluster,
    Conflict,
    EligibleMemory,
    derived_id,
    fingerprint_of,
)
from memory_pipeline.store import (
    Transaction,
    record_conflicts,
    resolve_conflicts,
    reviewed_fingerprints,
    series_shapes,
    settled_fingerprints,
    shapes_of,
)

UNCATEGORISED = "uncategorised"
#: Conflicts of these kinds are figures; between members of a series they are no contradiction.
FIGURE_KINDS = ["number", "unit", "date", "time", "identifier"]
#: So many memories of one shape, nearly all with different figures, make a series.
SERIES_LEAST = 5


@dataclass(frozen=True, slots=True)
class Policy:
    """A cut of the stored edges: threshold, least size, linkage, and the level of what comes out."""

    name: str
    threshold: float
    min_size: int
    linkage: Linkage
    level: int


def policies_of(night: Night) -> list[Policy]:
    """The policies of a night, in the order in which they run."""
    settings = night.settings
    return [Policy("distill", night.threshold, settings.min_cluster_size, settings.linkage, LEVEL_PATTERN)]


def cluster_memories(night: Night, eligible: list[EligibleMemory], edges: pa.Table) -> list[Cluster]:
    """Tonight's clusters, largest first; conflicts are linked in the store on the way.

    A fingerprint decided within the last `fingerprint_ttl_days` as of the night is marked settled.
    With `cluster_id`, only that cluster is left unsettled.
    """
    night.hold_lease()
    with night.store.reading() as tx:
        edges, episodes = reconcile_series(edges, *_series(tx, night, edges))
        ttl = night.settings.fingerprint_ttl_days
        decided = {
            **{f: f"{status} within {ttl} days" for f, status in settled_fingerprints(tx, night.as_of, ttl).items()},
            **reviewed_fingerprints(tx),
        }
    conflicts = conflicts_in(edges)
    if (conflicts or episodes) and not night.options.dry_run:
        with night.store.writing(night.holder, night.options.run_id) as tx:
            record_conflicts(tx, conflicts, night.as_of)
            resolve_conflicts(tx, episodes, "series")
    clusters: list[Cluster] = []
    for policy in policies_of(night):
        taken = {memory_id for cluster in clusters for memory_id in cluster.member_ids}
        left = [memory for memory in eligible if memory.id not in taken]
        clusters += find_clusters(left, edges, policy)
    wanted = night.options.cluster_id
    marked = []
    for cluster in clusters:
        why = decided.get(cluster.fingerprint)
        if wanted and wanted not in (cluster.cluster_id, cluster.fingerprint):
            marked.append(replace(cluster, settled="another cluster was asked for"))
        elif why and not wanted:
            marked.append(replace(cluster, settled=why))
        else:
            marked.append(cluster)
    return marked


def _series(tx: Transaction, night: Night, edges: pa.Table) -> tuple[dict[str, str], set[tuple[str, str]]]:
    conflicting = edges.filter(pc.is_in(edges["conflict_kind"], value_set=pa.array(FIGURE_KINDS)))
    ids = {*conflicting["a"].to_pylist(), *conflicting["b"].to_pylist()}
    return (shapes_of(tx, ids), series_shapes(tx, night.fresh_after, SERIES_LEAST)) if ids else ({}, set())


def reconcile_series(
    edges: pa.Table, shapes: dict[str, str], series: set[tuple[str, str]]
) -> tuple[pa.Table, list[tuple[str, str]]]:
    """Edges without the conflicts between members of one series, and the pairs that were cleared.

    A fact does not take five values in a month; a reading does. So figures that differ between texts of
    the same shape are a conflict when there are two, and episodes when the same line has come back
    with many values on several days.
    """
    kinds = edges["conflict_kind"].to_pylist()
    episodes: list[tuple[str, str]] = []
    columns = zip(*(edges[name].to_pylist() for name in ("project_id", "a", "b")), strict=True)
    for row, (project, a, b) in enumerate(columns):
        shape = shapes.get(a)
        if kinds[row] in FIGURE_KINDS and shape == shapes.get(b) and (project, shape) in series:
            kinds[row] = None
            episodes.append((a, b))
    place = edges.schema.get_field_index("conflict_kind")
    return edges.set_column(place, edges.schema.field(place), pa.array(kinds, type=pa.string())), episodes


def conflicts_in(edges: pa.Table) -> list[Conflict]:
    """The pairs of an edge table that the guard refused."""
    return [
        Conflict(row["project_id"], row["a"], row["b"], row["conflict_kind"], row["conflict_detail"], row["score"])
        for row in edges.to_pylist()
        if row["conflict_kind"] is not None
    ]


def find_clusters(eligible: list[EligibleMemory], edges: pa.Table, policy: Policy) -> list[Cluster]:
    """Clusters of one policy, by size (largest first) and fingerprint.

    Edges below the policy's threshold and edges with a conflict do not link; groups under the least
    size are dropped. The result does not depend on the order of memories or edges.
    """
    memories = {memory.id: memory for memory in eligible}
    ids = sorted(memories)
    number = {memory_id: index for index, memory_id in enumerate(ids)}
    scores: dict[tuple[int, int], float] = {}
    columns = zip(*(edges[name].to_pylist() for name in ("a", "b", "score", "conflict_kind")), strict=True)
    for a, b, score, conflict in columns:
        if conflict is None and score >= policy.threshold and a in number and b in number:
            scores[(min(number[a], number[b]), max(number[a], number[b]))] = score
    if not scores:
        return []
    i, j = (np.fromiter(column, dtype=np.int64) for column in zip(*scores, strict=True))
    labels = connected_components(len(ids), i, j)
    components: dict[int, list[int]] = {}
    for node in np.unique(np.concatenate([i, j])).tolist():
        components.setdefault(int(labels[node]), []).append(node)
    inside: dict[int, dict[tuple[int, int], float]] = {}
    for pair, score in scores.items():
        inside.setdefault(int(labels[pair[0]]), {})[pair] = score
    clusters = [
        _describe([memories[ids[node]] for node in group], _scores_within(group, inside[label]), policy)
        for label, nodes in components.items()
        if len(nodes) >= policy.min_size
        for group in link(nodes, inside[label], policy.linkage, policy.threshold)
        if len(group) >= policy.min_size
    ]
    return sorted(clusters, key=lambda cluster: (-cluster.member_count, cluster.fingerprint))


def _scores_within(group: list[int], edges: dict[tuple[int, int], float]) -> list[float]:
    return [edges[(x, y)] for place, x in enumerate(group) for y in group[place + 1 :] if (x, y) in edges]


def _describe(members: list[EligibleMemory], scores: list[float], policy: Policy) -> Cluster:
    ids = tuple(sorted(memory.id for memory in members))
    fingerprint = fingerprint_of(ids)
    project = members[0].project_id
    counts = Counter(category for memory in members for category in memory.categories)
    top = [category for category, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    return Cluster(
        cluster_id=derived_id(policy.name, project, fingerprint),
        fingerprint=fingerprint,
        policy=policy.name,
        project_id=project,
        member_ids=ids,
        member_count=len(ids),
        avg_similarity=round(float(np.mean(scores)), 6),
        min_similarity=round(float(np.min(scores)), 6),
        dominant_category=top[0] if top else UNCATEGORISED,
        top_categories=tuple(top[:2]),
        total_tokens=sum(memory.token_count for memory in members),
        max_importance=max(memory.importance for memory in members),
        oldest_member_at=min(memory.created_at for memory in members),
        newest_member_at=max(memory.created_at for memory in members),
    )
