"""The database engine of this process, and the files that it has open.

Starting a DuckDB engine costs some 25 ms, most of it for built-in extensions; attaching a file to a running one
costs 10, most of it for its schema. So a process starts one engine, in memory, and attaches the store for the
duration of a transaction: for other processes the file is as free as if it had been closed. A caller with many
consecutive transactions uses `kept_open`: then the file stays attached between them, unless nothing is asked of it
for a moment, for example while a model is working, or another process waits for it.

The engine never writes a checkpoint into a store: a process that dies during one leaves blocks that are half old and
half new. Commits go to the write-ahead log, which `folding` folds into a copy of the file.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import monotonic, sleep

import duckdb

from memory_pipeline.errors import DamagedStoreError, StoreError
from memory_pipeline.killpoints import reached
from memory_pipeline.store import seal

_MAGIC_AT, _MAGIC = 8, b"DUCK"
_SQLITE = b"SQLite format 3"[: _MAGIC_AT + len(_MAGIC)]
#: Key: process and store path. A forked process must not use its parent's entries.
_Key = tuple[int, str]

#: Seconds that a kept-open file may be unused, and the same while another process waits.
_IDLE_S, _IDLE_WHILE_WANTED_S = 0.4, 0.05
#: Seconds that a file may be held while another process waits, and seconds for which this one then steps back.
_TURN_S, _COURTESY_S = 0.2, 0.5
#: Seconds between two checks whether a kept-open file should be released.
_LOOK_S = 0.025

_lock = threading.RLock()
_numbers = count()
_engines: dict[int, duckdb.DuckDBPyConnection] = {}
#: How many files the present engine of each process has attached, and the limits of its cache in force, in MB.
_attachments: Counter[int] = Counter()
_limits: list[int] = []
_files: dict[_Key, _File] = {}
#: The number of callers that want a file to stay attached between their transactions.
_kept: Counter[_Key] = Counter()
#: Files that were released because another process waited: that process comes first.
_left_to_others: set[_Key] = set()
_written: set[Path] = set()
#: After so many attached files an engine is replaced: each leaves it a little slower (0.2% of a small night's time).
_MOST_ATTACHMENTS = 256
#: Bytes from which a store is read by several threads: in a smaller one, sharing the work costs more than it saves.
_LARGE_FILE = 64 << 20

_LIMIT = "set memory_limit = '{}MB'"
_SETTINGS = {
    # Nothing is ever downloaded, whatever a file claims to be.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    # And nothing is ever written into a store but its log.
    "checkpoint_on_detach": "disabled",
    "checkpoint_threshold": "1TB",
    "auto_checkpoint_skip_wal_threshold": "9223372036854775807",
}


class UnsealedLogError(Exception):
    """A kill has left unsealed bytes in the log, perhaps truncated; they are folded in before the next write."""


@dataclass(slots=True)
class _File:
    alias: str
    read_only: bool
    users: int
    engine: duckdb.DuckDBPyConnection
    lock: seal.StoreLock
    sealed: seal.Seal
    since: float = field(default_factory=monotonic)
    idle_since: float = 0.0
    committing: threading.Lock = field(default_factory=threading.Lock)

    def is_over(self) -> bool:
        """True if a file without users has been unused for long, or for a moment, or held for its turn, while another
        process waits."""
        idle_s, open_s = monotonic() - self.idle_since, monotonic() - self.since
        return idle_s >= _IDLE_S or ((idle_s >= _IDLE_WHILE_WANTED_S or open_s >= _TURN_S) and self.lock.is_wanted())


class Attached:
    """A connection to one file. Close it as soon as the transaction is over."""

    def __init__(self, file: _File, path: Path, key: _Key) -> None:
        self._file, self._path, self._key = file, path, key
        self.connection = file.engine.cursor()
        self.connection.execute(f"use {file.alias}")

    def commit(self) -> None:
        """Commit the transaction, and seal the new contents of the log.

        Raises DamagedStoreError, before committing anything, if another program has written to the log: DuckDB would
        never read anything after that.
        """
        with self._file.committing:
            if seal.has_more(self._path, self._file.sealed):
                raise DamagedStoreError(
                    f"the write-ahead log '{seal.log_path(self._path)}' was changed by another program while the store "
                    f"was open; the last transaction was not written, everything before it is there: run it again"
                )
            self.connection.commit()
            reached("store.commit.logged")
            self.seal()

    def seal(self) -> None:
        """Seal the log, after a commit that did not use `commit`."""
        self._file.sealed = seal.extend(self._file.sealed, self._path)
        seal.write_seal(self._file.lock, self._file.sealed)

    def close(self, *, failed: bool = False) -> None:
        """Release the file if nobody else in this process uses it, and, unless the transaction `failed`, nobody
        wants it to stay open."""
        with _lock:
            self._file.users -= 1
            try:
                self.connection.close()
            except duckdb.Error:
                # A fatal error (a full disk) has ended this engine; the next transaction starts another.
                _abandon(self._file.engine)
                return
            if self._file.users:
                return
            self._file.idle_since = monotonic()
            if failed or not _kept[self._key] or self._file.is_over():
                _let_go(self._key)


def attach(path: Path, *, read_only: bool) -> Attached:
    """Open a store under its lock, and check its files against their seal.

    Raises DuckDB's errors; InUseError if another process, or a thread in another mode, has it; StoreError for a file
    that is not a database; DamagedStoreError for a log that lost committed bytes; UnsealedLogError for a writer if a
    kill has left unsealed bytes; OSError from the file system.
    """
    key = (os.getpid(), str(path))
    _step_back(key, path)
    with _lock:
        if not read_only:
            _let_go(key, only_read_only=True)
        file = _files.get(key)
        if file is None:
            file = _files[key] = _open_file(path, read_only=read_only)
        elif file.read_only and not read_only:
            raise seal.InUseError(f"process {os.getpid()} (this one, reading)")
        if not read_only:
            _written.add(path)
        file.users += 1
        try:
            return Attached(file, path, key)
        except duckdb.Error:
            file.users -= 1
            _abandon(file.engine)
            raise


@contextmanager
def hold(path: Path, *, shared: bool) -> Iterator[seal.StoreLock]:
    """Hold a store's files, whatever their state, or the place of a store that does not exist yet: nobody writes to
    them (`shared`), or nobody has them open at all.

    A replacement that a kill interrupted is finished first. Raises InUseError without waiting, and StoreError for a
    file that was never a store.
    """
    if path.exists():
        refuse_other_files(path)
    with ExitStack() as stack:
        with _lock:
            key = (os.getpid(), str(path))
            _let_go(key)
            file = _files.get(key)
            if file is not None and not (shared and file.read_only):
                raise seal.InUseError(f"process {os.getpid()} (this one)")
            lock = stack.enter_context(closing(_settled_lock(path, shared=shared)))
            lock.keep_others_out(path, shared=shared)
        yield lock


@contextmanager
def attached_copy(path: Path, *, read_only: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a database file that nobody else uses: a copy in progress, or a snapshot."""
    with _lock:
        engine, alias = _engine(), f"file_{next(_numbers)}"
        _attach_file(engine, path, alias, read_only=read_only)
        connection = engine.cursor()
    try:
        connection.execute(f"use {alias}")
        yield connection
    finally:
        with _lock:
            try:
                connection.close()
                engine.execute(f"detach {alias}")
            except duckdb.Error:
                _abandon(engine)


