"""Writes files next to the store: completely or not at all, and never over someone else's file.

A file is written under another name in its own directory, flushed to disk, and then moved into place. On any error
the message is one sentence, nothing is left behind, and the existing file stays.
"""

from __future__ import annotations

import errno
import filecmp
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from memory_pipeline.errors import InputError, OutputError
from memory_pipeline.killpoints import reached

#: Tells whether an existing file at the target was written by this program, as the same kind of file.
Recogniser = Callable[[Path], bool]

_PARTIAL = re.compile(r"^\.[0-9a-f]{16}\.partial$")
_LEFT_OVER_AFTER_S = 3600
#: The first bytes of the files of any store, whatever their names.
_OF_A_STORE = {
    "a DuckDB database, and may be a store or a snapshot": re.compile(rb".{8}DUCK", re.DOTALL),
    "the write-ahead log of a DuckDB database": re.compile(rb"d\x00be\x00"),
    "the lock of a store, with its seal": re.compile(rb"seal \d+ store "),
}

_CAUSES = {
    "the disk is full; free some space and run again": (errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    "permission denied; check the owner of the file and its directory": (errno.EACCES, errno.EPERM),
    "the file system is read-only; name another directory": (errno.EROFS,),
    "it does not exist; check the path": (errno.ENOENT,),
    "a part of its path is a file; check the path": (errno.ENOTDIR, errno.EEXIST),
    "it is a directory; name a file": (errno.EISDIR,),
    "its links lead in a circle; name the file itself": (errno.ELOOP,),
    "its name is too long; use a shorter one": (errno.ENAMETOOLONG,),
    "too many files are open; close some programs and run again": (errno.EMFILE, errno.ENFILE),
}


def cause_and_mend(error: OSError) -> str:
    """The meaning of an operating system error, and how to fix it."""
    return next((words for words, numbers in _CAUSES.items() if error.errno in numbers), error.strerror or str(error))


def real_path(path: Path | str, name: str = "a path") -> Path:
    """The absolute path with links and `~` resolved; it need not exist. Raises InputError for an impossible path."""
    text = os.fspath(path)
    if not text or "\0" in text:
        raise InputError(f"{name} is {text!r}, which names no file; write a path")
    try:
        return Path(os.path.realpath(os.path.expanduser(text)))  # noqa: PTH111 - Path.expanduser raises for strangers
    except OSError as error:
        raise InputError(f"{name} '{text}' cannot be used: {cause_and_mend(error)}") from error


def resolve_links(path: Path) -> Path:
    """The absolute path with links resolved, but for those in a circle, of which `Path.resolve` raises RuntimeError."""
    return Path(os.path.realpath(path))


def check_has_contents(path: Path) -> None:
    """Raises InputError unless the path is a file or a directory: a pipe or a device can be read once, or without an
    end. The error of a path that cannot be looked at tells why."""
    try:
        exists, may_be_read = path.exists(), path.is_file() or path.is_dir()
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {cause_and_mend(error)}") from error
    if not exists:
        raise InputError(f"'{path}' does not exist; check the path")
    if not may_be_read:
        raise InputError(f"'{path}' is neither a file nor a directory; write what it gives to a file, and name that")


def begins_with(*marks: str) -> Recogniser:
    """A check that recognises a file by its first characters."""
    wanted = tuple(mark.encode() for mark in marks)

    def is_ours(path: Path) -> bool:
        with path.open("rb") as file:
            return file.read(max(map(len, wanted))).startswith(wanted)

    return is_ours


def nobody(path: Path) -> bool:
    """A check that accepts no existing file, so that none is replaced."""
    return False


def check_output(path: Path, is_ours: Recogniser, *, force: bool | None = None) -> Path:
    """The real path of a file that may be written: a new or empty one, one of our own, or with `force` any ordinary
    file except a database, its log and its lock.

    `force` is None if the command has no `--force`. Raises OutputError for everything else, before anything is done.
    """
    try:
        target = real_path(path)
        if not stat.S_ISDIR(target.parent.stat().st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "", str(target.parent))
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "", str(target.parent))
        with suppress(FileNotFoundError):
            _check_present(path, target, is_ours, target.stat(), force=force)
    except FileNotFoundError:
        raise OutputError(f"'{path}' cannot be written: name a file in a directory that exists") from None
    except OSError as error:
        raise OutputError(f"'{path}' cannot be written: {cause_and_mend(error)}") from error
    return target


