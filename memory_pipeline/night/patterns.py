"""The clusters that tonight may become patterns: known patterns that grow, then new ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa

from memory_pipeline.config.policies import Policy
from memory_pipeline.models.choose import has_model
from memory_pipeline.night.claims import by_claims, claim_edges, without_claims_of
from memory_pipeline.night.clustering import cut_clusters, link_conflicts, mark_settled
from memory_pipeline.night.context import Night
from memory_pipeline.night.growth import find_growth
from memory_pipeline.night.pairs import similar_pairs
from memory_pipeline.night.similarity import edges_among, guard_edges
from memory_pipeline.records import MADE, READING, Cluster, EligibleMemory, Source
from memory_pipeline.store import EDGE_SCHEMA

#: Statements that are alike by at least this cosine on average may teach one lesson: a model says whether they do.
#: Below it, notes of one subject that share no lesson crowd in (built-in model).
STATEMENT_COSINE = 0.55
#: Of more statements of a project the newest are compared: this bounds the pairs.
_MOST_STATEMENTS = 400


def cluster_memories(night: Night, eligible: list[EligibleMemory], edges: pa.Table) -> list[Cluster]:
    """Tonight's clusters of every `distill` policy, largest first; conflicts are linked in the store on the way.

    What says again what a pattern says joins that pattern; the rest may form new ones: of near memories, then of those
    that make one claim, and then, if a model says what they teach, of statements that are alike in meaning. `eligible`
    and `edges`: what merging left. A memory is in at most one cluster. A fingerprint decided within the last
    `fingerprint_ttl_days` as of the night is marked settled. With `cluster_id`, all other clusters are marked settled.
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
            clusters += [*grown, *near, *far, *_alike(night, policy, apart, _members(far))]
    return sorted(clusters, key=lambda cluster: (-cluster.member_count, cluster.fingerprint))


def _alike(night: Night, policy: Policy, apart: Sequence[EligibleMemory], taken: set[str]) -> list[Cluster]:
    """Clusters of statements that are alike in meaning; none without a model, which alone can tell what they share."""
    if not has_model(night.settings) or night.options.threshold is not None:
        return []
    memories = night.reader.memories(memory.id for memory in apart if memory.id not in taken)
    stated = [memory for memory in memories.values() if memory.source == Source(MADE, READING)]
    newest: dict[str, list[str]] = {}
    for memory in sorted(stated, key=lambda memory: (memory.effective_date, memory.id), reverse=True):
        newest.setdefault(memory.project_id, []).append(memory.id)
    tables, taken_part = [EDGE_SCHEMA.empty_table()], set[str]()
    for project, statement_ids in sorted(newest.items()):
        ids, vectors = night.reader.vectors_of(sorted(statement_ids[:_MOST_STATEMENTS]))
        taken_part.update(ids)
        pairs = similar_pairs(vectors, STATEMENT_COSINE, block_size=night.settings.compression.block_size)
        tables.append(guard_edges(night, project, ids, pairs))
    own = {name: table.model_copy(update={"threshold": STATEMENT_COSINE}) for name, table in policy.own.items()}
    loose = replace(policy, threshold=STATEMENT_COSINE, linkage="average", own=own)
    statements = [memory for memory in apart if memory.id in taken_part]
    found = cut_clusters(night.store, night.plan, loose, statements, pa.concat_tables(tables))
    # Two statements, of however many notes, are not yet a lesson: a model that was shown 65 such pairs declined 56.
    return [cluster for cluster in found if cluster.member_count >= policy.min_size]


def _members(clusters: Iterable[Cluster]) -> set[str]:
    return {memory_id for cluster in clusters for memory_id in cluster.member_ids}
