"""Recovers a store that cannot be opened or read: what can be recovered, from what, and what is lost.

Nothing is overwritten: the damaged files are kept next to the store. The first of these that can be read completely is
used: the store as it is; a snapshot with the logs that lead from it to the store (nothing is lost then); the store's
file with the contents of its log before the damage; the readable parts of the store, if they include every memory; a
snapshot with as many logs as there are.

A damaged block affects the tables with rows in it, often one that can be rebuilt (vectors, edges, an index). Of the
readable parts, every memory and every link must be there; from other tables, the readable rows are taken.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from textwrap import shorten
from typing import Literal, NamedTuple

import duckdb
from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.errors import DamagedStoreError, SnapshotError, StoreError
from memory_pipeline.store import engine, folding, seal, snapshots
from memory_pipeline.store.connection import Store
from memory_pipeline.store.migrations import migrate
from memory_pipeline.store.rows import AUDIT_LOG, MIGRATIONS, TABLES
from memory_pipeline.store.transaction import Transaction

_log = logging.getLogger("memory_pipeline.store")

#: What is lost if every memory can be read.
_LOST_AT_LEAST = "nothing but what can be rebuilt (vectors, comparisons)"

Source = Literal["store", "snapshot and log", "store and part of its log", "what reads of the store", "snapshot"]


class Recovery(Document):
    """The source from which a store was or would be recovered, its problem, and what is lost."""

    source: Source = Field(
        description="What it is recovered from: `store` if it is whole, otherwise `snapshot and log`, `store and part "
        "of its log`, `what reads of the store` or `snapshot`."
    )
    problem: str = Field(description="What is damaged; empty for a whole store.")
    lost: str = Field(description="What could not be recovered.")
    snapshot: str | None = Field(description="The snapshot that was used, or null.")
    done: bool = Field(description="Whether the store was recovered; false for a whole store and in a dry run.")


class _Candidate(NamedTuple):
    """A file, and the logs that are folded into it one after another, the last of them perhaps only in part."""

    source: Source
    file: Path
    logs: tuple[folding.KeptLog, ...] = ()
    snapshot: str | None = None
    lost: str = ""
    last_is_damaged: bool = False


def recover_store(store: Store, *, dry_run: bool = False) -> Recovery:
    """Recover a store, or with `dry_run` say how. A store that is whole is left alone.

    Raises StoreError if neither the store nor any snapshot can be read, and for the database of another program, and
    StoreBusyError while another process has it open.
    """
    incoming, tried = store.path.with_name(f".{store.path.name}.incoming"), []
    with store.held(shared=False) as lock:
        try:
            problem = _find_problem(store.path, lock, incoming)
            for candidate in _find_candidates(store, lock) if problem else ():
                try:
                    lost = _assemble(candidate, incoming)
                except (StoreError, OSError) as error:
                    tried.append(f"{candidate.source}: {error}")
                    continue
                if not dry_run:
                    snapshots.keep_aside(store.path, "damaged")
                    folding.put_in_place(incoming, store.path, lock)
                break
            else:
                candidate, lost = _Candidate("store", store.path), "nothing"
        finally:
            folding.remove_database(incoming)
    if problem and candidate.source == "store":
        tried += [] if snapshots.list_snapshots(store) else ["it has no snapshot"]
        reasons = _about(store, incoming, "; ".join(tried))
        raise StoreError(
            f"the store '{store.path}' cannot be recovered ({_about(store, incoming, problem)}), and neither did "
            f"the alternatives work: {reasons}; its files were left unchanged; keep a copy of them, and restore "
            "a backup if you have one"
        )
    if not problem:
        store.pending_migrations()
    elif not dry_run:
        # The logs that are kept from now on continue from this snapshot. No older one is dropped for it.
        try:
            snapshots.create_snapshot(store, "recovered", datetime.now(UTC), keep=None, only_if_changed=False)
        except StoreError as error:
            _log.warning("there is no snapshot yet of the recovered store: %s", error)
    return Recovery(
        source=candidate.source,
        problem=problem,
        lost=lost,
        snapshot=candidate.snapshot,
        done=bool(problem) and not dry_run,
    )


def _about(store: Store, incoming: Path, text: str) -> str:
    """Rewrites an error about a temporary copy as one about the store, because users do not know the copies."""
    for copy in (f"{incoming}.salvaged", str(incoming)):
        text = text.replace(copy, str(store.path))
    return text


def _find_problem(path: Path, lock: seal.StoreLock, copy: Path) -> str:
    """The problem of a store's files, which are read in a copy; empty if there is none."""
    try:
        if not path.is_file():
            return f"there is no file '{path}'"
        seal.seal_in_force(path, lock)
        folding.copy_files(path, copy)
        folding.make_whole(copy)
    except (DamagedStoreError, OSError) as error:
        return str(error)
    return ""


