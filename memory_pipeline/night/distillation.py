"""Fifth step: every cluster that is not settled becomes one proposed memory, or a reason why not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from memory_pipeline.distillers import (
    AnswerBook,
    Declined,
    Draft,
    Member,
    Session,
    Task,
    find_attempt,
    judge,
    mean_similarities,
    undistilled,
)
from memory_pipeline.embedding.model import Vectors
from memory_pipeline.errors import DistillerError
from memory_pipeline.night.context import Night
from memory_pipeline.records import Cluster, Distillation, Memory

_CLUSTERS_AT_ONCE = 50


def distill_clusters(night: Night, clusters: Iterable[Cluster]) -> list[Distillation]:
    """One distillation a cluster, in the clusters' order. An error fails its own cluster alone; a model that
    cannot be used is one error, and fails every cluster that it had no answer for.

    Raises DistillerError or StrategyError for settings with which no model can be made.
    """
    model = night.distiller
    todo = [cluster for cluster in clusters if cluster.settled is None]
    session = session_of(night)
    results: dict[str, Distillation] = {}
    try:
        for task, draft in model.drafts(_tasks(night, todo, results), session):
            results[task.cluster.cluster_id] = _judged(night, task, draft)
            night.progress("distillation", len(results), len(todo))
    except DistillerError as error:
        night.note_error("", "distill", error)
        for cluster in todo:
            results.setdefault(cluster.cluster_id, undistilled(cluster, error, model))
    return [results[cluster.cluster_id] for cluster in todo]


def session_of(night: Night) -> Session:
    """What the night lends its distiller."""
    return Session(
        answers=answer_book(night),
        preview=night.options.dry_run,
        use_cache=night.settings.answer_cache and not night.options.no_cache,
        keep_alive=night.hold_lease,
        progress=night.progress,
        log=night.log,
    )


def answer_book(night: Night) -> AnswerBook:
    """The answers and calls of this run."""
    return AnswerBook(night.store, night.options.run_id, night.holder, preview=night.options.dry_run)


def _tasks(night: Night, clusters: Sequence[Cluster], results: dict[str, Distillation]) -> Iterator[Task]:
    """The clusters with their members; one that no model should see is decided here."""
    for start in range(0, len(clusters), _CLUSTERS_AT_ONCE):
        page = clusters[start : start + _CLUSTERS_AT_ONCE]
        wanted = sorted({member_id for cluster in page for member_id in cluster.member_ids})
        memories = night.memories(wanted)
        vectors = dict(zip(*night.vectors_of(wanted), strict=True))
        for cluster in page:
            try:
                task = _task(cluster, memories, vectors)
                attempt = find_attempt({member.memory.id: member.memory.content for member in task.members})
            except Exception as error:  # one cluster failing leaves the others; it is logged and reported
                results[cluster.cluster_id] = _failed(night, cluster, error)
                continue
            if attempt:
                night.log.warning("cluster %s is left alone: %s", cluster.cluster_id, attempt)
                declined = Declined(f"looks like an attempt to steer: {attempt}")
                results[cluster.cluster_id] = undistilled(cluster, declined, night.distiller)
            else:
                yield task


def _task(cluster: Cluster, memories: Mapping[str, Memory], vectors: Mapping[str, Vectors]) -> Task:
    members = sorted((memories[i] for i in cluster.member_ids), key=lambda m: (m.effective_date, m.id))
    similarities, means = mean_similarities(np.stack([vectors[memory.id] for memory in members]))
    return Task(cluster, tuple(map(Member, members, means)), similarities)


def _judged(night: Night, task: Task, draft: Draft | Declined | Exception) -> Distillation:
    if isinstance(draft, Declined):
        return undistilled(task.cluster, draft, night.distiller)
    try:
        if isinstance(draft, Exception):
            raise draft
        return judge(task, draft, night.distiller, night.settings, night.embedder.count_tokens)
    except Exception as error:  # one cluster failing leaves the others; it is logged and reported
        return _failed(night, task.cluster, error)


def _failed(night: Night, cluster: Cluster, error: Exception) -> Distillation:
    night.log.error("distilling cluster %s", cluster.cluster_id, exc_info=error)
    night.note_error(cluster.cluster_id, "distill", error)
    return undistilled(cluster, error, night.distiller)
