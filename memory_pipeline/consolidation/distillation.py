"""Distillation: every unsettled cluster becomes one draft, or gets a reason why not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillers.judge import (
    DistillationModel,
    Draft,
    Member,
    Task,
    judge,
    mean_similarities,
    undistilled,
)
from memory_pipeline.consolidation.established import establish
from memory_pipeline.errors import ModelError
from memory_pipeline.models import AnswerBook, Declined, Session
from memory_pipeline.records import ESTABLISHED, LEVEL_PATTERN, Cluster, Distillation
from memory_pipeline.text.steering import STEERS, find_attempt

_CLUSTERS_AT_ONCE = 50


def distill_clusters(night: Night, clusters: Iterable[Cluster]) -> list[Distillation]:
    """One distillation per cluster, in the clusters' order. An error fails only its own cluster; a model that cannot
    be used is one error, and fails every cluster that it has not answered.

    Raises ModelError or StrategyError for settings with which no model can be created.
    """
    todo = [cluster for cluster in clusters if cluster.settled is None]
    stated = [cluster for cluster in todo if cluster.policy == ESTABLISHED]
    results = {cluster.cluster_id: establish(night, cluster) for cluster in stated}
    for cluster, task, draft in _propose(night, night.distiller, [one for one in todo if one not in stated]):
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
    """What the night provides to its distiller."""
    return Session(
        answers=answer_book(night),
        preview=night.is_preview,
        use_cache=not night.options.no_cache,
        keep_alive=night.hold_lease,
        progress=night.progress,
        log=night.log,
    )


def answer_book(night: Night) -> AnswerBook:
    """The answers and calls of this run."""
    return AnswerBook(night.previews or night.store, night.options.run_id, night.holder, preview=night.is_preview)


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
            told_by = {i: [raw.id for raw in behind] for i, behind in versions.items()}
            vectors = dict(zip(*night.vectors_of(sorted(memories)), strict=True))
        for cluster in page:
            try:
                # Of a pattern that grows, the next version is made from the raw memories behind it.
                ids = [i for member in cluster.member_ids for i in told_by.get(member, [member])]
                members = sorted((memories[i] for i in ids), key=lambda m: (m.effective_date, m.id))
                similarities, means = mean_similarities(np.stack([vectors[memory.id] for memory in members]))
                behind = [tuple(made_from.get(memory.id, ())) for memory in members]
                task = Task(cluster, tuple(map(Member, members, means, behind)), similarities)
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
        note_failure(night, cluster, error)
        return undistilled(cluster, error, night.distiller)


def note_failure(night: Night, cluster: Cluster, error: Exception) -> None:
    """Log and report an error in distilling one cluster."""
    night.log.error("distilling cluster %s", cluster.cluster_id, exc_info=error)
    night.note_error(cluster.cluster_id, "distill", error)
