"""The lock and the seal of a store. The seal is the expected state of its files, written next to it after every commit.

DuckDB takes an unreadable write-ahead log for one that a crash has truncated, and continues without its contents.
The seal records how many bytes of the log were committed, and their checksum, so that a damaged, shortened or
deleted log is reported instead. Bytes after the sealed ones are a commit in progress: whether they are complete or
truncated, DuckDB handles them correctly.

DuckDB locks its own file, but the file is replaced as a whole when the log is folded in, and a POSIX lock is released
as soon as its process closes any descriptor of the file. So the lock (many readers or one writer, for all files of a
store together) is taken on a separate file next to the store, which is never replaced. That file contains the seal, the
number of the last process that took the lock, and that of a process that waits for it.

The seal also names the file that is about to replace the store, so that after a kill between moving that file into
place and removing the log that it contains, it is clear which log belongs to which file.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import struct
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
import portalocker

from memory_pipeline.errors import DamagedStoreError
from memory_pipeline.processes import program_of

_HEADER = 4096
#: The position of the database identifier in the main header, which DuckDB writes into every log and compares.
_IDENTIFIER = slice(124, 140)
_FACTOR, _SEED = np.uint64(0xBF58476D1CE4E5B9), np.uint64(5381)
#: A metadata block has this many pieces; a pointer has a block in its low 56 bits and a piece in the rest.
_PIECES, _BLOCK_BITS, _NO_POINTER = 64, (1 << 56) - 1, (1 << 64) - 1
#: DuckDB's three headers: one of the file and two of the database, one of which changes with every checkpoint.
_HEADERS = 3 * 4096
#: The first field of a log (number 100, the kind of entry) says that its version follows.
_LOG_BEGINS = b"\x64\x00\x62"
#: Then come the version (field 101), and the identifier of the database that the log continues (field 102, a list of
#: 16 numbers, each in one byte or, from 128 on, in two).
_NAMES_ITS_DATABASE = re.compile(rb"d\x00be\x00.f\x00\x10((?:[\x00-\x7f]|[\x80-\xff]\x01){16})", re.DOTALL)
_LONGEST_NAME = 9 + 2 * 16
_NOBODY = "0" * 32
_LINE = re.compile(
    r"seal 1 store (?P<store>[0-9a-f]{32}) log (?P<bytes>\d{18}) crc (?P<crc>[0-9a-f]{8}) "
    r"next (?P<next>[0-9a-f]{32}) (?P<inode>\d{20}) check (?P<check>[0-9a-f]{8})\n"
)
_LENGTH = len("seal 1 store  log  crc  next   check \n") + 32 + 18 + 8 + 32 + 20 + 8
_CHUNK = 1 << 20


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
        """True if another process waits for the lock; or, with `by_me`, if the recorded request is our own."""
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

    def write(self, offset: int, data: bytes, *, durable: bool = False) -> None:
        """Write a few bytes in one call, which a kill cannot split. A reader without write access does nothing."""
        if self.descriptor is None:
            return
        try:
            os.pwrite(self.descriptor, data, offset)
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
    """True if another process waits for the lock of the store at `path`."""
    return _look(path, StoreLock.is_wanted)


def is_sealed(path: Path) -> bool:
    """True if there is a seal for a store at `path`."""
    return _look(path, lambda lock: read_seal(lock) is not None)


def _look(path: Path, question: Callable[[StoreLock], bool]) -> bool:
    """Asks a question of a lock file without taking the lock; False if there is none."""
    try:
        lock = StoreLock(os.open(lock_path(path), os.O_RDONLY | os.O_CLOEXEC))
    except OSError:
        return False
    with closing(lock):
        return question(lock)


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


@dataclass(frozen=True, slots=True)
class Seal:
    """The header of the store's file, the committed bytes of its log with their CRC-32, and header and inode of the
    file that is about to replace it."""

    header: str
    log_bytes: int = 0
    log_crc: int = 0
    successor: str = _NOBODY
    successor_inode: int = 0

    def announcing(self, incoming: Path) -> Seal:
        """This seal, with the file that comes next."""
        return replace(self, successor=header_of(incoming), successor_inode=incoming.stat().st_ino)

    def has_been_replaced(self, path: Path) -> bool:
        """True if the announced file is already at `path`, so that the log next to it belongs to the old file."""
        return path.stat().st_ino == self.successor_inode and header_of(path) == self.successor


def log_path(path: Path) -> Path:
    """The path of DuckDB's write-ahead log for a database file."""
    return path.with_name(f"{path.name}.wal")


