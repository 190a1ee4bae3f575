"""Memories in and out of the store: insert, read, archive, and the links that hold them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import pyarrow as pa

from memory_pipeline.records import LineageLink, Memory
from memory_pipeline.store.rows import RowsOf
from memory_pipeline.store.rows import from_utc as from_utc
from memory_pipeline.store.rows import to_utc as to_utc
from memory_pipeline.store.sql import Sql as Transaction

#: How memories and their links lie in their tables.
MEMORIES, LINKS = RowsOf(Memory), RowsOf(LineageLink)


def insert_memories(tx: Transaction, memories: Sequence[Memory]) -> None:
    """Add new memories in one statement."""
    if not memories:
        return
    tx.register("incoming_memories", MEMORIES.table(memories))
    tx.execute("insert into memories by name select * from incoming_memories")
    tx.unregister("incoming_memories")


def read_memories(tx: Transaction, ids: Iterable[str]) -> dict[str, Memory]:
    """The memories of these ids, by id; ids that do not exist are left out."""
    wanted = list(ids)
    if not wanted:
        return {}
    rows = tx.execute(
        f"select {MEMORIES.columns} from memories where id in (select unnest($1::text[]))", [wanted]
    ).fetchall()
    return {memory.id: memory for memory in map(MEMORIES.read, rows)}


def all_memories(
    tx: Transaction,
    *,
    include_archived: bool = True,
    include_rolled_back: bool = False,
    created_by: datetime | None = None,
) -> list[Memory]:
    """Every memory that is or was in use, or the active ones (created by a time, when given), by creation and id."""
    rows = tx.execute(
        f"select {MEMORIES.columns} from memories where ($1 or archived_at is null) and ($2 or rolled_back_at is null) "
        "and ($3 is null or created_at <= $3) order by created_at, id",
        [include_archived, include_rolled_back, to_utc(created_by) if created_by else None],
    ).fetchall()
    return [MEMORIES.read(row) for row in rows]


def existing_ids(tx: Transaction, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Project and content hash of those ids that are in the store."""
    rows = tx.execute(
        "select id, project_id, content_hash from memories where id in (select unnest($1::text[]))", [list(ids)]
    ).fetchall()
    return {row[0]: (row[1], row[2]) for row in rows}


def select_candidates(
    tx: Transaction,
    *,
    created_before: datetime,
    created_from: datetime | None,
    as_of: datetime,
    critical_floor: float,
) -> list[Memory]:
    """Active memories that the eligibility rule may accept, by creation and id.

    Importance under the floor, neither pinned nor archived, level 0 or 1, no abstraction, created in
    the window. What a night merged is as old as its sources, and they were old enough then: it counts
    from the as-of time of that night. Whether each has a vector is asked separately.
    """
    rows = tx.execute(
        f"select {MEMORIES.columns} from memories where importance < $1 and compressed_from is null "
        "and archived_at is null and not pinned and abstraction_level <= 1 and ($3 is null or created_at >= $3) "
        "and created_at <= case when source_connector = 'night' then $4 else $2 end order by created_at, id",
        [critical_floor, to_utc(created_before), to_utc(created_from) if created_from else None, to_utc(as_of)],
    ).fetchall()
    return [MEMORIES.read(row) for row in rows]


def count_raw_sources(tx: Transaction, ids: Iterable[str]) -> dict[str, int]:
    """How many raw memories each of these was merged from, copies aside; those made of nothing are left out."""
    rows = tx.execute(
        "with recursive made as (select memory_id, source_id from lineage where relation not in ('duplicate', "
        "'superseded')), walk(top, id) as (select memory_id, source_id from made where memory_id in "
        "(select unnest($1::text[])) union select w.top, l.source_id from walk w join made l on l.memory_id = w.id) "
        "select top, count(distinct walk.id) from walk join memories m on m.id = walk.id "
        "where m.source_connector <> 'night' group by 1",
        [list(ids)],
    ).fetchall()
    return {str(row[0]): int(row[1]) for row in rows}


