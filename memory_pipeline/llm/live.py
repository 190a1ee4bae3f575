"""Sends one call per request: paced, a few at a time, retried if the server is busy, and never exceeding the cap."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError
from memory_pipeline.llm.connection import Connection, TooLongError, asked_wait, backoff, one_line_of, read_message
from memory_pipeline.llm.pacing import Pace
from memory_pipeline.llm.pricing import Ledger
from memory_pipeline.llm.requests import Reply, Request
from memory_pipeline.llm.session import Session
from memory_pipeline.records import COST_CAP, TIME_LIMIT, CallOutcome

if TYPE_CHECKING:
    from anthropic import APIStatusError

#: After this many consecutive requests without an answer, the rest is not sent in this night.
_FRUITLESS_REQUESTS = 3
_HEARTBEAT_S = 2.0


@dataclass(slots=True)
class _Waiting:
    request: Request
    attempt: int = 1
    not_before: float = 0.0


class LiveCalls:
    """Sends requests over one connection. Worker threads only make the call; all bookkeeping stays in one thread."""

    def __init__(self, connection: Connection, settings: Settings, ledger: Ledger, session: Session) -> None:
        self._connection, self._settings = connection, settings
        self._ledger, self._session = ledger, session
        self._stop = Event()
        self._pace = Pace(
            settings.compression.rate_limit_per_min,
            settings.distillation.burst,
            settings.distillation.spacing_s,
            sleep=self._stop.wait,
        )
        self._fruitless = 0
        self._hopeless: str | None = None

    def ask(self, requests: Sequence[Request]) -> Iterator[Reply]:
        """Replies as they arrive. At the cap or the time limit, the rest is returned as `deferred`.

        Raises ModelError if no further call can succeed (key, model, server), after the replies that were still in
        progress.
        """
        waiting = [_Waiting(request) for request in requests]
        flying: dict[Future[Reply], tuple[_Waiting, float]] = {}
        deadline = time.monotonic() + self._settings.distillation.time_limit_s
        pool = ThreadPoolExecutor(self._settings.distillation.concurrency, thread_name_prefix="model-calls")
        try:
            while flying or (waiting and not self._hopeless):
                late = time.monotonic() >= deadline
                capped = False if late or self._hopeless else self._send(waiting, flying, pool)
                if waiting and not flying and (late or capped):
                    reason = TIME_LIMIT if late else COST_CAP
                    yield from (Reply(item.request, "failed", deferred=reason) for item in waiting)
                    return
                self._rest(waiting, flying)
                for future in [future for future in flying if future.done()]:
                    item, reserved = flying.pop(future)
                    reply = self._settle(future.result(), item, reserved)
                    if reply.fatal:
                        continue
                    if reply.retry_after_s is None:
                        yield reply
                    else:
                        item.attempt += 1
                        item.not_before = time.monotonic() + reply.retry_after_s
                        waiting.insert(0, item)
            if self._hopeless:
                raise ModelError(self._hopeless)
        finally:
            self._stop.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _send(
        self, waiting: list[_Waiting], flying: dict[Future[Reply], tuple[_Waiting, float]], pool: ThreadPoolExecutor
    ) -> bool:
        """Send due requests while workers are free; returns True if the next one does not fit under the cap."""
        now = time.monotonic()
        for item in [item for item in waiting if item.not_before <= now]:
            if len(flying) >= self._settings.distillation.concurrency:
                return False
            reserved = self._ledger.reserve(item.request.tokens_in, item.request.max_tokens)
            if reserved is None:
                return True
            waiting.remove(item)
            flying[pool.submit(self._call, item.request)] = (item, reserved)
        return False

    def _rest(self, waiting: list[_Waiting], flying: dict[Future[Reply], tuple[_Waiting, float]]) -> None:
        """Wait until a call ends, a retry is due, or the lease needs a heartbeat."""
        self._session.keep_alive()
        now = time.monotonic()
        pause = min([_HEARTBEAT_S, *(item.not_before - now for item in waiting if item.not_before > now)])
        if flying:
            wait(flying, timeout=pause, return_when=FIRST_COMPLETED)
        else:
            time.sleep(pause)

    def _call(self, request: Request) -> Reply:
        """One attempt, in a worker thread."""
        import anthropic

        self._pace.wait_for_turn()
        if self._stop.is_set():
            return Reply(request, "failed", error="stopped")
        began = time.monotonic()
        try:
            return read_message(request, self._connection.ask(request), _since(began))
        except anthropic.APIStatusError as error:
            return self._status_reply(request, error, _since(began))
        except anthropic.APIConnectionError as error:
            # A failed connection attempt costs nothing; a broken connection may have been charged.
            never = type(error.__cause__).__name__ in ("ConnectError", "ConnectTimeout")
            outcome: CallOutcome = "failed" if never else "unknown"
            said = self._connection.explain(error)
            return Reply(request, outcome, error=said, latency_ms=_since(began), retry_after_s=0.0)
        except TooLongError as error:  # a second one would be paid for too
            return Reply(request, "unknown", error=f"unreadable answer: {error}", latency_ms=_since(began))
        except Exception as error:  # an answer that the SDK cannot read: it may have been charged
            said = one_line_of(f"unreadable answer: {type(error).__name__}: {error}")[:300]
            return Reply(request, "unknown", error=said, latency_ms=_since(began), retry_after_s=0.0)

    def _status_reply(self, request: Request, error: APIStatusError, latency_ms: int) -> Reply:
        said = self._connection.explain(error)
        reply = Reply(request, "failed", error=said, latency_ms=latency_ms)
        if error.status_code in (408, 409, 429) or error.status_code >= 500:
            return replace(reply, retry_after_s=asked_wait(error))
        if error.status_code in (400, 413, 422):
            return reply
        return replace(reply, fatal=True)

    def _settle(self, reply: Reply, item: _Waiting, reserved: float) -> Reply:
        """Pay for the call, record it, and decide whether to retry."""
        cost = 0.0
        if reply.outcome == "answered":
            cost = self._ledger.price.cost(reply.tokens_in, reply.tokens_out)
        elif reply.outcome == "unknown":
            cost = reserved
        self._ledger.settle(reserved, cost)
        self._session.answers.record(reply, "live", cost, str(item.attempt))
        if reply.outcome == "answered":
            self._fruitless = 0
            if reply.error:
                self._session.log.warning("%s", reply.error)
            return reply
        if reply.fatal:
            self._hopeless = reply.error
            return reply
        if reply.retry_after_s is not None:
            pause = max(reply.retry_after_s, backoff(item.attempt))
            if (
                item.attempt < self._settings.distillation.attempts
                and pause <= self._settings.distillation.longest_wait_s
            ):
                if reply.retry_after_s > 0:
                    self._pace.hold(pause)
                self._session.log.info("retrying the model in %.1f s: %s", pause, reply.error)
                return replace(reply, retry_after_s=pause)
        self._fruitless += 1
        if self._fruitless >= _FRUITLESS_REQUESTS:
            self._hopeless = reply.error
        return replace(reply, retry_after_s=None)


def _since(began: float) -> int:
    return int((time.monotonic() - began) * 1000)
