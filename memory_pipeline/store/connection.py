"""Opening the store: one DuckDB file, short connections, clear words when it cannot be had.

A second process cannot open the file while a writer has it, so nothing holds a connection across an
embedding, a model call or a sleep: open, one transaction, close. Openers wait with backoff, and say
who holds the file when they give up.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from memory_pipeline.errors import StoreBusyError, StoreError
from memory_pipeline.killpoints import reached
from memory_pipeline.settings import Settings
from memory_pipeline.store import engine
from memory_pipeline.store.migrations import migrate

#: An open transaction on the store; only this package looks inside.
Transaction = duckdb.DuckDBPyConnection

_HOLDER = re.compile(r"held in (?P<program>.+?) \(PID (?P<pid>\d+)\)")


class Store:
    """The one home of what an agent knows. Cheap to make: nothing is opened until it is used."""

    def __init__(self, path: str | Path, busy_timeout_s: float = 30.0) -> None:
        """`busy_timeout_s`: how long to wait for another process that has the file open."""
        self.path = Path(path)
        self._busy_timeout_s = busy_timeout_s
        self._migrated = False

    @classmethod
    def of(cls, settings: Settings) -> Store:
        """The store that the settings name."""
        return cls(settings.store_path, settings.store_busy_timeout_s)

    def exists(self) -> bool:
        """Whether the file is there."""
        return self.path.exists()

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A read-only transaction: one consistent view, and not one byte of the file changes.

        Raises StoreError when the store does not exist or cannot be read, StoreBusyError when another
        process writes for longer than the time-out.
        """
        if not self.path.exists():
            raise StoreError(
                f"there is no store at '{self.path}'; import something first, or name the file with --store"
            )
        if not self._migrated:
            self._bring_up_to_date()
        with self._connected(read_only=True) as connection:
            connection.begin()
            yield connection

    @contextmanager
    def writing(self, actor: str, run_id: str | None = None) -> Iterator[Transaction]:
        """One transaction: committed as a whole at the end, rolled back as a whole on any error.

        `actor` and `run_id` go into the audit log beside every row that is written.
        Raises StoreError for a full disk, an unwritable directory, a damaged or a newer store.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._connected(read_only=False) as connection:
            if not self._migrated:
                migrate(connection, self.path)
                self._migrated = True
            connection.begin()
            connection.execute("set variable audit_actor = $1", [actor])
            connection.execute("set variable audit_run = $1", [run_id])
            try:
                yield connection
                reached("store.commit.before")
                connection.commit()
            except BaseException:
                _roll_back(connection)
                raise
            reached("store.commit.after")

    @contextmanager
    def small_steps(self, memory_limit_mb: int) -> Iterator[None]:
        """Bound what DuckDB caches in this process, for a caller that writes much in many small transactions.

        Never for a large transaction: DuckDB 2.0 was seen to fail when it had to spill one.
        """
        with engine.memory_limit(memory_limit_mb):
            yield

    @contextmanager
    def quiescent(self) -> Iterator[Transaction]:
        """Hold the file alone with nothing pending in its write-ahead log, so that it can be copied; to read from."""
        with self._connected(read_only=False) as connection:
            connection.execute("checkpoint")
            yield connection

    def _bring_up_to_date(self) -> None:
        """A read never writes, unless the schema is older than this program: then it is migrated first."""
        with self._connected(read_only=True) as connection:
            pending = migrate(connection, self.path, only_look=True)
        if pending:
            with self.writing("migration"):
                pass
        self._migrated = True

    @contextmanager
    def _connected(self, *, read_only: bool) -> Iterator[Transaction]:
        try:
            with self._attached(read_only=read_only) as connection:
                yield connection
        except duckdb.Error as error:
            raise StoreError(_explain(self.path, error)) from error

    @contextmanager
    def _attached(self, *, read_only: bool) -> Iterator[Transaction]:
        """The file, waited for while another process, or another thread in another mode, has it open."""
        deadline = time.monotonic() + self._busy_timeout_s
        pause = 0.01
        while True:
            try:
                attached = engine.attach(self.path, read_only=read_only)
                break
            except (duckdb.Error, engine.InUseError) as error:
                held = _HOLDER.search(str(error))
                if not held:
                    raise
                if time.monotonic() >= deadline:
                    raise StoreBusyError(
                        f"the store '{self.path}' is held by process {held['pid']} ({Path(held['program']).name}); "
                        f"waited {self._busy_timeout_s:g} s; try again when it has finished"
                    ) from error
                time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
                pause = min(pause * 2, 0.5)
        try:
            yield attached.connection
        finally:
            attached.close()


def _roll_back(connection: Transaction) -> None:
    try:
        connection.rollback()
    except duckdb.Error:
        # A fatal error (a full disk) has ended the transaction already; closing discards it.
        return


def _explain(path: Path, error: duckdb.Error) -> str:
    """One sentence with the mend, from what DuckDB says."""
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    low = str(error).lower()
    if "no space left" in low or "disk full" in low or "file too large" in low or "enospc" in low:
        return f"the disk is full: nothing was written to the store '{path}'; free some space and run again"
    if "permission denied" in low or "read-only file system" in low:
        return f"the store '{path}' cannot be written: permission denied; check the owner of the file and its directory"
    if any(sign in low for sign in ("not a valid duckdb", "corrupt", "checksum", "could not read enough", "wal file")):
        return f"'{path}' is not a readable store ({text}); restore a snapshot with 'memory-pipeline snapshot restore'"
    if "newer" in low and "version" in low:
        return f"the store '{path}' was written by a newer DuckDB ({text}); install that version"
    return f"the store '{path}' reported: {text}"