def _check_present(
    path: Path, target: Path, is_ours: Recogniser, status: os.stat_result, *, force: bool | None
) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "", str(target))
    if not stat.S_ISREG(status.st_mode):
        raise OutputError(f"'{path}' is not an ordinary file, but a device or a pipe; name a file")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "", str(target))
    with target.open("rb") as file:
        start = file.read(64)
    for what, mark in _OF_A_STORE.items():
        if mark.match(start):
            raise OutputError(f"'{path}' is {what}; name another file")
    if status.st_size and not force and not is_ours(target):
        if force is None:
            raise OutputError(
                f"'{path}' exists and was not written by this program; move it away, or choose another place"
            )
        raise OutputError(f"'{path}' exists and was not written by this command; name another file, or add --force")


@contextmanager
def writing_whole(
    path: Path,
    is_ours: Recogniser,
    *,
    force: bool | None = None,
    place: str = "file.written",
    private: bool = False,
    keep_equal: bool = False,
) -> Iterator[BinaryIO]:
    """A file to write to, which is moved to `path` when the block ends; on any error nothing is left behind.

    `place` is the kill point before the move; with `private`, only its owner may read and write it; with `keep_equal`,
    a file with these contents stays, with its times. Raises OutputError as `check_output` does, and for a full disk.
    """
    target = check_output(path, is_ours, force=force)
    partial = partial_path(target)
    try:
        sweep(target.parent)
        with new_file(partial, None if private else target) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        reached(place)
        check_output(path, is_ours, force=force)  # another file may have appeared there in the meantime
        if keep_equal and target.exists() and filecmp.cmp(partial, target, shallow=False):
            return
        partial.replace(target)
        sync(target.parent)
    except OSError as error:
        raise OutputError(f"'{path}' could not be written: {cause_and_mend(error)}; nothing was left behind") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def write_text(
    path: Path,
    text: str,
    is_ours: Recogniser,
    *,
    force: bool | None = None,
    place: str = "file.written",
    private: bool = False,
) -> None:
    """Write a text as UTF-8, completely or not at all; arguments and errors as in `writing_whole`."""
    with writing_whole(path, is_ours, force=force, place=place, private=private) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def append_line(path: Path, line: str) -> None:
    """Append a line to a growing file; if the disk is full, the file keeps its previous end.

    Raises OutputError as `check_output` does.
    """
    target = check_output(path, lambda _: True)
    data = f"{line}\n".encode("utf-8", "backslashreplace")
    try:
        with target.open("ab", buffering=0) as file:
            before, written = file.tell(), 0
            try:
                while written < len(data):
                    written += file.write(data[written:])
            except OSError:
                file.truncate(before)
                raise
    except OSError as error:
        raise OutputError(f"'{path}' could not be written: {cause_and_mend(error)}") from error


@contextmanager
def directories(*paths: Path) -> Iterator[None]:
    """Create missing directories; on an error, those that were created and are still empty are removed.

    Raises OutputError if one cannot be created.
    """
    made: list[Path] = []
    try:
        for path in paths:
            try:
                for each in reversed([each for each in (path, *path.parents) if not each.is_dir()]):
                    each.mkdir()
                    made.append(each)
            except OSError as error:
                raise OutputError(f"the directory '{path}' cannot be created: {cause_and_mend(error)}") from error
        yield
    except BaseException:
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir()
        raise


def partial_path(target: Path) -> Path:
    """The name under which a file is written before it is moved to its place."""
    return target.with_name(f".{secrets.token_hex(8)}.partial")


def new_file(partial: Path, target: Path | None) -> BinaryIO:
    """Create a file with the rights, and if possible the owner, of the one that it will replace, or else private."""
    mode = 0o666 if target else 0o600
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    if target:
        with suppress(OSError):
            replaced = target.stat()
            os.chmod(partial, stat.S_IMODE(replaced.st_mode))  # noqa: PTH101 - beside os.open
            if (replaced.st_uid, replaced.st_gid) != (os.geteuid(), os.getegid()):
                os.chown(partial, replaced.st_uid, replaced.st_gid)
    return os.fdopen(descriptor, "wb")


def sweep(directory: Path) -> None:
    """Remove unfinished files that killed processes left more than an hour ago."""
    for leftover in directory.iterdir():
        if _PARTIAL.match(leftover.name):
            with suppress(OSError):
                if time.time() - leftover.lstat().st_mtime > _LEFT_OVER_AFTER_S:
                    leftover.unlink()


def sync(path: Path) -> None:
    """Wait until a file, or the names in a directory, are on disk; not every file system does that for directories."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError:
        if not path.is_dir():
            raise
