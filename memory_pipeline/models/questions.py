"""Questions to a model: a prompt, the schema of its answer, and the check that turns the answer into a result."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError
from memory_pipeline.models.choose import context_tokens, model_name
from memory_pipeline.models.http import one_line
from memory_pipeline.models.provider import Reply, Request
from memory_pipeline.text.redaction import redact

AnswerT = TypeVar("AnswerT", bound=BaseModel)
ResultT = TypeVar("ResultT")

#: Reasons to stop that say that an answer is not complete: ours, and those of answers that were kept earlier.
CUT_SHORT = frozenset(("length", "max_tokens", "model_context_window_exceeded"))
#: Allowance for thinking and for the structure of the answer, which count as output too.
_ANSWER_FRAME_TOKENS = 3072
_MOST_OUTPUT_TOKENS = 16_000
#: No longer texts are sent at once, whatever the model takes: what is in their middle would be lost on it.
MOST_SOURCE_TOKENS = 60_000
#: With less room for its answer than this and a quarter of the texts, a question is too long for the model's context.
_LEAST_OUTPUT_TOKENS = 512
_FENCE = re.compile(r"^\s*```(?:json)?\s*\n(?P<body>.*?)\n?\s*```\s*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Declined:
    """The reason for a missing result.

    `again`: no answer was available tonight; the next night tries again. `objection`: what is wrong with the answer, in
    words that the model is told, so that it may answer once more; `instead`: makes the question that is asked then, if
    not the whole one; `fallback`: the result if that gives none.
    """

    reason: str
    again: bool = False
    objection: str = ""
    instead: Callable[[], Any] | None = None
    fallback: Any = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """The instructions to a model (`system`) and the data (`user`)."""

    system: str
    user: str


def mask(texts: Iterable[str], settings: Settings) -> tuple[list[str], Counter[str]]:
    """Some texts with everything masked that must not leave the machine, and how much of each kind was."""
    masked = [redact(text, personal=settings.model.mask_personal) for text in texts]
    return [words for words, _ in masked], sum((counts for _, counts in masked), Counter[str]())


@dataclass(frozen=True, slots=True)
class Question(Generic[AnswerT, ResultT]):
    """One question. `schema` is the structure of its answer; `check` turns a matching answer into a result, or says
    why there is none, and does not trust anything that the model says about itself.

    `last_check`: the check of a second answer, if that is another one; `fallback`: the result if that answer cannot be
    used. `halves`: the same question about each half of the texts, for an answer that ended early; `join`: the result
    of the results of what was asked again. `too_long`: why it cannot be asked, or empty.
    """

    request: Request
    schema: type[AnswerT]
    check: Callable[[AnswerT], ResultT | Declined]
    context_tokens: int
    last_check: Callable[[AnswerT], ResultT | Declined] | None = None
    halves: Callable[[], Sequence[Question[AnswerT, ResultT]]] | None = None
    join: Callable[[Sequence[ResultT | Declined | Exception]], ResultT | Declined | Exception] = field(
        default=lambda results: results[0]
    )
    too_long: str = ""
    fallback: ResultT | None = None

    @classmethod
    def about(
        cls,
        prompt: Prompt,
        *,
        version: str,
        schema: type[AnswerT],
        check: Callable[[AnswerT], ResultT | Declined],
        source_tokens: int,
        settings: Settings,
        last_check: Callable[[AnswerT], ResultT | Declined] | None = None,
        masked: Counter[str] | None = None,
    ) -> Question[AnswerT, ResultT]:
        """The question as a request, with everything masked that must not leave the machine, made so that it fits the
        model's context together with its answer.

        `version` identifies the prompt, the schema and the check, and must change with any of them, because answers
        are cached by it. `source_tokens`: the length of the texts that it is about. `masked`: what the caller has
        already masked, as `mask` counts it.
        """
        user, counts = redact(prompt.user.encode("utf-8", "replace").decode(), personal=settings.model.mask_personal)
        counts = counts + (masked or Counter())
        context = context_tokens(settings)
        request = Request(
            model_name(settings),
            version,
            prompt.system,
            user,
            max_tokens=min(_MOST_OUTPUT_TOKENS, 2 * source_tokens + _ANSWER_FRAME_TOKENS),
            schema=json_schema_of(schema),
            masked_secrets=counts["secret"],
            masked_personal=counts["email"] + counts["phone"],
        ).fitted_to(context)
        too_long = ""
        if request.max_tokens < min(source_tokens // 4, _MOST_OUTPUT_TOKENS) + _LEAST_OUTPUT_TOKENS:
            too_long = f"too long for a context of {context} tokens; raise model.context_tokens if the model takes more"
        elif source_tokens > MOST_SOURCE_TOKENS:
            too_long = f"too long for one prompt: {source_tokens} tokens, at most {MOST_SOURCE_TOKENS} are sent"
        return cls(request, schema, check, context, last_check, too_long=too_long)

    def follow_ups(
        self, reply: Reply, result: ResultT | Declined | Exception | None
    ) -> Sequence[Question[AnswerT, ResultT]]:
        """The questions that follow from a reply, which came to a `result`: the question once more with what is wrong
        with the answer, its halves if the answer ended early, or nothing."""
        if reply.text is None:
            return ()
        if reply.stop_reason in CUT_SHORT:
            return self.halves() if self.halves else ()
        if not isinstance(result, Declined) or not result.objection:
            return ()
        if result.instead is not None:
            return (result.instead(),)
        objection, _ = redact(result.objection, personal=True)  # it may quote the notes as they stand in the store
        request = self.request.asked_again(reply.text[: self.request.most_chars], objection)
        request = request.fitted_to(self.context_tokens)
        if request.max_tokens < min(self.request.max_tokens, len(reply.text) // 2):
            return ()
        return (replace(self, request=request, check=self.last_check or self.check, halves=None, too_long=""),)

    def read(self, reply: Reply) -> ResultT | Declined | Exception:
        """The result of the check for a reply, or the reason why there is nothing to check."""
        if reply.deferred:
            return Declined(reply.deferred, again=True)
        result = self._read(reply)
        return self.fallback if isinstance(result, Declined | Exception) and self.fallback is not None else result

    def _read(self, reply: Reply) -> ResultT | Declined | Exception:
        if reply.text is None:
            return ModelError(reply.error or "the model gave no answer")
        if reply.stop_reason == "refusal":
            return Declined("the model declined to answer")
        if reply.stop_reason in CUT_SHORT:
            return Declined("the model's answer was cut short")
        if len(reply.text) > self.request.most_chars:
            return Declined("the model's answer is longer than was asked for")
        fenced = _FENCE.match(reply.text)  # one surrounding Markdown fence is accepted, nothing else
        try:
            answer = self.schema.model_validate(json.loads(fenced["body"] if fenced else reply.text), strict=False)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            reason = one_line(f"{'.'.join(map(str, first['loc'])) or 'the answer'}: {first['msg']}")
            return _declined_as_malformed(reason)
        except (ValueError, RecursionError):
            return _declined_as_malformed("no JSON object")
        try:
            return self.check(answer)
        except Exception as error:  # a user-defined check may fail on an answer
            return error


def _declined_as_malformed(reason: str) -> Declined:
    return Declined(f"malformed answer: {reason}", objection=f"It does not match the schema: {reason}")


@cache
def json_schema_of(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema in the form of structured output: every field required, no others allowed."""
    from anthropic import transform_schema

    return dict(transform_schema(schema))
