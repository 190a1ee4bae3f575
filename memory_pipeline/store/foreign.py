"""Checks whether a path can be a store at all, so that other files are refused before a lock or anything else is
created.

A file that does not start like a store may still have been one. The files next to it show this: a seal, a log,
snapshots. Only then is there something to recover.
"""

from __future__ import annotations

import os
from pathlib import Path

from memory_pipeline.errors import DamagedStoreError, StoreError
from memory_pipeline.store.audit import directory_beside
from memory_pipeline.store.lock import StoreLock, lock_path
from memory_pipeline.store.seal import log_path, read_seal

_MAGIC_AT, _MAGIC = 8, b"DUCK"
_SQLITE = b"SQLite format 3"[: _MAGIC_AT + len(_MAGIC)]


def refuse_other_files(path: Path) -> None:
    """Raise StoreError for something that was never a store: a directory, a device, a SQLite file, a text."""
    if path.is_dir():
        raise StoreError(f"the store '{path}' is a directory; name a file, such as '{path / 'store.duckdb'}'")
    if not path.is_file():
        raise StoreError(f"the store '{path}' is not a file; name a file")
    start = _start_of(path)
    if start.startswith(_SQLITE):
        raise StoreError(f"'{path}' is a SQLite database, not a store of this program; name another file with --store")
    if start and start[_MAGIC_AT:] != _MAGIC and not was_a_store(path):
        raise StoreError(f"'{path}' is not a store of this program; name another file with --store")


def refuse_unreadable(path: Path) -> None:
    """Raise DamagedStoreError for a file that does not start like a store, or is empty."""
    start = _start_of(path)
    if start[_MAGIC_AT:] != _MAGIC:
        what = "is empty" if not start else "does not start like a store"
        raise DamagedStoreError(
            f"'{path}' is not a readable store: it {what}; if it was one, 'memory-pipeline recover' sets it aside and "
            "restores the newest snapshot ('memory-pipeline snapshot restore' another one), otherwise name another "
            "file"
        )


def was_a_store(path: Path) -> bool:
    """Whether something that only a store has is next to a path: a seal, a log or snapshots."""
    return log_path(path).exists() or directory_beside(path).is_dir() or _is_sealed(path)


def _is_sealed(path: Path) -> bool:
    try:
        lock = StoreLock(os.open(lock_path(path), os.O_RDONLY | os.O_CLOEXEC))
    except OSError:
        return False
    try:
        return read_seal(lock) is not None
    finally:
        lock.close()


def _start_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MAGIC_AT + len(_MAGIC))
