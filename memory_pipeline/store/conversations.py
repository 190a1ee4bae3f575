"""Everything that was extracted from conversations, day by day, and the memories that were made of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from memory_pipeline.records import ConversationDay, KeptExtraction, Memory
from memory_pipeline.store.memories import MEMORIES, Memories
from memory_pipeline.store.rows import RowsOf, Statements

_EXTRACTIONS = RowsOf(KeptExtraction, "extractions")
_DAYS = RowsOf(ConversationDay, "conversation_days")
#: What two readings of a day may differ in that say the same.
_OF_THE_RUN = ("run_id", "is_written", "gone_at", "gone_by", "basis", "is_taken_back")
#: The day on which something was said, as of rollups: the later one of its days by the clock of its source and by UTC.
_DAY = "greatest((effective_date + to_minutes(utc_offset))::date, effective_date::date)"
#: Turns as imports brought them. What was archived later counts as of its day: a day that is read again is the same.
_TURNS = f"""
    memory_type = 'conversation' and abstraction_level = 0 and source_connector not in ('night', 'conversations')
    and rolled_back_at is null
    and (archived_at is null or archived_at >= {_DAY} + interval 1 day)
    """


@dataclass(frozen=True, slots=True)
class SpokenDay:
    """The turns of one project on one day: how many, and a digest of them."""

    project_id: str
    night: date
    turns: int
    digest: str


class Conversations(Statements):
    """The days of conversations, and what was extracted from them."""

    def spoken(self, last: date) -> list[SpokenDay]:
        """The days on which something was said, up to the last one, by day and project."""
        rows = self._sql(last).rows(f"""
            select project_id, {_DAY} as night, count(*),
                   sha256(string_agg(id || ':' || content_hash, ',' order by id))
            from memories
            where {_TURNS} and {_DAY} <= $1::date
            group by 1, 2
            order by 2, 1
            """)
        return [SpokenDay(*row) for row in rows]

    def count_unasked(self, last: date) -> tuple[int, int, int]:
        """Counts the turns up to a day that no model has read with all that was asked about their day; then their days,
        and their tokens. Days that a person took back wait for nothing."""
        return self._sql(last).counts(f"""
            select count(*), count(distinct (project_id, {_DAY})), coalesce(sum(token_count), 0)
            from memories
            where {_TURNS} and {_DAY} <= $1::date and not exists (
                select 1
                from conversation_days d
                where d.project_id = memories.project_id and d.night = {_DAY}
                  and case when d.is_taken_back then true
                           when d.gone_at is not null then false
                           when (d.coverage -> 'model') is null
                           then coalesce((d.coverage -> 'turns' ->> 'human')::integer, 0)
                                + coalesce((d.coverage -> 'turns' ->> 'agent')::integer, 0) = 0
                           else coalesce((d.coverage -> 'model' ->> 'waiting')::integer, 0) = 0
                      end
            )
            """)

    def turns(self, project_id: str, night: date) -> list[Memory]:
        """The memories of the turns of a day, by conversation and order."""
        return MEMORIES(self._sql(project_id, night)).select(f"""
            where {_TURNS} and project_id = $1 and {_DAY} = $2::date
            order by source_connector, source_file, source_line, effective_date, id
            """)

    def standing(
        self, project_id: str, *, before: date | None = None, also_refused: bool = False
    ) -> list[KeptExtraction]:
        """The extractions that stand of a project, or of its days before one, in the order in which they were said;
        without what a person refused."""
        return _EXTRACTIONS(self._sql(project_id, before, also_refused)).select("""
            where project_id = $1 and gone_at is null and ($2 is null or night < $2)
              and ($3 or id not in (select id from relationship_patterns where decision = 'rejected'))
            order by night, day, conversation, line, id
            """)

    def of_night(self, project_id: str, night: date, *, also_gone: bool = False) -> list[KeptExtraction]:
        """The extractions that stand of one day, in order; or all that were ever made of it."""
        return _EXTRACTIONS(self._sql(project_id, night, also_gone)).select("""
            where project_id = $1 and night = $2 and (gone_at is null or $3)
            order by day, conversation, line, id, run_id
            """)

    def days(self, project_id: str | None = None, *, first: date | None = None) -> list[ConversationDay]:
        """The days that stand, of one project or all, by day and project."""
        return _DAYS(self._sql(project_id, first)).select("""
            where gone_at is null and ($1 is null or project_id = $1) and ($2 is null or night >= $2)
            order by night, project_id
            """)

    def day(self, project_id: str, night: date) -> ConversationDay | None:
        """The record that stands of one day."""
        return _DAYS(self._sql(project_id, night)).first("where project_id = $1 and night = $2 and gone_at is null")

    def read_by(self, run_id: str) -> tuple[int, int, int, int]:
        """Counts the turns that a run read, what it kept of them, what of this a model proposed, and the memories of
        which nobody knows who speaks."""
        return self._sql(run_id).counts("""
            select coalesce(sum(coalesce((coverage -> 'turns' ->> 'human')::integer, 0)
                                + coalesce((coverage -> 'turns' ->> 'agent')::integer, 0)), 0),
                   (select count(*) from extractions where run_id = $1 and destination <> 'drop'),
                   coalesce(sum((coverage -> 'model' ->> 'extracted')::integer), 0),
                   coalesce(sum((coverage -> 'memories_dropped' ->> 'no known speaker')::integer), 0)
            from conversation_days
            where run_id = $1
            """)

    def read_before(self, run_id: str, night: date) -> int:
        """Counts the days before a night that its run read and changed."""
        return self._sql(run_id, night).count(
            "select count(distinct night) from conversation_days where run_id = $1 and night < $2"
        )

    def read_by_runs(self, run_ids: Sequence[str]) -> dict[str, list[date]]:
        """By project, the days of which what one of these runs made stands."""
        return self._sql(run_ids).mapping("""
            select project_id, list(night order by night)
            from conversation_days
            where run_id in (select unnest($1::text[])) and gone_at is null
            group by 1
            order by 1
            """)

    def taken_back(self) -> set[tuple[str, date]]:
        """The projects and days that a rollback took back, and for which nobody has asked since."""
        return set(self._sql.rows("select distinct project_id, night from conversation_days where is_taken_back"))

    def digests(self, project_id: str, night: date | None = None) -> dict[date, str]:
        """By day, or of one day, a hash of what stands of it as far as later days depend on it."""
        return self._sql(project_id, night).mapping("""
            select night, sha256(string_agg(concat_ws(chr(31), id, kind, speaker, text, destination, memory_id,
                                                      array_to_string(withdraws, ',')), chr(30) order by id))
            from extractions
            where project_id = $1 and gone_at is null and ($2 is null or night = $2)
            group by 1
            """)

    def unwritten(self) -> list[tuple[str, date]]:
        """The projects and days whose files may not say what the store holds."""
        return self._sql.rows(
            "select distinct project_id, night from conversation_days where not is_written order by 1, 2"
        )

    def nights(self, project_id: str) -> list[date]:
        """The nights that ever read something of a project, also those that were taken back."""
        rows = self._sql(project_id).rows(
            "select distinct night from conversation_days where project_id = $1 order by 1"
        )
        return [row[0] for row in rows]

    def projects(self) -> list[str]:
        """The projects of which a day was ever read."""
        return self._sql.strings("select distinct project_id from conversation_days order by 1")

    def keep(self, day: ConversationDay, extractions: Sequence[KeptExtraction], at: datetime) -> list[str] | None:
        """Let a day be what one run made of it; returns the memories of which nothing stands any more.

        Returns None if it is that already: then it stays that of the run which made it first. Nobody has taken back
        what is read again.
        """
        before = self.day(day.project_id, day.night)
        standing = self.of_night(day.project_id, day.night)
        of_day, place = "project_id = $1 and night = $2", (day.project_id, day.night)
        self._sql(*place).run(f"update conversation_days set is_taken_back = false where {of_day} and is_taken_back")
        one, other = ({each.id: _read_values(_EXTRACTIONS, each) for each in some} for some in (standing, extractions))
        if before and _read_values(_DAYS, before) == _read_values(_DAYS, day) and one == other:
            if before.basis != day.basis:
                self._sql(*place, day.basis).run(
                    f"update conversation_days set basis = $3 where {of_day} and gone_at is null"
                )
            return None
        for table in ("extractions", "conversation_days"):
            self._sql(*place, at, day.run_id).run(
                f"update {table} set gone_at = $3, gone_by = $4 where {of_day} and gone_at is null"
            )
            # A run that was killed, and goes on.
            self._sql(*place, day.run_id).run(f"delete from {table} where {of_day} and run_id = $3")
        _DAYS(self._sql).insert([day])
        _EXTRACTIONS(self._sql).insert(extractions)
        still_used = {extraction.memory_id for extraction in extractions}
        return [
            extraction.memory_id
            for extraction in standing
            if extraction.memory_id and extraction.memory_id not in still_used
        ]

    def note_written(self, days: Collection[tuple[str, date]]) -> None:
        """Record that the files of these projects and days say what the store holds."""
        self._sql([project_id for project_id, _ in days], [night for _, night in days]).run("""
            update conversation_days
            set is_written = true
            where not is_written and (project_id, night) in (select (unnest($1::text[]), unnest($2::date[])))
            """)

    def withdraw(self, run_ids: Sequence[str], rollback_id: str, at: datetime) -> None:
        """Take back what runs extracted: what they replaced stands again, unless a later run has replaced theirs."""
        theirs = "run_id in (select unnest($1::text[]))"
        if not self._sql(run_ids).rows(f"select 1 from conversation_days where {theirs} limit 1"):
            return
        self._sql(run_ids).run(f"""
            create or replace temp table taken_back as
            select project_id, night from conversation_days where {theirs} and gone_at is null
            """)
        of_these_days = "(project_id, night) in (from taken_back)"
        self._sql(run_ids).run(f"update conversation_days set is_taken_back = true where {of_these_days} and {theirs}")
        for table in ("extractions", "conversation_days"):
            self._sql(run_ids, at, f"rollback:{rollback_id}").run(
                f"update {table} set gone_at = coalesce(gone_at, $2), gone_by = $3 where {theirs}"
            )
            self._sql(run_ids).run(f"""
                update {table}
                set gone_at = null, gone_by = null
                where {of_these_days} and gone_by in (select unnest($1::text[])) and not {theirs}
                """)
        self._sql.run(f"update conversation_days set is_written = false where {of_these_days} and is_written")
        self._sql.run("drop table taken_back")
        # Memories of which something stands again.
        back = self._sql.mapping("""
            select m.id, e.turn_id
            from extractions e
            join memories m on m.id = e.memory_id
            where e.gone_at is null and m.rolled_back_at is not null
              and e.id not in (select id from relationship_patterns where decision = 'rejected')
            """)
        self.put_in_use(back)

    def told_again(self, project_id: str) -> list[tuple[str, date]]:
        """The extractions that were told again, each with the day, in order."""
        return self._sql(project_id).rows("""
            select distinct pair ->> 0, night
            from (
                select night, unnest(from_json(coverage -> 'told_again', '["json"]')) as pair
                from conversation_days
                where project_id = $1 and gone_at is null
            )
            order by 2, 1
            """)

    def find(self, project_id: str, extraction_or_memory_id: str) -> KeptExtraction | None:
        """The extraction with an id, or the one that went to the memory with that id; one that stands, if any does."""
        return _EXTRACTIONS(self._sql(project_id, extraction_or_memory_id)).first("""
            where project_id = $1 and (id = $2 or memory_id = $2)
            order by gone_at is not null, gone_at desc, id
            limit 1
            """)

    def put_in_use(self, turns: Mapping[str, str]) -> None:
        """Let memories that were taken out of use be in use again, by id each with its turn, unchanged; others stay."""
        if not turns:
            return
        Memories(self._sql).revive(list(turns))
        self._sql(links=pa.table({"memory_id": list(turns), "source_id": list(turns.values())})).run("""
            insert into lineage by name
            select memory_id, source_id, 'extracted' as relation, 1.0 as similarity
            from links l
            where (memory_id, source_id) not in (select (memory_id, source_id) from lineage)
            """)

    def retire(self, memory_ids: Sequence[str], at: datetime, by: str) -> None:
        """Take memories out of use of which nothing stands any more; one that a night has archived stays archived."""
        retired = self._sql(memory_ids, by, at).strings("""
            update memories
            set importance_before = importance, importance = 0.5, archived_by = $2, archived_at = $3,
                consolidated_into_id = null, rolled_back_at = $3, updated_at = $3
            where id in (select unnest($1::text[])) and archived_at is null and source_connector = 'conversations'
            returning id
            """)
        self._sql(retired).run("delete from lineage where memory_id in (select unnest($1::text[]))")

    def superseded_by(self, memory_ids: Sequence[str]) -> list[str]:
        """The memories that were archived into these because what they say was withdrawn."""
        return self._sql(memory_ids).strings("""
            select m.id
            from memories m
            join lineage l on l.memory_id = m.consolidated_into_id and l.source_id = m.id
            where l.relation = 'superseded' and m.source_connector = 'conversations'
              and m.consolidated_into_id in (select unnest($1::text[]))
            order by 1
            """)

    def turns_kept_elsewhere(self, as_of: datetime) -> set[str]:
        """The turns of which memories say what is worth keeping, as of a time: these are compared in their place."""
        return self._sql(as_of).string_set("""
            select distinct l.source_id
            from lineage l
            join memories m on m.id = l.memory_id
            where l.relation = 'extracted' and m.rolled_back_at is null and m.created_at <= $1
            """)

    def said_by_agent(self, project_id: str) -> set[str]:
        """The memories that were made of words of an agent."""
        return self._sql(project_id).string_set(
            "select distinct memory_id from extractions "
            "where project_id = $1 and speaker = 'agent' and memory_id is not null"
        )


def _read_values(rows: RowsOf[Any], record: object) -> list[object]:
    """The values of a record, but for the run that made it and what became of it."""
    return [getattr(record, name) for name in rows.names if name not in _OF_THE_RUN]
