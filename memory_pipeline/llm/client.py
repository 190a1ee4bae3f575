"""The only path to a model: cached answers first, then the rest within the cap; every answer is checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError
from memory_pipeline.llm.batches import BatchCalls
from memory_pipeline.llm.connection import Connection
from memory_pipeline.llm.live import LiveCalls
from memory_pipeline.llm.pricing import Ledger, price_of
from memory_pipeline.llm.questions import AnswerT, Declined, Question, ResultT
from memory_pipeline.llm.requests import Reply, Request
from memory_pipeline.llm.session import Session
from memory_pipeline.records import BATCH_EXPIRED, BATCH_UNDER_WAY, COST_CAP, NO_ANSWER, ModelAnswer

KeyT = TypeVar("KeyT")


class ModelClient:
    """Asks the configured model over the Messages API, or any server that implements it."""

    def __init__(self, settings: Settings) -> None:
        """Raises ModelError if the model has no known price."""
        self._settings = settings
        self._price = price_of(settings)

    def ask(
        self,
        questions: Mapping[KeyT, Question[AnswerT, ResultT]],
        session: Session,
        step: str,
        *,
        only_kept: bool = False,
    ) -> Iterator[tuple[KeyT, ResultT | Declined | Exception]]:
        """Ask all questions at once, and yield the results of their checks, by the questions' names and in their
        order.

        Identical prompts are sent once. `step` names the work in the progress. An exception fails only its own
        question. `only_kept`: nothing is sent, and what has no cached answer has no result. Raises ModelError if the
        model cannot be used (key, name, server), after yielding the results that were possible.
        """
        session.answers.take_over_previews()
        most = self._settings.distillation.max_prompt_tokens
        requests = {q.request.prompt_hash: q.request for q in questions.values() if q.source_tokens <= most}
        kept = session.answers.find(list(requests)) if session.use_cache else {}
        replies = {key: _kept_reply(requests[key], answer) for key, answer in kept.items()}
        for reply in replies.values():
            session.answers.record(reply, "cache", 0.0, "1")
        hopeless: ModelError | None = None
        try:
            left = [request for key, request in requests.items() if key not in kept]
            for reply in () if only_kept else self._replies(left, session):
                replies[reply.request.prompt_hash] = reply
                session.progress(step, len(replies), len(requests))
        except ModelError as error:
            hopeless = error
        for name, question in questions.items():
            if question.source_tokens > most:
                words = f"too long for one prompt: {question.source_tokens} tokens, at most {most} are sent"
                yield name, Declined(words)
            elif (found := replies.get(question.request.prompt_hash)) is not None:
                yield name, question.read(found)
            elif hopeless is None:
                yield name, Declined(NO_ANSWER, again=True)
        if hopeless:
            raise hopeless

    def _replies(self, requests: Sequence[Request], session: Session) -> Iterator[Reply]:
        """Replies to requests without a cached answer, as they arrive, and those of batches of earlier runs."""
        earlier = [] if session.preview else session.answers.batches()
        if not requests and not earlier:
            return
        if self._settings.distillation.cost_cap_usd <= 0:
            yield from (Reply(request, "failed", deferred=COST_CAP) for request in requests)
            return
        connection = Connection(self._settings, session.log)
        connection.check_model()
        spent = sum(call.cost_usd for call in session.answers.calls())
        ledger = Ledger(self._price, self._settings.distillation.cost_cap_usd, spent)
        session.log.info(
            "%d questions to %s, at most %.4f USD; the cap is %.2f USD",
            len(requests),
            self._settings.distillation.model,
            sum(self._price.cost(request.tokens_in, request.max_tokens) for request in requests),
            ledger.cap,
        )
        in_batch = self._settings.distillation.calling == "batch" and not session.preview
        left = {request.prompt_hash: request for request in requests}
        if earlier:
            batches = BatchCalls(connection, self._settings, ledger, session)
            for reply in batches.collect_earlier(requests, wait=in_batch):
                if reply.deferred == BATCH_EXPIRED or left.pop(reply.request.prompt_hash, None) is None:
                    continue
                yield reply
        if not left:
            return
        if any(batch.run_id == session.answers.run_id for batch in earlier) and any(
            batch.run_id == session.answers.run_id for batch in session.answers.batches()
        ):
            # Its cost is not known here, so this run must not send anything else meanwhile.
            yield from (Reply(request, "failed", deferred=BATCH_UNDER_WAY) for request in left.values())
            return
        calls = BatchCalls if in_batch else LiveCalls
        yield from calls(connection, self._settings, ledger, session).ask(list(left.values()))


def _kept_reply(request: Request, answer: ModelAnswer) -> Reply:
    return Reply(request, "answered", text=answer.answer, stop_reason=answer.stop_reason)
