"""Builds a new store from the readable parts of a damaged one, if no snapshot leads to it.

A damaged block affects the tables with rows in it, often one that can be rebuilt (vectors, edges, an index). Every
memory and every link must be readable; from other tables, the readable rows are taken.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from textwrap import shorten

import duckdb

from memory_pipeline.errors import DamagedStoreError
from memory_pipeline.store import engine
from memory_pipeline.store.folding import copy_files, remove_database, said_by
from memory_pipeline.store.migrations import migrate
from memory_pipeline.store.rows import AUDIT_LOG, MIGRATIONS, TABLES
from memory_pipeline.store.seal import log_path

#: How DuckDB reports the position of damage in a log: the position after the size and the checksum (8 bytes each) of
#: an entry.
_DAMAGED_ENTRY = re.compile(r"Corrupt WAL file: entry at byte position (\d+)")
_ENTRY_HEADER = 16
#: Tables of which every row must be readable.
_WHOLE = ("memories", "lineage")
#: Tables that a night rebuilds, so that nothing is lost with them.
_MADE_AGAIN = {table.name for table in TABLES if table.made_again}
#: Tables to copy: a new store creates the others itself, and unknown tables were never filled.
_CARRIED = {table.name for table in TABLES} - {MIGRATIONS, "lease"}
#: Rows to read at once from a table that cannot be read as a whole: one of DuckDB's vectors.
_ROWS = 2048


def salvage(path: Path, target: Path) -> list[str]:
    """Write the readable parts of the store at `path`, including its log, to a new store at `target`; returns what
    is permanently lost. A damaged log is read up to the damage.

    The caller holds the store. Raises DamagedStoreError if a memory or a link cannot be read.
    """
    source = target.with_name(f"{target.name}.salvaged")
    try:
        copy_files(path, source)
        with engine.attached_copy(target, read_only=False) as new:
            migrate(new, target)
        try:
            tables = _tables_of(source)
        except duckdb.Error as error:
            if not cut_at_damage(log_path(source), error):
                raise
            tables = _tables_of(source)
        lost = [words for name in tables if (words := _carry_over(source, target, name))]
        with engine.attached_copy(target, read_only=False) as new:
            newest = new.execute(f"select coalesce(max(sequence), 0) from {AUDIT_LOG}").fetchone()
            assert newest is not None
            new.execute("select max(nextval('audit_sequence')) from range($1)", [newest[0]]).fetchall()
            new.execute("force checkpoint")
        return lost
    except duckdb.Error as error:
        raise DamagedStoreError(f"its tables could not be read (DuckDB: {_said_by(error, source)})") from error
    finally:
        remove_database(source)


def cut_at_damage(log: Path, error: Exception) -> bool:
    """Truncate a copy of a log before the entry that DuckDB reports as unreadable; False if it reports none."""
    damaged = _DAMAGED_ENTRY.search(str(error))
    if damaged:
        os.truncate(log, int(damaged[1]) - _ENTRY_HEADER)
    return damaged is not None


def _tables_of(source: Path) -> list[str]:
    """The tables to copy; the audit log comes last, because every written row adds to it."""
    with engine.attached_copy(source, read_only=True) as old:
        rows = old.execute(
            "select table_name from duckdb_tables() where database_name = current_database() and not internal"
        ).fetchall()
    names = {str(name) for (name,) in rows} & _CARRIED
    missing = [name for name in _WHOLE if name not in names]
    if missing:
        raise DamagedStoreError(f"its table '{missing[0]}' is missing, without which no store can be built")
    return [*_WHOLE, *sorted(names - {*_WHOLE, AUDIT_LOG}), *sorted(names & {AUDIT_LOG})]


def _carry_over(source: Path, target: Path, name: str) -> str:
    """Copy a table; returns what cannot be read, in words."""
    try:
        _copy_rows(source, target, name, "true", anew=name == AUDIT_LOG)
        return ""
    except duckdb.Error as error:
        if name in _WHOLE:
            said = _said_by(error, source)
            raise DamagedStoreError(f"some of its {name} cannot be read (DuckDB: {said})") from error
    if name in _MADE_AGAIN:
        return ""
    before, after = _count(source, name), 0
    for first in range(0, before, _ROWS):
        with suppress(duckdb.Error):
            _copy_rows(source, target, name, f"rowid >= {first} and rowid < {first + _ROWS}", anew=not after)
            after = _count(target, name)
    return f"{before - after} of {before} rows of {name}"


def _copy_rows(source: Path, target: Path, name: str, which: str, *, anew: bool) -> None:
    with (
        engine.attached_copy(source, read_only=True) as old,
        engine.attached_copy(target, read_only=False) as new,
    ):
        (alias,) = old.execute("select current_database()").fetchone() or ("",)
        new.begin()
        if anew and name == AUDIT_LOG:
            new.execute(f"delete from {AUDIT_LOG}")
        new.execute(f'insert into "{name}" by name select * from {alias}."{name}" where {which}')
        new.commit()


def _said_by(error: duckdb.Error, source: Path) -> str:
    """DuckDB's error, without the name of the copy that was read, and shortened."""
    return shorten(said_by(error).replace(f" '{source}'", "").replace(f' "{source}"', ""), 120, placeholder=" ...")


def _count(path: Path, name: str) -> int:
    with engine.attached_copy(path, read_only=True) as connection:
        row = connection.execute(f'select count(*) from "{name}"').fetchone()
    return int(row[0]) if row else 0