def _find_candidates(store: Store, lock: seal.StoreLock) -> Iterator[_Candidate]:
    """The sources from which a whole store could be built, most complete first."""
    log = seal.log_path(store.path)
    sealed = _find_seal(store.path, lock)
    whole_log = sealed is not None and not seal.find_log_problem(log, sealed)
    there = log.stat().st_size if log.exists() else 0
    last = (folding.KeptLog(log, "", ""),) if there else ()
    lost_of_log = (
        f"the contents of the damaged log ({there} of {sealed.log_bytes if sealed else there} bytes are there)"
    )
    cut: list[_Candidate] = []
    broken: list[_Candidate] = []
    for name in (snapshot.name for snapshot in reversed(snapshots.list_snapshots(store))):
        try:
            snapshots.verify_snapshot(store, name)
        except SnapshotError:
            continue
        file = snapshots.snapshot_path(store, name)
        chain = folding.logs_between(store.path, seal.header_of(file), sealed.header) if sealed else None
        if chain is not None:
            logs = (*chain, *last)
            if whole_log:
                yield _Candidate("snapshot and log", file, logs, name, "nothing")
            else:
                cut.append(_Candidate("snapshot and log", file, logs, name, lost_of_log, True))
        elif following := tuple(folding.logs_after(store.path, seal.header_of(file))):
            lost = f"everything after snapshot '{name}' and the {len(following)} logs that follow it"
            broken.append(_Candidate("snapshot", file, following, name, lost))
        broken.append(_Candidate("snapshot", file, (), name, f"everything since snapshot '{name}'"))
    if store.path.is_file() and not whole_log:
        yield _Candidate("store and part of its log", store.path, last, None, lost_of_log, True)
        yield _Candidate("store and part of its log", store.path, (), None, "the log beside it")
    yield from cut
    if store.path.is_file():
        # DuckDB reads a damaged log up to the point where it considers it truncated, without an error.
        yield _Candidate("what reads of the store", store.path, lost="" if whole_log else lost_of_log)
    yield from broken


def _find_seal(path: Path, lock: seal.StoreLock) -> seal.Seal | None:
    """The state of the store's files after the last write. For a file that replaced the store, or that another
    program has written since, the file itself is used if its headers can be read."""
    return seal.current_seal(path, lock) if path.is_file() and seal.headers_read(path) else seal.read_seal(lock)


def _assemble(candidate: _Candidate, incoming: Path) -> str:
    """Copy a file, fold log after log into it, and read all of it; returns what is lost then. If the last log is known
    to be damaged, use its contents before the first unreadable entry."""
    folding.remove_database(incoming)
    if candidate.source == "what reads of the store":
        lost = [candidate.lost] if candidate.lost else []
        lost = lost + salvage(candidate.file, incoming) or [_LOST_AT_LEAST]
        folding.make_whole(incoming)
        return "; ".join(lost)
    shutil.copyfile(candidate.file, incoming)
    if not candidate.logs:
        folding.make_whole(incoming)
    for kept_log in candidate.logs:
        log = seal.log_path(incoming)
        shutil.copyfile(kept_log.path, log)
        try:
            contents = folding.make_whole(incoming)
        except DamagedStoreError as error:
            is_last = candidate.last_is_damaged and kept_log is candidate.logs[-1]
            if not is_last or not cut_at_damage(log, error):
                raise
            contents = folding.make_whole(incoming)
        if kept_log.contents and folding.short_hash(contents) != kept_log.contents:
            raise DamagedStoreError(f"the log '{kept_log.path.name}' did not lead to the same store as before")
    return candidate.lost


def put_in_blank_place(store: Store, incoming: Store) -> bool:
    """Move a whole store to the place of an empty one, or of none; returns False if the store is no longer empty.

    Raises StoreError if the directory does not allow it.
    """
    incoming.fold()  # no part of it may be left in a log next to it
    try:
        with store.held(shared=False) as lock:
            if store.exists() and not _lies_blank(store.path):
                return False
            if not store.exists() and seal.log_path(store.path).exists():
                return False  # a log without its store may contain someone's last changes
            folding.put_in_place(incoming.path, store.path, lock)
    except OSError as error:
        raise StoreError(f"the store '{store.path}' cannot be written: {error.strerror or error}") from error
    return True


