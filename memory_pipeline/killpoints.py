"""A hook for tests: named points between two writes at which the process can be killed.

`KILL_POINT=NAME` or `NAME#3` sends SIGKILL to the process the first or third time it reaches the point;
`KILL_POINT=record:FILE` writes the names of the points in the order in which they are reached. Without the variable,
a point costs one comparison.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

_WANTED = os.environ.get("KILL_POINT")
_seen: Counter[str] = Counter()


def reached(place: str) -> None:
    """Kill this process if this is the requested point."""
    if _WANTED is not None:
        _act(place, _WANTED)


def _act(place: str, wanted: str) -> None:
    _seen[place] += 1
    numbered = f"{place}#{_seen[place]}"
    if wanted.startswith("record:"):
        with Path(wanted.removeprefix("record:")).open("a", encoding="utf-8") as file:
            file.write(f"{numbered}\n")
    elif wanted in (numbered, place):
        os.kill(os.getpid(), signal.SIGKILL)
