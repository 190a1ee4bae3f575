"""The database engine of this process, and the files that it has open.

Starting a DuckDB engine costs some 25 ms, most of it for built-in extensions; attaching a file to one that runs
costs 5. So a process starts one engine, in memory, and attaches the store for as long as a transaction
lasts: other processes find the file as free as if it had been closed.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import duckdb

_lock = threading.RLock()
_numbers = count()
_engines: dict[int, duckdb.DuckDBPyConnection] = {}
_files: dict[tuple[int, str], _File] = {}


class InUseError(Exception):
    """Another thread of this process has the file open in another mode; worded like DuckDB's own refusal."""


@dataclass(slots=True)
class _File:
    alias: str
    read_only: bool
    users: int
    engine: duckdb.DuckDBPyConnection


class Attached:
    """A connection that sees one file. Close it as soon as the transaction is over."""

    def __init__(self, file: _File, key: tuple[int, str]) -> None:
        self._file, self._key = file, key
        self.connection = file.engine.cursor()
        self.connection.execute(f"use {file.alias}")

    def close(self) -> None:
        """Let go of the file, when nobody else in this process uses it."""
        with _lock:
            self._file.users -= 1
            try:
                self.connection.close()
                if self._file.users == 0:
                    del _files[self._key]
                    self._file.engine.execute(f"detach {self._file.alias}")
            except duckdb.Error:
                # A fatal error (a full disk) has ended this engine; the next transaction starts another.
                _abandon(self._file.engine)


def attach(path: Path, *, read_only: bool) -> Attached:
    """Open a database file. Raises what DuckDB raises, and InUseError for a file that is open in another mode."""
    with _lock:
        key = (os.getpid(), str(path.resolve()))
        file = _files.get(key)
        if file is None:
            file = _File(f"file_{next(_numbers)}", read_only, 0, _engine())
            mode = " (read_only)" if read_only else ""
            quoted = str(path).replace("'", "''")
            try:
                file.engine.execute(f"attach '{quoted}' as {file.alias}{mode}")
            except (duckdb.FatalException, duckdb.InternalException):
                _abandon(file.engine)
                raise
            _files[key] = file
        elif file.read_only and not read_only:
            raise InUseError(f"held in {sys.executable} (PID {os.getpid()})")
        file.users += 1
        try:
            return Attached(file, key)
        except duckdb.Error:
            file.users -= 1
            _abandon(file.engine)
            raise


@contextmanager
def memory_limit(megabytes: int) -> Iterator[None]:
    """Bound what the engine caches, until the block ends."""
    engine = _engine()
    engine.execute(f"set memory_limit = '{megabytes}MB'")
    try:
        yield
    finally:
        with suppress(duckdb.Error):  # a fatal error may have ended this engine
            engine.execute("reset memory_limit")


def _engine() -> duckdb.DuckDBPyConnection:
    """This process's engine; a forked process gets its own."""
    with _lock:
        if os.getpid() not in _engines:
            _engines[os.getpid()] = duckdb.connect(":memory:")
        return _engines[os.getpid()]


def _abandon(engine: duckdb.DuckDBPyConnection) -> None:
    """Use this engine no more; its files are closed with it."""
    with _lock:
        for key in [key for key, file in _files.items() if file.engine is engine]:
            del _files[key]
        if _engines.get(os.getpid()) is engine:
            del _engines[os.getpid()]
    engine.close()