def witnesses_of(tx: Transaction, ids: Iterable[str]) -> dict[str, list[str]]:
    """By memory, the ids of the raw ones that it was made from, copies aside; those made of nothing are left out."""
    rows = tx.execute(
        "with recursive made as (select memory_id, source_id from lineage where relation not in ('duplicate', "
        "'superseded')), walk(top, id) as (select memory_id, source_id from made where memory_id in "
        "(select unnest($1::text[])) union select w.top, l.source_id from walk w join made l on l.memory_id = w.id) "
        "select top, list(distinct walk.id order by walk.id) from walk join memories m on m.id = walk.id "
        "where m.source_connector <> 'night' group by 1",
        [list(ids)],
    ).fetchall()
    return {str(top): [str(i) for i in found] for top, found in rows}


def unconsolidated_memories(
    tx: Transaction, *, created_before: datetime, critical_floor: float, after: int
) -> list[tuple[int, str]]:
    """Active raw memories that no night has compared and that one may touch: where the audit log (beyond the entry
    `after`) tells of their arrival, and their project."""
    rows = tx.execute(
        "select g.sequence, m.project_id from memories m join (select row_id, min(sequence) as sequence from audit_log "
        "where table_name = 'memories' and action in ('insert', 'baseline') group by 1) g on g.row_id = m.id "
        "where g.sequence > $1 and m.archived_at is null and m.abstraction_level = 0 and m.created_at <= $2 "
        "and m.importance < $3 and not m.pinned and m.id not in (select memory_id from compared) order by 1",
        [after, to_utc(created_before), critical_floor],
    ).fetchall()
    return [(int(row[0]), str(row[1])) for row in rows]


class SameContent(NamedTuple):
    """One of several memories of a project with the same content hash."""

    project_id: str
    content_hash: str
    id: str
    may_be_archived: bool


def same_content_groups(
    tx: Transaction, *, created_before: datetime, as_of: datetime, critical_floor: float
) -> list[SameContent]:
    """Memories that share project and content hash with another one, oldest first within each group. What is of one
    time is ordered by what it says (the more important first), then by id: never by where it stood in a file, which
    a row without an id of its own may have its id from.

    A member may be archived when it is active, raw or merged, neither critical nor pinned, and created by
    `created_before`. Only what had been created by `as_of` counts, and only groups with a member that
    may be archived come back.
    """
    rows = tx.execute(
        "select project_id, content_hash, id, archived_at is null and created_at <= $2 and importance < $3 "
        "and not pinned and abstraction_level <= 1 and source_connector <> 'night' as may_be_archived "
        "from memories where created_at <= $1 and rolled_back_at is null "
        "window same as (partition by project_id, content_hash) "
        "qualify count(*) over same > 1 and bool_or(may_be_archived) over same "
        "order by project_id, content_hash, created_at, importance desc, memory_type, content, categories, tags, id",
        [to_utc(as_of), to_utc(created_before), critical_floor],
    ).fetchall()
    return [SameContent(*row) for row in rows]


def replacements_of(tx: Transaction, memory_ids: Iterable[str]) -> dict[str, str]:
    """By memory, the active one at the end of its chain of replacements (itself when it is active or unknown)."""
    wanted = list(memory_ids)
    rows = tx.execute(
        """
        with recursive chain(start, id, next, depth) as (
            select id, id, consolidated_into_id, 0 from memories where id in (select unnest($1::text[]))
            union all
            select c.start, m.id, m.consolidated_into_id, c.depth + 1
            from memories m join chain c on m.id = c.next
            where c.depth < 100
        )
        select start, max_by(id, depth) from chain group by start
        """,
        [wanted],
    ).fetchall()
    return {**{i: i for i in wanted}, **{str(start): str(end) for start, end in rows}}


def replacement_of(tx: Transaction, memory_id: str) -> str:
    """The active memory at the end of a chain of replacements (the memory itself when it is active)."""
    return replacements_of(tx, [memory_id])[memory_id]


class Replacement(NamedTuple):
    """A memory to archive: the id of its cluster, and of the memory that stands for it from now on."""

    id: str
    archived_by: str
    into: str


