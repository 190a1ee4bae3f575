"""Updates the schema of a store on open: numbered migrations, once each, and the audit log's triggers.

A migration is a file `schema/NNN_name.sql`. The triggers are derived from the list of tables
and the records, and recreated whenever a migration runs, so a migration that changes nothing else may consist of a
comment. All pending migrations are one transaction, so that a kill leaves the store as it was. A store newer than
the code is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import cache
from importlib import resources
from pathlib import Path

import duckdb

from memory_pipeline.errors import StoreError, StoreVersionError
from memory_pipeline.killpoints import reached
from memory_pipeline.records import Memory
from memory_pipeline.records.columns import fixed_in, state_of
from memory_pipeline.store.rows import AUDIT_LOG, EMBEDDINGS, MEMORIES, MIGRATIONS, TABLES, Table, Write

_NAME = re.compile(r"^(\d{3})_\w+\.sql$")
#: Exports number the schemas from here on.
_BEFORE_THE_FIRST = 15


@cache
def known_migrations() -> list[tuple[int, str, str]]:
    """Number, name and SQL of every migration, in order."""
    schema = resources.files("memory_pipeline.store") / "schema"
    files = [(entry.name, entry) for entry in schema.iterdir() if _NAME.match(entry.name)]
    return [(int(name[:3]), name, entry.read_text("utf-8")) for name, entry in sorted(files)]


def schema_number() -> int:
    """The number of the newest schema as recorded in exports."""
    return _BEFORE_THE_FIRST + known_migrations()[-1][0]


def migrate(connection: duckdb.DuckDBPyConnection, path: Path, *, only_look: bool = False) -> int:
    """Update the schema in one transaction; returns the number of pending migrations.

    With `only_look`, nothing is written. Raises StoreVersionError if the store has a migration that this program
    does not know, and StoreError for the database of another program.
    """
    migrations = known_migrations()
    applied = _read_applied(connection, path, {number: name for number, name, _ in migrations})
    newest = migrations[-1][0]
    if applied and max(applied) > newest:
        raise StoreVersionError(
            f"the store '{path}' has schema {max(applied)}, this program knows {newest}; install a newer "
            f"memory_pipeline"
        )
    pending = [migration for migration in migrations if migration[0] not in applied]
    if only_look or not pending:
        return len(pending)
    connection.begin()
    try:
        drop_triggers(connection)
        for number, name, sql in pending:
            connection.execute(sql)
            connection.execute(f"insert into {MIGRATIONS} values ($1, $2, now() at time zone 'UTC')", [number, name])
        create_triggers(connection)
        reached("store.migration.commit")
        connection.commit()
    except duckdb.Error:
        connection.rollback()
        raise
    return len(pending)


def create_schema(connection: duckdb.DuckDBPyConnection, *, first_entry: int) -> None:
    """Create every table in an empty database, without rows and triggers; `first_entry`: where the log goes on."""
    connection.execute(f"create sequence audit_sequence start with {first_entry}")
    for _, _, sql in known_migrations():
        connection.execute(sql)


def create_triggers(connection: duckdb.DuckDBPyConnection) -> None:
    for statement in triggers():
        connection.execute(statement)


def drop_triggers(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop every trigger: within a migration, or in a copy that is no store."""
    rows = connection.execute(
        "select trigger_name, table_name from duckdb_triggers() where database_name = current_database()"
    ).fetchall()
    for name, table in rows:
        connection.execute(f'drop trigger "{name}" on "{table}"')


def _read_applied(connection: duckdb.DuckDBPyConnection, path: Path, known: dict[int, str]) -> dict[int, str]:
    """The migrations that a store has had; none for an empty database that was never used."""
    tables = connection.execute(
        "select table_name from duckdb_tables() where database_name = current_database() and not internal"
    ).fetchall()
    if not tables:
        return {}
    with suppress(duckdb.CatalogException, duckdb.BinderException):  # there is no such table, or one of other columns
        rows = connection.execute(f"select number, name from {MIGRATIONS}").fetchall()
        if any(known.get(number) == name for number, name in rows):
            return dict(rows)
    raise StoreError(
        f"'{path}' is a DuckDB database of another program (with the table '{min(tables)[0]}'), not a store of this "
        f"one, and was left unchanged; name another file with --store"
    )


