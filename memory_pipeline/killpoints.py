"""A hook for tests: places between two writes, at any of which the process can be made to die.

`KILL_POINT=NAME` or `NAME#3` sends SIGKILL to the process the first or third time the place is reached;
`KILL_POINT=record:FILE` writes the names of the places that were reached, in order. Without the variable
a place costs one comparison.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

_WANTED = os.environ.get("KILL_POINT")
_seen: Counter[str] = Counter()


def reached(place: str) -> None:
    """Die here, if this is the place that was asked for."""
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
