"""The whole store as plain records, and back: every table but those that can be made again from the others.

A table that a migration adds is carried from that day on; only what is named here stays behind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from memory_pipeline.errors import StoreError
from memory_pipeline.records import LineageLink, Memory
from memory_pipeline.store import engine
from memory_pipeline.store.connection import Store
from memory_pipeline.store.folding import copy_files, put_in_place, remove_database
from memory_pipeline.store.lock import lock_path
from memory_pipeline.store.memories import MEMORIES
from memory_pipeline.store.seal import log_path
from memory_pipeline.store.sql import Sql as Transaction
from memory_pipeline.store.tables import AUDIT_LOG, TABLES

#: Tables that are not carried, and why.
LEFT_BEHIND = {table.name: table.left_behind for table in TABLES if table.left_behind}
_PAGE = 1000
_KNOWN_MEMORY = "exists (select 1 from memories m where m.id = s.{})"
_KNOWN_SOURCES = (
    "s.id not in (select x.id from (select id, unnest(source_ids) as source from staged_{}) x "
    "anti join memories m on m.id = x.source)"
)
#: What follows the memories into a store that has others, in this order, and when a row may come.
#: Reports, notices, calls and the audit log stay behind: they tell of the other store.
_FOLLOWING = {
    "conflicts": "2 = (select count(*) from memories m where m.id in (s.a, s.b) and m.project_id = s.project_id)",
    "compression_log": f"(s.status <> 'compressed' or {_KNOWN_MEMORY.format('compressed_memory_id')})",
    "atoms": _KNOWN_SOURCES.format("atoms"),
    # An atom that is here already is as sure as its own findings make it.
    "atom_candidates": f"{_KNOWN_MEMORY.format('memory_id')} and (s.atom_id is null or s.atom_id in (from came_atoms))",
    "playbook_entries": _KNOWN_SOURCES.format("playbook_entries"),
    "playbook_contributions": (f"{_KNOWN_MEMORY.format('memory_id')} and s.entry_id in (from came_playbook_entries)"),
    "proposals": "json_valid(s.draft)",
    "model_answers": "true",
}
_KEYS = {table.name: table.key for table in TABLES}
#: What the rows of each table that is carried are called in an export.
RECORD_NAMES = {table.name: table.record for table in TABLES if table.record}
FOLLOWING_TABLES = tuple(_FOLLOWING)


def carried_tables(tx: Transaction) -> dict[str, dict[str, str]]:
    """Table and, by name, the type of its columns, of everything that an export of the whole store carries beside the
    memories; the audit log comes last."""
    rows = tx.execute(
        "select table_name, column_name, data_type from duckdb_columns() where database_name = current_database() "
        "and schema_name = current_schema() and not internal order by table_name, column_index"
    ).fetchall()
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in rows:
        if table not in LEFT_BEHIND:
            tables.setdefault(str(table), {})[str(column)] = str(kind)
    return {name: tables[name] for name in sorted(tables, key=lambda name: (name == AUDIT_LOG, name))}


def is_blank(tx: Transaction) -> bool:
    """Whether the store holds nothing yet that anybody would miss."""
    tables = [name for name in carried_tables(tx) if name != AUDIT_LOG]
    return not any(tx.execute(f"select 1 from {name} limit 1").fetchone() for name in ("memories", *tables))


def count_memories(tx: Transaction) -> int:
    """How many memories there are, of every state."""
    row = tx.execute("select count(*) from memories").fetchone()
    assert row is not None
    return int(row[0])


def stream_memories(tx: Transaction) -> Iterator[tuple[Memory, list[LineageLink]]]:
    """Every memory with its direct sources, in the order in which they came, a page at a time.

    Nothing is sorted: that would hold every content at once.
    """
    cursor = tx.execute(
        "with linked as (select memory_id, list(struct_pack(source := source_id, relation := relation, "
        "similarity := similarity) order by source_id) as links from lineage group by 1) "
        f"select {MEMORIES.selected_from('m')}, links from memories m "
        "left join linked on linked.memory_id = m.id"
    )
    while rows := cursor.fetchmany(_PAGE):
        for *values, links in rows:
            memory = MEMORIES.read(values)
            yield memory, [LineageLink(memory.id, *link.values()) for link in links or ()]


def stream_table(tx: Transaction, table: str) -> Iterator[dict[str, Any]]:
    """The rows of a carried table as JSON objects, in an order that follows from their values (the audit log as it
    was written)."""
    order = "" if table == AUDIT_LOG else "order by all"
    cursor = tx.execute(f"select to_json(t)::text from {table} t {order}")
    while rows := cursor.fetchmany(_PAGE):
        for (text,) in rows:
            yield json.loads(text)


def insert_records(
    tx: Transaction, table: str, columns: dict[str, str], rows: Sequence[dict[str, Any]], into: str | None = None
) -> None:
    """Write rows as `stream_table` gave them into their table, or into one of the same shape.

    `columns`: those of the table, as `carried_tables` tells them. Raises StoreError when a row does not fit.
    """
    shape = json.dumps([{name: [kind[:-2]] if kind.endswith("[]") else kind for name, kind in columns.items()}])
    tx.execute(
        f"insert into {into or table} by name select unnest(row) from "
        "(select unnest(from_json_strict($1::json, $2)) as row)",
        [json.dumps(rows), shape],
    )


@contextmanager
def staging(tx: Transaction) -> Iterator[None]:
    """Room for records that may follow their memories into a store that has others."""
    for table in _FOLLOWING:
        tx.execute(f"create temp table staged_{table} as from {table} limit 0")
        tx.execute(f"create temp table came_{table} as select {_KEYS[table][0]} from {table} limit 0")
    try:
        yield
    finally:
        with suppress(duckdb.Error):  # after an error the transaction, and all that it made, is gone
            for table in _FOLLOWING:
                tx.execute(f"drop table if exists staged_{table}")
                tx.execute(f"drop table if exists came_{table}")


def stage_records(tx: Transaction, table: str, columns: dict[str, str], rows: Sequence[dict[str, Any]]) -> None:
    """Put rows where `let_follow` finds them."""
    insert_records(tx, table, columns, rows, f"staged_{table}")


def let_follow(tx: Transaction) -> dict[str, tuple[int, int]]:
    """Take in the staged rows that speak of memories that are here and that are not here already; by table, how many
    came and how many did not."""
    counts = {}
    for table, condition in _FOLLOWING.items():
        key = _KEYS[table]
        keys = ", ".join(key)
        row = tx.execute(f"select count(*) from staged_{table}").fetchone()
        came = tx.execute(
            f"insert into {table} select * from staged_{table} s where {condition} "
            f"and ({keys}) not in (select ({keys}) from {table}) qualify row_number() over (partition by {keys}) = 1 "
            f"returning {key[0]}"
        ).fetchall()
        tx.execute(f"insert into came_{table} select unnest($1::text[])", [[str(one[0]) for one in came]])
        assert row is not None
        counts[table] = (len(came), int(row[0]) - len(came))
    return counts


def replace_audit_log(tx: Transaction) -> None:
    """Forget what was logged while the store was being filled, for the log that it comes with."""
    tx.execute(f"delete from {AUDIT_LOG}")


def note_arrival(tx: Transaction, actor: str, name: str, digest: str) -> None:
    """Let the log go on after the entries that came, and note where they came from."""
    row = tx.execute(f"select coalesce(max(sequence), 0) from {AUDIT_LOG}").fetchone()
    reached = tx.execute("select nextval('audit_sequence')").fetchone()
    assert row is not None and reached is not None
    behind = max(0, int(row[0]) - int(reached[0]))
    tx.execute("select max(nextval('audit_sequence')) from range($1)", [behind]).fetchall()
    tx.execute(
        f"insert into {AUDIT_LOG} select nextval('audit_sequence'), now() at time zone 'UTC', $1, null, 'store', $2, "
        "'import', null, $3, null, json_object('file', $2, 'sha256', $3)::text",
        [actor, name, digest],
    )


def put_in_blank_place(store: Store, incoming: Store) -> bool:
    """Move a whole store to where a blank one is, or none; False when it is blank no longer.

    Raises StoreError when the directory does not allow it.
    """
    incoming.fold()  # nothing of it may be left in a log beside it
    try:
        with store.held(shared=False) as lock:
            if store.exists() and not _lies_blank(store.path):
                return False
            if not store.exists() and log_path(store.path).exists():
                return False  # a log without its store may hold somebody's last words
            put_in_place(incoming.path, store.path, lock)
    except OSError as error:
        raise StoreError(f"the store '{store.path}' cannot be written: {error.strerror or error}") from error
    return True


def remove_store(store: Store) -> None:
    """Remove a store that was only ever on its way to another place, with its lock."""
    remove_database(store.path)
    lock_path(store.path).unlink(missing_ok=True)


def _lies_blank(path: Path) -> bool:
    """Whether a store that is held still holds nothing, and no night works on it: seen in a copy."""
    copy = path.with_name(f".{path.name}.blank")
    try:
        copy_files(path, copy)
        with engine.attached_copy(copy, read_only=True) as connection:
            copied = Transaction(connection)
            return is_blank(copied) and copied.row("select 1 from lease") is None
    finally:
        remove_database(copy)


def knowledge_hash(tx: Transaction) -> str:
    """SHA-256 over everything that is carried, but for the audit log, to which every import adds its own entry."""
    parts = []
    for table in ("memories", "lineage", *(name for name in carried_tables(tx) if name != AUDIT_LOG)):
        row = tx.execute(
            f"select sha256(coalesce(string_agg(sha256(line), '' order by line), '')) from "
            f"(select to_json(t)::text as line from {table} t)"
        ).fetchone()
        assert row is not None
        parts.append(f"{table}:{row[0]}")
    combined = tx.execute("select sha256($1)", ["\n".join(parts)]).fetchone()
    assert combined is not None
    return str(combined[0])
