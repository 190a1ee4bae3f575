"""The whole store as plain records, and back: every table except those that can be rebuilt from the others.

A table that a migration adds is included automatically, unless it is marked as left behind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import duckdb

from memory_pipeline.records import LineageLink, Memory
from memory_pipeline.store.memories import MEMORIES
from memory_pipeline.store.rows import AUDIT_LOG, KEYS, TABLES, Sql

#: Tables that are not exported, with the reason.
LEFT_BEHIND = {table.name: table.left_behind for table in TABLES if table.left_behind}
#: The record names of the exported tables.
RECORD_NAMES = {table.name: table.record for table in TABLES if table.record}
_PAGE = 1000
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


class Transfer:
    """The complete contents of a store, for transfer to another one."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def tables(self) -> dict[str, dict[str, str]]:
        """Table and, by name, the types of its columns, of everything in a full export besides the memories; the
        audit log comes last."""
        rows = self._sql.rows(
            """
            select table_name, column_name, data_type
            from duckdb_columns()
            where database_name = current_database() and schema_name = current_schema() and not internal
            order by table_name, column_index
            """
        )
        tables: dict[str, dict[str, str]] = {}
        for table, column, kind in rows:
            if table not in LEFT_BEHIND:
                tables.setdefault(str(table), {})[str(column)] = str(kind)
        return {name: tables[name] for name in sorted(tables, key=lambda name: (name == AUDIT_LOG, name))}

    def is_blank(self) -> bool:
        """Whether the store is still empty of anything that a user could lose."""
        tables = ["memories", *(name for name in self.tables() if name != AUDIT_LOG)]
        return not self._sql.rows(" union all ".join(f"(select 1 from {name} limit 1)" for name in tables))

    def digest(self) -> str:
        """SHA-256 over everything exported, except the audit log, to which every import adds its own entry."""
        tables = ["memories", "lineage", *(name for name in self.tables() if name != AUDIT_LOG)]
        parts = [f"{table}:{self._digest_of(table)}" for table in tables]
        return str(self._sql.value("select sha256($1)", ["\n".join(parts)]))

    def memories(self) -> Iterator[tuple[Memory, list[LineageLink]]]:
        """Every memory with its direct sources, in insertion order, a page at a time.

        Nothing is sorted: that would keep all content in memory at once.
        """
        pages = self._sql.pages(
            f"""
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
            """,
            _PAGE,
        )
        for rows in pages:
            for *values, links in rows:
                memory = MEMORIES.read(values)
                yield memory, [LineageLink(memory.id, *link.values()) for link in links or ()]

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """The rows of an exported table as JSON objects, ordered by their values (the audit log in order of
        writing)."""
        order = "" if table == AUDIT_LOG else "order by all"
        for rows in self._sql.pages(f"select to_json(t)::text from {table} t {order}", _PAGE):
            for (text,) in rows:
                yield json.loads(text)

    def insert(
        self, table: str, columns: dict[str, str], rows: Sequence[dict[str, Any]], into: str | None = None
    ) -> None:
        """Write rows as returned by `rows` into their table, or into one of the same structure.

        `columns`: those of the table, as returned by `tables`. Raises StoreError if a row does not fit.
        """
        shape = json.dumps([{name: [kind[:-2]] if kind.endswith("[]") else kind for name, kind in columns.items()}])
        self._sql.run(
            f"""
            insert into {into or table} by name
            select unnest(row)
            from (select unnest(from_json_strict($1::json, $2)) as row)
            """,
            [json.dumps(rows), shape],
        )

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
            staged = int(self._sql.value(f"select count(*) from staged_{table}"))
            came = self._sql.strings(
                f"""
                insert into {table}
                select *
                from staged_{table} s
                where ({condition}) and ({keys}) not in (select ({keys}) from {table})
                qualify row_number() over (partition by {keys}) = 1
                returning {key}
                """
            )
            self._sql.run(f"insert into came_{table} select unnest($1::text[])", [came])
            counts[table] = (len(came), staged - len(came))
        return counts

    def text_columns(self) -> list[tuple[str, str, str]]:
        """Every column of texts, or of lists of them, with its type, of the tables that have or had rows."""
        rows = self._sql.rows(
            """
            select c.table_name, c.column_name, c.data_type
            from duckdb_columns() c
            join duckdb_tables() t on t.table_oid = c.table_oid and t.database_oid = c.database_oid
            where c.database_name = current_database() and not c.internal and t.estimated_size > 0
              and c.data_type in ('VARCHAR', 'VARCHAR[]')
            order by c.table_name, c.column_index
            """
        )
        return [(str(table), str(column), str(kind)) for table, column, kind in rows]

    def texts(self) -> Iterator[str]:
        """Every text in the store, of whatever table and column."""
        for table, column, kind in self.text_columns():
            value = column if kind == "VARCHAR" else f"unnest({column})"
            for rows in self._sql.pages(f"select distinct {value} from {table}", _PAGE):
                yield from (str(text) for (text,) in rows if text is not None)

    def replace_audit_log(self) -> None:
        """Delete the log entries made while the store was being filled, before the imported log is inserted."""
        self._sql.run(f"delete from {AUDIT_LOG}")

    def note_arrival(self, actor: str, name: str, digest: str) -> None:
        """Continue the log after the imported entries, and record where they came from."""
        last = int(self._sql.value(f"select coalesce(max(sequence), 0) from {AUDIT_LOG}"))
        reached = int(self._sql.value("select nextval('audit_sequence')"))
        self._sql.run("select max(nextval('audit_sequence')) from range($1)", [max(0, last - reached)])
        self._sql.run(
            f"""
            insert into {AUDIT_LOG}
            select nextval('audit_sequence'), now() at time zone 'UTC', $1, null, 'store', $2, 'import', null, $3,
                   null, json_object('file', $2, 'sha256', $3)::text
            """,
            [actor, name, digest],
        )

    def _digest_of(self, table: str) -> str:
        digest = self._sql.value(
            f"""
            select sha256(coalesce(string_agg(sha256(line), '' order by line), ''))
            from (select to_json(t)::text as line from {table} t)
            """
        )
        return str(digest)
