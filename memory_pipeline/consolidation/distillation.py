"""Every unsettled cluster becomes one draft, or gets a reason why not. Near-copies become merged memories, entries of
the knowledge base canonical ones, and clusters of one subject patterns.

The levels between pairs and clusters form clusters from the same edges. Their results are compared with the rest
immediately, so that the next method works on what is left, and running a night again finds the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from memory_pipeline.config.policies import Method, Policy
from memory_pipeline.consolidation.archive import archive_distillations
from memory_pipeline.consolidation.clustering import cut_clusters
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillers.extractive import Extractive
from memory_pipeline.consolidation.distillers.judge import (
    DistillationModel,
    Draft,
    Member,
    Task,
    judge,
    mean_cosines,
    similarities_of,
    undistilled,
)
from memory_pipeline.consolidation.eligibility import as_eligible
from memory_pipeline.consolidation.established import establish
from memory_pipeline.consolidation.merging import merge_contents, tells_several
from memory_pipeline.errors import ModelError
from memory_pipeline.models import Declined, Session
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import (
    ESTABLISHED,
    LEVEL_PATTERN,
    Archive,
    Cluster,
    Distillation,
    EligibleMemory,
    Measured,
    Memory,
    offset_of_newest,
)
from memory_pipeline.store import AWAITS_REVIEW
from memory_pipeline.text.entries import entry_text, read_entry, unite_entries
from memory_pipeline.text.kinds import OTHER
from memory_pipeline.text.preservation import check_preservation
from memory_pipeline.text.steering import STEERS, find_attempt, steering_draft
from memory_pipeline.text.subject import shared_headings, shared_lead_in

_CLUSTERS_AT_ONCE = 50


def distill_clusters(night: Night, clusters: Iterable[Cluster]) -> list[Distillation]:
    """One distillation per cluster, in the clusters' order. An error fails only its own cluster; a model that cannot
    be used is one error, and fails every cluster that it has not answered.

    Raises ModelError or StrategyError for settings with which no model can be created.
    """
    todo = [cluster for cluster in clusters if cluster.settled is None]
    stated = [cluster for cluster in todo if cluster.policy == ESTABLISHED]
    results = {cluster.cluster_id: establish(night, cluster) for cluster in stated}
    for cluster, task, draft in _propose(
        night, night.distiller, [cluster for cluster in todo if cluster not in stated]
    ):
        results[cluster.cluster_id] = _judged(night, cluster, task, draft)
        night.progress("distillation", len(results), len(todo))
    return [results[cluster.cluster_id] for cluster in todo]


def _propose(
    night: Night, model: DistillationModel, clusters: Sequence[Cluster]
) -> Iterator[tuple[Cluster, Task | None, Draft | Declined | Exception]]:
    """A model's proposal for each cluster, in any order; without a task if the model was not asked.

    A cluster with a hostile member is not shown to a model. A failing cluster has its error; a model that cannot be
    used is one error, which every remaining cluster gets.
    """
    undecided = {cluster.cluster_id: cluster for cluster in clusters}
    unasked: dict[str, Declined | Exception] = {}
    try:
        for task, draft in model.drafts(_tasks(night, clusters, unasked), session_of(night)):
            yield undecided.pop(task.cluster.cluster_id), task, draft
    except ModelError as error:
        night.note_error("", "distill", error)
        unasked = dict.fromkeys(undecided, error) | unasked
    for cluster_id, why in unasked.items():
        yield undecided[cluster_id], None, why


def session_of(night: Night) -> Session:
    """The answers and calls of this run, and what the night provides to its distiller."""
    return Session(
        night.previews or night.store,
        night.options.run_id,
        night.holder,
        preview=night.options.dry_run,
        use_cache=not night.options.no_cache,
        keep_alive=night.hold_lease,
        progress=night.progress,
        log=night.log,
    )


def _tasks(night: Night, clusters: Sequence[Cluster], unasked: dict[str, Declined | Exception]) -> Iterator[Task]:
    """The clusters with their members; clusters that no model may see are added to the unasked ones."""
    for start in range(0, len(clusters), _CLUSTERS_AT_ONCE):
        page = clusters[start : start + _CLUSTERS_AT_ONCE]
        wanted = sorted({member_id for cluster in page for member_id in cluster.member_ids})
        with night.store.reading():
            memories = night.memories(wanted)
            made_from = night.witnesses(wanted)
            versions = {i: made_from.get(i, []) for i in wanted if memories[i].abstraction_level == LEVEL_PATTERN}
            memories |= {raw.id: raw for behind in versions.values() for raw in behind}
            raw_ids = {i: [raw.id for raw in behind] for i, behind in versions.items()}
            vectors = dict(zip(*night.vectors_of(sorted(memories)), strict=True))
        for cluster in page:
            try:
                # Of a pattern that grows, the next version is made from the raw memories behind it.
                ids = [i for member in cluster.member_ids for i in raw_ids.get(member, [member])]
                members = sorted((memories[i] for i in ids), key=lambda m: (m.effective_date, m.id))
                means = mean_cosines(np.stack([vectors[memory.id] for memory in members]))
                behind = [tuple(made_from.get(memory.id, ())) for memory in members]
                task = Task(cluster, tuple(map(Member, members, means, behind)))
                attempt = find_attempt({i: memories[i].content for i in ids})
            except Exception as error:  # one failing cluster leaves the others
                unasked[cluster.cluster_id] = error
                continue
            if attempt:
                night.log.warning("cluster %s is left alone: %s", cluster.cluster_id, attempt)
                unasked[cluster.cluster_id] = Declined(f"{STEERS}: {attempt}")
            else:
                yield task


def _judged(night: Night, cluster: Cluster, task: Task | None, draft: Draft | Declined | Exception) -> Distillation:
    try:
        if isinstance(draft, Declined) or (task is None and isinstance(draft, ModelError)):
            return undistilled(cluster, draft, night.distiller)
        if isinstance(draft, Exception):
            raise draft
        assert task is not None, "a draft comes with its task"
        return judge(task, draft, night.distiller, night.settings, night.embedder.count_tokens)
    except Exception as error:  # one failing cluster leaves the others; it is logged and reported
        night.note_error(cluster.cluster_id, "distill", error)
        return undistilled(cluster, error, night.distiller)


#: A merged memory says what its sources say, word for word.
MERGE_CONFIDENCE = 0.95
#: Near-copies that share no statement stay unchanged: merged, they would not be shorter.
NOTHING_TWICE = "no two of their statements surely say the same"


def consolidate(night: Night, policy: Policy, eligible: list[EligibleMemory], edges: pa.Table) -> list[Archive]:
    """Apply one policy that merges memories or makes entries canonical; returns the result of each cluster,
    including settled ones."""
    night.hold_lease()
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
    behind = night.witnesses(made)
    new = [as_eligible(memory, len(behind.get(i, (memory,)))) for i, memory in night.memories(made).items()]
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
                night.note_error(cluster.cluster_id, "distill", error)
                yield undistilled(cluster, error, Extractive())


def _draft(
    embedder: Embedder, cluster: Cluster, method: Method, memories: Mapping[str, Memory], vectors: Mapping[str, Vectors]
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
    means = mean_cosines(np.stack([vectors[memory.id] for memory in members]))
    preserved = check_preservation(contents, content, ())
    types = (memory.memory_type for memory in members if memory.memory_type != OTHER)
    categories = dict.fromkeys((*cluster.top_categories, *(c for memory in members for c in memory.categories)))
    return Distillation(
        cluster=cluster,
        similarities=similarities_of(cluster, dict(zip((memory.id for memory in members), means, strict=True))),
        content=content,
        outcome="refused" if reason else "accepted",
        reason=reason,
        measured=Measured.of(before, after, preserved.found, preserved.kept, preserved.attached),
        method="heuristic",
        prompt_version=f"{method}-1",
        memory_type="lesson" if method == "canonical" else next(types, OTHER),
        categories=tuple(categories),
        importance=cluster.max_importance,
        effective_date=max(memory.effective_date for memory in members),
        oldest_source_at=min(memory.effective_date for memory in members),
        utc_offset=offset_of_newest(members),
        headings=shared_headings(members),
        lead_in=shared_lead_in(members),
        confidence=MERGE_CONFIDENCE,
        relation="canonical" if method == "canonical" else "merged",
        tags=tags,
    )
