"""Folds the write-ahead log into the store's file, without ever writing to the only copy.

The log is folded into a copy, every block and every table of the copy is read, and only then does the copy replace
the store, in one rename. At every instant there is one whole store under its name. Logs that were folded in are kept
beside the snapshots, named for the files between which they lead.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from memory_pipeline.errors import DamagedStoreError, StoreError
from memory_pipeline.files.writing import sync
from memory_pipeline.killpoints import reached
from memory_pipeline.store import engine, seal
from memory_pipeline.store.rows import rows_digest

_log = logging.getLogger("memory_pipeline.store")

#: Replaying a log of one megabyte takes some 2 ms at each opening; the cost of a copy grows with the store.
_LEAST_LOG, _LARGEST_LOG, _SHARE_OF_STORE = 4 << 20, 16 << 20, 8
#: Tables whose rows are not knowledge: they may differ between two reads of the same store.
_PASSING = ("lease",)
_CHECKSUMS = re.compile(r"computed checksum \d+ does not match stored checksum \d+")


def said_by(error: duckdb.Error) -> str:
    """The first line of a DuckDB error, without checksum values, which mean nothing to a user."""
    text = str(error).strip() or type(error).__name__
    return _CHECKSUMS.sub("the checksum does not match", text.splitlines()[0])


def contents_digest(connection: duckdb.DuckDBPyConnection) -> str:
    """Read every table completely: its rows are counted and hashed, in any order. Lines of `table count hash sum`.

    Raises duckdb.Error if a block cannot be read.
    """
    tables = connection.execute(
        "select table_name, estimated_size > 0 from duckdb_tables() where database_name = current_database() "
        "and not internal and not list_contains($1, table_name) order by 1",
        [list(_PASSING)],
    ).fetchall()
    # A table that never had a row needs no reading, and each read costs a millisecond.
    looks = [rows_digest(name) for name, has_rows in tables if has_rows]
    rows = connection.execute(" union all ".join(looks)).fetchall() if looks else []
    rows += [(name, 0, 0, 0) for name, has_rows in tables if not has_rows]
    return "\n".join(sorted(" ".join(map(str, row)) for row in rows))


def fold_log(path: Path) -> None:
    """Fold in the log of a store unless another process has it open.

    Raises InUseError, DamagedStoreError if the copy cannot be read, and OSError for a full disk. The store is
    unchanged on any error.
    """
    with engine.hold(path, shared=False) as lock:
        fold_held(path, lock)


def fold_held(path: Path, lock: seal.StoreLock) -> None:
    """`fold_log` for a store that the caller holds exclusively."""
    if not seal.log_path(path).exists():
        return
    incoming = path.with_name(f".{path.name}.folded")
    sealed = seal.seal_in_force(path, lock)
    try:
        copy_files(path, incoming)
        reached("fold.copied")
        contents = make_whole(incoming)
        reached("fold.verified")
        keep_log(path, sealed.header, seal.header_of(incoming), contents)
        put_in_place(incoming, path, lock)
    finally:
        remove_database(incoming)


def copy_files(path: Path, target: Path) -> None:
    """Copy a store's file and its log, which the caller holds, to `target` and its log."""
    remove_database(target)
    for source, copy in ((seal.log_path(path), seal.log_path(target)), (path, target)):
        if source.exists():
            shutil.copyfile(source, copy)


def make_whole(path: Path) -> str:
    """Fold the log of a copy into it, flush it to disk, and read all of it again; returns the digest.

    The result is a database of its own: its identifier is derived from the previous file and from the contents, so
    that two stores that diverged from one file never accept each other's logs, and folding the same log again gives
    the same file. Raises DamagedStoreError if a block or a table cannot be read, or the contents have changed.
    """
    with _raise_as_damage():
        before = None
        if seal.log_path(path).exists():
            base = seal.header_of(path)
            with engine.attached_copy(path, read_only=False) as connection:
                before = contents_digest(connection)
                connection.execute("force checkpoint")
            # It stays if it has no complete commit; the comparison below shows that nothing is missing without it.
            seal.log_path(path).unlink(missing_ok=True)
            seal.write_identifier(path, hashlib.sha256(f"{base}\n{before}".encode()).digest()[:16])
        sync(path)
        after = verify_whole(path)
        if before not in (None, after):
            raise DamagedStoreError("folding its log changed the contents")
        return after


def verify_whole(path: Path) -> str:
    """Read every block and every table of a database file without a log; returns the digest of its contents.

    Raises DamagedStoreError that says what cannot be read; the caller adds the name of the file.
    """
    with _raise_as_damage():
        blocks, damaged = seal.read_blocks(path)
        if damaged:
            which = f"block {damaged[0]}" + (" is the first of them" if len(damaged) > 1 else "")
            raise DamagedStoreError(f"{len(damaged)} of the file's {blocks} blocks cannot be read ({which})")
        with engine.attached_copy(path, read_only=True) as connection:
            return contents_digest(connection)


@contextmanager
def _raise_as_damage() -> Iterator[None]:
    """Raises a DamagedStoreError for what cannot be read in a file."""
    try:
        yield
    except ValueError as error:
        raise DamagedStoreError(str(error)) from error
    except duckdb.Error as error:
        raise DamagedStoreError(f"DuckDB reports: {said_by(error)}") from error


