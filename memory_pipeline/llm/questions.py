"""Questions to a model: a prompt, the schema of its answer, and the check that turns the answer into a result."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError
from memory_pipeline.llm.requests import Reply, Request
from memory_pipeline.wording.hidden import visible
from memory_pipeline.wording.redaction import redact

AnswerT = TypeVar("AnswerT", bound=BaseModel)
ResultT = TypeVar("ResultT")

#: Allowance for thinking and for the structure of the answer, which count as output too.
_ANSWER_FRAME_TOKENS = 3072
_MOST_OUTPUT_TOKENS = 16_000
_FENCE = re.compile(r"^\s*```(?:json)?\s*\n(?P<body>.*?)\n?\s*```\s*$", re.DOTALL)


class MalformedAnswerError(ValueError):
    """The answer is not JSON, or does not match the schema."""


@dataclass(frozen=True, slots=True)
class Declined:
    """The reason for a missing result. `again`: no answer was available tonight; the next night tries again."""

    reason: str
    again: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """The instructions to a model (`system`) and the data (`user`)."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Question(Generic[AnswerT, ResultT]):
    """One question. `schema` is the structure of its answer; `check` turns a matching answer into a result, or says
    why there is none, and does not trust anything that the model says about itself.

    `source_tokens`: the length of the texts that it is about.
    """

    request: Request
    schema: type[AnswerT]
    check: Callable[[AnswerT], ResultT | Declined]
    source_tokens: int

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
        masked_secrets: int = 0,
        masked_personal: int = 0,
    ) -> Question[AnswerT, ResultT]:
        """The question as a request, with everything masked that must not leave the machine.

        `version` identifies the prompt, the schema and the check, and must change with any of them, because answers
        are cached by it. `masked_...`: what the caller has already masked, for the counts.
        """
        user, counts = redact(
            prompt.user.encode("utf-8", "replace").decode(), personal=settings.distillation.mask_personal
        )
        request = Request.to_model(
            settings.distillation.model,
            version,
            prompt.system,
            user,
            max_tokens=min(_MOST_OUTPUT_TOKENS, 2 * source_tokens + _ANSWER_FRAME_TOKENS),
            schema=_json_schema(schema),
            masked_secrets=masked_secrets + counts["secret"],
            masked_personal=masked_personal + counts["email"] + counts["phone"],
        )
        return cls(request, schema, check, source_tokens)

    def read(self, reply: Reply) -> ResultT | Declined | Exception:
        """The result of the check for a reply, or the reason why there is nothing to check."""
        if reply.deferred:
            return Declined(reply.deferred, again=True)
        if reply.text is None:
            return ModelError(reply.error or "the model gave no answer")
        if reply.stop_reason == "refusal":
            return Declined("the model declined to answer")
        if reply.stop_reason in ("max_tokens", "model_context_window_exceeded"):
            return Declined("the model's answer was cut short")
        if len(reply.text) > self.request.most_chars:
            return Declined("the model's answer is longer than was asked for")
        try:
            return self.check(self._parse(reply.text))
        except MalformedAnswerError as error:
            return Declined(f"malformed answer: {' '.join(visible(str(error)).split())[:300]}")
        except Exception as error:  # a user-defined check may fail on an answer
            return error

    def _parse(self, text: str) -> AnswerT:
        """The answer in a model's text; one surrounding Markdown fence is accepted, nothing else.

        Raises MalformedAnswerError with the first error.
        """
        fenced = _FENCE.match(text)
        try:
            return self.schema.model_validate(json.loads(fenced["body"] if fenced else text), strict=False)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the answer"
            raise MalformedAnswerError(f"{where}: {first['msg']}") from error
        except (ValueError, RecursionError) as error:
            raise MalformedAnswerError("no JSON object") from error


@cache
def _json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema in the form of structured output: every field required, no others allowed."""
    from anthropic import transform_schema

    return dict(transform_schema(schema))
