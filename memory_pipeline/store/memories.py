"""Reads and writes memories: insert, find, read and archive."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

import pyarrow as pa

from memory_pipeline.errors import InputError
from memory_pipeline.records import AGAIN, EXPIRED, UNDATED, Handles, Memory, is_handle
from memory_pipeline.store.rows import RowsOf, Statements

#: The mapping of memories to table rows.
MEMORIES = RowsOf(Memory, "memories")
#: From when nights count a memory (`Memory.counts_from`), and whether that of a row is old enough to be touched: given
#: the night's end and the time after which memories are fresh.
_COUNTS_FROM = """case when created_at_quality = 'mtime'
    then date_trunc('day', created_at) - interval 1 microsecond else created_at end"""
RIPE = f"""case when source_connector = 'night' or created_at_quality = 'mtime'
    then {_COUNTS_FROM} <= $as_of else created_at <= $created_before end"""
_PLACES = pa.schema([("id", pa.string()), ("headings", pa.list_(pa.string())), ("lead_in", pa.string())])
#: What makes an archived memory active again, as it was.
RESTORED = """importance = coalesce(importance_before, importance), importance_before = null, archived_by = null,
    archived_at = null, consolidated_into_id = null"""
#: Where the counts of use stop.
_MOST_USES = 1_000_000_000
#: Characters of the beginning of an id that may stand for it.
_LEAST_OF_ID = 4


class SameContent(NamedTuple):
    """One of several memories of a project with the same content hash."""

    project_id: str
    content_hash: str
    id: str
    may_be_archived: bool
    content: str
    headings: tuple[str, ...]
    effective_date: datetime


class Replacement(NamedTuple):
    """A memory to archive: the id of its cluster, and of the memory that replaces it. `is_version`: a pattern may be
    replaced by this one, its next version."""

    id: str
    archived_by: str
    into: str
    is_version: bool = False


class Memories(Statements):
    """The memories themselves, active and archived."""

    def add(self, memories: Sequence[Memory]) -> None:
        """Add new memories in one statement."""
        MEMORIES(self._sql).insert(memories)

    def place(self, memories: Sequence[Memory]) -> None:
        """Take over where memories stand in their source now: their headings and their lead-in."""
        placed = [
            {"id": memory.id, "headings": list(memory.headings), "lead_in": memory.lead_in}
            for memory in memories
            if memory.headings or memory.lead_in
        ]
        if not placed:
            return
        self._sql(placed=pa.Table.from_pylist(placed, _PLACES)).run("""
            update memories m
            set headings = p.headings, lead_in = p.lead_in
            from placed p
            where m.id = p.id and (m.headings <> p.headings or m.lead_in <> p.lead_in)
            """)

    def read(self, ids: Iterable[str]) -> dict[str, Memory]:
        """The memories with these ids, by id; unknown ids are omitted."""
        memories = MEMORIES(self._sql.about(ids)).select("where id in (select unnest($1::text[]))")
        return {memory.id: memory for memory in memories}

    def read_as_last_told(self, ids: Iterable[str]) -> dict[str, Memory]:
        """The memories with these ids, by id, each with the time at which it was told last: a copy that was archived
        into it may be later."""
        memories = self.read(ids)
        rows = self._sql.about(memories, UNDATED).rows(f"""
            select m.consolidated_into_id, max(m.effective_date), max_by(m.utc_offset, m.effective_date)
            from memories m
            join lineage l on l.memory_id = m.consolidated_into_id and l.source_id = m.id and l.relation in {AGAIN}
            where m.consolidated_into_id in (select unnest($1::text[])) and m.archived_at is not null
              and m.rolled_back_at is null and m.created_at_quality not in (select unnest($2::text[]))
            group by 1
            """)
        newest = {into: (moment, offset) for into, moment, offset in rows}
        return {
            memory_id: replace(memory, effective_date=newest[memory_id][0], utc_offset=newest[memory_id][1])
            if memory_id in newest and newest[memory_id][0] > memory.effective_date
            else memory
            for memory_id, memory in memories.items()
        }

    def contents(self, ids: Collection[str]) -> dict[str, tuple[str, str]]:
        """The project and the content of the memories with these ids, by id; unknown ids are omitted."""
        rows = self._sql(ids).rows(
            "select id, project_id, content from memories where id in (select unnest($1::text[]))"
        )
        return {memory_id: (project, content) for memory_id, project, content in rows}

    def whole_id(self, text: str, project_id: str | None = None) -> str:
        """The id that a handle, or the beginning of an id, stands for, in a project or in the whole store; any other
        text as it is. Raises InputError for one that stands for several."""
        known = self.read([text]).get(text)
        if known is not None and project_id in (None, known.project_id):
            return text
        of_project = "($1 is null or project_id = $1)"
        if is_handle(text):
            rows = self._sql(project_id).rows(f"select id from memories where {of_project}")
            whole = Handles(memory_id for (memory_id,) in rows).whole_id(text)
            if whole != text:
                return whole
        if len(text) < _LEAST_OF_ID:
            return text
        rows = self._sql(project_id, text).rows(
            f"select id from memories where {of_project} and starts_with(id, $2) limit 2"
        )
        if len(rows) > 1:
            raise InputError(f"'{text}' begins the ids of several memories; write more of one")
        return str(rows[0][0]) if rows else text

    def all(
        self,
        project_id: str | None = None,
        *,
        include_archived: bool = True,
        include_rolled_back: bool = False,
        created_by: datetime | None = None,
    ) -> list[Memory]:
        """The memories that are or were in use, or the active ones (of a project, or created by a time, when given),
        by creation and id."""
        return MEMORIES(self._sql(include_archived, include_rolled_back, created_by, project_id)).select("""
            where ($1 or archived_at is null) and ($2 or rolled_back_at is null) and ($3 is null or created_at <= $3)
              and ($4 is null or project_id = $4)
            order by created_at, id
            """)

    def of_connectors(self, connectors: Sequence[str]) -> list[Memory]:
        """Every memory, in any state, that these connectors brought, by id."""
        return MEMORIES(self._sql(connectors)).select(
            "where source_connector in (select unnest($1::text[])) order by id"
        )

    def count(self) -> int:
        """The number of memories in any state."""
        return self._sql.count("select count(*) from memories")

    def existing(self, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Project and content hash of those ids that are in the store."""
        rows = self._sql.about(ids).rows(
            "select id, project_id, content_hash from memories where id in (select unnest($1::text[]))"
        )
        return {row[0]: (row[1], row[2]) for row in rows}

    def projects(self) -> list[str]:
        """The projects in the store, by name."""
        return self._sql.strings("select distinct project_id from memories order by 1")

    def candidates(
        self,
        *,
        created_before: datetime,
        created_from: datetime | None,
        as_of: datetime,
        critical_floor: float,
        after: Memory | None,
        most: int,
    ) -> list[Memory]:
        """Active memories that the eligibility rule may accept, by creation and id: the first `most` of them `after`
        another one.

        Importance under the floor, neither pinned nor archived, level 0 or 1, no abstraction, created in
        the window. What a night merged is as old as its sources, and they were old enough then: it counts
        from the as-of time of that night, as does what its file alone dates. Whether each has a vector is asked
        separately.
        """
        given = self._sql(
            floor=critical_floor,
            created_before=created_before,
            first=created_from,
            as_of=as_of,
            after=after.created_at if after else None,
            after_id=after.id if after else None,
            most=most,
        )
        return MEMORIES(given).select(f"""
            where importance < $floor and compressed_from is null and archived_at is null and not pinned
              and abstraction_level <= 1 and ($first is null or created_at >= $first)
              and {RIPE}
              and ($after is null or (created_at, id) > ($after, $after_id))
            order by created_at, id
            limit $most
            """)

    def made_as_of(self, at: datetime) -> dict[str, str]:
        """The active memories that nights made as of a time, with the policy that made each."""
        return self._sql(at).mapping("""
            select id, source_file
            from memories
            where source_connector = 'night' and created_at = $1 and archived_at is null
            """)

    def unconsolidated(
        self, *, created_before: datetime, as_of: datetime, critical_floor: float, after: int
    ) -> list[tuple[int, str]]:
        """Active raw memories that may be touched and that no night has compared: the position of their arrival in
        the audit log (after the entry `after`), and their project."""
        return self._sql(after=after, created_before=created_before, as_of=as_of, floor=critical_floor).rows(f"""
            with arrivals as (
                select row_id, min(sequence) as sequence
                from audit_log
                where table_name = 'memories' and action = 'insert'
                group by 1
            )
            select a.sequence, m.project_id
            from memories m
            join arrivals a on a.row_id = m.id
            where a.sequence > $after and m.archived_at is null and m.abstraction_level = 0 and {RIPE}
              and m.importance < $floor and not m.pinned and m.id not in (select memory_id from compared)
            order by 1
            """)

    def same_content(self, *, created_before: datetime, as_of: datetime, critical_floor: float) -> list[SameContent]:
        """Memories with the same project and content hash as another one, oldest first within each group. Memories
        of the same time are ordered by what they say (more important ones first), then by id: never by their
        position in a file, from which the id of a row without its own id may be derived.

        A member may be archived if it is active, raw or merged, neither critical nor pinned, and created by
        `created_before`. Only memories created by `as_of` count, and only groups with an archivable member are
        returned.
        """
        rows = self._sql(as_of=as_of, created_before=created_before, floor=critical_floor).rows(f"""
            select project_id, content_hash, id,
                   archived_at is null and {RIPE} and importance < $floor and not pinned
                       and abstraction_level <= 1 and source_connector not in ('night', 'conversations')
                       as may_be_archived,
                   content, headings, effective_date
            from memories
            where {_COUNTS_FROM} <= $as_of and rolled_back_at is null
            window same as (partition by project_id, content_hash)
            qualify count(*) over same > 1 and bool_or(may_be_archived) over same
            order by project_id, content_hash, created_at, importance desc, memory_type, content, categories, tags, id
            """)
        return [SameContent(*row)._replace(headings=tuple(row[5])) for row in rows]

    def archive(self, sources: Sequence[Replacement], *, archived_at: datetime, critical_floor: float) -> set[str]:
        """Archive sources: set the importance to 0.5, keep the old value, and link to the replacement.

        The eligibility rule is checked again here, in the writing statement. Returns the ids that were actually
        archived; a caller that gets fewer than it asked for rolls the transaction back.
        """
        if not sources:
            return set()
        replacements = pa.Table.from_pylist([source._asdict() for source in sources])
        return self._sql(archived_at, critical_floor, replacements=replacements).string_set("""
            update memories m
            set importance_before = m.importance, importance = 0.5, archived_by = r.archived_by, archived_at = $1,
                consolidated_into_id = r.into, updated_at = $1
            from replacements r
            where m.id = r.id and m.archived_at is null and m.importance < $2 and not m.pinned
              and (m.compressed_from is null or (m.source_connector = 'night' and m.source_file = 'series'
                                                 or r.is_version))
              and (m.abstraction_level <= 1 or (r.is_version and m.abstraction_level = 2))
            returning m.id
            """)

    def patterns(self, before: datetime, policy: str, critical_floor: float) -> list[Memory]:
        """The active patterns of a policy that were made before a time and may be archived, by id."""
        return MEMORIES(self._sql(before, policy, critical_floor)).select("""
            where abstraction_level = 2 and source_connector = 'night' and source_file = $2 and archived_at is null
              and rolled_back_at is null and created_at < $1 and importance < $3 and not pinned
            order by id
            """)

    def supersede(self, loser: str, *, winner: str, archived_by: str, at: datetime, critical_floor: float) -> bool:
        """Archive the side of a conflict that a person decided against, of any level; returns False if it is
        critical, pinned or archived."""
        archived = self._sql(loser, archived_by, at, winner, critical_floor).rows("""
            update memories
            set importance_before = importance, importance = least(importance, 0.5), archived_by = $2,
                archived_at = $3, consolidated_into_id = $4, updated_at = $3
            where id = $1 and archived_at is null and importance < $5 and not pinned
            returning id
            """)
        return bool(archived)

    def take_back(self, ids: Sequence[str], *, at: datetime) -> None:
        """Make memories active again that newer words of their source had superseded."""
        restored = self._sql(ids, at).strings(f"""
            update memories
            set {RESTORED}, updated_at = $2
            from lineage l
            where id in (select unnest($1::text[])) and archived_at is not null and rolled_back_at is null
              and l.memory_id = consolidated_into_id and l.source_id = id and l.relation = 'superseded'
            returning id
            """)
        self._sql(restored).run(
            "delete from lineage where relation = 'superseded' and source_id in (select unnest($1::text[]))"
        )

    def follow_expiry(self, until: Mapping[str, datetime | None], critical_floor: float) -> None:
        """Archive the memories whose time is over in their source, with that time, unless they are critical or pinned;
        those that it has prolonged are active again. `until`: by id, None for what stands."""
        over = {memory_id: moment for memory_id, moment in until.items() if moment is not None}
        if over:
            rows = {"id": list(over), "at": pa.array(over.values(), pa.timestamp("us"))}
            self._sql(EXPIRED, critical_floor, over=pa.table(rows)).run("""
                update memories m
                set importance_before = importance, importance = least(importance, 0.5), archived_by = $1,
                    archived_at = o.at
                from over o
                where m.id = o.id and archived_at is null and importance < $2 and not pinned
                """)
        self._restore_where("archived_by = $2", [i for i, moment in until.items() if moment is None], EXPIRED)

    def revive(self, ids: Sequence[str]) -> None:
        """Reactivate memories that were rolled back, unchanged."""
        self._restore_where("rolled_back_at is not null", ids)

    def _restore_where(self, condition: str, ids: Iterable[str], *values: object) -> None:
        """Make those of some memories active again that a condition is true of. Mostly there are none, and looking
        costs a tenth of an update."""
        restored = self._sql.about(ids, *values).strings(
            f"select id from memories where id in (select unnest($1::text[])) and {condition}"
        )
        self._sql.about(restored).run(
            f"update memories set {RESTORED}, rolled_back_at = null where id in (select unnest($1::text[]))"
        )

    def count_uses(self, recalled: Mapping[str, int], useful: Mapping[str, int]) -> None:
        """Add to how often memories were recalled and called useful, by id; unknown ids are passed over."""
        ids = sorted({*recalled, *useful})
        if not ids:
            return
        uses = {"id": ids, "recalled": [recalled.get(i, 0) for i in ids], "useful": [useful.get(i, 0) for i in ids]}
        self._sql(_MOST_USES, uses=pa.table(uses)).run("""
            update memories m
            set reuse_count = least(m.reuse_count + u.recalled, $1)::integer,
                useful_count = least(m.useful_count + u.useful, $1)::integer
            from uses u
            where m.id = u.id
            """)

    def count_before_night(self, as_of: datetime) -> int:
        """The number of active memories at the start of the night of `as_of`, even if it has archived some since."""
        return self._sql(as_of).count("""
            select count(*)
            from memories
            where created_at < $1 and (archived_at is null or archived_at = $1) and rolled_back_at is null
            """)


def memory_table(memories: Sequence[Memory]) -> pa.Table:
    """Memories as an Arrow table with a column for each field; times are UTC without a zone."""
    return MEMORIES.table(memories)