def archive_memories(
    tx: Transaction, sources: Sequence[Replacement], *, archived_at: datetime, critical_floor: float
) -> set[str]:
    """Archive sources: importance to 0.5 with the old value kept, and the pointer to what replaces them.

    The rule of eligibility is checked here again, in the statement that writes; the ids that were really
    archived come back, and a caller that gets fewer than it asked for rolls the transaction back.
    """
    if not sources:
        return set()
    tx.register("incoming_replacements", pa.Table.from_pylist([source._asdict() for source in sources]))
    rows = tx.execute(
        """
        update memories m
        set importance_before = m.importance, importance = 0.5, archived_by = r.archived_by, archived_at = $1,
            consolidated_into_id = r.into, updated_at = $1
        from incoming_replacements r
        where m.id = r.id and m.archived_at is null and m.importance < $2 and not m.pinned
            and m.compressed_from is null and m.abstraction_level <= 1
        returning m.id
        """,
        [to_utc(archived_at), critical_floor],
    ).fetchall()
    tx.unregister("incoming_replacements")
    return {str(row[0]) for row in rows}


def insert_lineage(tx: Transaction, links: Sequence[LineageLink]) -> None:
    """Add links from a memory to its direct sources."""
    if links:
        tx.register("incoming_lineage", LINKS.table(links))
        tx.execute("insert into lineage by name select * from incoming_lineage")
        tx.unregister("incoming_lineage")


def lineage_of(tx: Transaction, memory_ids: Iterable[str]) -> list[LineageLink]:
    """The direct sources of these memories, by memory and source id."""
    rows = tx.execute(
        f"select {LINKS.columns} from lineage where memory_id in (select unnest($1::text[])) "
        "order by memory_id, source_id",
        [list(memory_ids)],
    ).fetchall()
    return [LINKS.read(row) for row in rows]


def sources_of_levels(tx: Transaction) -> dict[str, list[str]]:
    """The direct sources of every merged memory and canonical entry that was not rolled back, by its id."""
    rows = tx.execute(
        "select l.memory_id, list(l.source_id order by l.source_id) from lineage l "
        "join memories m on m.id = l.memory_id where l.relation in ('merged', 'canonical') "
        "and m.rolled_back_at is null group by 1 order by 1"
    ).fetchall()
    return {str(row[0]): [str(source) for source in row[1]] for row in rows}


def raw_sources_of(tx: Transaction, memory_id: str) -> list[str]:
    """The ids at the bottom of a memory's lineage: what was never made from anything else."""
    rows = tx.execute(
        "with recursive walk(id) as (select source_id from lineage where memory_id = $1 and relation <> 'superseded' "
        "union select l.source_id from lineage l join walk on l.memory_id = walk.id and l.relation <> 'superseded') "
        "select walk.id from walk join memories m on m.id = walk.id where m.source_connector <> 'night' "
        "order by walk.id",
        [memory_id],
    ).fetchall()
    return [str(row[0]) for row in rows]


def projects_of(tx: Transaction) -> list[str]:
    """The projects that the store knows, by name."""
    return [str(row[0]) for row in tx.execute("select distinct project_id from memories order by 1").fetchall()]


def series_shapes(tx: Transaction, as_of: datetime, least: int) -> set[tuple[str, str]]:
    """Project and shape of every series: raw memories that differ in figures alone, `least` or more of
    them with that many different texts but one, on three days or more, created by `as_of`."""
    rows = tx.execute(
        "select project_id, shape_hash from memories where created_at <= $1 and source_connector <> 'night' "
        "group by 1, 2 having count(*) >= $2 and count(distinct content_hash) >= $2 - 1 "
        "and count(distinct created_at::date) >= 3",
        [to_utc(as_of), least],
    ).fetchall()
    return {(str(row[0]), str(row[1])) for row in rows}


def shapes_of(tx: Transaction, ids: Iterable[str]) -> dict[str, str]:
    """The shape hash of each of these memories."""
    rows = tx.execute(
        "select id, shape_hash from memories where id in (select unnest($1::text[]))", [list(ids)]
    ).fetchall()
    return {str(row[0]): str(row[1]) for row in rows}


def count_before_night(tx: Transaction, as_of: datetime) -> int:
    """How many memories were active when the night of `as_of` began, though it may have archived some already."""
    row = tx.execute(
        "select count(*) from memories where created_at < $1 and (archived_at is null or archived_at = $1) "
        "and rolled_back_at is null",
        [to_utc(as_of)],
    ).fetchone()
    assert row is not None
    return int(row[0])
