"""Numbered migrations: run by themselves on open, once each, and refuse a store newer than the code."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import duckdb

from memory_pipeline.errors import StoreVersionError

_NAME = re.compile(r"^(\d{3})_\w+\.sql$")


def known_migrations() -> list[tuple[int, str, str]]:
    """Number, name and SQL of every migration, in order."""
    folder = resources.files("memory_pipeline.store") / "schema"
    found = [(entry.name, entry) for entry in folder.iterdir() if _NAME.match(entry.name)]
    return [(int(name[:3]), name, entry.read_text("utf-8")) for name, entry in sorted(found)]


def migrate(connection: duckdb.DuckDBPyConnection, path: Path, *, only_look: bool = False) -> int:
    """Bring the schema up to date, each migration in its own transaction; return how many were pending.

    With `only_look` nothing is written. Raises StoreVersionError when the store holds a migration that
    this program does not know.
    """
    applied = _applied(connection)
    migrations = known_migrations()
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


def _applied(connection: duckdb.DuckDBPyConnection) -> set[int]:
    table = connection.execute(
        "select count(*) from duckdb_tables() where table_name = 'schema_migrations' "
        "and database_name = current_database()"
    ).fetchone()
    if not table or not table[0]:
        return set()
    return {number for (number,) in connection.execute("select number from schema_migrations").fetchall()}
