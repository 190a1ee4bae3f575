"""The limits of a run: the rate of its model calls, how long it waits for them, and what they may cost together: money
is reserved before anything is sent."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memory_pipeline.records import CALL_LIMIT, COST_CAP


@dataclass(frozen=True, slots=True)
class Patience:
    """The patience of a run with a model.

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
        self._paused_until = 0.0
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()

    def wait_for_turn(self) -> None:
        """Return when it is the caller's turn."""
        with self._lock:
            earliest = max(self._clock(), self._paused_until)
            if self._turns:
                earliest = max(earliest, self._turns[-1] + self._spacing)
            if len(self._turns) == self._turns.maxlen:
                earliest = max(earliest, self._turns[0] + self._window)
            self._turns.append(earliest)
        while (left := max(earliest, self._paused_until) - self._clock()) > 0:
            self._sleep(left)

    def hold(self, seconds: float) -> None:
        """Grant no turn for this many seconds."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._clock() + seconds)


#: Seconds before a second attempt.
_FIRST_PAUSE_S = 0.5


def backoff(attempt: int) -> float:
    """0.5 s, doubled with every attempt up to 16 s, minus up to a quarter so that clients do not retry in lockstep."""
    return float(min(16.0, _FIRST_PAUSE_S * 2 ** (attempt - 1)) * (1 - 0.25 * random.random()))


_MILLION = 1_000_000
#: A batch costs half (https://platform.claude.com/docs/en/build-with-claude/batch-processing).
BATCH_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens in and out; prompts longer than `long_from` tokens have the `long_` prices."""

    tokens_in: float
    tokens_out: float
    long_from: int | None = None
    long_in: float = 0.0
    long_out: float = 0.0

    def cost(self, tokens_in: int, tokens_out: int, *, batch: bool = False) -> float:
        """The price in USD of a call with these token counts."""
        is_long = self.long_from is not None and tokens_in > self.long_from
        rate_in, rate_out = (self.long_in, self.long_out) if is_long else (self.tokens_in, self.tokens_out)
        full = (tokens_in * rate_in + tokens_out * rate_out) / _MILLION
        return full * BATCH_SHARE if batch else full


#: On this machine, or paid for by a subscription.
FREE = Price(0.0, 0.0)

#: Source: https://platform.claude.com/docs/en/models (November 2026). `model.prices` adds others.
PRICES: Mapping[str, Price] = {
    "claude-haiku-5-5": Price(0.10, 0.50, 100_000, 0.50, 2.50),
    "claude-sonnet-5-5": Price(2.00, 10.00),
    "claude-opus-5-5": Price(4.00, 20.00),
    "claude-fable-5-1": Price(10.00, 50.00),
    "claude-haiku-4-5": Price(1.00, 5.00),
    "claude-haiku-4-5-20251001": Price(1.00, 5.00),
}


@dataclass(frozen=True, slots=True)
class Reservation:
    """The most that a call can cost, in USD; and the most that a later call about its answer can, if it needs one."""

    cost: float
    later: float | None = None


@dataclass(slots=True)
class Ledger:
    """The money that a run has spent and reserved, in USD, and the calls that it may still make. It allows nothing that
    could exceed the cap."""

    price: Price
    cap: float
    calls_left: int
    spent: float = 0.0
    reserved: float = 0.0

    def reserve(
        self, tokens_in: int, most_out: int, then: tuple[int, int] | None = None, *, batch: bool = False
    ) -> Reservation | str:
        """Reserve the maximum cost of a call, or say which limit it could exceed. `then`: tokens in and out of a call
        that its answer needs later, which stays reserved, unless no run could pay for both."""
        most = self.price.cost(tokens_in, most_out, batch=batch)
        later = self.price.cost(*then, batch=batch) if then else None
        if later is not None and most + later > self.cap:
            later = None
        together = most + (later or 0.0)
        if self.calls_left < 1 + (later is not None):
            return CALL_LIMIT
        if most > 0 and self.spent + self.reserved + together > self.cap + 1e-12:
            return COST_CAP
        self.calls_left -= 1 + (later is not None)
        self.reserved += together
        return Reservation(most, later)

    def settle(self, reservation: Reservation, cost: float, *, has_answer: bool) -> None:
        """Replace a reservation with the actual cost of the call; of an answer that did not come nobody asks later."""
        gone = reservation.cost
        if reservation.later is not None and not has_answer:
            gone += reservation.later
            self.calls_left += 1
        self.reserved = max(0.0, self.reserved - gone)
        self.spent += cost
