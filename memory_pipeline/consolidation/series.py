"""Series: lines that machinery writes again and again with other values become one memory in words.

The step runs before pairs are compared, in time proportional to the memories. Each night that finds new readings makes
the next version of the memory from the raw readings again, and archives the version before it. A reading that breaks
the series stays active and is named. Readings that do not form a series yet wait, and are not compared.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memory_pipeline.consolidation.archive import archive_distillations
from memory_pipeline.consolidation.clustering import describe_cluster
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillers.judge import mean_cosines, similarities_of
from memory_pipeline.consolidation.eligibility import note_shapes, too_few
from memory_pipeline.errors import EmbeddingError
from memory_pipeline.moments import minutes_ahead
from memory_pipeline.records import Archive, Distillation, DuplicateGroup, Measured, Memory
from memory_pipeline.records.cluster import LEAST_DAYS, LEAST_READINGS, MOST_SERIES_TOKENS, SERIES, SeriesFacts
from memory_pipeline.records.drafts import drafts_of, members_of
from memory_pipeline.store import LEAST_TEXTS, SeriesMemory, Shape, Transaction, reading_in
from memory_pipeline.text.entries import is_entry
from memory_pipeline.text.normalise import line_shape, one_line, without_clock
from memory_pipeline.text.place_names import holds_readings, is_closed_set
from memory_pipeline.text.readings import Reading, Series, days_of, series_of
from memory_pipeline.text.series_words import WORDS_VERSION, describe_series, varies
from memory_pipeline.text.steering import STEERS, find_attempt, steering_draft
from memory_pipeline.text.subject import shared_headings, shared_lead_in, subject_beside
from memory_pipeline.text.templates import fields_in, line_key, read_line

#: What a series memory says is computed from its readings.
SERIES_CONFIDENCE = 1.0
_DRAFTS_AT_ONCE = 50
_PLAIN_RUN = re.compile(r"[\w ]+")
_Group = list[tuple[Shape, tuple[str, ...]]]


def update_series(night: Night, duplicates: Sequence[DuplicateGroup]) -> list[Archive]:
    """Tonight's series memories: new ones and next versions. `duplicates`: the copies that were archived before.

    A run whose scope is narrower than projects leaves series to the nights.
    """
    night.hold_lease()
    if night.options.is_narrow or too_few(night) is not None:
        return []
    note_shapes(night)
    # Readings are never a conflict: settle those that were linked before more lines showed that they are readings.
    with night.store.reading() as tx:
        readings = tx.series.reading_shapes(night.fresh_after, LEAST_READINGS)
        settled = tx.conflicts.of_readings(readings)
    if settled:
        with night.writing() as tx:
            tx.conflicts.resolve(settled, SERIES)
    copies = {memory_id for group in duplicates for memory_id in group.duplicate_ids}
    with night.store.reading() as tx:
        found_series = find_series(tx, night, copies)
    if not found_series:
        return []
    try:
        night.embed_missing()
    except EmbeddingError as error:
        night.note_error("", "embed", error)
        return []
    archives: list[Archive] = []
    for start in range(0, len(found_series), _DRAFTS_AT_ONCE):
        drafts = [draft_series(night, series) for series in found_series[start : start + _DRAFTS_AT_ONCE]]
        archives += archive_distillations(night, [draft for draft in drafts if draft is not None])
        night.progress(SERIES, min(start + _DRAFTS_AT_ONCE, len(found_series)), len(found_series))
    return archives


def join_shapes(
    shapes: Sequence[Shape], together: Iterable[tuple[str, Collection[str]]] = ()
) -> list[tuple[Shape, ...]]:
    """Groups of shapes of one project that differ in words of the same fields; most groups have one shape. The result
    does not depend on the order of the shapes. `together`: project and shapes that an earlier night has joined."""
    groups: dict[tuple[str, str], _Group] = defaultdict(list)
    for shape in sorted(shapes, key=lambda shape: (shape.project_id, shape.shape)):
        line = read_line(one_line(without_clock(shape.example)))
        words = tuple(line.value(field).casefold() for field in fields_in(line))
        groups[shape.project_id, line_key(line)].append((shape, words))
    joined = [part for group in groups.values() for part in _split_by_names(group)]
    number_of = {(shape.project_id, shape.shape): n for n, group in enumerate(joined) for shape in group}
    for project, known in together:
        numbers = sorted({number_of[project, shape] for shape in known if (project, shape) in number_of})
        for number in numbers[1:]:
            number_of |= {(project, shape.shape): numbers[0] for shape in joined[number]}
            joined[numbers[0]], joined[number] = (*joined[numbers[0]], *joined[number]), ()
    return [group for group in joined if group]


def _split_by_names(group: _Group) -> list[tuple[Shape, ...]]:
    """A group whole, if each field holds a few words that return; otherwise its parts by the words that do not."""
    counts: list[Counter[str]] = [Counter() for _ in group[0][1]]
    for shape, words in group:
        for count, word in zip(counts, words, strict=True):
            count[word] += shape.count
    names = [n for n, count in enumerate(counts) if not is_closed_set(count.values())]
    if len(group) == 1 or not names:
        return [tuple(shape for shape, _ in group)]
    parts: dict[tuple[str, ...], _Group] = defaultdict(list)
    for shape, words in group:
        parts[tuple(words[n] for n in names)].append((shape, words))
    if len(parts) == 1:  # too few lines for one word even
        return [(shape,) for shape, _ in group]
    return [split for part in parts.values() for split in _split_by_names(part)]


def find_series(tx: Transaction, night: Night, left_out: Collection[str] = ()) -> list[FoundSeries]:
    """The series with new readings as of the night, by project and shapes. `left_out`: memories that the night has
    archived already or may not touch."""
    shapes = [s for s in tx.series.shapes(night.fresh_after, LEAST_DAYS) if night.may_touch(s.project_id)]
    versions = tx.series.active()
    waiting = {i for draft in drafts_of(tx.proposals.list()).values() for i in members_of(draft)} | set(left_out)
    # An earlier version of this program joined shapes by other rules.
    today = (version for version in versions if version.facts.words == WORDS_VERSION)
    joined = join_shapes(shapes, ((version.project_id, version.facts.shapes) for version in today))
    groups = [  # of lines enough, with different values
        group
        for group in joined
        if sum(shape.count for shape in group) >= LEAST_READINGS and (len(group) > 1 or group[0].texts >= LEAST_TEXTS)
    ]
    known_shapes = {(group[0].project_id, shape.shape) for group in groups for shape in group}
    mine = _group_versions(groups, versions)
    found_series = [
        series
        for group, its_versions in zip(groups, mine, strict=True)
        if (series := _check_group(tx, night, group, its_versions, waiting, known_shapes)) is not None
    ]
    return sorted(found_series, key=lambda series: (series.project_id, series.shapes))


def _group_versions(
    groups: Sequence[Sequence[Shape]], versions: Sequence[SeriesMemory]
) -> list[tuple[SeriesMemory, ...]]:
    """The series memories of each group: each belongs to that one group with which it shares most lines."""
    mine: list[list[SeriesMemory]] = [[] for _ in groups]
    holders = {(shape.project_id, shape.shape): (n, shape.count) for n, group in enumerate(groups) for shape in group}
    for version in versions:
        shared: Counter[int] = Counter()
        for shape in version.facts.shapes:
            number, count = holders.get((version.project_id, shape), (-1, 0))
            shared[number] += count
        number = min(shared, key=lambda n: (-shared[n], n), default=-1)
        if number >= 0:
            mine[number].append(version)
    return [tuple(versions) for versions in mine]


def _check_group(
    tx: Transaction,
    night: Night,
    group: Sequence[Shape],
    versions: tuple[SeriesMemory, ...],
    waiting: Collection[str],
    known_shapes: Collection[tuple[str, str]],
) -> FoundSeries | None:
    """A series if the night has something to add to it. An earlier night that runs after a later one leaves the
    memory that the later one made. `known_shapes`: project and shape of the readings of all series."""
    shapes = tuple(sorted(shape.shape for shape in group))
    project, seen = group[0].project_id, sum(shape.count for shape in group)
    if any(version.created_at > night.as_of for version in versions):
        return None
    words = _words_around_fields(group[0].example)
    if len(versions) == 1:
        facts, since = versions[0].facts, versions[0].created_at
        says_all = facts.words == WORDS_VERSION and facts.seen == seen and set(shapes) <= set(facts.shapes)
        if says_all and not (words and tx.series.is_said_since(project, words, since, night.fresh_after)):
            return None
    floor = night.critical_floor
    merges = tx.series.merges(project, shapes, night.fresh_after, floor)
    active = [*tx.series.touchable(project, night.fresh_after, floor, shapes=shapes), *merges]
    if any(memory.id in waiting for memory in active):
        return None  # a person has yet to decide about one of them
    ids = [memory.id for memory in active]
    memories = {memory.id: memory for memory in tx.series.readings([*(v.id for v in versions), *ids], (), night.as_of)}
    readings = [
        reading
        for memory in memories.values()
        if line_shape(memory.content) in shapes and _is_reading(reading := reading_in(memory), memory)
    ]
    if not readings or is_entry(readings[0].line.text):
        return None
    others = {  # active lines that may be those of the series but for a new word in the place of one
        memory.id: memory
        for memory in (tx.series.touchable(project, night.fresh_after, floor, words=words) if words else ())
        if memory.id not in memories and (project, line_shape(memory.content)) not in known_shapes
    }
    alike = series_of(readings, map(reading_in, others.values())).strangers if others else ()
    strangers = [others[reading.memory_id] for reading in alike]
    series = series_of(readings, map(reading_in, strangers))
    subjects = Counter(subject_beside(memories[reading.memory_id]) for reading in series.readings)
    if not (holds_readings(series) and is_closed_set(subjects.values())):
        return None
    breaking = series.breaking_ids & set(ids)
    rest = [reading for reading in series.readings if reading.memory_id not in breaking]
    if len(rest) < LEAST_READINGS or days_of(rest) < LEAST_DAYS:
        return None
    known = {reading.memory_id for reading in readings}
    merged = {memory.id for memory in merges}
    absorbed = tuple(memory for memory in active if memory.id in merged or memory.id in known - breaking)
    breaking_ids = tuple(sorted(breaking | {memory.id for memory in strangers}))
    memories |= {memory.id: memory for memory in strangers}
    return FoundSeries(project, shapes, seen, series, memories, versions, absorbed, breaking_ids)


def _is_reading(reading: Reading, memory: Memory) -> bool:
    """True if the dates in a line are its own, up to a day: a bill that is due next month is a fact."""
    for place, text in zip(reading.line.places, reading.values, strict=True):
        if place.kind == "date":
            try:
                written = datetime.fromisoformat(text[:10].replace("/", "-")).replace(tzinfo=UTC)
            except ValueError:
                return False
            if abs((written.date() - memory.day).days) > 1:
                return False
    return True


def _words_around_fields(example: str) -> str:
    """The longest run of plain words of a line without values and fields; empty if it has no field."""
    line = read_line(one_line(example))
    fields = fields_in(line)
    if not fields:
        return ""
    taken = sorted([*line.places, *fields], key=lambda place: place.start)
    edges = [0, *(edge for place in taken for edge in (place.start, place.end)), len(line.text)]
    gaps = [line.text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return max((run.strip() for gap in gaps for run in _PLAIN_RUN.findall(gap)), key=len, default="")


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


def draft_series(night: Night, found_series: FoundSeries) -> Distillation | None:
    """The next version of a series memory, or None if it would say and hold what the last one does."""
    count = night.embedder.count_tokens
    text = describe_series(found_series.series, count, MOST_SERIES_TOKENS)
    facts = SeriesFacts(
        found_series.shapes,
        WORDS_VERSION,
        len(found_series.series.readings),
        found_series.seen,
        found_series.breaking_ids,
    )
    earlier = [version.id for version in found_series.versions]
    known_texts = [(version.content, version.facts.breaking_ids) for version in found_series.versions]
    if not found_series.absorbed and known_texts == [(text, found_series.breaking_ids)]:
        return None
    there = night.memories([*earlier, *(memory.id for memory in found_series.absorbed)])
    ids = tuple(sorted(there))
    members = [there[i] for i in ids]
    means = mean_cosines(night.vectors_in_order(ids))
    cluster = describe_cluster(members, means, SERIES)
    readings = [found_series.memories[reading.memory_id] for reading in found_series.series.every]
    newest = readings[-1]
    attempt = find_attempt({newest.id: newest.content})
    reason = f"{STEERS}: {attempt}" if attempt else steering_draft(text)
    before = sum(memory.token_count for memory in members)
    return Distillation(
        cluster=cluster,
        similarities=similarities_of(cluster, dict(zip(ids, means, strict=True))),
        content=text,
        outcome="refused" if reason else "accepted",
        reason=reason,
        measured=Measured.of(before, count(text)),
        method="heuristic",
        prompt_version=WORDS_VERSION,
        memory_type="fact" if varies(found_series.series) else "other",
        categories=cluster.top_categories,
        importance=cluster.max_importance,
        effective_date=found_series.series.newest.at.astimezone(UTC),
        oldest_source_at=min(memory.effective_date for memory in found_series.memories.values()),
        utc_offset=minutes_ahead(found_series.series.newest.at),
        headings=shared_headings(readings),
        lead_in=shared_lead_in(readings),
        confidence=SERIES_CONFIDENCE,
        relation=SERIES,
        tags=newest.tags,
        series=facts,
    )
