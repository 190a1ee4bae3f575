"""A principle follows its patterns: when one of them grows, the next version of the principle stands on the next
version of the pattern, and the version before is archived into it, in the transaction in which the pattern grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from memory_pipeline.config.policies import PRINCIPLE
from memory_pipeline.consolidation.distillers.evidence import evidence_confidence
from memory_pipeline.consolidation.plan import NightPlan
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import (
    LEAST_PATTERNS,
    LEVEL_PATTERN,
    LineageLink,
    LogRow,
    Memory,
    derived_id,
    fingerprint_of,
    offset_of_newest,
)
from memory_pipeline.store import Transaction


def carry_principles(
    plan: NightPlan, tx: Transaction, grown: Mapping[str, Memory], vectors: Mapping[str, Vectors], model: str
) -> list[str]:
    """Make the next version of every active principle with a pattern that grew; returns their ids.

    It says the same, links to the next versions of its patterns, and has the confidence of all raw memories behind
    them. `grown`: by pattern, its next version; `vectors`: by next version, its vector of this model, float32
    (dimension,). A principle that is pinned or critical stays as it is.
    """
    links: dict[str, list[LineageLink]] = {}
    for link in tx.lineage.principles_on(grown):
        links.setdefault(link.memory_id, []).append(link)
    principles = tx.memories.read(links)
    return [
        made
        for i, theirs in sorted(links.items())
        if (made := _carry(plan, tx, principles[i], theirs, grown, vectors, model)) is not None
    ]


def _carry(
    plan: NightPlan,
    tx: Transaction,
    principle: Memory,
    links: Sequence[LineageLink],
    grown: Mapping[str, Memory],
    vectors: Mapping[str, Vectors],
    model: str,
) -> str | None:
    current = {i: grown[i].id if i in grown else i for i in (link.source_id for link in links)}
    patterns = [p for p in tx.memories.read(current.values()).values() if p.abstraction_level == LEVEL_PATTERN]
    dimension = len(next(iter(vectors.values())))
    found, own = tx.vectors.read([principle.id], model, dimension)
    if not found or len(patterns) < LEAST_PATTERNS:
        return None
    similarity = {current[link.source_id]: link.similarity for link in links}
    for i in similarity.keys() & vectors.keys():
        score = float(np.dot(own[0].astype(np.float64), vectors[i].astype(np.float64)))
        similarity[i] = round(min(1.0, score), 6)
    made = _next_version(plan, tx, principle, patterns)
    replaced = tx.memories.supersede(
        principle.id,
        winner=made.id,
        archived_by=derived_id(PRINCIPLE, principle.project_id, fingerprint_of(sorted(similarity))),
        at=plan.as_of,
        critical_floor=plan.settings.compression.critical_floor,
    )
    if not replaced:
        return None
    if made.id in tx.memories.read([made.id]):
        tx.memories.revive([made.id])
    else:
        tx.memories.add([made])
        tx.vectors.add([made.id], own, model)
    tx.lineage.add([LineageLink(made.id, i, PRINCIPLE, score) for i, score in sorted(similarity.items())])
    tx.lineage.add([LineageLink(made.id, principle.id, "superseded", 1.0)])
    tx.journal.log([_log_row(plan, made, patterns)])
    return made.id


def _next_version(plan: NightPlan, tx: Transaction, principle: Memory, patterns: Sequence[Memory]) -> Memory:
    behind = tx.lineage.witnesses_of([pattern.id for pattern in patterns])
    raw = tx.memories.read({i for ids in behind.values() for i in ids}).values()
    confidence = principle.confidence_score
    if principle.consolidation_method == "heuristic" and raw:
        confidence = round(evidence_confidence(raw), 4)
    return replace(
        principle,
        id=derived_id("principle", principle.id, plan.as_of.isoformat(), *sorted(pattern.id for pattern in patterns)),
        created_at=plan.as_of,
        effective_date=max(pattern.effective_date for pattern in patterns),
        utc_offset=offset_of_newest(patterns),
        confidence_score=confidence,
        reuse_count=0,
        useful_count=0,
        updated_at=None,
    )


def _log_row(plan: NightPlan, principle: Memory, patterns: Sequence[Memory]) -> LogRow:
    fingerprint = fingerprint_of(sorted(pattern.id for pattern in patterns))
    return LogRow(
        id=derived_id("log", PRINCIPLE, fingerprint, plan.as_of.isoformat(), "compressed"),
        cluster_fingerprint=fingerprint,
        policy=PRINCIPLE,
        compressed_memory_id=principle.id,
        status="compressed",
        reason=None,
        member_count=len(patterns),
        compression_ratio=round(sum(pattern.token_count for pattern in patterns) / principle.token_count, 4),
        run_id=plan.run_id,
        created_at=plan.as_of,
    )
