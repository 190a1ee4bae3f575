"""Sends requests to one provider: one call each (paced, a few at a time, retried if the server is busy), or all as one
Message Batch at half the price; never exceeding the cap.

A batch is recorded before it is sent and found again after a crash; its results are matched by custom id, which is the
prompt's hash. If a batch is not finished when the night's time is up, the next night collects it; nothing in it is
asked twice.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING, Any

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError
from memory_pipeline.killpoints import reached
from memory_pipeline.models.http import one_line
from memory_pipeline.models.limits import Ledger, Pace, Patience, Reservation, backoff
from memory_pipeline.models.provider import Answer, CallError, Provider, Reply, Request
from memory_pipeline.models.providers.anthropic import AnthropicMessages, read_message
from memory_pipeline.models.providers.recorded import Recorded
from memory_pipeline.models.session import Session
from memory_pipeline.records import BATCH_EXPIRED, BATCH_UNDER_WAY, TIME_LIMIT, ModelBatch

if TYPE_CHECKING:
    from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

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
        self._provider, self._model, self._patience = provider, settings.model, patience
        self._ledger, self._session = ledger, session
        self._stop = Event()
        self._pace = Pace(
            settings.compression.rate_limit_per_min, self._model.burst, self._model.spacing_s, sleep=self._stop.wait
        )
        self._waiting: list[_Waiting] = []
        self._flying: dict[Future[tuple[Answer | CallError, int]], tuple[_Waiting, Reservation]] = {}
        self._fruitless = 0
        self._hopeless: str | None = None

    def ask(self, requests: Sequence[Request]) -> Iterator[Reply]:
        """Replies as they arrive. At the cap or the time limit, the rest is returned as `deferred`.

        Raises ModelError if no further call can succeed (key, model, server), after the replies still in progress.
        """
        self._waiting = [_Waiting(request) for request in requests]
        deadline = time.monotonic() + self._patience.time_limit_s
        pool = ThreadPoolExecutor(self._model.concurrency, thread_name_prefix="model-calls")
        try:
            while self._flying or (self._waiting and not self._hopeless):
                late = time.monotonic() >= deadline
                limit = None if late or self._hopeless else self._send(pool)
                if self._waiting and not self._flying and (reason := TIME_LIMIT if late else limit):
                    yield from (Reply(item.request, "failed", deferred=reason) for item in self._waiting)
                    return
                self._rest()
                for future in [future for future in self._flying if future.done()]:
                    reply = self._settle(*self._flying.pop(future), *future.result())
                    if reply is not None:
                        yield reply
            if self._hopeless:
                raise ModelError(self._hopeless)
        finally:
            self._stop.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _send(self, pool: ThreadPoolExecutor) -> str | None:
        """Send due requests while workers are free; returns the limit that the next one could exceed, if any."""
        now = time.monotonic()
        for item in [item for item in self._waiting if item.not_before <= now]:
            if len(self._flying) >= self._model.concurrency:
                return None
            request = item.request
            reserved = self._ledger.reserve(request.tokens_in, request.max_tokens, request.then)
            if isinstance(reserved, str):
                return reserved
            self._waiting.remove(item)
            self._flying[pool.submit(self._call, request)] = (item, reserved)
        return None

    def _rest(self) -> None:
        """Wait until a call ends, a retry is due, or the lease needs a heartbeat."""
        self._session.keep_alive()
        now = time.monotonic()
        pause = min([_HEARTBEAT_S, *(item.not_before - now for item in self._waiting if item.not_before > now)])
        if self._flying:
            wait(self._flying, timeout=pause, return_when=FIRST_COMPLETED)
        else:
            time.sleep(pause)

    def _call(self, request: Request) -> tuple[Answer | CallError, int]:
        """One attempt, in a worker thread, and its milliseconds. Answers from a file need no pace."""
        if not isinstance(self._provider, Recorded):
            self._pace.wait_for_turn()
        began = time.monotonic()
        result: Answer | CallError
        try:
            result = CallError("stopped") if self._stop.is_set() else self._provider.ask(request, self._model.timeout_s)
        except CallError as error:
            result = error
        except Exception as error:  # a provider that fails in a way that it does not know may have been charged
            self._session.log.exception("asking %s", self._provider.place)
            reason = one_line(f"{type(error).__name__}: {error}")
            result = CallError(reason, outcome="unknown", retry_after_s=0.0)
        return result, int((time.monotonic() - began) * 1000)

    def _settle(
        self, item: _Waiting, reserved: Reservation, result: Answer | CallError, latency_ms: int
    ) -> Reply | None:
        """Pay for the call and record it. Returns the reply; None if it is tried again, or no call can succeed."""
        request, cost = item.request, 0.0
        if isinstance(result, Answer):
            reply = Reply.of(request, result, latency_ms)
            cost = self._ledger.price.cost(reply.tokens_in, reply.tokens_out)
        elif result.is_open:
            self._ledger.settle(reserved, 0.0, has_answer=False)
            return Reply(request, "failed", deferred=str(result))
        else:
            reply = Reply(request, result.outcome, error=str(result), latency_ms=latency_ms)
            cost = reserved.cost if result.outcome == "unknown" else 0.0
        self._ledger.settle(reserved, cost, has_answer=isinstance(result, Answer))
        self._session.record(reply, "live", cost, str(item.attempt))
        if isinstance(result, Answer):
            self._fruitless = 0
            if reply.error:
                self._session.log.warning("%s", reply.error)
            return reply
        if result.fatal:
            self._hopeless = reply.error
            return None
        if result.retry_after_s is not None:
            pause = max(result.retry_after_s, backoff(item.attempt))
            if item.attempt < self._patience.attempts and pause <= self._patience.longest_wait_s:
                if result.retry_after_s > 0:
                    self._pace.hold(pause)
                self._session.log.info("retrying the model in %.1f s: %s", pause, reply.error)
                item.attempt, item.not_before = item.attempt + 1, time.monotonic() + pause
                self._waiting.insert(0, item)
                return None
        self._fruitless += 1
        if self._fruitless >= _FRUITLESS_REQUESTS:
            self._hopeless = reply.error
        return reply


#: A batch that the server created this long before we recorded it is not ours.
_CLOCKS_APART = timedelta(minutes=10)
#: Seconds between two looks at a batch.
_POLL_S = 30.0


class BatchCalls:
    """Sends requests in a batch, and collects the batches of earlier nights."""

    def __init__(self, provider: AnthropicMessages, patience: Patience, ledger: Ledger, session: Session) -> None:
        self._provider, self._patience = provider, patience
        self._ledger, self._session = ledger, session
        self._batches = provider.client.messages.batches
        self._deadline = time.monotonic() + patience.time_limit_s

    def collect_earlier(self, requests: Sequence[Request], *, wait: bool) -> Iterator[Reply]:
        """Replies from batches that an earlier run sent; `deferred` for requests of one that is still in progress.

        With `wait`, waits for them until the night's time is up.
        """
        for record in self._session.batches():
            batch = self._find(record)
            if batch:
                yield from self._collect(batch, requests, wait=wait)

    def ask(self, requests: Sequence[Request]) -> Iterator[Reply]:
        """Send the requests as one batch, as many as the cap allows, and wait for it.

        Raises ModelError if the server cannot be used.
        """
        fitting: list[Request] = []
        for number, request in enumerate(requests):
            reserved = self._ledger.reserve(request.tokens_in, request.max_tokens, request.then, batch=True)
            if isinstance(reserved, str):
                yield from (Reply(rest, "failed", deferred=reserved) for rest in requests[number:])
                break
            fitting.append(request)
        if fitting:
            yield from self._collect(self._send(fitting), fitting, wait=True)

    def _send(self, requests: Sequence[Request]) -> ModelBatch:
        import anthropic

        record = self._session.new_batch(self._provider.place, requests)
        self._session.note_batch(record)
        reached("batch.announced")
        written: list[Any] = [
            {"custom_id": request.prompt_hash, "params": self._provider.parameters(request)} for request in requests
        ]
        for attempt in range(1, self._patience.attempts + 1):
            try:
                made = self._batches.create(requests=written)
                break
            except anthropic.APIStatusError as error:
                asked = self._provider.refusal(error).retry_after_s
                pause = max(asked or 0.0, backoff(attempt))
                last = attempt == self._patience.attempts or pause > self._patience.longest_wait_s
                if last or asked is None:
                    self._lost(record)
                    raise ModelError(self._provider.explain(error)) from error
                self._pause(pause)
            except Exception as error:  # the server may have received it anyway: the next night checks
                raise ModelError(self._provider.explain(error)) from error
        reached("batch.created")
        record = replace(record, batch_id=made.id, status="sent")
        self._session.note_batch(record)
        self._session.log.info("batch %s sent with %d questions", one_line(made.id), len(requests))
        return record

    def _find(self, record: ModelBatch) -> ModelBatch | None:
        """A batch of an earlier run with its id at the server, or None if the server never received it."""
        if record.server != self._provider.place:
            return None
        if record.batch_id:
            return record
        known = {earlier.batch_id for earlier in self._session.batches()}
        try:
            for batch in self._batches.list(limit=100):  # newest first
                if batch.created_at < record.created_at - _CLOCKS_APART:
                    break
                if batch.id not in known and _size(batch) == len(record.prompt_hashes) and self._is_ours(batch, record):
                    self._session.log.info("batch %s was sent before the last run ended", batch.id)
                    sent = replace(record, batch_id=batch.id, status="sent")
                    self._session.note_batch(sent)
                    return sent
        except Exception as error:
            raise ModelError(self._provider.explain(error)) from error
        self._lost(record)
        return None

    def _is_ours(self, batch: MessageBatch, record: ModelBatch) -> bool:
        """True if a batch contains our prompts. A batch in progress shows no ids yet; then its size and time decide.
        Its results are matched by custom id in any case."""
        if batch.processing_status != "ended":
            return True
        ids = {result.custom_id for result in self._batches.results(batch.id)}
        return bool(ids & set(record.prompt_hashes))

    def _collect(self, record: ModelBatch, requests: Sequence[Request], *, wait: bool) -> Iterator[Reply]:
        """The replies of one batch; all its answers are stored, whoever asked for them and when."""
        import anthropic

        assert record.batch_id is not None
        mine = {request.prompt_hash: request for request in requests}
        began = time.monotonic()
        state = self._await_end(record, wait=wait)
        if state != "ended":
            if state == "running":
                waiting = [mine[prompt] for prompt in record.prompt_hashes if prompt in mine]
                yield from (Reply(request, "failed", deferred=BATCH_UNDER_WAY) for request in waiting)
            return
        latency_ms = int((time.monotonic() - began) * 1000)
        try:
            for response in self._batches.results(record.batch_id):
                if response.custom_id not in record.prompt_hashes:
                    continue
                # What another run or step asked is kept for it.
                stranger = Request(record.model, prompt_version="", prompt_hash=response.custom_id)
                reply = self._read(record, response, mine.get(response.custom_id, stranger), latency_ms)
                if response.custom_id in mine:
                    yield reply
        except anthropic.AnthropicError as error:
            raise ModelError(self._provider.explain(error)) from error
        reached("batch.read")
        self._session.note_batch(replace(record, status="collected", settled_at=datetime.now(UTC)))

    def _await_end(self, record: ModelBatch, *, wait: bool) -> str:
        """`ended`, `running` if the time is up first, or `lost` if the server does not have it."""
        import anthropic

        assert record.batch_id is not None
        trouble = 0
        while True:
            self._session.keep_alive()
            try:
                batch = self._batches.retrieve(record.batch_id)
                trouble = 0
                self._session.progress("batch", _size(batch) - batch.request_counts.processing, _size(batch))
                if batch.processing_status == "ended":
                    return "ended" if batch.results_url else self._lost(record)
            except anthropic.NotFoundError:
                return self._lost(record)
            except anthropic.AnthropicError as error:
                trouble += 1
                if self._provider.refusal(error).retry_after_s is None or trouble >= self._patience.attempts:
                    raise ModelError(self._provider.explain(error)) from error
            left = self._deadline - time.monotonic()
            if left <= 0 or not wait:
                self._session.log.info("batch %s is not finished; the next night collects it", record.batch_id)
                return "running"
            self._pause(min(_POLL_S, left))

    def _lost(self, record: ModelBatch) -> str:
        if record.batch_id:
            words = f"batch {record.batch_id} can no longer be collected from the server; its open questions "
            words += "are sent in a new one"
        else:
            which = "this run" if record.run_id == self._session.run_id else f"run {record.run_id}"
            words = f"the server did not take the batch of {which}; its questions are asked again the next time they "
            words += "come up"
        self._session.log.warning("%s", words)
        self._session.note_batch(replace(record, status="lost", settled_at=datetime.now(UTC)))
        return "lost"

    def _read(
        self, record: ModelBatch, response: MessageBatchIndividualResponse, request: Request, latency_ms: int
    ) -> Reply:
        result = response.result
        cost = 0.0
        if result.type == "succeeded":
            reply = Reply.of(request, read_message(request, result.message), latency_ms)
            cost = self._ledger.price.cost(reply.tokens_in, reply.tokens_out, batch=True)
            if reply.error:
                self._session.log.warning("%s", reply.error)
        elif result.type == "errored":
            message = one_line(f"{result.error.error.type}: {result.error.error.message}")[:300]
            reply = Reply(request, "failed", error=message, latency_ms=latency_ms)
        else:
            reply = Reply(request, "failed", deferred=BATCH_EXPIRED, error=result.type, latency_ms=latency_ms)
        most = self._ledger.price.cost(request.tokens_in, request.max_tokens, batch=True)
        reserved = Reservation(most if record.run_id == self._session.run_id else 0.0)
        self._ledger.settle(reserved, cost, has_answer=True)
        self._session.record(reply, "batch", cost, "1", record.batch_id)
        return reply

    def _pause(self, seconds: float) -> None:
        """Wait, and keep the lease alive meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _HEARTBEAT_S))
            self._session.keep_alive()


def _size(batch: MessageBatch) -> int:
    counts = batch.request_counts
    return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
