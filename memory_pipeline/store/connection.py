"""Opens the store: one DuckDB file, short connections, and clear errors if it is unavailable.

A second process cannot open the file while a writer has it, so nothing holds a connection during an embedding, a
model call or a sleep: open, one transaction, close. Other processes wait, and name the holder when they give up.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NoReturn, TypeVar

import duckdb
import portalocker

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import DamagedStoreError, StoreBusyError, StoreError
from memory_pipeline.files.writing import cause_and_mend, sync
from memory_pipeline.killpoints import reached
from memory_pipeline.store import engine, seal
from memory_pipeline.store.engine import refuse_other_files, was_a_store
from memory_pipeline.store.folding import copy_files, fold_log, remove_database, said_by, settle, verify_store
from memory_pipeline.store.migrations import migrate
from memory_pipeline.store.transaction import Transaction

_PREFIX = "memory-pipeline-dry-run-"
_HOLDER = re.compile(r"held in (?P<program>.+?) \(PID (?P<pid>\d+)\)")
_Result = TypeVar("_Result")
#: Megabytes of DuckDB's cache for many small transactions, and those left when what was read is forgotten: enough for
#: the small writes of other threads.
_SMALL_STEPS_MB, _LITTLE_MB = 192, 64
#: By store, what the thread holds that writes.
_writers: dict[Path, threading.RLock] = {}
_writers_lock = threading.Lock()


class Store:
    """The store of everything an agent knows. Cheap to create: nothing is opened before it is used."""

    #: Seconds to wait for another process that has the file open, unless a store is given others.
    patience_s = 30.0

    def __init__(self, path: str | Path, busy_timeout_s: float | None = None) -> None:
        """`busy_timeout_s`: how long to wait for another process that has the file open."""
        # The log and the lock are next to the real file, whichever link names it.
        self.path = Path(os.path.realpath(path))
        self._busy_timeout_s = self.patience_s if busy_timeout_s is None else busy_timeout_s
        self._migrated = False
        self._is_read_only = False

    def for_reading_alone(self) -> Store:
        """The same store, but read-only for the caller."""
        store = Store(self.path, self._busy_timeout_s)
        store._is_read_only = True
        return store

    @classmethod
    def of(cls, settings: Settings) -> Store:
        """The configured store."""
        return cls(settings.store.path)

    def exists(self) -> bool:
        return self.path.exists()

    def stamp(self) -> tuple[int, ...]:
        """Changes with every write of whichever process; costs two file statuses. Raises OSError without a store."""
        files = [self.path.stat()]
        with suppress(FileNotFoundError):
            files.append(seal.log_path(self.path).stat())
        return tuple(number for file in files for number in (file.st_ino, file.st_size, file.st_mtime_ns))

    def check_is_or_was_there(self) -> None:
        """Raises StoreError if there is neither a store nor a trace of one, and for any other file."""
        with _explained(self.path):
            self._refuse_a_circle()
            if self.path.exists():
                refuse_other_files(self.path)
            elif not was_a_store(self.path):
                self._say_there_is_none()

    def pending_migrations(self) -> int:
        """The number of migrations that the store lacks. Raises StoreError for the database of another program."""
        with self._connected(read_only=True) as attached:
            return migrate(attached.connection, self.path, only_look=True)

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A read-only transaction: one consistent view, and not one byte of the file changes, but that a schema older
        than this program is migrated first.

        Raises StoreError if the store does not exist or cannot be read, and StoreBusyError if another process writes
        for longer than the timeout.
        """
        with _explained(self.path):
            self._refuse_a_circle()
            if not self.path.exists():
                self._refuse_a_log_alone()
                self._say_there_is_none()
        with ExitStack() as stack:
            attached = stack.enter_context(self._connected(read_only=True))
            if not self._migrated and migrate(attached.connection, self.path, only_look=True):
                stack.close()
                with self.writing("migration"):
                    pass
                attached = stack.enter_context(self._connected(read_only=True))
            self._migrated = True
            attached.connection.begin()
            yield Transaction(attached.connection)

    @contextmanager
    def writing(self, actor: str, run_id: str | None = None) -> Iterator[Transaction]:
        """One transaction: committed as a whole at the end, rolled back as a whole on any error.

        `actor` and `run_id` are recorded in the audit log for every written row. Raises StoreError for a full disk,
        an unwritable directory, a damaged store, a newer one, or another program's file.
        """
        if self._is_read_only:
            raise RuntimeError(f"a dry run was about to write into '{self.path}'")
        self._create_where_missing()
        with self._only_writer(), self._connected(read_only=False) as attached:
            connection = attached.connection
            if not self._migrated:
                if migrate(connection, self.path):
                    attached.seal()
                self._migrated = True
            connection.begin()
            connection.execute("set variable audit_actor = $1", [actor])
            connection.execute("set variable audit_run = $1", [run_id])
            try:
                yield Transaction(connection)
                reached("store.commit.before")
                attached.commit()
            except BaseException:
                with suppress(duckdb.Error):  # a fatal error (a full disk) has already ended the transaction
                    connection.rollback()
                raise
            reached("store.commit.after")
        settle(self.path, only_if_due=True)

    @contextmanager
    def small_steps(self) -> Iterator[None]:
        """Limit DuckDB's cache in this process, for a caller that writes many small transactions.

        Never for a large transaction: DuckDB 2.0 was seen to fail when it had to spill one.
        """
        with engine.memory_limit(_SMALL_STEPS_MB), self.kept_open():
            yield

    def forget_what_was_read(self) -> None:
        """After a large read, give back the memory that DuckDB's cache in this process took for it."""
        with engine.memory_limit(_LITTLE_MB):
            pass

    def kept_open(self) -> AbstractContextManager[None]:
        """For a caller with many consecutive transactions: the file stays open between them, and is released when
        nothing is asked of it for a moment or another process waits."""
        return engine.kept_open(self.path)

    @contextmanager
    def held(self, *, shared: bool) -> Iterator[seal.StoreLock]:
        """Hold the store's files, whatever their state: nobody writes (`shared`), or nobody opens them at all."""
        with ExitStack() as stack:
            with _explained(self.path):
                lock = self._patiently(lambda: stack.enter_context(engine.hold(self.path, shared=shared)))
            yield lock

    @contextmanager
    def thrown_away(self) -> Iterator[Store]:
        """A temporary copy of the store for a run that must leave no trace; removed when the block ends.

        Raises StoreError if there is no store, or no space for a copy in the directory for temporary files.
        """
        if not self.path.exists():
            self._say_there_is_none()
        with ExitStack() as stack:
            with _explained(self.path), self.held(shared=True) as lock:
                refuse_other_files(self.path)
                seal.seal_in_force(self.path, lock)
                try:
                    copy = stack.enter_context(scratch_directory()) / self.path.name
                    copy_files(self.path, copy)
                except OSError as error:
                    raise StoreError(
                        f"a dry run works on a copy of the store ({self.path.stat().st_size / 1e6:.0f} MB), which "
                        f"cannot be written to '{tempfile.gettempdir()}': {cause_and_mend(error)}, or name a directory "
                        "with enough space in the environment variable TMPDIR"
                    ) from error
            scratch = Store(copy, self._busy_timeout_s)
            with scratch.writing("preview") as tx:
                tx.lease.drop()  # processes that work on the store itself do not matter here
            yield scratch

    def take_lease(self, run_id: str, holder: str) -> None:
        """Take or renew the lease for a run; taking it again within the same run is a heartbeat.

        Raises StoreBusyError with the holder, host, process and time if another live run has it.
        """
        with self.writing(holder, run_id) as tx:
            other = tx.lease.take(run_id, holder)
            if other:
                raise self.in_use_by(other)

    def release_lease(self, run_id: str) -> None:
        """Release the lease, if this run still has it."""
        with self.writing("lease", run_id) as tx:
            tx.lease.release(run_id)

    @contextmanager
    def leased(self, run_id: str, holder: str) -> Iterator[None]:
        """Take the lease for a run, and release it after the block. Raises StoreBusyError as `take_lease` does."""
        self.take_lease(run_id, holder)
        try:
            yield
        finally:
            self.release_lease(run_id)

    def in_use_by(self, holder: str) -> StoreBusyError:
        """The error that names the holder of the lease: a night or another run."""
        return StoreBusyError(f"'{self.path}' is in use by {holder}; try again when it has ended")

    def settle(self, *, quietly: bool = False) -> None:
        """At the end of a piece of work, leave the store as one file without a log, unless it is large or in use.

        While something in this process keeps it open, the log is only folded in if it has grown long.
        If this fails, it is a warning, or with `quietly` only a line in the log.
        """
        if self.path.exists():
            settle(self.path, only_if_due=engine.is_kept_open(self.path), quietly=quietly)

    def fold(self) -> None:
        """Fold the log into the store's file, whatever its size. Raises StoreError if the store is damaged."""
        with _explained(self.path):
            self._patiently(lambda: fold_log(self.path))

    def verify(self) -> str:
        """Read every block and every table; return the digest of the contents. Raises DamagedStoreError."""
        try:
            with _explained(self.path):
                return self._patiently(lambda: verify_store(self.path))
        except DamagedStoreError as error:
            if "memory-pipeline recover" in str(error):
                raise
            raise DamagedStoreError(
                f"the store '{self.path}' is damaged: {error}; 'memory-pipeline recover' sets it aside and recovers "
                f"everything that can be read"
            ) from error

    def _create_where_missing(self) -> None:
        with _explained(self.path):
            self._refuse_a_circle()
            if self.path.exists():
                return
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.held(shared=False) as lock:
                if not self.path.exists():
                    self._refuse_a_log_alone()
                    self._create(lock)

    def _create(self, lock: seal.StoreLock) -> None:
        """Create a new store under another name first: a kill never leaves half of one."""
        incoming = self.path.with_name(f".{self.path.name}.new")
        remove_database(incoming)
        try:
            with engine.attached_copy(incoming, read_only=False) as connection:
                migrate(connection, self.path)
                connection.execute("force checkpoint")
            sync(incoming)
            incoming.replace(self.path)
            sync(self.path.parent)
            seal.write_seal(lock, seal.Seal(seal.header_of(self.path)), durable=True)
        finally:
            remove_database(incoming)
        self._migrated = True

    def _refuse_a_circle(self) -> None:
        if self.path.is_symlink():  # the constructor has resolved every working link
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def _say_there_is_none(self) -> NoReturn:
        raise StoreError(
            f"there is no store at '{self.path}'; import something first, or give the path of the file with --store"
        )

    def _refuse_a_log_alone(self) -> None:
        log = seal.log_path(self.path)
        if log.exists() and log.stat().st_size:
            raise DamagedStoreError(
                f"the store '{self.path}' is missing, but its write-ahead log '{log}' is there; 'memory-pipeline "
                "recover' restores the newest snapshot with the readable contents of the log, or delete the log to "
                "start again"
            )

    @contextmanager
    def _only_writer(self) -> Iterator[None]:
        """One thread of this process writes at a time: of two that change one row, DuckDB would end one with an
        error. Raises StoreBusyError."""
        with _writers_lock:
            mine = _writers.setdefault(self.path, threading.RLock())
        if not mine.acquire(timeout=max(self._busy_timeout_s, 0.001)):
            raise StoreBusyError(
                f"another thread of this process writes to the store '{self.path}'; waited {self._busy_timeout_s:g} s; "
                "try again when it has finished"
            )
        try:
            yield
        finally:
            mine.release()

    @contextmanager
    def _connected(self, *, read_only: bool) -> Iterator[engine.Attached]:
        with _explained(self.path):
            attached = self._patiently(lambda: self._attach(read_only=read_only))
        try:
            try:
                yield attached
            except BaseException:
                attached.close(failed=True)
                raise
            attached.close()
        except duckdb.Error as error:
            raise _explain(self.path, error) from error
        except RuntimeError as error:
            if str(error) == "Query interrupted":  # how DuckDB passes on Ctrl-C; no error handler may swallow it
                raise KeyboardInterrupt from error
            raise

    def _attach(self, *, read_only: bool) -> engine.Attached:
        try:
            return engine.attach(self.path, read_only=read_only)
        except engine.UnsealedLogError:
            fold_log(self.path)
            return engine.attach(self.path, read_only=read_only)

    def _patiently(self, open_it: Callable[[], _Result]) -> _Result:
        """Wait while another process, or another thread in another mode, has the store open."""
        deadline = time.monotonic() + self._busy_timeout_s
        pause = 0.01
        while True:
            try:
                return open_it()
            except (duckdb.Error, seal.InUseError) as error:
                holder = _find_holder(error)
                if holder is None:
                    raise
                if time.monotonic() >= deadline:
                    raise StoreBusyError(
                        f"the store '{self.path}' is held by {holder}; "
                        f"waited {self._busy_timeout_s:g} s; try again when it has finished"
                    ) from error
                time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
                pause = min(pause * 2, 0.025)