_SEEN = {"insert": "new table as n", "update": "old table as o new table as n", "delete": "old table as o"}
_FROM = {"insert": "n", "update": "o join n on {same}", "delete": "o"}
_NAMED = {"insert": "inserted", "update": "updated", "delete": "deleted"}


def memory_state(alias: str) -> str:
    """SQL for the state of a memory in a table with this name: JSON of all changeable fields."""
    values = {
        column.name: f"{alias}.{column.name}{'::text' if column.kind is datetime else ''}"
        for column in state_of(Memory)
    }
    return _json(values)


def triggers() -> Iterator[str]:
    """The statements that make every trigger."""
    yield from _memory_triggers()
    yield _vector_trigger()
    for table in TABLES:
        yield from (_table_trigger(table, write) for write in table.logged)


def _trigger(table: str, write: Write, entries: str) -> str:
    """A trigger that adds entries to the log, by row.

    `entries`: a query of table_name, row_id, action, before_hash, after_hash, before_state and after_state.
    """
    return (
        f"create trigger {table}_{_NAMED[write]} after {write} on {table} referencing {_SEEN[write]} "
        f"for each statement insert into {AUDIT_LOG} (sequence, happened_at, actor, run_id, table_name, row_id, "
        "action, before_hash, after_hash, before_state, after_state) select nextval('audit_sequence'), "
        "now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'), e.* "
        f"from ({entries} order by 2) e"
    )


def _table_trigger(table: Table, write: Write) -> str:
    """One entry per row: hashes of the whole row, and its state."""
    aliases = [alias if alias in _SEEN[write].split() else None for alias in ("o", "n")]
    row = aliases[1] or aliases[0]
    key = f" || '{table.separator}' || ".join(f"{row}.{column}" for column in table.key)
    hashes = [f"sha256(to_json({alias})::text)" if alias else "null" for alias in aliases]
    states = [_state(table, alias) for alias in aliases]
    same = " and ".join(f"o.{column} = n.{column}" for column in table.key)
    return _trigger(
        table.name,
        write,
        f"select '{table.name}', {key}, '{write}', {', '.join(hashes)}, {', '.join(states)} "
        f"from {_FROM[write].format(same=same)}",
    )


def _state(table: Table, alias: str | None) -> str:
    if alias is None:
        return "null"
    return _json({name: f"{alias}.{name}" for name in table.state}) if table.state else f"to_json({alias})::text"


def _json(values: dict[str, str]) -> str:
    pairs = ", ".join(f"'{name}', {value}" for name, value in values.items())
    return f"json_object({pairs})::text"


def _memory_triggers() -> Iterator[str]:
    """A memory's hashes are those of its state, so its entries form a chain; what law 1 forbids raises an error."""
    old, new = memory_state("o"), memory_state("n")
    fixed = " or ".join(f"o.{column.name} is distinct from n.{column.name}" for column in fixed_in(Memory))
    changing = ", ".join(column.name for column in state_of(Memory))
    yield _trigger(MEMORIES, "insert", f"select '{MEMORIES}', n.id, 'insert', null, sha256({new}), null, {new} from n")
    yield _trigger(
        MEMORIES,
        "update",
        f"select '{MEMORIES}', coalesce(n.id, o.id), case when {fixed} then error('law 1: what memory ' || "
        f"coalesce(o.id, n.id) || ' says never changes, only {changing}') else 'update' end, "
        f"sha256({old}), sha256({new}), {old}, {new} from o full join n on o.id = n.id",
    )
    yield _trigger(
        MEMORIES,
        "delete",
        f"select '{MEMORIES}', error('law 1: memory ' || o.id || ' is never deleted'), 'delete', null, null, null, "
        "null from o",
    )


def _vector_trigger() -> str:
    """One entry for all vectors of a model that a statement adds."""
    return _trigger(
        EMBEDDINGS,
        "insert",
        f"select '{EMBEDDINGS}', model, 'insert', null, sha256(string_agg(memory_id, ',' order by memory_id)), null, "
        "json_object('vectors', count(*), 'first', min(memory_id), 'last', max(memory_id))::text from n group by model",
    )