@contextmanager
def kept_open(path: Path) -> Iterator[None]:
    """Until the block ends, keep a store attached between transactions that closely follow each other."""
    key, over = (os.getpid(), str(path)), threading.Event()
    with _lock:
        _kept[key] += 1
    threading.Thread(target=_let_go_when_idle, args=(key, over), name="store-watch", daemon=True).start()
    try:
        yield
    finally:
        over.set()
        with _lock:
            _kept[key] -= 1
            if not _kept[key]:
                del _kept[key]
                _let_go(key)


def is_kept_open(path: Path) -> bool:
    """True if somebody in this process keeps a store open."""
    return bool(_kept[os.getpid(), str(path)])


def _let_go_when_idle(key: _Key, over: threading.Event) -> None:
    while not over.wait(_LOOK_S):
        with _lock:
            file = _files.get(key)
            if file and not file.users and file.is_over():
                _let_go(key)


def _let_go(key: _Key, *, only_read_only: bool = False) -> None:
    """Detach a file that nobody in this process uses, and release its lock; who waits for it comes first."""
    file = _files.get(key)
    if file is None or file.users or (only_read_only and not file.read_only):
        return
    del _files[key]
    if file.lock.is_wanted():
        _left_to_others.add(key)
    try:
        file.engine.execute(f"detach {file.alias}")
    except duckdb.Error:
        _abandon(file.engine)
    finally:
        file.lock.close()


def _step_back(key: _Key, path: Path) -> None:
    """Before retaking a file that was released for another process, give that process a moment to take it."""
    if key in _left_to_others:
        _left_to_others.discard(key)
        until = monotonic() + _COURTESY_S
        while seal.is_wanted(path) and monotonic() < until:
            sleep(_LOOK_S / 5)


def written_stores() -> set[Path]:
    """The stores that this process has opened for writing."""
    return set(_written)


@contextmanager
def memory_limit(megabytes: int) -> Iterator[None]:
    """Limit the engine's cache until the block ends."""
    with _lock:  # a connection takes one call at a time, and another thread may detach a file now
        _engine().execute(_LIMIT.format(megabytes))
        _limits.append(megabytes)
    try:
        yield
    finally:
        with _lock, suppress(duckdb.Error):  # a fatal error may have ended this engine
            _limits.remove(megabytes)
            _engine().execute(_LIMIT.format(_limits[-1]) if _limits else "reset memory_limit")