def header_of(path: Path) -> str:
    """A hash of a database file's headers, as 32 hex digits, which distinguishes its checkpoints from all others."""
    with path.open("rb") as file:
        return hashlib.sha256(file.read(_HEADERS)).hexdigest()[:32]


def read_seal(lock: StoreLock) -> Seal | None:
    """The seal in a lock file; None if there is none, or an incomplete one."""
    line = lock.read(_LENGTH).decode("ascii", "replace")
    match = _LINE.fullmatch(line)
    if not match or int(match["check"], 16) != _check(line):
        return None
    return Seal(match["store"], int(match["bytes"]), int(match["crc"], 16), match["next"], int(match["inode"]))


def write_seal(lock: StoreLock, seal: Seal, *, durable: bool = False) -> None:
    """Seal the store; `durable` waits for the disk."""
    line = (
        f"seal 1 store {seal.header} log {seal.log_bytes:018d} crc {seal.log_crc:08x} "
        f"next {seal.successor} {seal.successor_inode:020d} check "
    )
    lock.write(0, f"{line}{_check(line):08x}\n".encode("ascii"), durable=durable)


def extend(seal: Seal, path: Path) -> Seal:
    """The seal after a commit: the complete current log. Raises DamagedStoreError if the log became shorter."""
    log = log_path(path)
    size, crc = seal.log_bytes, seal.log_crc
    present = log.stat().st_size if log.exists() else 0
    if present < size:
        raise DamagedStoreError(f"the write-ahead log '{log}' was truncated or removed while the store was open")
    if present > size:
        with log.open("rb") as file:
            file.seek(size)
            while chunk := file.read(_CHUNK):
                size, crc = size + len(chunk), zlib.crc32(chunk, crc)
    return Seal(seal.header, size, crc)


def current_seal(path: Path, lock: StoreLock) -> Seal:
    """The seal of a store's file as it is: of one without a seal, or that another program has written since, a seal
    without a log."""
    header, seal = header_of(path), read_seal(lock)
    return Seal(header) if seal is None or header != seal.header else seal


def seal_in_force(path: Path, lock: StoreLock) -> Seal:
    """The `current_seal`, after checking the log against it. Raises DamagedStoreError if committed bytes of the log are
    missing or changed."""
    seal = current_seal(path, lock)
    problem = find_log_problem(log_path(path), seal)
    if not problem and _is_of_another_file(path):
        raise DamagedStoreError(
            f"the write-ahead log '{log_path(path)}' belongs to a different file than '{path}'; put that file back, or "
            f"move the log away if its changes are not wanted ('memory-pipeline recover' does that, and keeps it)"
        )
    if problem:
        raise DamagedStoreError(
            f"the write-ahead log '{log_path(path)}' {problem}, so that the latest changes cannot be read; "
            f"'memory-pipeline recover' sets the store aside and recovers everything that can be read"
        )
    return seal


def _is_of_another_file(path: Path) -> bool:
    """True if the log next to a store belongs to another database; DuckDB would not apply it."""
    log = log_path(path)
    if not log.exists():
        return False
    with log.open("rb") as file, path.open("rb") as store:
        named = _NAMES_ITS_DATABASE.match(file.read(_LONGEST_NAME))
        identifier = store.read(_HEADER)[_IDENTIFIER]
    encoded = b"".join(bytes([b]) if b < 128 else bytes([b, 1]) for b in identifier)
    return named is not None and named[1] != encoded


def has_more(path: Path, seal: Seal) -> bool:
    """True if the log has more than the sealed bytes: a commit that a kill kept from being sealed, or cut off."""
    log = log_path(path)
    return log.exists() and log.stat().st_size > seal.log_bytes


