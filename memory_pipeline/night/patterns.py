"""The clusters that tonight may become patterns: known patterns that grow, then new ones."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from memory_pipeline.night.claims import by_claims, claim_edges, without_claims_of
from memory_pipeline.night.clustering import cut_clusters, link_conflicts, mark_settled
from memory_pipeline.night.context import Night
from memory_pipeline.night.growth import find_growth
from memory_pipeline.night.similarity import edges_among
from memory_pipeline.records import Cluster, EligibleMemory


def cluster_memories(night: Night, eligible: list[EligibleMemory], edges: pa.Table) -> list[Cluster]:
    """Tonight's clusters of every `distill` policy, largest first; conflicts are linked in the store on the way.

    What says again what a pattern says joins that pattern; the rest may form new ones, of near memories and then of
    those that make one claim. `eligible` and `edges`: what merging left. A memory is in at most one cluster. A
    fingerprint decided within the last `fingerprint_ttl_days` as of the night is marked settled. With `cluster_id`,
    all other clusters are marked settled.
    """
    night.hold_lease()
    # Edges from a file may be those of an earlier run, whose memories have been archived since.
    edges = edges_among(edges, [memory.id for memory in eligible])
    link_conflicts(night, edges)
    clusters: list[Cluster] = []
    for policy in night.plan.policies:
        if policy.method == "distill":
            taken = _members(clusters)
            left = [memory for memory in eligible if memory.id not in taken]
            grown = mark_settled(night.store, night.plan, policy, find_growth(night.reader, policy, left))
            # Also those of clusters that were declined: a second run must not make of them what the first one did not.
            again = _members(grown)
            rest = [memory for memory in left if memory.id not in again]
            near = cut_clusters(night.store, night.plan, policy, rest, edges)
            joined = _members(near)
            apart = [memory for memory in rest if memory.id not in joined]
            made = _members(cluster for cluster in near if cluster.settled is None)
            apart = without_claims_of(night.reader, apart, sorted(made))
            far = cut_clusters(
                night.store, night.plan, by_claims(night.plan, policy), apart, claim_edges(night.reader, apart)
            )
            clusters += [*grown, *near, *far]
    return sorted(clusters, key=lambda cluster: (-cluster.member_count, cluster.fingerprint))


def _members(clusters: Iterable[Cluster]) -> set[str]:
    return {memory_id for cluster in clusters for memory_id in cluster.member_ids}
