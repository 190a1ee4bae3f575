"""Temporary directories for the copies of dry runs.

Each is locked for as long as its process lives, however that ends: the next dry run removes the unlocked ones, which
killed processes left.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import portalocker

_PREFIX = "memory-pipeline-dry-run-"


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """An empty directory in the one for temporary files, removed with its contents when the block ends.

    Before that, those that killed processes of the same user left there are removed. Raises OSError if none can be
    created.
    """
    parent = Path(tempfile.gettempdir())
    _sweep(parent)
    directory, lock = _locked_directory(parent)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked_directory(parent: Path) -> tuple[Path, int | None]:
    """A new directory and the descriptor that locks it; None on file systems without locks, where none is removed."""
    while True:
        directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        try:
            lock = _lock(directory)
        except portalocker.exceptions.LockException:
            lock = None
        except FileNotFoundError:
            continue
        # Another process may have found it unlocked a moment ago, and have removed it.
        if directory.exists():
            return directory, lock
        if lock is not None:
            os.close(lock)


def _sweep(parent: Path) -> None:
    """Remove the directories of ended processes; whatever cannot be removed stays."""
    with suppress(OSError):
        for directory in parent.glob(f"{_PREFIX}*"):
            with suppress(OSError, portalocker.exceptions.LockException):
                if directory.lstat().st_uid == os.getuid():
                    lock = _lock(directory)
                    try:
                        shutil.rmtree(directory, ignore_errors=True)
                    finally:
                        os.close(lock)


def _lock(directory: Path) -> int:
    """Lock a directory without waiting. Raises LockException if another process has locked it, and OSError if it is
    gone or no directory."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        portalocker.lock(descriptor, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
