"""Lines of one shape, the readings among them, and the series memories that stand for them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
from pydantic import TypeAdapter

from memory_pipeline.records import MADE, SERIES, Memory, SeriesFacts
from memory_pipeline.store.lineage import Lineage
from memory_pipeline.store.memories import MEMORIES
from memory_pipeline.store.rows import Statements
from memory_pipeline.text.normalise import line_shape
from memory_pipeline.text.readings import Reading, Series, read_memory, series_of
from memory_pipeline.text.series_words import WORDS_VERSION, is_true

#: A shape has this many different texts, or it is one text (or one and its change) that was written again.
LEAST_TEXTS = 3
_READING_SHAPES = f"""
    select project_id, shape
    from memories
    join line_shapes on memory_id = id
    where created_at <= $as_of and rolled_back_at is null
    group by 1, 2
    having count(*) >= $least and count(distinct content_hash) >= {LEAST_TEXTS}
    """
_FACTS = TypeAdapter(SeriesFacts)


@dataclass(frozen=True, slots=True)
class Shape:
    """The raw memories of one project and shape: how many, how many texts, and one of the texts."""

    project_id: str
    shape: str
    count: int
    texts: int
    example: str


@dataclass(frozen=True, slots=True)
class SeriesMemory:
    """An active series memory and what it keeps of its series."""

    id: str
    project_id: str
    content: str
    created_at: datetime
    facts: SeriesFacts


class SeriesMemories(Statements):
    """Shapes of lines, readings, and series memories."""

    def without_shape(self, most: int) -> list[tuple[str, str]]:
        """Id and content of raw memories whose shape is not known yet, by id: the first `most`."""
        return self._sql(most).rows("""
            select id, content
            from memories
            anti join line_shapes on memory_id = id
            where source_connector not in ('night', 'conversations')
            order by id
            limit $1
            """)

    def keep_shapes(self, shapes: Mapping[str, str]) -> None:
        """Store the shape of raw memories, by id."""
        self._sql(incoming=pa.table({"memory_id": list(shapes), "shape": list(shapes.values())})).run(
            "insert into line_shapes by name select * from incoming"
        )

    def shapes(self, as_of: datetime, least_days: int) -> list[Shape]:
        """Every shape whose lines were created by `as_of` on so many days (of their effective dates, by the clocks of
        their sources)."""
        rows = self._sql(as_of, least_days).rows("""
            select project_id, shape, count(*), count(distinct content_hash), min_by(content, (created_at, id))
            from memories
            join line_shapes on memory_id = id
            where created_at <= $1 and rolled_back_at is null
            group by 1, 2
            having count(*) > 1 and count(distinct (effective_date + to_minutes(utc_offset))::date) >= $2
            order by 1, 2
            """)
        return [Shape(*row) for row in rows]

    def active(self) -> list[SeriesMemory]:
        """The active series memories, by project and id."""
        rows = self._sql(SERIES).rows("""
            select id, project_id, content, created_at, compressed_from
            from memories
            where source_connector = 'night' and source_file = $1 and archived_at is null
              and compressed_from is not null
            order by project_id, id
            """)
        return [SeriesMemory(*[*row[:4], facts]) for row in rows if (facts := facts_in(str(row[4]))) is not None]

    def series_of(self, memory: SeriesMemory) -> Series:
        """The readings behind an active series memory, with those that break it."""
        return series_of(*_part_readings(self.readings_of(memory), memory.facts))

    def readings_of(self, memory: SeriesMemory) -> list[Memory]:
        """The raw memories behind an active series memory, and those that break it, by id."""
        sources = self._sql(memory.id, SERIES).strings(
            "select source_id from lineage where memory_id = $1 and relation = $2 order by 1"
        )
        return self.readings(sources, memory.facts.breaking_ids, memory.created_at)

    def touchable(
        self,
        project_id: str,
        as_of: datetime,
        critical_floor: float,
        *,
        shapes: Collection[str] = (),
        words: str | None = None,
    ) -> list[Memory]:
        """The active raw memories that a night may archive and that have one of these shapes, or contain these words in
        any case, by id."""
        return MEMORIES(self._sql(project_id, as_of, critical_floor, shapes, words)).select("""
            where project_id = $1 and created_at <= $2 and importance < $3 and archived_at is null and not pinned
              and source_connector <> 'night' and abstraction_level = 0
              and (id in (select memory_id from line_shapes where shape in (select unnest($4::text[])))
                   or contains(lower(content), lower($5)))
            order by id
            """)

    def merges(self, project_id: str, shapes: Collection[str], as_of: datetime, critical_floor: float) -> list[Memory]:
        """The active merges that a night may archive and of which every raw memory has one of these shapes, by id."""
        merges = MEMORIES(self._sql(project_id, as_of, critical_floor)).select("""
            where project_id = $1 and source_connector = 'night' and source_file = 'merge' and created_at <= $2
              and archived_at is null and importance < $3 and not pinned and abstraction_level = 1
            order by id
            """)
        behind = Lineage(self._sql).raw_sources_of(merge.id for merge in merges)
        alike = self._sql(shapes).string_set(
            "select memory_id from line_shapes where shape in (select unnest($1::text[]))"
        )
        return [merge for merge in merges if merge.id in behind and alike.issuperset(behind[merge.id])]

    def is_said_since(self, project_id: str, words: str, since: datetime, until: datetime) -> bool:
        """True if a raw memory that was created after one time and by another contains these words in any case."""
        return bool(
            self._sql(project_id, words, since, until).rows("""
                select 1
                from memories
                where project_id = $1 and created_at > $3 and created_at <= $4 and source_connector <> 'night'
                  and contains(lower(content), lower($2))
                limit 1
                """)
        )

    def reading_shapes(self, as_of: datetime, least: int) -> set[tuple[str, str]]:
        """Project and shape of all readings: at least `least` raw memories of one shape with different texts, on
        however many days. Archived ones count, so that a night's own work changes nothing."""
        return set(self._sql(as_of=as_of, least=least).rows(_READING_SHAPES))

    def reading_ids(self, shapes: set[tuple[str, str]]) -> set[str]:
        """The active memories of some projects and shapes, and those that belong to or break a series."""
        series = self.active()
        shapes = shapes | {(memory.project_id, shape) for memory in series for shape in memory.facts.shapes}
        breaking = {memory_id for memory in series for memory_id in memory.facts.breaking_ids}
        if not shapes:
            return breaking
        ids = self._sql(readings=shape_table(shapes)).strings("""
            select m.id
            from memories m
            join line_shapes s on s.memory_id = m.id
            join readings r on r.project_id = m.project_id and r.shape = s.shape
            where m.archived_at is null
            """)
        return breaking | set(ids)

    def readings(self, member_ids: Sequence[str], breaking_ids: Sequence[str], until: datetime) -> list[Memory]:
        """The raw memories behind the sources of a series memory and behind the readings that break it, with their
        copies, by id. Copies of a breaking reading count if they were archived by `until`."""
        everything = [*member_ids, *breaking_ids]
        behind = Lineage(self._sql).raw_sources_of(everything)
        counting = {*everything, *(i for top in set(member_ids) - set(breaking_ids) for i in behind.get(top, ()))}
        copies = {i for top in breaking_ids for i in behind.get(top, ())}
        return MEMORIES(self._sql(counting, copies, MADE, until)).select("""
            where source_connector <> $3
              and (id in (select unnest($1::text[])) or (id in (select unnest($2::text[])) and archived_at <= $4))
            order by id
            """)