def _open_file(path: Path, *, read_only: bool) -> _File:
    refuse_other_files(path)
    refuse_unreadable(path)
    lock = _settled_lock(path, shared=read_only)
    try:
        sealed = seal.seal_in_force(path, lock)
        if not read_only and seal.has_more(path, sealed):
            raise UnsealedLogError
        engine, alias = _engine(), f"file_{next(_numbers)}"
        engine.execute("reset global threads" if path.stat().st_size >= _LARGE_FILE else "set global threads = 1")
        _attach_file(engine, path, alias, read_only=read_only)
    except BaseException:
        lock.close()
        raise
    return _File(alias, read_only, 0, engine, lock, sealed)


def _settled_lock(path: Path, *, shared: bool) -> seal.StoreLock:
    """The lock of a store whose files belong together. If a kill left the log of the replaced file, the next process
    takes the lock exclusively and removes it."""
    lock = seal.StoreLock.take(path, shared=shared)
    try:
        sealed = seal.read_seal(lock)
        if sealed is None or not path.is_file() or not sealed.has_been_replaced(path):
            return lock
        if not shared:
            seal.log_path(path).unlink(missing_ok=True)
            seal.write_seal(lock, seal.Seal(seal.header_of(path)), durable=True)
            return lock
    except BaseException:
        lock.close()
        raise
    lock.close()
    _settled_lock(path, shared=False).close()
    return seal.StoreLock.take(path, shared=True)


def _attach_file(engine: duckdb.DuckDBPyConnection, path: Path, alias: str, *, read_only: bool) -> None:
    quoted = str(path).replace("'", "''")
    _attachments[os.getpid()] += 1
    try:
        engine.execute(f"attach '{quoted}' as {alias} (type duckdb{', read_only' if read_only else ''})")
    except (duckdb.FatalException, duckdb.InternalException):
        _abandon(engine)
        raise
    except duckdb.ResourceInUseException as error:
        # What was detached a moment ago is still being closed.
        raise seal.InUseError(f"process {os.getpid()} (this one, closing it)") from error


def _engine() -> duckdb.DuckDBPyConnection:
    """This process's engine; a forked process gets its own."""
    with _lock:
        used = _engines.get(os.getpid())
        if used is not None and _attachments[os.getpid()] >= _MOST_ATTACHMENTS and not _has_files(used):
            _abandon(used)
        if os.getpid() not in _engines:
            spilled = str(Path(tempfile.gettempdir()) / f"memory_pipeline-{os.getpid()}")
            engine = duckdb.connect(":memory:", config={**_SETTINGS, "temp_directory": spilled})
            if _limits:
                engine.execute(_LIMIT.format(_limits[-1]))
            _engines[os.getpid()] = engine
            _attachments[os.getpid()] = 0
        return _engines[os.getpid()]


def _has_files(engine: duckdb.DuckDBPyConnection) -> bool:
    return bool(engine.execute("select 1 from duckdb_databases() where path is not null limit 1").fetchall())


def _abandon(engine: duckdb.DuckDBPyConnection) -> None:
    """Stop using this engine; its files are closed with it."""
    with _lock:
        for key in [key for key, file in _files.items() if file.engine is engine]:
            _files.pop(key).lock.close()
        if _engines.get(os.getpid()) is engine:
            del _engines[os.getpid()]
    engine.close()


def _forget_files_of_the_parent() -> None:
    """In a forked process: the parent's locks stay with the parent."""
    for file in _files.values():
        file.lock.close()
    _files.clear()
    _lock.release()


# No other thread may be halfway through when a process forks.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_forget_files_of_the_parent)


def refuse_other_files(path: Path) -> None:
    """Raise StoreError for something that was never a store: a directory, a device, a SQLite file, a text."""
    if path.is_dir():
        raise StoreError(f"the store '{path}' is a directory; name a file, such as '{path / 'store.duckdb'}'")
    if not path.is_file():
        raise StoreError(f"the store '{path}' is not a file; name a file")
    start = _read_start(path)
    if start.startswith(_SQLITE):
        raise StoreError(f"'{path}' is a SQLite database, not a store of this program; name another file with --store")
    if start and start[_MAGIC_AT:] != _MAGIC and not was_a_store(path):
        raise StoreError(f"'{path}' is not a store of this program; name another file with --store")


def refuse_unreadable(path: Path) -> None:
    """Raise DamagedStoreError for a file that does not start like a store, or is empty."""
    start = _read_start(path)
    if start[_MAGIC_AT:] != _MAGIC:
        what = "is empty" if not start else "does not start like a store"
        raise DamagedStoreError(
            f"'{path}' is not a readable store: it {what}; if it was one, 'memory-pipeline recover' sets it aside and "
            "restores the newest snapshot ('memory-pipeline snapshot restore' another one), otherwise name another "
            "file"
        )


def was_a_store(path: Path) -> bool:
    """True if something that only a store has is next to a path: a seal, a log or snapshots."""
    return seal.log_path(path).exists() or seal.directory_beside(path).is_dir() or seal.is_sealed(path)


def _read_start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MAGIC_AT + len(_MAGIC))