def _find_holder(error: Exception) -> str | None:
    """The holder of the store: of our own lock, or of DuckDB's, which other programs take too.

    DuckDB lets go of a file that was detached beside a running query only when nothing refers to it any more.
    """
    if isinstance(error, seal.InUseError):
        return str(error)
    if "is already attached by database" in str(error):
        return f"process {os.getpid()} (this one)"
    match = _HOLDER.search(str(error))
    return f"process {match['pid']} ({Path(match['program']).name})" if match else None


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """An error of the file system or DuckDB as one sentence that says how to fix it."""
    try:
        yield
    except duckdb.Error as error:
        raise _explain(path, error) from error
    except OSError as error:
        raise _explain_file(path, error) from error


def _explain_file(path: Path, error: OSError) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StoreError(f"the disk is full: nothing was written to the store '{path}'; free some space and run again")
    what = "written" if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else "used"
    return StoreError(f"the store '{path}' cannot be {what}: {cause_and_mend(error)}")


def _explain(path: Path, error: duckdb.Error) -> StoreError:
    """An error of DuckDB as one sentence that says how to fix it."""
    text = said_by(error)
    low = str(error).lower()
    if "no space left" in low or "disk full" in low or "file too large" in low or "enospc" in low:
        return _explain_file(path, OSError(errno.ENOSPC, ""))
    if "permission denied" in low or "read-only file system" in low:
        return _explain_file(path, OSError(errno.EACCES, ""))
    if any(sign in low for sign in ("not a valid duckdb", "corrupt", "checksum", "could not read enough", "wal file")):
        return DamagedStoreError(
            f"'{path}' is not a readable store ({text}); 'memory-pipeline recover' sets it aside and recovers "
            "everything that can be read, 'memory-pipeline snapshot restore' restores a snapshot of your choice"
        )
    if "newer" in low and "version" in low:
        return StoreError(f"the store '{path}' was written by a newer DuckDB ({text}); install that version")
    return StoreError(f"the store '{path}' reported: {text}")


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """An empty directory in the one for temporary files, removed with its contents when the block ends.

    Before that, those that killed processes of the same user left are removed. Raises OSError if none can be made.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError, portalocker.exceptions.LockException):
            if left.lstat().st_uid == os.getuid():
                with _locked(left):
                    shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as name, _locked(Path(name)):
        yield Path(name)


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Lock a directory without waiting. Raises LockException if another process has locked it, and OSError if it is
    gone or no directory."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        portalocker.lock(descriptor, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        yield
    finally:
        os.close(descriptor)