def facts_in(compressed_from: str) -> SeriesFacts | None:
    """The facts that a series memory keeps of its series, from its JSON; None if they cannot be read."""
    try:
        return _FACTS.validate_python(json.loads(compressed_from)[SERIES])
    except (ValueError, KeyError, TypeError):
        return None


def shape_table(shapes: Collection[tuple[str, str]]) -> pa.Table:
    """Projects with shapes, of which there is one or more, as a table that statements can read."""
    projects, names = zip(*sorted(shapes), strict=True)
    return pa.table({"project_id": pa.array(projects), "shape": pa.array(names)})


def reading_in(memory: Memory) -> Reading:
    """The reading in a memory. Of lines of one time in a Markdown file, the lower one is the newer."""
    source = memory.source
    position = source.line or 0 if (source.file or "").endswith(".md") else 0
    return read_memory(memory.id, memory.said_at, memory.content, position)


def _part_readings(readings: Sequence[Memory], facts: SeriesFacts) -> tuple[list[Reading], list[Reading]]:
    """The readings of a series, and those that break it."""
    mine: list[Reading] = []
    others: list[Reading] = []
    for memory in readings:
        (mine if line_shape(memory.content) in facts.shapes else others).append(reading_in(memory))
    return mine, others


def wrong_in_series(content: str, facts: SeriesFacts, readings: Sequence[Memory]) -> str | None:
    """A sentence on what a series memory says that its readings do not; None if there is nothing. `readings`: the raw
    memories behind it and those that break it.

    Words in the form of another version of this program were checked when that wrote them.
    """
    mine, others = _part_readings(readings, facts)
    if not mine:
        return "none of its readings is left"
    if facts.readings != len(mine):
        return f"it says {facts.readings} readings, there are {len(mine)}"
    if facts.words != WORDS_VERSION or is_true(series_of(mine, others), content):
        return None
    return "its words are not what its readings amount to"
