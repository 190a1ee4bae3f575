"""Changes files that other programs and people write too, so that nobody's change is lost.

The new contents are written beside the file and flushed. Then the two change places in one step, and what stood there
until that moment is compared with what the change was made from: if somebody has written in between, theirs is put
back, and the change is made again from it. Where the system cannot exchange two files, the file is read again directly
before it is replaced.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from memory_pipeline.errors import OutputError
from memory_pipeline.files.writing import cause_and_mend, check_output, new_file, partial_path, real_path, sweep, sync
from memory_pipeline.killpoints import reached

Written = Literal["created", "changed", "unchanged"]
_LONGEST = 50_000_000
_AT_FDCWD, _EXCHANGE = -100, 2
#: How long a program that had the file open may need to end what it writes; how long it is given before the next
#: attempt, and how many attempts there are.
_SETTLE_S, _PAUSE_S, _ATTEMPTS = 0.02, 0.1, 30
#: Byte order marks of encodings in which no marker can be found.
_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff")


def change_text(path: Path, change: Callable[[str], str], *, may_part: bool = False, preview: bool = False) -> Written:
    """Give a file the contents that `change` makes of its present ones (empty if there is none); links are followed.

    `change` may be called several times. A file that need not change keeps its bytes and its times; bytes that are not
    UTF-8 are kept as they are. `may_part`: a file with several names (hard links) may become one of its own under this
    name. With `preview`, nothing is written. Raises OutputError if the file cannot be written, or is written by others
    all the time.
    """
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_S)
        target = real_path(path) if preview else check_output(path, lambda _: True)
        before = bytes_of(path, target)
        after = _changed(path, before or b"", change)
        if after == before or (before is None and not after):
            return "unchanged"
        if preview:
            return "created" if before is None else "changed"
        if not may_part and before is not None and _count_names(target) > 1:
            raise OutputError(
                f"'{path}' has another name (a hard link), under which its words would stay as they are; make that "
                "name a symbolic link or a copy"
            )
        try:
            if _put(target, before, after):
                return "created" if before is None else "changed"
        except OSError as error:
            raise OutputError(f"'{path}' could not be written: {cause_and_mend(error)}; it is as it was") from error
    raise OutputError(f"'{path}' is written by another program all the time; run again when that has ended")


def remove_unless_changed(path: Path, expected: bytes) -> bool:
    """Remove a file that still has these contents; returns whether it was removed."""
    aside = partial_path(path)
    try:
        path.rename(aside)
        removed = aside.read_bytes() == expected
        if removed or _place_new(aside, path):
            aside.unlink(missing_ok=True)
        else:  # somebody has written it anew
            aside.rename(_aside_path(path, aside))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise OutputError(f"'{path}' could not be removed: {cause_and_mend(error)}") from error
    return removed


def bytes_of(path: Path, target: Path) -> bytes | None:
    """The contents of a file; None if there is none. Raises OutputError for one that cannot be changed: it is too
    large, or cannot be read. `path`: what the error calls it."""
    try:
        if target.stat().st_size > _LONGEST:
            raise OutputError(f"'{path}' is larger than {_LONGEST} bytes; name another file")
        return target.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"'{path}' cannot be read: {cause_and_mend(error)}") from error


def _count_names(target: Path) -> int:
    try:
        return target.stat().st_nlink
    except OSError:  # it was removed just now
        return 1


def _is_wide(data: bytes) -> bool:
    """True if signs take two bytes or four, as in UTF-16 without a mark: a quarter is zeros, or a zero ends lines."""
    return 4 * data.count(0) >= max(len(data), 4) or b"\n\0" in data or b"\0\n" in data


def _changed(path: Path, before: bytes, change: Callable[[str], str]) -> bytes:
    if before.startswith(_OTHER_ENCODINGS) or _is_wide(before):
        raise OutputError(f"'{path}' is not UTF-8; convert it, or move it away")
    try:
        return change(before.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    except OutputError as error:
        raise OutputError(f"'{path}' was left as it is: {error}") from error


def _put(target: Path, before: bytes | None, after: bytes) -> bool:
    """Put the new contents in the place of those that they were made from; return False if these have changed."""
    partial = partial_path(target)
    sweep(target.parent)
    try:
        with new_file(partial, target) as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        reached("shared.written")
        if bytes_of(target, target) != before:
            return False
        if not (_place_new(partial, target) if before is None else _replace(partial, target, before, after)):
            return False
        sync(target.parent)
        return True
    except FileNotFoundError:
        if target.parent.is_dir():  # somebody removed the file just now
            return False
        raise
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _place_new(partial: Path, target: Path) -> bool:
    """Give a new file its name, unless the name has been taken."""
    try:
        os.link(partial, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        if target.exists():
            return False
        partial.rename(target)
    return True


def _replace(partial: Path, target: Path, before: bytes, after: bytes) -> bool:
    if not _exchange(partial, target):
        partial.replace(target)
        return True
    time.sleep(_SETTLE_S)
    if partial.read_bytes() == before:
        return True
    if _exchange(partial, target) and partial.read_bytes() != after:
        aside = _aside_path(target, partial)
        partial.rename(aside)
        raise OutputError(f"'{target}' was written by two other programs at once; what one of them wrote is '{aside}'")
    return False


def _aside_path(target: Path, partial: Path) -> Path:
    """The name under which what somebody wrote at the same time is kept."""
    return target.with_name(f"{target.name}.other-{partial.name[1:9]}")


def _exchange(one: Path, other: Path) -> bool:
    """Let two files change places in one step; returns False where the system cannot."""
    call = _renameat2()
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.EPERM, errno.EOPNOTSUPP):
        return False
    raise OSError(number, os.strerror(number))


@functools.cache
def _renameat2() -> Callable[..., int] | None:
    try:
        call: Callable[..., int] = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return None
    return call
