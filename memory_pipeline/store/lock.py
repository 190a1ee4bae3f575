"""The lock of a store: many readers or one writer, for all its files together.

DuckDB locks its own file, but the file is replaced as a whole when the write-ahead log is folded in, and a POSIX
lock is released as soon as its process closes any descriptor of the file. So the lock is taken on a separate file
next to the store, which is never replaced. The same file contains the seal (see `seal`), the number of the last
process that took the lock, and that of a process that waits for it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import struct
import time
from pathlib import Path

import portalocker

from memory_pipeline.processes import program_of

_HOLDER_AT, _WANTED_AT, _WORDS_AT = 512, 768, 1024
#: For a person who opens the file and wonders whether it can be deleted.
_WORDS = b"""
This file belongs to the store beside it. Besides the lock it holds the seal, which says how much of the
write-ahead log (the file that ends in .wal) was committed. Leave both where they are: without the log the last
changes are gone, and without the seal nobody could tell.
"""
#: Seconds after which a waiting request that was not repeated expires.
_WISH_LASTS_S = 1.0
#: `struct flock` of 64-bit Linux: type, whence, start, length, process.
_FLOCK = "@hhqqi4x"
#: Why a reader may be unable to write the lock file: someone else's directory, a read-only file system or a full disk.
_NOT_WRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}
_HOLDER = re.compile(rb"held by (\d+)")
_WANTED = re.compile(rb"wanted by (\d+) +at (\d+)\n")


class InUseError(Exception):
    """Another process has the store open; the message names it."""


def lock_path(path: Path) -> Path:
    """The path of a store's lock file."""
    return path.with_name(f"{path.name}.lock")


class StoreLock:
    """A lock that is held until it is closed. `descriptor` is None for a reader of an unwritable directory."""

    def __init__(self, descriptor: int | None) -> None:
        self.descriptor = descriptor
        self._file: int | None = None

    @classmethod
    def take(cls, path: Path, *, shared: bool) -> StoreLock:
        """Take the lock of the store at `path` without waiting.

        Raises InUseError with the name of the process if it is taken, and OSError if the directory is not writable.
        """
        descriptor = _open(lock_path(path), shared=shared)
        if descriptor is None:
            return cls(None)
        kind = portalocker.LockFlags.SHARED if shared else portalocker.LockFlags.EXCLUSIVE
        try:
            portalocker.lock(descriptor, kind | portalocker.LockFlags.NON_BLOCKING)
        except portalocker.exceptions.LockException as error:
            holder = _HOLDER.search(os.pread(descriptor, 64, _HOLDER_AT))
            cls(descriptor).write(_WANTED_AT, b"wanted by %-20d at %020d\n" % (os.getpid(), time.monotonic_ns()))
            os.close(descriptor)
            raise InUseError(_words(int(holder[1])) if holder else "another process") from error
        except BaseException:
            os.close(descriptor)
            raise
        lock = cls(descriptor)
        lock.write(_HOLDER_AT, b"held by %-20d\n" % os.getpid())
        if os.fstat(descriptor).st_size < _WORDS_AT:
            lock.write(_WORDS_AT, _WORDS)
        if lock.is_wanted(by_me=True):
            lock.write(_WANTED_AT, b" " * 64)
        return lock

    def is_wanted(self, *, by_me: bool = False) -> bool:
        """Whether another process waits for the lock; or, with `by_me`, whether the recorded request is our own."""
        if self.descriptor is None:
            return False
        wish = _WANTED.match(os.pread(self.descriptor, 64, _WANTED_AT))
        if wish is None or (int(wish[1]) == os.getpid()) != by_me:
            return False
        # The clock starts with the machine: a request from before a restart may be in the future.
        return 0 <= time.monotonic_ns() - int(wish[2]) < _WISH_LASTS_S * 1e9

    def keep_others_out(self, path: Path, *, shared: bool) -> None:
        """Also lock the store's own file, to exclude programs that know only DuckDB's lock (a DuckDB shell).

        Raises InUseError with the name of the process. Does nothing on systems without open file description locks
        (Linux has them).
        """
        set_lock, get_lock = getattr(fcntl, "F_OFD_SETLK", None), getattr(fcntl, "F_OFD_GETLK", None)
        if set_lock is None or get_lock is None or not path.is_file():
            return
        file = os.open(path, (os.O_RDONLY if shared else os.O_RDWR) | os.O_CLOEXEC)
        wanted = struct.pack(_FLOCK, fcntl.F_RDLCK if shared else fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        try:
            fcntl.fcntl(file, set_lock, wanted)
        except OSError as error:
            pid = struct.unpack(_FLOCK, fcntl.fcntl(file, get_lock, wanted))[4]
            os.close(file)
            raise InUseError(_words(pid) if pid > 0 else "another program") from error
        self._file = file

    def read(self, size: int) -> bytes:
        """The first bytes of the lock file."""
        return os.pread(self.descriptor, size, 0) if self.descriptor is not None else b""

    def write(self, at: int, data: bytes, *, durable: bool = False) -> None:
        """Write a few bytes in one call, which a kill cannot split. A reader without write access does nothing."""
        if self.descriptor is None:
            return
        try:
            os.pwrite(self.descriptor, data, at)
        except OSError:
            if durable:
                raise
            return
        if durable:
            os.fsync(self.descriptor)

    def close(self) -> None:
        """Release the lock."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


def is_wanted(path: Path) -> bool:
    """Whether another process waits for the lock of the store at `path`."""
    try:
        lock = StoreLock(os.open(lock_path(path), os.O_RDONLY | os.O_CLOEXEC))
    except OSError:
        return False
    try:
        return lock.is_wanted()
    finally:
        lock.close()


def _open(name: Path, *, shared: bool) -> int | None:
    try:
        return os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if not shared or error.errno not in _NOT_WRITABLE:
            raise
    try:
        return os.open(name, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _words(pid: int) -> str:
    return f"process {pid} ({program_of(pid)})"
