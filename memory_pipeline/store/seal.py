"""The seal of a store: what its files have to look like, written beside it after every commit.

DuckDB takes a write-ahead log that does not read for one that a crash has cut off, and goes on without what it
held. The seal says how many bytes of the log were committed, and their checksum, so that a log that was
damaged, shortened or deleted is named instead. What the log holds beyond the sealed bytes is a commit in flight:
whole or cut off, DuckDB decides rightly about that.

The seal also names the file that is about to take the store's place, so that a kill between moving that file in
and removing the log that it contains leaves no doubt about which belongs to which.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

from memory_pipeline.errors import DamagedStoreError
from memory_pipeline.store.blocks import identifier_of
from memory_pipeline.store.lock import StoreLock

#: DuckDB's three headers: one of the file, two of the database, one of which changes with every checkpoint.
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


@dataclass(frozen=True, slots=True)
class Seal:
    """The header of the store's file, the committed bytes of its log with their CRC-32, and header and inode of
    the file that is about to replace it."""

    header: str
    log_bytes: int = 0
    log_crc: int = 0
    successor: str = _NOBODY
    successor_inode: int = 0

    def announcing(self, incoming: Path) -> Seal:
        """This seal, with the file that comes next."""
        return replace(self, successor=header_of(incoming), successor_inode=incoming.stat().st_ino)

    def has_been_replaced(self, path: Path) -> bool:
        """Whether the announced file stands at `path` by now, so that the log beside it is the old file's."""
        return path.stat().st_ino == self.successor_inode and header_of(path) == self.successor


def log_path(path: Path) -> Path:
    """Where DuckDB keeps the write-ahead log of a database file."""
    return path.with_name(f"{path.name}.wal")


def header_of(path: Path) -> str:
    """What tells one checkpoint of a database file from every other: a hash of its headers, as 32 hex digits."""
    with path.open("rb") as file:
        return hashlib.sha256(file.read(_HEADERS)).hexdigest()[:32]


def read_seal(lock: StoreLock) -> Seal | None:
    """The seal in a lock file; None where there is none, or a torn one."""
    line = lock.read(_LENGTH).decode("ascii", "replace")
    found = _LINE.fullmatch(line)
    if not found or int(found["check"], 16) != _check(line):
        return None
    return Seal(found["store"], int(found["bytes"]), int(found["crc"], 16), found["next"], int(found["inode"]))


def write_seal(lock: StoreLock, seal: Seal, *, durable: bool = False) -> None:
    """Seal the store; `durable` waits for the disk."""
    line = (
        f"seal 1 store {seal.header} log {seal.log_bytes:018d} crc {seal.log_crc:08x} "
        f"next {seal.successor} {seal.successor_inode:020d} check "
    )
    lock.write(0, f"{line}{_check(line):08x}\n".encode("ascii"), durable=durable)


def extend(seal: Seal, path: Path) -> Seal:
    """The seal after a commit: everything that the log holds now. Raises DamagedStoreError when that is less."""
    log = log_path(path)
    size, crc = seal.log_bytes, seal.log_crc
    present = log.stat().st_size if log.exists() else 0
    if present < size:
        raise DamagedStoreError(f"the write-ahead log '{log}' was cut off or removed while the store was open")
    if present > size:
        with log.open("rb") as file:
            file.seek(size)
            while chunk := file.read(_CHUNK):
                size, crc = size + len(chunk), zlib.crc32(chunk, crc)
    return Seal(seal.header, size, crc)


def seal_in_force(path: Path, seal: Seal | None) -> Seal:
    """The seal to go on with, once the log has been held against it.

    A store without a seal, or whose file another program has written since, is taken as it is.
    Raises DamagedStoreError when committed bytes of the log are missing or are not those that were written.
    """
    header = header_of(path)
    if seal is None or header != seal.header:
        seal = Seal(header)
    problem = _problem_of_log(log_path(path), seal)
    if not problem and _is_of_another_file(path):
        raise DamagedStoreError(
            f"the write-ahead log '{log_path(path)}' belongs to another file than '{path}'; put that file back, or "
            f"move the log away if its changes are not wanted ('memory-pipeline recover' does that, and keeps it)"
        )
    if problem:
        raise DamagedStoreError(
            f"the write-ahead log '{log_path(path)}' {problem}, so that what was committed last cannot be read; "
            f"'memory-pipeline recover' puts the store aside and brings back all that can be read"
        )
    return seal


def _is_of_another_file(path: Path) -> bool:
    """Whether the log beside a store names another database; DuckDB would not apply it."""
    log = log_path(path)
    if not log.exists():
        return False
    with log.open("rb") as file:
        named = _NAMES_ITS_DATABASE.match(file.read(_LONGEST_NAME))
    encoded = b"".join(bytes([b]) if b < 128 else bytes([b, 1]) for b in identifier_of(path))
    return named is not None and named[1] != encoded


def has_more(path: Path, seal: Seal) -> bool:
    """Whether the log holds more than was sealed: a commit that a kill has kept from being sealed, or has cut off."""
    log = log_path(path)
    return log.exists() and log.stat().st_size > seal.log_bytes


def log_is_whole(path: Path, seal: Seal) -> bool:
    """Whether the log of a store holds every byte that was committed to it, whatever the store's file is like."""
    return not _problem_of_log(log_path(path), seal)


def _problem_of_log(log: Path, seal: Seal) -> str:
    if not log.exists():
        return f"is missing: it held {seal.log_bytes} bytes" if seal.log_bytes else ""
    crc, left = 0, seal.log_bytes
    with log.open("rb") as file:
        if not _LOG_BEGINS.startswith(file.read(len(_LOG_BEGINS))):
            return "is damaged: it does not begin as one does"
        file.seek(0)
        while left and (chunk := file.read(min(_CHUNK, left))):
            crc, left = zlib.crc32(chunk, crc), left - len(chunk)
    if left:
        return f"is cut off: {seal.log_bytes - left} of its {seal.log_bytes} bytes are there"
    return "is damaged: its bytes are not those that were written" if crc != seal.log_crc else ""


def _check(line: str) -> int:
    return zlib.crc32(line[: line.rindex("check ") + len("check ")].encode("ascii")) if "check " in line else -1
