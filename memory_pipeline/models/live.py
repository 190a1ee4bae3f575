"""Sends one call per request: paced, a few at a time, retried if the server is busy, and never exceeding the cap."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from threading import Event

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError
from memory_pipeline.models.http import one_line
from memory_pipeline.models.pacing import Pace, Patience, backoff
from memory_pipeline.models.pricing import Ledger
from memory_pipeline.models.provider import CallError, Provider
from memory_pipeline.models.requests import Reply, Request
from memory_pipeline.models.session import Session
from memory_pipeline.records import COST_CAP, TIME_LIMIT

#: After this many consecutive requests without an answer, the rest is not sent in this night.
_FRUITLESS_REQUESTS = 3
_HEARTBEAT_S = 2.0


@dataclass(slots=True)
class _Waiting:
    request: Request
    attempt: int = 1
    not_before: float = 0.0


class LiveCalls:
    """Sends requests to one provider. Worker threads only make the call; all bookkeeping stays in one thread."""

    def __init__(
        self, provider: Provider, settings: Settings, patience: Patience, ledger: Ledger, session: Session
    ) -> None:
        self._provider, self._settings, self._patience = provider, settings, patience
        self._ledger, self._session = ledger, session
        self._stop = Event()
        self._pace = Pace(
            settings.compression.rate_limit_per_min,
            settings.model.burst,
            settings.model.spacing_s,
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
        deadline = time.monotonic() + self._patience.time_limit_s
        pool = ThreadPoolExecutor(self._settings.model.concurrency, thread_name_prefix="model-calls")
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
            if len(flying) >= self._settings.model.concurrency:
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
        self._pace.wait_for_turn()
        if self._stop.is_set():
            return Reply(request, "failed", error="stopped")
        began = time.monotonic()
        try:
            answer = self._provider.ask(request, self._settings.model.timeout_s)
        except CallError as error:
            if error.is_open:
                return Reply(request, "failed", deferred=str(error))
            return Reply(
                request,
                error.outcome,
                error=str(error),
                latency_ms=_since(began),
                retry_after_s=error.retry_after_s,
                fatal=error.fatal,
            )
        except Exception as error:  # a provider that fails in a way that it does not know may have been charged
            self._session.log.exception("asking %s", self._provider.place)
            reason = one_line(f"{type(error).__name__}: {error}")
            return Reply(request, "unknown", error=reason, latency_ms=_since(began), retry_after_s=0.0)
        return Reply.of(request, answer, _since(began))

    def _settle(self, reply: Reply, item: _Waiting, reserved: float) -> Reply:
        """Pay for the call, record it, and decide whether to retry."""
        if reply.deferred:
            self._ledger.settle(reserved, 0.0)
            return reply
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
            if item.attempt < self._patience.attempts and pause <= self._patience.longest_wait_s:
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
