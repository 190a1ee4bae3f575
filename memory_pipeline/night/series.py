"""Series: lines that machinery writes again and again with other values become one memory in words.

The step runs before pairs are compared, in time proportional to the memories. Each night that finds new readings makes
the next version of the memory from the raw readings again, and archives the version before it. A reading that breaks
the series stays active and is named. Readings that do not form a series yet wait, and are not compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from memory_pipeline.distillers import STEERS, find_attempt, steering_draft
from memory_pipeline.embedding.model import Vectors
from memory_pipeline.errors import EmbeddingError
from memory_pipeline.knowledge.entries import is_entry
from memory_pipeline.moments import minutes_ahead
from memory_pipeline.night.archive import archive_distillations
from memory_pipeline.night.clustering import UNCATEGORISED
from memory_pipeline.night.context import Night
from memory_pipeline.night.eligibility import too_few
from memory_pipeline.night.plan import NightPlan
from memory_pipeline.night.shapes import note_shapes
from memory_pipeline.night.word_places import MOST_WORDS, join_shapes
from memory_pipeline.records import (
    Archive,
    Cluster,
    Distillation,
    DuplicateGroup,
    Measured,
    Memory,
    derived_id,
    fingerprint_of,
)
from memory_pipeline.records.drafts import drafts_of, members_of
from memory_pipeline.records.series import SERIES, SeriesFacts, SeriesPart
from memory_pipeline.store import LEAST_TEXTS, SeriesMemory, Shape, Transaction, reading_in
from memory_pipeline.wording.naming import tells_facts
from memory_pipeline.wording.normalise import line_shape
from memory_pipeline.wording.readings import Reading, Series, days_of, read_memory, series_of
from memory_pipeline.wording.series_words import WORDS_VERSION, describe_series
from memory_pipeline.wording.sisters import outcomes_in
from memory_pipeline.wording.templates import Line, words_in

#: Conflicts of these kinds concern figures; between readings, they are not contradictions.
FIGURE_KINDS = ("number", "unit", "date", "time", "identifier")
#: What a series memory says is computed from its readings.
SERIES_CONFIDENCE = 1.0
_DRAFTS_AT_ONCE = 50
_PLAIN_RUN = re.compile(r"[\w ]+")
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)


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


def update_series(night: Night, duplicates: Sequence[DuplicateGroup]) -> list[Archive]:
    """Tonight's series memories: new ones and next versions. `duplicates`: the copies that were archived before.

    A run whose scope is narrower than projects leaves series to the nights.
    """
    night.hold_lease()
    scope = night.options
    if scope.memory_types or scope.first_day or scope.last_day or scope.days or scope.unconsolidated_only:
        return []
    if scope.cluster_id or not night.settings.series.enabled or too_few(night.store, night.plan) is not None:
        return []
    note_shapes(night)
    settle_conflicts(night)
    copies = {memory_id for group in duplicates for memory_id in group.duplicate_ids}
    with night.store.reading() as tx:
        found = find_series(tx, night.plan, copies)
    if not found:
        return []
    try:
        night.embed_missing()
    except EmbeddingError as error:
        night.note_error("", "embed", error)
        return []
    archives: list[Archive] = []
    for start in range(0, len(found), _DRAFTS_AT_ONCE):
        drafts = [draft_series(night, one) for one in found[start : start + _DRAFTS_AT_ONCE]]
        archives += archive_distillations(night, [draft for draft in drafts if draft is not None])
        night.progress(SERIES, min(start + _DRAFTS_AT_ONCE, len(found)), len(found))
    return archives


def settle_conflicts(night: Night) -> None:
    """Readings are never a conflict: settle those that were linked before more lines showed that they are readings."""
    with night.store.reading() as tx:
        readings = tx.series.reading_shapes(night.plan.fresh_after, night.settings.series.min_readings)
        settled = tx.conflicts.of_readings(readings, FIGURE_KINDS)
    if settled:
        with night.writing() as tx:
            tx.conflicts.resolve(settled, SERIES)


def find_series(tx: Transaction, plan: NightPlan, left_out: Collection[str] = ()) -> list[FoundSeries]:
    """The series with new readings as of the night, by project and shapes. `left_out`: memories that the night has
    archived already or may not touch."""
    least_days = plan.settings.series.min_days
    shapes = [s for s in tx.series.shapes(plan.fresh_after, least_days) if plan.may_touch(s.project_id)]
    versions = tx.series.active()
    waiting = {i for draft in drafts_of(tx.proposals.list()).values() for i in members_of(draft)} | set(left_out)
    groups = _groups(shapes, plan.settings.series.min_readings)
    told = {(group[0].project_id, shape.shape) for group in groups for shape in group}
    found = [
        one
        for group in groups
        if (one := _look_at(tx, plan, group, _versions_of(group, versions), waiting, told)) is not None
    ]
    return sorted(found, key=lambda one: (one.project_id, one.shapes))


def _groups(shapes: Sequence[Shape], least: int) -> list[tuple[Shape, ...]]:
    """The shapes of each series: lines with different values, often enough."""
    groups = []
    for joined in join_shapes(shapes):
        parts = [joined] if _has_few_words(joined) else [(shape,) for shape in joined]
        groups += [part for part in parts if sum(shape.count for shape in part) >= least and _differs(part)]
    return groups


def _differs(group: Sequence[Shape]) -> bool:
    return len(group) > 1 or group[0].texts >= LEAST_TEXTS


def _has_few_words(group: Sequence[Shape]) -> bool:
    if len(group) == 1:
        return True
    series = _examples(group)
    return all(len(series.counts(place)) <= MOST_WORDS for place in series.words)


def _examples(group: Sequence[Shape]) -> Series:
    return series_of(read_memory(shape.shape, _ANY_TIME, shape.example) for shape in group)


def _versions_of(group: Sequence[Shape], versions: Sequence[SeriesMemory]) -> tuple[SeriesMemory, ...]:
    project, shapes = group[0].project_id, {shape.shape for shape in group}
    return tuple(one for one in versions if one.project_id == project and shapes & set(one.facts.shapes))


def _look_at(
    tx: Transaction,
    plan: NightPlan,
    group: Sequence[Shape],
    versions: tuple[SeriesMemory, ...],
    waiting: Collection[str],
    told: Collection[tuple[str, str]],
) -> FoundSeries | None:
    """A series if the night has something to add to it. An earlier night that runs after a later one leaves the
    memory that the later one made. `told`: project and shape of the readings of all series."""
    shapes = tuple(sorted(shape.shape for shape in group))
    project, seen = group[0].project_id, sum(shape.count for shape in group)
    if any(one.created_at > plan.as_of for one in versions):
        return None
    if len(versions) == 1 and versions[0].facts.seen == seen and set(shapes) <= set(versions[0].facts.shapes):
        words = _longest_run(_examples(group).newest.line)
        if not words or not tx.series.is_said_since(project, words, versions[0].created_at, plan.fresh_after):
            return None
    floor = plan.settings.compression.critical_floor
    merges = tx.series.merges(project, shapes, plan.fresh_after, floor)
    active = [*tx.series.touchable(project, shapes, plan.fresh_after, floor), *merges]
    if any(memory.id in waiting for memory in active):
        return None  # a person has yet to decide about one of them
    ids = [memory.id for memory in active]
    memories = {memory.id: memory for memory in tx.series.readings([*(v.id for v in versions), *ids], (), plan.as_of)}
    readings = [reading for memory in memories.values() if _is_reading(reading := reading_in(memory), memory)]
    if not readings or is_entry(readings[0].line.text):
        return None
    strangers = _strangers(tx, plan, readings, memories, told)
    series = series_of(readings, map(reading_in, strangers))
    if tells_facts(series):
        return None
    breaking = {one.memory_id for one in series.breaks} & set(ids)
    kept = [reading for reading in series.readings if reading.memory_id not in breaking]
    if len(kept) < plan.settings.series.min_readings or days_of(kept) < plan.settings.series.min_days:
        return None
    known = {reading.memory_id for reading in readings}
    merged = {memory.id for memory in merges}
    absorbed = tuple(memory for memory in active if memory.id in merged or memory.id in known - breaking)
    breaking_ids = tuple(sorted(breaking | {memory.id for memory in strangers}))
    return FoundSeries(
        project,
        shapes,
        seen,
        series,
        memories | {memory.id: memory for memory in strangers},
        versions,
        absorbed,
        breaking_ids,
    )


def _is_reading(reading: Reading, memory: Memory) -> bool:
    """Whether the dates in a line are its own, up to a day: a bill that is due next month is a fact."""
    for place, text in zip(reading.line.places, reading.values, strict=True):
        if place.kind == "date":
            try:
                written = datetime.fromisoformat(text[:10].replace("/", "-")).replace(tzinfo=UTC)
            except ValueError:
                return False
            if abs((written.date() - memory.day).days) > 1:
                return False
    return True


def _strangers(
    tx: Transaction,
    plan: NightPlan,
    readings: Sequence[Reading],
    known: Mapping[str, Memory],
    told: Collection[tuple[str, str]],
) -> list[Memory]:
    """The active lines that are those of the series but for a new word in a place that has two, another outcome, or
    more at the end; those of another series are not among them."""
    project = known[readings[0].memory_id].project_id
    words, floor = _longest_run(series_of(readings).newest.line), plan.settings.compression.critical_floor
    others = {
        memory.id: memory
        for memory in (tx.series.saying(project, words, plan.fresh_after, floor) if words else [])
        if memory.id not in known and (project, line_shape(memory.content)) not in told
    }
    alike = series_of(readings, map(reading_in, others.values())).strangers if others else ()
    return [others[reading.memory_id] for reading in alike]


def _longest_run(line: Line) -> str:
    """The longest run of plain words of a line without values and outcomes."""
    words = words_in(line)
    held = sorted([*line.places, *(words[n] for n in outcomes_in(line))], key=lambda place: place.start)
    edges = [0, *(edge for place in held for edge in (place.start, place.end)), len(line.text)]
    gaps = [line.text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return max((run.strip() for gap in gaps for run in _PLAIN_RUN.findall(gap)), key=len, default="")


def draft_series(night: Night, found: FoundSeries) -> Distillation | None:
    """The next version of a series memory, or None if it would say and hold what the last one does."""
    count = night.embedder.count_tokens
    texts = describe_series(found.series, count, night.settings.series.max_tokens)
    facts = SeriesFacts(found.shapes, WORDS_VERSION, len(found.series.readings), found.seen, found.breaking_ids)
    said = [(version.said, version.facts.breaking_ids) for version in found.versions]
    if not found.absorbed and said == [(texts, found.breaking_ids)]:
        return None
    earlier = [i for version in found.versions for i in (version.id, *(part for part, _ in version.parts))]
    there = night.reader.memories([*earlier, *(memory.id for memory in found.absorbed)])
    # Other words may have taken the place of a part since.
    ids = tuple(sorted(i for i, memory in there.items() if memory.archived_at is None))
    members = [there[i] for i in ids]
    vectors = night.reader.vectors_in_order(ids)
    means = _mean_cosines(vectors)
    cluster = _cluster(found, members, means)
    newest = found.memories[found.series.newest.memory_id]
    attempt = find_attempt({newest.id: newest.content})
    steering = next(filter(None, map(steering_draft, texts)), None)
    reason = f"{STEERS}: {attempt}" if attempt else steering
    before = sum(memory.token_count for memory in members)
    parts = tuple(SeriesPart(text, count(text)) for text in texts[1:])
    after = count(texts[0]) + sum(part.token_count for part in parts)
    return Distillation(
        cluster=cluster,
        similarities=means,
        content=texts[0],
        attached=(),
        outcome="refused" if reason else "accepted",
        reason=reason,
        measured=Measured.of(before, after, 0, 0, 0),
        method="heuristic",
        prompt_version=WORDS_VERSION,
        memory_type=newest.memory_type,
        categories=cluster.top_categories,
        importance=cluster.max_importance,
        effective_date=found.series.newest.at.astimezone(UTC),
        oldest_source_at=min(memory.effective_date for memory in found.memories.values()),
        utc_offset=minutes_ahead(found.series.newest.at),
        confidence=SERIES_CONFIDENCE,
        relation=SERIES,
        tags=newest.tags,
        series=facts,
        parts=parts,
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
