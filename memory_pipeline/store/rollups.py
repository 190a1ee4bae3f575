"""Summaries of days, weeks, months and years, and what they are made from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime

from memory_pipeline.records import SERIES, Memory, Rollup
from memory_pipeline.store.history import as_before
from memory_pipeline.store.memories import MEMORIES, Memories
from memory_pipeline.store.rows import RowsOf, Statements

_ROLLUPS = RowsOf(Rollup, "rollups")
#: The day of a raw memory is the later one of its day by the clock of its source and its day in UTC: no note is told
#: before its words can be in the store, and a note that knows only its day is of that day everywhere.
_OF_RAW = """
    source_connector not in ('night', 'conversations')
      and greatest((created_at + to_minutes(utc_offset))::date, created_at::date) = $2::date
    """
#: What a night makes, of memories or of what was said, is created as of its end.
_OF_MADE = "source_connector in ('night', 'conversations') and created_at > $2 and created_at <= $3"


class Rollups(Statements):
    """The rollups of all projects."""

    def read(self, project_id: str, ids: Collection[str]) -> dict[str, Rollup]:
        """Those rollups of a project that there are, by id."""
        which = "where project_id = $1 and id in (select unnest($2::text[]))"
        return {rollup.id: rollup for rollup in _ROLLUPS(self._sql(project_id, sorted(ids))).select(which)}

    def all(self, project_id: str | None = None) -> list[Rollup]:
        """Every rollup, of one project where given: by project, beginning and level."""
        return _ROLLUPS(self._sql(project_id)).select("""
            where $1 is null or project_id = $1
            order by project_id, starts_at, ends_at, id
            """)

    def keep(self, rollups: Sequence[Rollup], withdrawn: Collection[str] = ()) -> None:
        """Write rollups in place of those that were there, and remove others."""
        ids = {rollup.id for rollup in rollups}
        which = "where id in (select unnest($1::text[]))"
        known = set(_ROLLUPS(self._sql.about(ids)).select(which))
        _ROLLUPS(self._sql).put([rollup for rollup in rollups if rollup not in known])
        self._sql.about({*withdrawn} - ids).run(f"delete from rollups {which}")

    def mark_stale(self, memory_ids: Collection[str], *, only_rollups: bool = False) -> None:
        """Record that what is told of these memories has become untrue: the rollups that say any of them or hold its
        time, and what is told of their projects unless `only_rollups`."""
        if not memory_ids:
            return
        untrue = {(rollup.project_id, rollup.level, rollup.period) for rollup in self.about(memory_ids)}
        if not only_rollups:
            untrue |= {(project, "", "") for project, _ in Memories(self._sql).existing(sorted(memory_ids)).values()}
        for row in sorted(untrue.difference(self.stale())):
            self._sql(*row).run("insert into stale_pages values ($1, $2, $3)")

    def stale(self) -> list[tuple[str, str, str]]:
        """The rollups that have become untrue and were not made again: project, level and period; without a level, the
        pages of the project."""
        return [(a, b, c) for a, b, c in self._sql.rows("select * from stale_pages order by all")]

    def note_renewed(self, rows: Collection[tuple[str, str, str]]) -> None:
        """Record that these were made again."""
        for row in rows:
            self._sql(*row).run("delete from stale_pages where (project_id, level, period) = ($1, $2, $3)")

    def about(self, memory_ids: Collection[str]) -> list[Rollup]:
        """The rollups that say any of these memories, or hold the time of one: by project, beginning and level."""
        return _ROLLUPS(self._sql(sorted(memory_ids))).of(f"""
            with these as (select id, project_id, created_at from memories where id in (select unnest($1::text[])))
            select {_ROLLUPS.columns}
            from rollups r
            where list_has_any(memory_ids, $1::text[])
               or exists (
                   select 1
                   from these t
                   where t.project_id = r.project_id and t.created_at between r.starts_at and r.ends_at)
            order by project_id, starts_at, ends_at, id
            """)

    def days_with_notes(self, project_id: str) -> set[date]:
        """The days of which `noted` or `series` may give something."""
        rows = self._sql(project_id, SERIES).rows("""
            select distinct greatest((created_at + to_minutes(utc_offset))::date, created_at::date)
            from memories
            where project_id = $1 and source_connector not in ('night', 'conversations')
            union
            select distinct (created_at - to_microseconds(1))::date
            from memories
            where project_id = $1 and source_connector in ('night', 'conversations')
            union
            select distinct effective_date::date
            from memories
            where project_id = $1 and source_connector = 'night' and source_file = $2
            """)
        return {row[0] for row in rows}

    def noted(self, project_id: str, starts_at: datetime, ends_at: datetime) -> list[Memory]:
        """The memories that a project noted on a day, or a night made of its notes, by creation and id: as of the day's
        end.

        A memory is archived only if it was by then; a rolled-back one was never there, nor was one whose words were
        edited since if the new words are of the day, too.
        """
        return self._read_memories(project_id, f"(({_OF_RAW}) or ({_OF_MADE}))", starts_at, ends_at)

    def series(self, project_id: str, starts_at: datetime, ends_at: datetime) -> list[Memory]:
        """The series memories as they stood at the end of a day, of which the newest reading is of that day."""
        return self._read_memories(
            project_id,
            "source_connector = 'night' and source_file = $4 and created_at <= $3 and effective_date >= $2 "
            "and effective_date < $3",
            starts_at,
            ends_at,
            SERIES,
        )

    def shapes_of_readings(self, project_id: str, least: int) -> dict[str, datetime]:
        """The shapes of lines that differ only in figures and of which there are so many, with three texts or more; by
        shape, since when there are."""
        return self._sql(project_id, least).mapping("""
            select shape_hash, list(created_at order by created_at, id)[$2]
            from memories
            where project_id = $1 and source_connector <> 'night'
            group by 1
            having count(*) >= $2 and count(distinct content_hash) >= 3
            """)

    def _read_memories(
        self, project_id: str, where: str, starts_at: datetime, ends_at: datetime, *more: str
    ) -> list[Memory]:
        memories = MEMORIES(self._sql(project_id, starts_at, ends_at, *more)).select(f"""
            where project_id = $1 and {where} and rolled_back_at is null and (archived_at is null or archived_at > $3)
              and not exists (
                  select 1
                  from lineage l
                  join memories n on n.id = l.memory_id
                  where l.source_id = memories.id and l.relation = 'superseded' and n.created_at <= $3)
            order by created_at, id
            """)
        return [as_before(memory) if memory.archived_at else memory for memory in memories]
