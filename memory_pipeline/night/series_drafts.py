"""Turns what a night found of a series into the draft of its memory: the readings and the version before go into it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC

import numpy as np

from memory_pipeline.distillers import STEERS, find_attempt, steering_draft
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.moments import minutes_ahead
from memory_pipeline.night.clustering import UNCATEGORISED
from memory_pipeline.night.context import Night
from memory_pipeline.records import Cluster, Distillation, Measured, Memory, derived_id, fingerprint_of
from memory_pipeline.records.cluster import MOST_TOKENS, SERIES, SeriesFacts
from memory_pipeline.store import SeriesMemory
from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_words import WORDS_VERSION, describe_series, varies
from memory_pipeline.wording.subject import shared_headings, shared_lead_in

#: What a series memory says is computed from its readings.
SERIES_CONFIDENCE = 1.0


@dataclass(frozen=True)
class FoundSeries:
    """One series with something new tonight: its readings as memories, the previous versions, and those readings (and
    merges of readings, from when they were few) that the night archives."""

    project_id: str
    shapes: tuple[str, ...]
    seen: int
    series: Series
    memories: dict[str, Memory]
    versions: tuple[SeriesMemory, ...]
    absorbed: tuple[Memory, ...]
    breaking_ids: tuple[str, ...]


def draft_series(night: Night, found: FoundSeries) -> Distillation | None:
    """The next version of a series memory, or None if it would say and hold what the last one does."""
    count = night.embedder.count_tokens
    text = describe_series(found.series, count, MOST_TOKENS)
    facts = SeriesFacts(found.shapes, WORDS_VERSION, len(found.series.readings), found.seen, found.breaking_ids)
    earlier = [version.id for version in found.versions]
    told = [(version.content, version.facts.breaking_ids) for version in found.versions]
    if not found.absorbed and told == [(text, found.breaking_ids)]:
        return None
    with night.store.reading() as tx:
        earlier += tx.series.active_parts(earlier)
    there = night.reader.memories([*earlier, *(memory.id for memory in found.absorbed)])
    ids = tuple(sorted(there))
    members = [there[i] for i in ids]
    vectors = night.reader.vectors_in_order(ids)
    means = _mean_cosines(vectors)
    cluster = _cluster(found, members, means)
    readings = [found.memories[reading.memory_id] for reading in found.series.every]
    newest = readings[-1]
    attempt = find_attempt({newest.id: newest.content})
    reason = f"{STEERS}: {attempt}" if attempt else steering_draft(text)
    before = sum(memory.token_count for memory in members)
    return Distillation(
        cluster=cluster,
        similarities=means,
        content=text,
        attached=(),
        outcome="refused" if reason else "accepted",
        reason=reason,
        measured=Measured.of(before, count(text), 0, 0, 0),
        method="heuristic",
        prompt_version=WORDS_VERSION,
        memory_type="fact" if varies(found.series) else "other",
        categories=cluster.top_categories,
        importance=cluster.max_importance,
        effective_date=found.series.newest.at.astimezone(UTC),
        oldest_source_at=min(memory.effective_date for memory in found.memories.values()),
        utc_offset=minutes_ahead(found.series.newest.at),
        headings=shared_headings(readings),
        lead_in=shared_lead_in(readings),
        confidence=SERIES_CONFIDENCE,
        relation=SERIES,
        tags=newest.tags,
        series=facts,
    )


def _mean_cosines(vectors: Vectors) -> tuple[float, ...]:
    """The mean cosine of each row to the others. Vectors: float32 (n, dimension), unit length."""
    if len(vectors) < 2:
        return (1.0,) * len(vectors)
    wide = vectors.astype(np.float64)
    means = (np.einsum("ij,j->i", wide, wide.sum(axis=0)) - 1.0) / (len(wide) - 1)
    return tuple(round(float(mean), 6) for mean in means)


def _cluster(found: FoundSeries, members: Sequence[Memory], means: Sequence[float]) -> Cluster:
    ids = tuple(memory.id for memory in members)
    fingerprint = fingerprint_of(ids)
    counts = Counter(category for memory in members for category in memory.categories)
    top = tuple(sorted(counts, key=lambda category: (-counts[category], category))[:2])
    return Cluster(
        cluster_id=derived_id(SERIES, found.project_id, fingerprint),
        fingerprint=fingerprint,
        policy=SERIES,
        project_id=found.project_id,
        member_ids=ids,
        member_count=len(ids),
        avg_similarity=round(float(np.mean(means)), 6),
        min_similarity=round(float(np.min(means)), 6),
        dominant_category=top[0] if top else UNCATEGORISED,
        top_categories=top,
        total_tokens=sum(memory.token_count for memory in members),
        max_importance=max(memory.importance for memory in members),
        oldest_member_at=min(memory.created_at for memory in members),
        newest_member_at=max(memory.created_at for memory in members),
    )
