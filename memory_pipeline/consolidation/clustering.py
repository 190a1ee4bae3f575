"""Forms clusters from edges, keeps conflicts apart, and marks clusters decided on earlier nights."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa

from memory_pipeline.config.policies import Linkage, Policy
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.review.proposals import find_kept_apart
from memory_pipeline.records import Cluster, EligibleMemory, Memory, connected_groups, derived_id, fingerprint_of
from memory_pipeline.store import SAID_AGAIN

UNCATEGORISED = "uncategorised"


def cut_clusters(night: Night, policy: Policy, eligible: list[EligibleMemory], edges: pa.Table) -> list[Cluster]:
    """The clusters of one policy, largest first; those that an earlier night or a person decided are marked settled."""
    if not edges.num_rows:
        return []
    with night.store.reading() as tx:
        apart = find_kept_apart(tx)
    usable = edges
    if apart:
        pairs = zip(edges["a"].to_pylist(), edges["b"].to_pylist(), strict=True)
        usable = edges.filter(pa.array([not any({a, b} <= group for group in apart) for a, b in pairs], pa.bool_()))
    clusters = find_clusters(eligible, usable, policy)
    if policy.linkage != "complete":  # complete linkage keeps the sides of a conflict apart
        conflicts = [(edge["a"], edge["b"]) for edge in usable.to_pylist() if edge["conflict_kind"]]
        split: list[Cluster] = []
        for cluster in clusters:
            members = set(cluster.member_ids)
            if any(a in members and b in members for a, b in conflicts):
                mine = [memory for memory in eligible if memory.id in members]
                split += find_clusters(mine, usable, replace(policy, linkage="complete"))
            else:
                split.append(cluster)
        clusters = sorted(split, key=lambda cluster: (-cluster.member_count, cluster.fingerprint))
    return mark_settled(night, policy.name, clusters)


def mark_settled(night: Night, policy: str, clusters: Sequence[Cluster]) -> list[Cluster]:
    """The clusters, with the reason for those that the night leaves alone."""
    if not clusters:
        return []
    ttl = night.settings.compression.fingerprint_ttl_days
    with night.store.reading() as tx:
        settled = tx.journal.settled_fingerprints(night.as_of, ttl)
        reviewed = tx.proposals.reviewed_fingerprints()
    decided = {**{key: f"{status} within {ttl} days" for key, status in settled.items()}, **reviewed}
    wanted = night.options.cluster_id

    def why_left(cluster: Cluster) -> str | None:
        if not wanted:
            return decided.get((policy, cluster.fingerprint))
        return None if wanted in (cluster.cluster_id, cluster.fingerprint) else "another cluster was asked for"

    return [replace(cluster, settled=why_left(cluster)) for cluster in clusters]


def find_clusters(eligible: list[EligibleMemory], edges: pa.Table, policy: Policy) -> list[Cluster]:
    """Clusters of one policy, by size (largest first) and fingerprint.

    Edges below the policy's threshold (or the project's own), between groups, and with a conflict do not link; for
    merging, memories that say one thing link at any stored score. A cluster needs two memories that represent the
    minimum number of raw ones. The result does not depend on the order of memories or edges.
    """
    groups: dict[str, list[EligibleMemory]] = {}
    projects = {memory.project_id for memory in eligible}
    cuts = {project: cut for project in projects if (cut := policy.of_project(project)) is not None}
    for memory in eligible:
        if memory.project_id in cuts and takes(cuts[memory.project_id], memory):
            groups.setdefault(memory.project_id, []).append(memory)
    scores = _usable_scores(edges, {memory.id: memory for members in groups.values() for memory in members}, cuts)
    clusters = [
        cluster
        for project, pairs in scores.items()
        for cluster in _cluster_project(groups[project], pairs, cuts[project])
    ]
    return sorted(clusters, key=lambda cluster: (-cluster.member_count, cluster.fingerprint))


def takes(policy: Policy, memory: EligibleMemory) -> bool:
    """Entries of the knowledge base only become canonical entries: otherwise their form would be lost."""
    if memory.is_entry != (policy.method == "canonical"):
        return False
    return not policy.memory_types or memory.memory_type in policy.memory_types


def _usable_scores(
    edges: pa.Table, memories: Mapping[str, EligibleMemory], cuts: Mapping[str, Policy]
) -> dict[str, dict[tuple[str, str], float]]:
    """By project, the pairs that link: not kept apart by the grouping, no conflict, and at or above its threshold or,
    for merging, said again."""
    scores: dict[str, dict[tuple[str, str], float]] = {}
    columns = zip(
        *(edges[name].to_pylist() for name in ("a", "b", "score", "conflict_kind", "conflict_detail")), strict=True
    )
    for a, b, score, conflict, detail in columns:
        one, other = memories.get(a), memories.get(b)
        if conflict is not None or one is None or other is None or one.project_id != other.project_id:
            continue
        cut = cuts[one.project_id]
        # Two wordings of one statement may tell two types (`Never do X`, `X fails silently`), so types that only the
        # wording tells do not keep near-copies from merging.
        are_wordings = cut.method == "merge" and one.type_is_told and other.type_is_told
        if cut.group_by == "memory_type" and one.memory_type != other.memory_type and not are_wordings:
            continue
        if score >= cut.threshold or (cut.method == "merge" and detail == SAID_AGAIN):
            scores.setdefault(one.project_id, {})[(min(a, b), max(a, b))] = score
    return scores


def _cluster_project(
    members: list[EligibleMemory], pairs: Mapping[tuple[str, str], float], policy: Policy
) -> list[Cluster]:
    memories = {memory.id: memory for memory in members}
    components = connected_groups(sorted({i for pair in pairs for i in pair}), pairs)
    number = {memory_id: n for n, component in enumerate(components) for memory_id in component}
    inside: list[dict[tuple[str, str], float]] = [{} for _ in components]
    for pair, score in pairs.items():
        inside[number[pair[0]]][pair] = score

    def is_large(ids: Sequence[str]) -> bool:
        return len(ids) > 1 and sum(memories[i].stands_for for i in ids) >= policy.min_size

    def split(ids: list[str], scores: Mapping[tuple[str, str], float]) -> list[list[str]]:
        linking = {pair: max(score, policy.threshold) for pair, score in scores.items()}  # also what is said again
        return link(ids, linking, policy.linkage, policy.threshold)

    return [
        describe_cluster(
            [memories[i] for i in group],
            [scores[pair] for pair in combinations(group, 2) if pair in scores],
            policy.name,
        )
        for component, scores in zip(components, inside, strict=True)
        if is_large(component)
        for group in split(component, scores)
        if is_large(group)
    ]


def describe_cluster(members: Sequence[EligibleMemory | Memory], scores: Sequence[float], policy: str) -> Cluster:
    """The cluster of these members. `scores`: the cosines that join them."""
    ids = tuple(sorted(memory.id for memory in members))
    fingerprint = fingerprint_of(ids)
    project = members[0].project_id
    counts = Counter(category for memory in members for category in memory.categories)
    top = [category for category, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    return Cluster(
        cluster_id=derived_id(policy, project, fingerprint),
        fingerprint=fingerprint,
        policy=policy,
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


def link(
    ids: Sequence[str], edges: Mapping[tuple[str, str], float], linkage: Linkage, threshold: float
) -> list[list[str]]:
    """Groups of one connected component by agglomeration, each sorted, ordered by their first id.

    `edges`: (i, j) with i < j -> score, every pair at or above `threshold`. Pairs without an edge count as below it:
    with `average` they count as 0, which can only keep groups apart.
    """
    if linkage == "single":
        return [sorted(ids)]
    # Repeatedly merge the closest pair of groups; ties are broken by the smallest ids.
    groups = {i: [i] for i in ids}
    # For complete linkage: the minimum score between two groups. For average: the sum of scores.
    links: dict[str, dict[str, float]] = {i: {} for i in ids}
    for (i, j), score in edges.items():
        links[i][j] = links[j][i] = score
    heap = [(-score, i, j) for (i, j), score in edges.items()]
    heapq.heapify(heap)
    while heap:
        negative, a, b = heapq.heappop(heap)
        if a not in groups or b not in groups or _height(groups, links, a, b, linkage) != -negative:
            continue
        if -negative < threshold:
            break
        groups[a] = sorted(groups[a] + groups.pop(b))
        theirs, mine = links.pop(b), links[a]
        others = (mine.keys() | theirs.keys()) - {a, b}
        if linkage == "complete":
            links[a] = {neighbour: min(mine[neighbour], theirs[neighbour]) for neighbour in mine.keys() & theirs.keys()}
        else:
            links[a] = {neighbour: mine.get(neighbour, 0.0) + theirs.get(neighbour, 0.0) for neighbour in others}
        for neighbour in others:
            links[neighbour].pop(b, None)
            if neighbour in links[a]:
                links[neighbour][a] = links[a][neighbour]
                first, second = min(a, neighbour), max(a, neighbour)
                heapq.heappush(heap, (-_height(groups, links, first, second, linkage), first, second))
            else:
                links[neighbour].pop(a, None)
    return sorted(groups.values())


def _height(
    groups: dict[str, list[str]], links: dict[str, dict[str, float]], a: str, b: str, linkage: Linkage
) -> float:
    score = links[a].get(b, -1.0)
    return score if linkage == "complete" else score / (len(groups[a]) * len(groups[b]))
