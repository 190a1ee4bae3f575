"""What still reads of a damaged store's file, as a new store: for a store that no snapshot leads to.

A damaged block costs the tables that have rows in it, often one that can be made again (vectors, edges, an index).
Every memory and every link has to read; of other tables, the rows that do are taken.
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
from memory_pipeline.store.seal import log_path
from memory_pipeline.store.tables import AUDIT_LOG, MIGRATIONS, TABLES

#: How DuckDB says where a log is damaged: the place behind the size and the checksum (8 bytes each) of an entry.
_DAMAGED_ENTRY = re.compile(r"Corrupt WAL file: entry at byte position (\d+)")
_ENTRY_HEADER = 16
#: Whose rows have to be there, every one.
_WHOLE = ("memories", "lineage")
#: What a night makes again, so that nothing is lost with it.
_MADE_AGAIN = {table.name for table in TABLES if table.made_again}
#: What is carried over: a new store has the rest of its own, and a table that it does not know was never filled.
_CARRIED = {table.name for table in TABLES} - {MIGRATIONS, "lease"}
#: Rows that are read at once of a table that does not read as a whole: one of DuckDB's vectors.
_ROWS = 2048


def salvage(path: Path, target: Path) -> list[str]:
    """Write what reads of the store at `path`, its log included, to a new store at `target`; return what is lost of it
    for good. Of a damaged log, what stands before the damage is read.

    The caller holds the store. Raises DamagedStoreError when a memory or a link does not read.
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
    """Cut a copy of a log off before the entry that DuckDB says it cannot read; False when it says of none."""
    damaged = _DAMAGED_ENTRY.search(str(error))
    if damaged:
        os.truncate(log, int(damaged[1]) - _ENTRY_HEADER)
    return damaged is not None


def _tables_of(source: Path) -> list[str]:
    """The tables to carry over; the audit log last, since every row that is written adds to it."""
    with engine.attached_copy(source, read_only=True) as old:
        rows = old.execute(
            "select table_name from duckdb_tables() where database_name = current_database() and not internal"
        ).fetchall()
    names = {str(name) for (name,) in rows} & _CARRIED
    missing = [name for name in _WHOLE if name not in names]
    if missing:
        raise DamagedStoreError(f"its table '{missing[0]}' is missing, without which no store can be made")
    return [*_WHOLE, *sorted(names - {*_WHOLE, AUDIT_LOG}), *sorted(names & {AUDIT_LOG})]


def _carry_over(source: Path, target: Path, name: str) -> str:
    """Copy a table; return what of it does not read, in words."""
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
    """What DuckDB says, without the name of the copy that was read, and cut to what a sentence can hold."""
    return shorten(said_by(error).replace(f" '{source}'", "").replace(f' "{source}"', ""), 120, placeholder=" ...")


def _count(path: Path, name: str) -> int:
    with engine.attached_copy(path, read_only=True) as connection:
        row = connection.execute(f'select count(*) from "{name}"').fetchone()
    return int(row[0]) if row else 0
