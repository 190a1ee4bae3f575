"""Numbered migrations: run by themselves on open, once each, and refuse a store newer than the code."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import duckdb

from memory_pipeline.errors import StoreError, StoreVersionError

_NAME = re.compile(r"^(\d{3})_\w+\.sql$")


def known_migrations() -> list[tuple[int, str, str]]:
    """Number, name and SQL of every migration, in order."""
    folder = resources.files("memory_pipeline.store") / "schema"
    found = [(entry.name, entry) for entry in folder.iterdir() if _NAME.match(entry.name)]
    return [(int(name[:3]), name, entry.read_text("utf-8")) for name, entry in sorted(found)]


def migrate(connection: duckdb.DuckDBPyConnection, path: Path, *, only_look: bool = False) -> int:
    """Bring the schema up to date, each migration in its own transaction; return how many were pending.

    With `only_look` nothing is written. Raises StoreVersionError when the store holds a migration that
    this program does not know, StoreError for the database of another program.
    """
    migrations = known_migrations()
    applied = _applied(connection, path, {number: name for number, name, _ in migrations})
    newest = migrations[-1][0]
    if applied and max(applied) > newest:
        raise StoreVersionError(
            f"the store '{path}' has schema {max(applied)}, this program knows {newest}; install a newer "
            f"memory_pipeline"
        )
    pending = [migration for migration in migrations if migration[0] not in applied]
    if only_look or not pending:
        return len(pending)
    for number, name, sql in pending:
        connection.begin()
        try:
            connection.execute(
                "create table if not exists schema_migrations (number integer primary key, name text not null, "
                "applied_at timestamp not null)"
            )
            connection.execute(sql)
            connection.execute(
                "insert into schema_migrations values ($1, $2, now() at time zone 'UTC')", [number, name]
            )
            connection.commit()
        except duckdb.Error:
            connection.rollback()
            raise
    return len(pending)


def _applied(connection: duckdb.DuckDBPyConnection, path: Path, known: dict[int, str]) -> set[int]:
    """The migrations that a store has had; none for an empty database, which nobody has used yet."""
    tables = connection.execute(
        "select table_name from duckdb_tables() where database_name = current_database() and not internal"
    ).fetchall()
    if not tables:
        return set()
    if ("schema_migrations",) in tables:
        columns = connection.execute(
            "select column_name from duckdb_columns() where table_name = 'schema_migrations' "
            "and database_name = current_database() order by column_index"
        ).fetchall()
        if columns == [("number",), ("name",), ("applied_at",)]:
            rows = connection.execute("select number, name from schema_migrations").fetchall()
            if any(known.get(number) == name for number, name in rows):
                return {number for number, _ in rows}
    raise StoreError(
        f"'{path}' is a DuckDB database of another program (with the table '{min(tables)[0]}'), not a store of this "
        f"one, and was left as it is; name another file with --store"
    )
