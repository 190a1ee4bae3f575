"""The contents of the store as a whole: row counts, the digest by which two stores are compared, and the rows as plain
records, and back, except those that can be rebuilt from the others.

A table that a migration adds is included automatically, unless it is marked as left behind.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from memory_pipeline.moments import FIRST_MEMORY, LAST_MEMORY
from memory_pipeline.records import LineageLink, Memory
from memory_pipeline.store.memories import MEMORIES
from memory_pipeline.store.rows import AUDIT_LOG, KEYS, TABLES, Row, Statements, rows_digest

#: Columns that came later are left out where they say nothing, so that earlier stores keep their digests. No text can
#: hold these words: JSON escapes its quotation marks.
_MEMORIES = """
    select sha256(coalesce(string_agg(sha256(regexp_replace(
        to_json(m)::text, ',"(?:utc_offset":0|headings":\\[\\]|lead_in":"")', '', 'g'
    )), '' order by id), ''))
    from (
        select * exclude (updated_at) replace (
            if($1, 0, reuse_count) as reuse_count, if($1, 0, useful_count) as useful_count
        )
        from memories
        where not $1 or archived_at is null
    ) m
    """


def _select_digest(rows: str, order: str) -> str:
    return f"select sha256(string_agg(sha256(to_json(t)::text), '' order by {order})) from ({rows}) t"


#: The digest of no rows, where they count as something.
_NONE = hashlib.sha256(b"").hexdigest()
_LINEAGE = _select_digest(
    "from lineage where not $1 or memory_id in (select id from memories where archived_at is null)",
    "memory_id, source_id",
)
_LOG = _select_digest("select * exclude (run_id) from compression_log", "id")
_CONFLICTS = _select_digest("from conflicts", "a, b")
_ATOMS = _select_digest("from atoms where retracted_at is null", "id")
_PLAYBOOK = _select_digest("from playbook_entries where retracted_at is null", "id")
_EXTRACTIONS = _select_digest("select * exclude (run_id) from extractions where gone_at is null", "id")
#: The tables on which the digest depends.
_KNOWLEDGE = ("memories", "lineage", "compression_log", "conflicts", "atoms", "playbook_entries", "extractions")
#: Digests that this process has computed, by these rows: the snapshots of a backfill are of the same contents.
_known: dict[tuple[Row, ...], str] = {}


@dataclass(frozen=True, slots=True)
class ProjectCounts:
    """Memories and tokens of a project. `made`: active memories that nights made; `raw_tokens`: tokens of everything
    that was read and never made."""

    active: int
    archived: int
    made: int
    active_tokens: int
    archived_tokens: int
    raw_tokens: int
    by_type: dict[str, int]
    by_level: dict[int, int]


class Contents(Statements):
    """Counts and digests over all tables."""

    def facts(self) -> dict[str, int]:
        """Counts for display: active, archived, abstractions, tokens, quarantine."""
        numbers = self._sql.counts("""
            select count(*) filter (where archived_at is null),
                   count(*) filter (where archived_at is not null and rolled_back_at is null),
                   count(*) filter (where source_connector = 'night' and rolled_back_at is null),
                   coalesce(sum(token_count) filter (where archived_at is null), 0),
                   (select count(*) from quarantine)
            from memories
            """)
        names = ("active", "archived", "abstractions", "active_tokens", "quarantined")
        return dict(zip(names, numbers, strict=True))

    def of_project(self, project_id: str) -> ProjectCounts:
        """The counts of one project; rolled-back memories are left out."""
        row = self._sql(project_id).row("""
            select count(*) filter (where archived_at is null),
                   count(*) filter (where archived_at is not null),
                   count(*) filter (where archived_at is null and source_connector = 'night'),
                   coalesce(sum(token_count) filter (where archived_at is null), 0),
                   coalesce(sum(token_count) filter (where archived_at is not null), 0),
                   coalesce(sum(token_count) filter (where source_connector <> 'night'), 0),
                   coalesce(histogram(memory_type) filter (where archived_at is null), map {}),
                   coalesce(histogram(abstraction_level) filter (where archived_at is null), map {})
            from memories
            where project_id = $1 and rolled_back_at is null
            """)
        assert row is not None
        return ProjectCounts(*row)

    def first_moment(self) -> datetime | None:
        """The creation time of the first memory, without times that no memory can have; None if there is none."""
        return self._sql(FIRST_MEMORY).moment("select min(created_at) from memories where created_at >= $1")

    def last_noted(self) -> datetime | None:
        """The time of the newest note or turn that says when it was written; None if none does."""
        return self._sql(LAST_MEMORY).moment("""
            select max(created_at)
            from memories
            where created_at <= $1 and created_at_quality in ('exact', 'date')
              and source_connector not in ('night', 'conversations')
            """)

    def of_impossible_days(self) -> dict[str, datetime]:
        """The creation times that no memory can have, by id."""
        return self._sql(FIRST_MEMORY, LAST_MEMORY).mapping(
            "select id, created_at from memories where created_at < $1 or created_at > $2 order by created_at, id"
        )

    def digest(self, *, active_only: bool = False, with_log: bool = False) -> str:
        """SHA-256 over all memories and their lineage, in id order; only over the active ones if requested, then
        without the counts of their use, so that a search between a run and its undoing changes nothing.

        It does not depend on row order, on when a run happened, or on its id. `with_log` adds the compression log,
        the conflicts and, if there are any, the atoms, the playbook and what was extracted from conversations.
        """
        digests = [self._sql(active_only).value(part) or _NONE for part in (_MEMORIES, _LINEAGE)]
        if with_log:
            digests += [self._sql.value(part) or _NONE for part in (_LOG, _CONFLICTS)]
            digests += [self._sql.value(part) or "" for part in (_ATOMS, _PLAYBOOK, _EXTRACTIONS)]
        return hashlib.sha256("".join(digests).encode()).hexdigest()

    def knowledge_digest(self) -> str:
        """The digest with the log, computed once in this process for the same contents."""
        rows = tuple(sorted(self._sql.rows(" union all ".join(map(rows_digest, _KNOWLEDGE)))))
        if rows not in _known:
            _known.clear()
            _known[rows] = self.digest(with_log=True)
        return _known[rows]

    def sources_fingerprint(self) -> str:
        """SHA-256 over id, content, categories and creation time of every raw memory: the fields that never change."""
        digest = hashlib.sha256()
        rows = self._sql.stream("""
            select id, content, array_to_string(categories, ','), created_at::text
            from memories
            where source_connector not in ('night', 'conversations')
            order by id
            """)
        for row in rows:
            digest.update("\x1f".join(map(str, row)).encode() + b"\x1e")
        return digest.hexdigest()


#: Tables that are not exported, with the reason.
LEFT_BEHIND = {table.name: table.left_behind for table in TABLES if table.left_behind}
#: The record names of the exported tables.
RECORD_NAMES = {table.name: table.record for table in TABLES if table.record}
_KNOWN_MEMORY = "exists (select 1 from memories m where m.id = s.{})"
_KNOWN_SOURCES = """
    s.id not in (
        select x.id
        from (select id, unnest(source_ids) as source from staged_{}) x
        anti join memories m on m.id = x.source)
    """
#: Texts that name no memory may say what a person had forgotten here.
_NOTHING_FORGOTTEN = "not exists (from forgotten)"
#: The records that follow the memories into a store with memories, in this order, and when a row is accepted.
#: Reports, notices, calls and the audit log are not included: they describe the other store.
_FOLLOWING = {
    "conflicts": "2 = (select count(*) from memories m where m.id in (s.a, s.b) and m.project_id = s.project_id)",
    "compression_log": f"""
        {_KNOWN_MEMORY.format("compressed_memory_id")} or (s.status <> 'compressed' and {_NOTHING_FORGOTTEN})
        """,
    "atoms": _KNOWN_SOURCES.format("atoms"),
    # The confidence of an existing atom follows from its own findings.
    "atom_candidates": f"{_KNOWN_MEMORY.format('memory_id')} and (s.atom_id is null or s.atom_id in (from came_atoms))",
    "playbook_entries": _KNOWN_SOURCES.format("playbook_entries"),
    "playbook_contributions": f"{_KNOWN_MEMORY.format('memory_id')} and s.entry_id in (from came_playbook_entries)",
    "proposals": f"json_valid(s.draft) and {_NOTHING_FORGOTTEN}",
    "model_answers": _NOTHING_FORGOTTEN,
}
FOLLOWING_TABLES = tuple(_FOLLOWING)


class Transfer(Statements):
    """The complete contents of a store, for transfer to another one."""

    def tables(self) -> dict[str, dict[str, str]]:
        """Table and, by name, the types of its columns, of everything in a full export besides the memories; the
        audit log comes last."""
        return self._sql(LEFT_BEHIND, AUDIT_LOG).mapping("""
            select table_name, map_from_entries(list((column_name, data_type) order by column_index))
            from duckdb_columns()
            where database_name = current_database() and schema_name = current_schema() and not internal
              and not list_contains($1::text[], table_name)
            group by table_name
            order by table_name = $2, table_name
            """)

    def is_blank(self) -> bool:
        """True if the store is still empty of anything that a user could lose."""
        tables = ["memories", *(name for name in self.tables() if name != AUDIT_LOG)]
        return not self._sql.rows(" union all ".join(f"(select 1 from {name} limit 1)" for name in tables))

    def digest(self) -> str:
        """SHA-256 over everything exported, except the audit log, to which every import adds its own entry."""
        tables = ["memories", "lineage", *(name for name in self.tables() if name != AUDIT_LOG)]
        parts = [f"{table}:{self._compute_digest(table)}" for table in tables]
        return str(self._sql("\n".join(parts)).value("select sha256($1)"))

    def memories(self) -> Iterator[tuple[Memory, list[LineageLink]]]:
        """Every memory with its direct sources, in insertion order, a page at a time.

        Nothing is sorted: that would keep all content in memory at once.
        """
        rows = self._sql.stream(f"""
            with linked as (
                select memory_id,
                       list(struct_pack(source := source_id, relation := relation, similarity := similarity)
                            order by source_id) as links
                from lineage
                group by 1
            )
            select {MEMORIES.selected_from("m")}, links
            from memories m
            left join linked on linked.memory_id = m.id
            """)
        for *values, links in rows:
            memory = MEMORIES.read(values)
            yield memory, [LineageLink(memory.id, *link.values()) for link in links or ()]

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """The rows of an exported table as JSON objects, ordered by their values, the audit log as it was written."""
        order = "" if table == AUDIT_LOG else "order by all"
        for (text,) in self._sql.stream(f"select to_json(t)::text from {table} t {order}"):
            yield json.loads(text)

    def insert(
        self, table: str, columns: dict[str, str], rows: Sequence[dict[str, Any]], into: str | None = None
    ) -> None:
        """Write rows as returned by `rows` into their table, or into one of the same structure.

        `columns`: those of the table, as returned by `tables`. Raises StoreError if a row does not fit.
        """
        shape = json.dumps([{name: [kind[:-2]] if kind.endswith("[]") else kind for name, kind in columns.items()}])
        self._sql(json.dumps(rows), shape).run(f"""
            insert into {into or table} by name
            select unnest(row)
            from (select unnest(from_json_strict($1::json, $2)) as row)
            """)

    @contextmanager
    def staging(self) -> Iterator[None]:
        """Staging tables for records that may follow their memories into a store with memories."""
        for table in _FOLLOWING:
            self._sql.run(f"create temp table staged_{table} as from {table} limit 0")
            self._sql.run(f"create temp table came_{table} as select {KEYS[table][0]} from {table} limit 0")
        try:
            yield
        finally:
            with suppress(duckdb.Error):  # after an error, the transaction and everything that it created is gone
                for table in _FOLLOWING:
                    self._sql.run(f"drop table if exists staged_{table}")
                    self._sql.run(f"drop table if exists came_{table}")

    def stage(self, table: str, columns: dict[str, str], rows: Sequence[dict[str, Any]]) -> None:
        """Put rows where `let_follow` finds them."""
        self.insert(table, columns, rows, f"staged_{table}")

    def let_follow(self) -> dict[str, tuple[int, int]]:
        """Insert the staged rows that concern existing memories and are new; returns, by table, the numbers of
        inserted and omitted rows."""
        counts = {}
        for table, condition in _FOLLOWING.items():
            key, keys = KEYS[table][0], ", ".join(KEYS[table])
            staged = self._sql.count(f"select count(*) from staged_{table}")
            came = self._sql.strings(f"""
                insert into {table}
                select *
                from staged_{table} s
                where ({condition}) and ({keys}) not in (select ({keys}) from {table})
                qualify row_number() over (partition by {keys}) = 1
                returning {key}
                """)
            self._sql(came).run(f"insert into came_{table} select unnest($1::text[])")
            counts[table] = (len(came), staged - len(came))
        return counts

    def text_columns(self) -> list[tuple[str, str, str]]:
        """Every column of texts, or of lists of them, with its type, of the tables that have or had rows."""
        return self._sql.rows("""
            select c.table_name, c.column_name, c.data_type
            from duckdb_columns() c
            join duckdb_tables() t on t.table_oid = c.table_oid and t.database_oid = c.database_oid
            where c.database_name = current_database() and not c.internal and t.estimated_size > 0
              and c.data_type in ('VARCHAR', 'VARCHAR[]')
            order by c.table_name, c.column_index
            """)

    def texts(self) -> Iterator[str]:
        """Every text in the store, of whatever table and column."""
        for table, column, kind in self.text_columns():
            value = column if kind == "VARCHAR" else f"unnest({column})"
            texts = self._sql.stream(f"select distinct {value} from {table}")
            yield from (str(text) for (text,) in texts if text is not None)

    def replace_audit_log(self) -> None:
        """Delete the log entries made while the store was being filled, before the imported log is inserted."""
        self._sql.run(f"delete from {AUDIT_LOG}")

    def note_arrival(self, actor: str, name: str, digest: str) -> None:
        """Continue the log after the imported entries, and record where they came from."""
        last = self._sql.count(f"select coalesce(max(sequence), 0) from {AUDIT_LOG}")
        reached = self._sql.count("select nextval('audit_sequence')")
        self._sql(max(0, last - reached)).run("select max(nextval('audit_sequence')) from range($1)")
        self._sql(actor, name, digest).run(f"""
            insert into {AUDIT_LOG}
            select nextval('audit_sequence'), now() at time zone 'UTC', $1, null, 'store', $2, 'import', null, $3,
                   null, json_object('file', $2, 'sha256', $3)::text
            """)

    def _compute_digest(self, table: str) -> str:
        digest = self._sql.value(f"""
            select sha256(coalesce(string_agg(sha256(line), '' order by line), ''))
            from (select to_json(t)::text as line from {table} t)
            """)
        return str(digest)