def put_in_place(incoming: Path, path: Path, lock: seal.StoreLock) -> None:
    """Replace a store that is held exclusively with a whole database file that includes or supersedes its log.

    After a kill, either the old or the new store is there: the seal announces the next file.
    """
    if path.exists():
        seal.write_seal(lock, seal.current_seal(path, lock).announcing(incoming), durable=True)
    reached("replace.sealed")
    incoming.replace(path)
    sync(path.parent)
    reached("replace.done")
    seal.log_path(path).unlink(missing_ok=True)
    seal.write_seal(lock, seal.Seal(seal.header_of(path)))


def settle(path: Path, *, only_if_due: bool, quietly: bool = False) -> None:
    """Fold in the log if it is due, or if the store is so small that it takes no noticeable time.

    If this is not possible now, the caller's work does not fail: the log has everything. It is a warning, or with
    `quietly` nothing, if the caller reports the store's problem itself.
    """
    try:
        log, size = seal.log_path(path), path.stat().st_size
        logged = log.stat().st_size if log.exists() else 0
        is_due = logged > min(_LARGEST_LOG, max(_LEAST_LOG, size // _SHARE_OF_STORE))
        if is_due or (not only_if_due and log.exists() and size <= _LEAST_LOG * 16):
            fold_log(path)
    except seal.InUseError:
        return
    except (OSError, StoreError) as error:
        level = logging.INFO if quietly else logging.WARNING
        _log.log(level, "the write-ahead log of '%s' is kept for now: %s", path, error)


def settle_stores(*, quietly: bool = False) -> None:
    """At the end of a program, leave each written store as one file, if that is quick. `quietly`: as in `settle`."""
    for path in engine.written_stores():
        if path.is_file():
            settle(path, only_if_due=False, quietly=quietly)


def verify_store(path: Path) -> str:
    """Read every block and every table of a store, including its log; returns the digest.

    The files are copied while nobody writes to them. Raises InUseError, OSError, DamagedStoreError.
    """
    target = path.with_name(f".{path.name}.verified-{os.getpid()}")
    try:
        with engine.hold(path, shared=True) as lock:
            seal.seal_in_force(path, lock)
            copy_files(path, target)
        return make_whole(target)
    finally:
        remove_database(target)


def remove_database(path: Path) -> None:
    """Remove a copy that is not a store, and DuckDB's files next to it."""
    for name in (path, seal.log_path(path), path.with_name(f"{path.name}.wal.checkpoint")):
        name.unlink(missing_ok=True)


_KEPT_LOG = re.compile(r"log-(?P<base>[0-9a-f]{32})-(?P<next>[0-9a-f]{32})-(?P<contents>[0-9a-f]{32})\.wal")
#: Kept logs may take as much space as the store, and at least this much; beyond that, the chain starts again.
_LEAST_ROOM = 64 << 20


@dataclass(frozen=True, slots=True)
class KeptLog:
    """A log, the header of the resulting file, and the hash of its contents."""

    path: Path
    header: str
    contents: str


def short_hash(contents: str) -> str:
    """A digest of contents, shortened for a file name."""
    return hashlib.sha256(contents.encode()).hexdigest()[:32]


def keep_log(path: Path, base: str, following: str, contents: str) -> None:
    """Give the log of a store that is about to be folded a second name; `base` and `following`: the headers of the
    store's file before and after. Without snapshots, a log is not needed."""
    directory, log = seal.directory_beside(path), seal.log_path(path)
    if not directory.is_dir():
        return
    known = []
    for file in _list_logs(directory):
        if file.samefile(log):  # a kill has prevented the folding of this log before, and it has grown since
            file.unlink()
        else:
            known.append(file)
    if sum(file.stat().st_size for file in known) + log.stat().st_size > max(_LEAST_ROOM, path.stat().st_size):
        for file in known:
            file.unlink(missing_ok=True)
    name = directory / f"log-{base}-{following}-{short_hash(contents)}.wal"
    try:
        name.unlink(missing_ok=True)
        os.link(log, name)
    except OSError:  # the file system does not support hard links
        shutil.copyfile(log, name)


def logs_between(path: Path, start: str, end: str) -> list[KeptLog] | None:
    """The kept logs that lead from the file with the header `start` to that with the header `end`, in order; None if
    there is no such chain. A restored store has more than one branch after its snapshot."""
    led_by = {log.header: (base, log) for base, log in _list_kept_logs(path)}
    chain: list[KeptLog] = []
    while end != start:
        if end not in led_by or len(chain) > len(led_by):
            return None
        end, log = led_by[end]
        chain.append(log)
    return chain[::-1]


def logs_after(path: Path, header: str) -> list[KeptLog]:
    """The kept logs that follow the file with this header, until the chain branches."""
    following: dict[str, list[KeptLog]] = {}
    for base, log in _list_kept_logs(path):
        following.setdefault(base, []).append(log)
    chain: list[KeptLog] = []
    while len(ways := following.pop(header, [])) == 1:
        chain += ways
        header = ways[0].header
    return chain


def forget_logs_before(path: Path, moment: float) -> None:
    """Remove the kept logs that were last written before a time (seconds since 1970)."""
    for file in _list_logs(seal.directory_beside(path)):
        if file.stat().st_mtime < moment:
            file.unlink(missing_ok=True)


def _list_logs(directory: Path) -> list[Path]:
    return sorted(directory.glob("log-*.wal"), key=lambda file: (file.stat().st_mtime, file.name))


def _list_kept_logs(path: Path) -> list[tuple[str, KeptLog]]:
    """The kept logs of a store, each with the header of the file that it continues, oldest first."""
    matches = ((file, _KEPT_LOG.fullmatch(file.name)) for file in _list_logs(seal.directory_beside(path)))
    return [(match["base"], KeptLog(file, match["next"], match["contents"])) for file, match in matches if match]