def remove_store(store: Store) -> None:
    """Remove a store that was only temporary, with its lock."""
    folding.remove_database(store.path)
    seal.lock_path(store.path).unlink(missing_ok=True)


def _lies_blank(path: Path) -> bool:
    """True if a held store is empty, and no night works on it; checked in a copy."""
    copy = path.with_name(f".{path.name}.blank")
    try:
        folding.copy_files(path, copy)
        with engine.attached_copy(copy, read_only=True) as connection:
            tx = Transaction(connection)
            return tx.transfer.is_blank() and not tx.lease.is_taken()
    finally:
        folding.remove_database(copy)


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
        folding.copy_files(path, source)
        with engine.attached_copy(target, read_only=False) as new:
            migrate(new, target)  # with triggers: if the log cannot be read, copying rows makes one
        try:
            tables = _list_tables(source)
        except duckdb.Error as error:
            if not cut_at_damage(seal.log_path(source), error):
                raise
            tables = _list_tables(source)
        # Attaching takes longer than copying most tables. After an error a file has to be attached anew.
        with suppress(duckdb.Error), _both(source, target) as (old, new):
            while tables:
                _copy_rows(old, new, tables[0], "true")
                tables.pop(0)
        lost = [words for name in tables if (words := _carry_over(source, target, name))]
        with engine.attached_copy(target, read_only=False) as new:
            newest = new.execute(f"select coalesce(max(sequence), 0) from {AUDIT_LOG}").fetchone()
            assert newest is not None
            new.execute("select max(nextval('audit_sequence')) from range($1)", [newest[0]]).fetchall()
            new.execute("force checkpoint")
        return lost
    except duckdb.Error as error:
        raise DamagedStoreError(f"its tables could not be read (DuckDB: {_shorten_error(error, source)})") from error
    finally:
        folding.remove_database(source)


def cut_at_damage(log: Path, error: Exception) -> bool:
    """Truncate a copy of a log before the entry that DuckDB reports as unreadable; False if it reports none."""
    damaged = _DAMAGED_ENTRY.search(str(error))
    if damaged:
        os.truncate(log, int(damaged[1]) - _ENTRY_HEADER)
    return damaged is not None


def _list_tables(source: Path) -> list[str]:
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
        with _both(source, target) as (old, new):
            _copy_rows(old, new, name, "true")
        return ""
    except duckdb.Error as error:
        if name in _WHOLE:
            reason = _shorten_error(error, source)
            raise DamagedStoreError(f"some of its {name} cannot be read (DuckDB: {reason})") from error
    if name in _MADE_AGAIN:
        return ""
    before, after = _count(source, name), 0
    for first in range(0, before, _ROWS):
        with suppress(duckdb.Error):
            with _both(source, target) as (old, new):
                _copy_rows(old, new, name, f"rowid >= {first} and rowid < {first + _ROWS}", anew=not after)
            after = _count(target, name)
    return f"{before - after} of {before} rows of {name}"


@contextmanager
def _both(source: Path, target: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection]]:
    """Connections to the copy that is read and to the store that is written."""
    with engine.attached_copy(source, read_only=True) as old, engine.attached_copy(target, read_only=False) as new:
        yield old, new


def _copy_rows(
    old: duckdb.DuckDBPyConnection, new: duckdb.DuckDBPyConnection, name: str, which: str, *, anew: bool = True
) -> None:
    """Copy some rows of a table. `anew`: they are the first of it; what copying others has logged gives way to them."""
    (alias,) = old.execute("select current_database()").fetchone() or ("",)
    new.begin()
    if anew and name == AUDIT_LOG:
        new.execute(f"delete from {AUDIT_LOG}")
    new.execute(f'insert into "{name}" by name select * from {alias}."{name}" where {which}')
    new.commit()


def _shorten_error(error: duckdb.Error, source: Path) -> str:
    """DuckDB's error, without the name of the copy that was read, and shortened."""
    return shorten(
        folding.said_by(error).replace(f" '{source}'", "").replace(f' "{source}"', ""), 120, placeholder=" ..."
    )


def _count(path: Path, name: str) -> int:
    with engine.attached_copy(path, read_only=True) as connection:
        row = connection.execute(f'select count(*) from "{name}"').fetchone()
    return int(row[0]) if row else 0
