"""The services of a run for the model client: the answer cache, the bill, heartbeats, and the log."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from memory_pipeline.files.writing import append_line
from memory_pipeline.killpoints import reached
from memory_pipeline.models.provider import Reply, Request
from memory_pipeline.records import CallMode, ModelAnswer, ModelBatch, ModelCall, derived_id
from memory_pipeline.store import Store

#: What is written to the file next to the store.
_BESIDE: TypeAdapter[ModelAnswer | ModelCall] = TypeAdapter(ModelAnswer | ModelCall)


@dataclass
class Session:
    """A run that asks models: every answer and call of it, and what it is told meanwhile. A preview, and what must not
    wait for the store, writes to a file next to it, which the next real night takes over, so that nothing is paid for
    twice. `keep_alive` renews the run's lease on the store if due."""

    store: Store
    run_id: str
    actor: str
    _: KW_ONLY
    preview: bool = False
    use_cache: bool = True
    keep_alive: Callable[[], None] = lambda: None
    progress: Callable[[str, int, int], None] = lambda step, done, total: None
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("memory_pipeline.models"))

    @property
    def _sidecar(self) -> Path:
        return Path(f"{str(self.store.path).removesuffix('.duckdb')}.answers.jsonl")

    def find(self, prompt_hashes: Sequence[str]) -> dict[str, ModelAnswer]:
        """The cached answers to these prompts, by prompt hash."""
        wanted = set(prompt_hashes)
        if not wanted:
            return {}
        recorded = {answer.prompt_hash: answer for answer in self._read_records()[0] if answer.prompt_hash in wanted}
        if self.preview and recorded.keys() >= wanted:
            return recorded
        with self.store.reading() as tx:
            return {**recorded, **tx.models.answers(sorted(wanted))}

    def record(self, reply: Reply, mode: CallMode, cost: float, which: str, batch_id: str | None = None) -> None:
        """Store a call and its answer, if any, in one transaction.

        `which` distinguishes calls for one request: the attempt. Calls of a batch belong to the batch, whichever run
        collects them, so that collecting twice counts once.
        """
        now, request = datetime.now(UTC), reply.request
        call = ModelCall(
            id=derived_id("call", batch_id or self.run_id, request.prompt_hash, mode, which),
            run_id=self.run_id,
            prompt_hash=request.prompt_hash,
            model=request.model,
            mode=mode,
            outcome=reply.outcome,
            input_tokens=reply.tokens_in,
            output_tokens=reply.tokens_out,
            cost_usd=round(cost, 9),
            latency_ms=reply.latency_ms,
            masked_secrets=request.masked_secrets,
            masked_personal=request.masked_personal,
            error=reply.error,
            called_at=now,
            asked_again=request.is_again,
        )
        answer = None
        if reply.text is not None and mode != "cache":
            answer = ModelAnswer(
                request.prompt_hash,
                request.model,
                request.prompt_version,
                reply.text,
                reply.stop_reason,
                now,
                self.run_id,
            )
        if self.preview:
            records: list[ModelAnswer | ModelCall] = [record for record in (answer, call) if record]
            for record in records:
                append_line(self._sidecar, json.dumps(_BESIDE.dump_python(record, mode="json"), ensure_ascii=True))
            return
        with self.store.writing(self.actor, self.run_id) as tx:
            tx.models.keep_calls([call])
            tx.models.keep_answers([answer] if answer else [])

    def calls(self) -> list[ModelCall]:
        if self.preview:
            return [call for call in self._read_records()[1] if call.run_id == self.run_id]
        with self.store.reading() as tx:
            return tx.models.calls_of(self.run_id)

    def take_over_previews(self) -> None:
        """Move the answers of previews into the store. Does nothing in a preview."""
        size = self._sidecar.stat().st_size if self._sidecar.exists() else 0
        answers, calls = self._read_records()
        if self.preview or not (answers or calls):
            return
        with self.store.writing(self.actor, self.run_id) as tx:
            tx.models.keep_answers(answers)
            tx.models.keep_calls(calls)
        reached("previews.taken")
        if self._sidecar.exists() and self._sidecar.stat().st_size == size:  # else the next time: it has grown
            self._sidecar.unlink(missing_ok=True)

    def batches(self) -> list[ModelBatch]:
        """Batches in progress, from this night or an earlier one."""
        with self.store.reading() as tx:
            return tx.models.open_batches()

    def note_batch(self, batch: ModelBatch) -> None:
        """Record a batch or its new status."""
        with self.store.writing(self.actor, self.run_id) as tx:
            tx.models.keep_batch(batch)

    def new_batch(self, server: str, requests: Sequence[Request]) -> ModelBatch:
        """The record of a batch before it is sent."""
        hashes = tuple(request.prompt_hash for request in requests)
        now = datetime.now(UTC)
        return ModelBatch(str(uuid.uuid4()), None, server, requests[0].model, "sending", hashes, self.run_id, now)

    def _read_records(self) -> tuple[list[ModelAnswer], list[ModelCall]]:
        records: list[ModelAnswer | ModelCall] = []
        for line in self._sidecar.read_text(encoding="utf-8").splitlines() if self._sidecar.exists() else ():
            with suppress(ValidationError):  # a line that a crash truncated: its question is asked again
                records.append(_BESIDE.validate_json(line))
        answers = [record for record in records if isinstance(record, ModelAnswer)]
        return answers, [record for record in records if isinstance(record, ModelCall)]
