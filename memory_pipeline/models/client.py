"""The only path to a model: cached answers first, then the rest within the cap.

Every answer is checked, and what is wrong with one is told to the model once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError
from memory_pipeline.models.calls import BatchCalls, LiveCalls
from memory_pipeline.models.choose import make_provider, model_price
from memory_pipeline.models.limits import NIGHTLY, Ledger, Patience
from memory_pipeline.models.provider import Provider, Reply, Request
from memory_pipeline.models.providers.anthropic import AnthropicMessages
from memory_pipeline.models.questions import AnswerT, Declined, Question, ResultT
from memory_pipeline.models.session import Session
from memory_pipeline.records import BATCH_EXPIRED, BATCH_UNDER_WAY, COST_CAP, NO_ANSWER

KeyT = TypeVar("KeyT")
#: Replies by the hash of the prompt.
Replies = dict[str, Reply]


class ModelClient:
    """Asks the configured model, whichever provider it has."""

    def __init__(self, settings: Settings, patience: Patience | None = None) -> None:
        """Raises ModelError if the model has no known price. What else is wrong is told when it is asked."""
        self._settings, self._patience = settings, patience or NIGHTLY
        model_price(settings)
        self._is_prepared = False

    @cached_property
    def _provider(self) -> Provider:
        return make_provider(self._settings)

    def ask(
        self,
        questions: Mapping[KeyT, Question[AnswerT, ResultT]],
        session: Session,
        step: str,
        *,
        cached_only: bool = False,
    ) -> Iterator[tuple[KeyT, ResultT | Declined | Exception]]:
        """Ask all questions at once, and yield the results of their checks, by the questions' names, in their order.

        A question whose answer is refused with an objection is asked once more, with the objection; one whose answer
        ended early is asked in halves, if it has any. Identical prompts are sent once. `step` names the work in the
        progress. An exception fails only its own question. `cached_only`: nothing is sent, and what has no cached
        answer has no result. Raises ModelError if the model cannot be used (key, name, server), after yielding the
        results that were possible.
        """
        session.take_over_previews()
        replies, hopeless = self._answer(list(questions.values()), session, step, cached_only=cached_only)
        first = {name: result for name, question in questions.items() for result in (self._result(question, replies),)}
        follow_ups = {
            name: question.follow_ups(reply, first[name])
            for name, question in questions.items()
            if (reply := replies.get(question.request.prompt_hash)) is not None
        }
        second: Replies = {}
        if hopeless is None:
            again = [question for several in follow_ups.values() for question in several]
            owed = [
                question.request.then
                for name, question in questions.items()
                if question.request.then and not follow_ups.get(name)
                if first[name] is not None and not isinstance(first[name], Declined | Exception)
            ]
            second, hopeless = self._answer(again, session, step, owed, cached_only=cached_only)
        for name, question in questions.items():
            asked = follow_ups.get(name, ())
            results = [answered for each in asked if (answered := self._result(each, second)) is not None]
            result = question.join(results) if results and len(results) == len(asked) else None
            if result is None:
                result = first[name]
                if isinstance(result, Declined) and result.fallback is not None and hopeless is None:
                    result = result.fallback
            if result is not None:
                yield name, result
            elif hopeless is None:
                yield name, Declined(NO_ANSWER, again=True)
        if hopeless:
            raise hopeless

    def _result(self, question: Question[AnswerT, ResultT], replies: Replies) -> ResultT | Declined | Exception | None:
        """The result of a question; None if it has no reply."""
        if question.too_long:
            return Declined(question.too_long)
        reply = replies.get(question.request.prompt_hash)
        return None if reply is None else question.read(reply)

    def _answer(
        self,
        questions: Sequence[Question[AnswerT, ResultT]],
        session: Session,
        step: str,
        owed: Sequence[tuple[int, int]] = (),
        *,
        cached_only: bool,
    ) -> tuple[Replies, ModelError | None]:
        """The replies to questions, from the cache and from the model, and why no further one is to be had. `owed`: the
        tokens of what is to be asked later about answers that are there."""
        requests = {q.request.prompt_hash: q.request for q in questions if not q.too_long}
        cached = session.find(list(requests)) if session.use_cache else {}
        replies = {
            key: Reply(requests[key], "answered", text=answer.answer, stop_reason=answer.stop_reason)
            for key, answer in cached.items()
        }
        for reply in replies.values():
            session.record(reply, "cache", 0.0, "1")
        try:
            left = [request for key, request in requests.items() if key not in cached]
            for reply in () if cached_only else self._replies(left, session, owed):
                replies[reply.request.prompt_hash] = reply
                session.progress(step, len(replies), len(requests))
        except ModelError as error:
            return replies, error
        return replies, None

    def _replies(
        self, requests: Sequence[Request], session: Session, owed: Sequence[tuple[int, int]]
    ) -> Iterator[Reply]:
        """Replies to requests without a cached answer, as they arrive, and those of batches of earlier runs."""
        earlier = [] if session.preview else session.batches()
        if not requests and not earlier:
            return
        model, provider, run_id = self._settings.model, self._provider, session.run_id
        if model.cost_cap_usd <= 0 and provider.price.cost(1, 1) > 0:
            yield from (Reply(request, "failed", deferred=COST_CAP) for request in requests)
            return
        if not self._is_prepared:
            provider.prepare(session.log)
            self._is_prepared = True
        calls = [call for call in session.calls() if call.mode != "cache"]
        spent = sum(call.cost_usd for call in calls)
        in_batch = isinstance(provider, AnthropicMessages) and model.calling == "batch" and not session.preview
        later = sum(provider.price.cost(*tokens, batch=in_batch) for tokens in owed)
        calls_left = model.most_calls - len(calls) - len(owed)
        ledger = Ledger(provider.price, model.cost_cap_usd, calls_left, spent, later)
        session.log.info(
            "%d questions to %s, at most %.4f USD; the cap is %.2f USD",
            len(requests),
            provider.model,
            sum(ledger.price.cost(request.tokens_in, request.max_tokens) for request in requests),
            ledger.cap,
        )
        left = {request.prompt_hash: request for request in requests}
        if isinstance(provider, AnthropicMessages):
            batches = BatchCalls(provider, self._patience, ledger, session)
            for reply in batches.collect_earlier(requests, wait=in_batch) if earlier else ():
                if reply.deferred != BATCH_EXPIRED and left.pop(reply.request.prompt_hash, None) is not None:
                    yield reply
            was_sent = any(batch.run_id == run_id for batch in earlier)
            if left and was_sent and any(batch.run_id == run_id for batch in session.batches()):
                # Its cost is not known here, so this run must not send anything else meanwhile.
                yield from (Reply(request, "failed", deferred=BATCH_UNDER_WAY) for request in left.values())
                return
            if left and in_batch:
                yield from batches.ask(list(left.values()))
                return
        if left:
            yield from LiveCalls(provider, self._settings, self._patience, ledger, session).ask(list(left.values()))
