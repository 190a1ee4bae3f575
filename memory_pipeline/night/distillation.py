"""Fifth step: every cluster that is not settled becomes one proposed memory, or a reason why not."""

from __future__ import annotations

from collections.abc import Iterable

from memory_pipeline.distillers import Member, failed, judge, mean_similarities
from memory_pipeline.night.context import Night
from memory_pipeline.records import Cluster, Distillation
from memory_pipeline.store import read_memories


def distill_clusters(night: Night, clusters: Iterable[Cluster]) -> list[Distillation]:
    """One distillation a cluster, in the clusters' order. An error fails its own cluster alone."""
    todo = [cluster for cluster in clusters if cluster.settled is None]
    results = []
    for done, cluster in enumerate(todo, start=1):
        night.hold_lease()
        try:
            results.append(_distill(night, cluster))
        except Exception as error:  # one cluster failing leaves the others; it is logged and reported
            night.log.exception("distilling cluster %s", cluster.cluster_id)
            night.note_error(cluster.cluster_id, "distill", error)
            results.append(failed(cluster, error, night.distiller))
        night.progress("distillation", done, len(todo))
    return results


def _distill(night: Night, cluster: Cluster) -> Distillation:
    with night.store.reading() as tx:
        memories = read_memories(tx, cluster.member_ids)
    ids, vectors = night.vectors_of(cluster.member_ids)
    order = sorted(range(len(ids)), key=lambda i: (memories[ids[i]].effective_date, ids[i]))
    similarities, means = mean_similarities(vectors[order])
    members = [Member(memories[ids[i]], mean) for i, mean in zip(order, means, strict=True)]
    draft = night.distiller.draft(cluster, members, similarities)
    return judge(cluster, members, draft, night.distiller, night.settings, night.embedder.count_tokens)
