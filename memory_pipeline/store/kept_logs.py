"""The logs that were folded in since the last snapshots: together with a snapshot, they restore a damaged store
completely.

Each is stored next to the snapshots; its name has the headers of the file that it belonged to and of the resulting
file, and a hash of the resulting contents. So the chain of logs from a snapshot to the last state of the store can
be found, and each step is verified by its result.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from memory_pipeline.store.seal import log_path

_NAME = re.compile(r"log-(?P<base>[0-9a-f]{32})-(?P<next>[0-9a-f]{32})-(?P<contents>[0-9a-f]{32})\.wal")
#: Kept logs may take as much space as the store, and at least this much; beyond that, the chain starts again.
_LEAST_ROOM = 64 << 20


@dataclass(frozen=True, slots=True)
class KeptLog:
    """A log, the header of the resulting file, and the hash of its contents."""

    path: Path
    header: str
    contents: str


def directory_beside(path: Path) -> Path:
    """The directory of a store's snapshots and kept logs."""
    return path.parent / f"{path.stem}.snapshots"


def short_hash(contents: str) -> str:
    """A digest of contents, shortened for a file name."""
    return hashlib.sha256(contents.encode()).hexdigest()[:32]


def keep_log(path: Path, base: str, following: str, contents: str) -> None:
    """Give the log of a store that is about to be folded a second name; `base` and `following`: the headers of the
    store's file before and after. Without snapshots, a log is not needed."""
    directory, log = directory_beside(path), log_path(path)
    if not directory.is_dir():
        return
    known = []
    for file in _logs_in(directory):
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
    led_by = {found["next"]: (file, found) for file in _logs_in(directory_beside(path)) if (found := _named(file))}
    chain: list[KeptLog] = []
    while end != start:
        if end not in led_by or len(chain) > len(led_by):
            return None
        file, found = led_by[end]
        chain.append(KeptLog(file, end, found["contents"]))
        end = found["base"]
    return chain[::-1]


def logs_after(path: Path, header: str) -> list[KeptLog]:
    """The kept logs that follow the file with this header, until the chain branches."""
    following: dict[str, list[KeptLog]] = {}
    for file in _logs_in(directory_beside(path)):
        if found := _named(file):
            following.setdefault(found["base"], []).append(KeptLog(file, found["next"], found["contents"]))
    chain: list[KeptLog] = []
    while len(ways := following.pop(header, [])) == 1:
        chain += ways
        header = ways[0].header
    return chain


def forget_logs_before(path: Path, moment: float) -> None:
    """Remove the kept logs that were last written before a time (seconds since 1970)."""
    for file in _logs_in(directory_beside(path)):
        if file.stat().st_mtime < moment:
            file.unlink(missing_ok=True)


def _logs_in(directory: Path) -> list[Path]:
    return sorted(directory.glob("log-*.wal"), key=lambda file: (file.stat().st_mtime, file.name))


def _named(file: Path) -> re.Match[str] | None:
    return _NAME.fullmatch(file.name)
