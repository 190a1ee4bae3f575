"""Limits the rate of model calls: at most a number of calls in any minute, with a minimum distance."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a run waits for a model.

    `attempts`: for one call; `longest_wait_s`: that a busy server may ask for; `time_limit_s`: for which a step calls
    models or waits for a batch. What is not answered by then stays open.
    """

    attempts: int = 5
    longest_wait_s: float = 120.0
    time_limit_s: float = 7200.0


#: Nobody waits for a night; the rest waits for the next one.
NIGHTLY = Patience()


class Pace:
    """Grants turns, from any thread.

    At most `burst` turns fall into any window of `60 * burst / per_minute` seconds, so that a burst of at most
    `per_minute` respects the rate in every minute; two turns are at least `spacing_s` apart. If the server is busy,
    `hold` delays everyone.
    """

    def __init__(
        self,
        per_minute: int,
        burst: int,
        spacing_s: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._window = 60.0 * burst / per_minute
        self._turns: deque[float] = deque(maxlen=burst)
        self._spacing = spacing_s
        self._held_until = 0.0
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()

    def wait_for_turn(self) -> None:
        """Return when it is the caller's turn."""
        with self._lock:
            now = self._clock()
            earliest = max(now, self._held_until)
            if self._turns:
                earliest = max(earliest, self._turns[-1] + self._spacing)
            if len(self._turns) == self._turns.maxlen:
                earliest = max(earliest, self._turns[0] + self._window)
            self._turns.append(earliest)
        while (left := max(earliest, self._held_until) - self._clock()) > 0:
            self._sleep(left)

    def hold(self, seconds: float) -> None:
        """Grant no turn for this many seconds."""
        with self._lock:
            self._held_until = max(self._held_until, self._clock() + seconds)


def backoff(attempt: int) -> float:
    """0.5 s, doubled with every attempt up to 16 s, minus up to a quarter so that clients do not retry in lockstep."""
    return float(min(16.0, 0.5 * 2 ** (attempt - 1)) * (1 - 0.25 * random.random()))
