"""The logs that were folded in since the last snapshots: with the snapshot they bring a damaged store back in full.

Each lies beside the snapshots under the headers of the file that it belonged to and of the file that it led to, and a
hash of the contents then. So the chain of logs from a snapshot to the store as it was can be found, and is proved at
each step by what comes out.
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
#: Kept logs may take as much room as the store, and this much at least; beyond, the chain begins anew.
_LEAST_ROOM = 64 << 20


@dataclass(frozen=True, slots=True)
class KeptLog:
    """A log, the header of the file that it led to, and the hash of the contents there."""

    path: Path
    header: str
    contents: str


def directory_beside(path: Path) -> Path:
    """Where the snapshots of a store lie, and its kept logs."""
    return path.parent / f"{path.stem}.snapshots"


def short_hash(contents: str) -> str:
    """A digest of contents as it stands in a name."""
    return hashlib.sha256(contents.encode()).hexdigest()[:32]


def keep_log(path: Path, base: str, following: str, contents: str) -> None:
    """Give the log of a store that is about to be folded in a second name; `base` and `following`: the headers of the
    store's file before and after. A store without snapshots has nothing that a log could continue."""
    directory, log = directory_beside(path), log_path(path)
    if not directory.is_dir():
        return
    known = []
    for file in _logs_in(directory):
        if file.samefile(log):  # a kill has kept this log from being folded in before, and it has grown since
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
    except OSError:  # a file system without hard links
        shutil.copyfile(log, name)


def logs_between(path: Path, start: str, end: str) -> list[KeptLog] | None:
    """The kept logs that lead from the file with the header `start` to that with the header `end`, in order; None
    where they do not. A store that was restored has more than one way on from its snapshot."""
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
    """The kept logs that lead on from the file with this header, as far as there is only one way."""
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