def find_log_problem(log: Path, seal: Seal) -> str:
    """What keeps the log of a store from having every committed byte, whatever the state of the store's file; empty if
    nothing does."""
    if not log.exists():
        return f"is missing: it had {seal.log_bytes} bytes" if seal.log_bytes else ""
    crc, left = 0, seal.log_bytes
    with log.open("rb") as file:
        if not _LOG_BEGINS.startswith(file.read(len(_LOG_BEGINS))):
            return "is damaged: its start is not that of a log"
        file.seek(0)
        while left and (chunk := file.read(min(_CHUNK, left))):
            crc, left = zlib.crc32(chunk, crc), left - len(chunk)
    if left:
        return f"is truncated: {seal.log_bytes - left} of its {seal.log_bytes} bytes are there"
    return "is damaged: its bytes differ from those that were written" if crc != seal.log_crc else ""


def _check(line: str) -> int:
    return zlib.crc32(line[: line.rindex("check ") + len("check ")].encode("ascii")) if "check " in line else -1


def directory_beside(path: Path) -> Path:
    """The directory of a store's snapshots and kept logs."""
    return path.parent / f"{path.stem}.snapshots"


def read_blocks(path: Path) -> tuple[int, list[int]]:
    """Read every block of a database file and check it; returns how many there are, and the numbers of those in use
    that cannot be read.

    A block that the file itself marks as free may contain anything. Raises ValueError for a file with unreadable
    headers, and OSError for a disk error.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        block_size, free_list = _read_current_header(file.read(3 * _HEADER))
        count = (size - 3 * _HEADER) // block_size
        file.seek(3 * _HEADER)
        damaged = [number for number in range(count) if not _is_whole(file.read(block_size))]
        if damaged:
            free = _read_free_blocks(file, block_size, free_list)
            damaged = [number for number in damaged if number not in free]
    return count, damaged


def headers_read(path: Path) -> bool:
    """True if the three headers of a database file are those that were written."""
    with path.open("rb") as file:
        pages = [file.read(_HEADER) for _ in range(3)]
    return all(len(page) == _HEADER and _is_whole(page) for page in pages)


def write_identifier(path: Path, identifier: bytes) -> None:
    """Give a database file without a log another identifier (16 bytes), so that it no longer accepts a log of
    another file.

    Raises ValueError for a file whose main header cannot be read.
    """
    with path.open("r+b") as file:
        page = bytearray(file.read(_HEADER))
        if len(page) != _HEADER or not _is_whole(page):
            raise ValueError("its main header cannot be read")
        page[_IDENTIFIER] = identifier
        page[:8] = struct.pack("<Q", _checksum(page))
        file.seek(0)
        file.write(page)


def _is_whole(block: bytes | bytearray) -> bool:
    (written,) = struct.unpack_from("<Q", block)
    return bool(written == _checksum(block))


def _checksum(block: bytes | bytearray) -> int:
    return int(np.bitwise_xor.reduce(np.frombuffer(block, dtype="<u8")[1:] * _FACTOR) ^ _SEED)


def _read_current_header(headers: bytes) -> tuple[int, int]:
    """Block size and the pointer to the free list, from the newer readable database header."""
    candidates = []
    for offset in (_HEADER, 2 * _HEADER):
        page = headers[offset : offset + _HEADER]
        if len(page) == _HEADER and _is_whole(page):
            iteration, _meta, free_list, _count, block_size = struct.unpack_from("<5Q", page, 8)
            candidates.append((iteration, block_size, free_list))
    if not candidates or not _is_whole(headers[:_HEADER]):
        raise ValueError("its headers cannot be read")
    _, block_size, free_list = max(candidates)
    if block_size < _HEADER or block_size % _HEADER:
        raise ValueError(f"its block size is {block_size}")
    return block_size, free_list


def _read_free_blocks(file: BinaryIO, block_size: int, pointer: int) -> set[int]:
    """The free list: a count and that many block numbers, in pieces of metadata blocks that are chained by pointers."""
    piece = (block_size - 8) // _PIECES // 8 * 8
    words: list[int] = []
    seen: set[int] = set()
    while pointer != _NO_POINTER and pointer not in seen and (not words or len(words) <= words[0]):
        seen.add(pointer)
        block, index = pointer & _BLOCK_BITS, pointer >> 56
        file.seek(3 * _HEADER + block * block_size + 8 + index * piece)
        numbers = np.frombuffer(file.read(piece), dtype="<u8").tolist()
        if not numbers:
            break
        pointer, rest = numbers[0], numbers[1:]
        words += rest
    return set(words[1 : 1 + words[0]]) if words else set()
