"""The levels between pairs and clusters: near-copies become merged memories, knowledge-base entries canonical ones.

Each method forms clusters from the same edges. Its results are compared with the rest immediately, so that the next
method works on what is left, and running a night again finds the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from memory_pipeline.config.policies import Method, Policy
from memory_pipeline.consolidation.archive import archive_distillations
from memory_pipeline.consolidation.clustering import cut_clusters, link_conflicts
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillation import note_failure
from memory_pipeline.consolidation.distillers.extractive import Extractive
from memory_pipeline.consolidation.distillers.judge import mean_similarities, similarities_of, undistilled
from memory_pipeline.consolidation.eligibility import as_eligible
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import (
    Archive,
    Cluster,
    Distillation,
    EligibleMemory,
    LevelRelation,
    Measured,
    Memory,
    offset_of_newest,
)
from memory_pipeline.store import AWAITS_REVIEW
from memory_pipeline.text.entries import entry_text, read_entry, unite_entries
from memory_pipeline.text.kinds import OTHER
from memory_pipeline.text.merging import merge_contents, tells_several
from memory_pipeline.text.preservation import check_preservation
from memory_pipeline.text.steering import STEERS, find_attempt, steering_draft
from memory_pipeline.text.subject import shared_headings, shared_lead_in

#: A merged memory says what its sources say, word for word.
MERGE_CONFIDENCE = 0.95
#: Near-copies that share no statement stay unchanged: merged, they would not be shorter.
NOTHING_TWICE = "nothing in them is said twice"
_CLUSTERS_AT_ONCE = 50
_VERSIONS = {"merge": "merge-1", "canonical": "canonical-1"}
_RELATIONS: dict[str, LevelRelation] = {"merge": "merged", "canonical": "canonical"}


def consolidate(night: Night, policy: Policy, eligible: list[EligibleMemory], edges: pa.Table) -> list[Archive]:
    """Apply one policy that merges memories or makes entries canonical; returns the result of each cluster,
    including settled ones. Contradictions are linked before near-copies are merged, so that no merge hides one."""
    night.hold_lease()
    if policy.method == "merge":
        link_conflicts(night, edges)
    clusters = cut_clusters(night, policy, eligible, edges)
    todo = [cluster for cluster in clusters if cluster.settled is None]
    settled = [  # what an earlier night decided is neither done nor logged
        Archive(cluster, "settled", cluster.settled, measured=Measured(tokens_before=cluster.total_tokens))
        for cluster in clusters
        if cluster.settled is not None
    ]
    return [*settled, *archive_distillations(night, draft_clusters(night, todo, policy.method))]


def what_is_left(night: Night, eligible: list[EligibleMemory], earlier: Sequence[Archive]) -> list[EligibleMemory]:
    """The eligible memories after the earlier steps of tonight: without the sources, and with the memories made from
    them. Members of proposals are excluded too."""
    waiting = {i for a in earlier if a.status == "proposed" or a.reason == AWAITS_REVIEW for i in a.member_ids}
    gone = waiting | {i for archive in earlier for i in archive.archived_ids}
    made = {archive.abstraction_id for archive in earlier if archive.abstraction_id} - gone
    if not gone:
        return eligible
    memories = night.memories(made)
    with night.store.reading() as tx:
        stands_for = tx.lineage.count_raw_sources(made)
    counts = {memory.id: memory.stands_for for memory in eligible}
    for archive in earlier:
        if archive.abstraction_id:
            counts[archive.abstraction_id] = sum(counts.get(i, 1) for i in archive.member_ids)
    new = [
        as_eligible(night.settings, memory, stands_for.get(memory_id) or counts[memory_id])
        for memory_id, memory in memories.items()
    ]
    left = [memory for memory in eligible if memory.id not in gone]
    known = {memory.id for memory in left}
    return sorted([*left, *(m for m in new if m.id not in known)], key=lambda m: (m.created_at, m.id))


def not_made_since(night: Night, eligible: list[EligibleMemory], policy: Policy) -> list[EligibleMemory]:
    """The eligible memories without those that this policy or a later one made as of tonight.

    An undisturbed night applies each policy once, so it does not find them. A night that was interrupted and runs
    again does, and must not merge them a second time.
    """
    names = [each.name for each in night.policies]
    since = set(names[names.index(policy.name) :])
    with night.store.reading() as tx:
        made = tx.memories.made_as_of(night.as_of)
    return [memory for memory in eligible if made.get(memory.id) not in since]


def draft_clusters(night: Night, clusters: Sequence[Cluster], method: Method) -> Iterator[Distillation]:
    """The draft for each cluster, in order; a failing cluster leaves the others, and is logged and reported. The
    archive compares each draft with its sources before writing anything."""
    for start in range(0, len(clusters), _CLUSTERS_AT_ONCE):
        page = clusters[start : start + _CLUSTERS_AT_ONCE]
        ids = sorted({i for cluster in page for i in cluster.member_ids})
        memories = night.memories(ids)
        vectors = dict(zip(*night.vectors_of(ids), strict=True))
        for cluster in page:
            try:
                yield _draft(night.embedder, cluster, method, memories, vectors)
            except Exception as error:
                note_failure(night, cluster, error)
                yield undistilled(cluster, error, Extractive())


def _draft(
    embedder: Embedder,
    cluster: Cluster,
    method: Method,
    memories: Mapping[str, Memory],
    vectors: Mapping[str, Vectors],
) -> Distillation:
    members = sorted((memories[i] for i in cluster.member_ids), key=lambda m: (m.effective_date, m.id))
    contents = [memory.content for memory in members]
    if method == "canonical":
        entry = unite_entries([(memory.id, read_entry(memory)) for memory in members])
        content, tags = entry_text(entry), entry.tags
    else:
        content = merge_contents(contents)
        tags = tuple(sorted({tag for memory in members for tag in memory.tags}))
    before, after = sum(memory.token_count for memory in members), embedder.count_tokens(content)
    attempt = find_attempt({memory.id: memory.content for memory in members})
    reason = f"{STEERS}: {attempt}" if attempt else steering_draft(content)
    if reason is None and method == "merge" and (tells_several(contents) or after >= before):
        reason = NOTHING_TWICE
    _, means = mean_similarities(np.stack([vectors[memory.id] for memory in members]))
    preserved = check_preservation(contents, content, ())
    types = (memory.memory_type for memory in members if memory.memory_type != OTHER)
    categories = dict.fromkeys((*cluster.top_categories, *(c for memory in members for c in memory.categories)))
    return Distillation(
        cluster=cluster,
        similarities=similarities_of(cluster, dict(zip((memory.id for memory in members), means, strict=True))),
        content=content,
        attached=(),
        outcome="refused" if reason else "accepted",
        reason=reason,
        measured=Measured.of(before, after, preserved.found, preserved.kept, preserved.attached),
        method="heuristic",
        prompt_version=_VERSIONS[method],
        memory_type="lesson" if method == "canonical" else next(types, OTHER),
        categories=tuple(categories),
        importance=cluster.max_importance,
        effective_date=max(memory.effective_date for memory in members),
        oldest_source_at=min(memory.effective_date for memory in members),
        utc_offset=offset_of_newest(members),
        headings=shared_headings(members),
        lead_in=shared_lead_in(members),
        confidence=MERGE_CONFIDENCE,
        relation=_RELATIONS[method],
        tags=tags,
    )
