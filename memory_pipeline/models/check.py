"""Asks the chosen model a real question: does it answer, keep to a schema, and receive a long prompt whole?"""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import ModelError
from memory_pipeline.models.choose import choose_provider, context_tokens, make_provider
from memory_pipeline.models.provider import CallError, Provider
from memory_pipeline.models.questions import CUT_SHORT, json_schema_of
from memory_pipeline.models.reader import NO_MODEL
from memory_pipeline.models.requests import Answer, Request

#: The long prompt has about so many tokens, the size of a question about a day, or what the context has room for.
_LONG_TOKENS = 8_000
_ANSWER_TOKENS = 1_500
#: A line of the long prompt, and its tokens by a generous count.
_LINE, _LINE_TOKENS = "Entry {number}: the nightly job ended without a finding.", 14
_SYSTEM = "You read notes. Answer with one JSON object that has the fields of the schema, and with nothing else."


class _Port(BaseModel):
    """What the short question asks for."""

    model_config = ConfigDict(extra="forbid")

    port: int = Field(description="The port that is in use now.")
    reason: str = Field(description="Why it was changed, in the note's own words.")


class _Words(BaseModel):
    """What the long question asks for."""

    model_config = ConfigDict(extra="forbid")

    first_word: str = Field(description="The code word in the first line.")
    last_word: str = Field(description="The code word in the last line.")


class ModelCheck(Document):
    """What a check of the model came to."""

    provider: str = Field(description="The value of `model.provider`.")
    model: str = Field(description="The model's name.")
    place: str = Field(description="The address, or the command.")
    works: bool = Field(description="Whether it can read notes.")
    schema_kept: bool | None = Field(description="Whether its answer had the structure that was asked for.")
    understood: bool | None = Field(description="Whether it read a short note rightly.")
    context_whole: bool | None = Field(description="Whether the first and the last word of a long prompt arrived.")
    context_asked: int = Field(description="Tokens of that prompt, about.")
    context_tokens: int = Field(description="Tokens that a question and its answer may have together.")
    tokens_in: int = Field(description="Tokens of both questions, as the server counted them; 0 if it counts none.")
    tokens_out: int = Field(description="Tokens of both answers.")
    cost_usd: float = Field(description="What both cost; 0 if they were free.")
    latency_ms: int = Field(description="Milliseconds for the short question.")
    problem: str | None = Field(description="Why it does not work, and what to do.")


@dataclass(frozen=True, slots=True)
class _Asked:
    answer: Answer
    parsed: BaseModel | None
    latency_ms: int


def check_model(settings: Settings, log: logging.Logger) -> ModelCheck:
    """Ask the chosen model a short question and a long one. Sends nothing if no model is chosen."""
    name = choose_provider(settings)
    if name == "none":
        return _failed("none", "", "", 0, NO_MODEL)
    try:
        provider = make_provider(settings)
    except ModelError as error:
        return _failed(name, settings.model.name, settings.model.base_url, context_tokens(settings), str(error))
    try:
        provider.prepare(log)
        short = _ask(provider, settings, _Port, '{"note": "We moved the export from 8021 to 8031: 8021 was taken."}')
        lines = max(4, min(_LONG_TOKENS, provider.context_tokens - _ANSWER_TOKENS - 1_500) // _LINE_TOKENS)
        long = _ask(provider, settings, _Words, _long_prompt(lines))
    except (ModelError, CallError) as error:
        return _failed(name, provider.model, provider.place, provider.context_tokens, str(error))
    return _result(provider, short, long, lines * _LINE_TOKENS)


def _long_prompt(lines: int) -> str:
    middle = [_LINE.format(number=number) for number in range(lines)]
    return "\n".join(["Code word: marmalade", *middle, "Code word: lighthouse"])


def _ask(provider: Provider, settings: Settings, schema: type[BaseModel], user: str) -> _Asked:
    request = Request.to_model(
        provider.model, "check-1", _SYSTEM, user, max_tokens=_ANSWER_TOKENS, schema=json_schema_of(schema)
    )
    began = time.monotonic()
    answer = provider.ask(request, settings.model.timeout_s)
    latency_ms = int((time.monotonic() - began) * 1000)
    try:
        parsed = schema.model_validate(json.loads(answer.text))
    except (ValidationError, ValueError, RecursionError):
        parsed = None
    return _Asked(answer, parsed, latency_ms)


def _result(provider: Provider, short: _Asked, long: _Asked, asked: int) -> ModelCheck:
    schema_kept = short.parsed is not None and long.parsed is not None
    understood = isinstance(short.parsed, _Port) and short.parsed.port == 8031
    words = long.parsed if isinstance(long.parsed, _Words) else None
    whole = words is not None and (words.first_word, words.last_word) == ("marmalade", "lighthouse")
    problem = None
    if long.answer.stop_reason in CUT_SHORT or short.answer.stop_reason in CUT_SHORT:
        problem = "an answer ended early; raise model.context_tokens, or choose a model with a larger context"
    elif not schema_kept:
        problem = "the answer does not keep to the schema; choose a larger model or another provider"
    elif words is not None and not whole:
        problem = (
            f"of a prompt of some {asked:,} tokens a part did not arrive, or was not read; set model.context_tokens to "
            "what the server really takes, or start the server with more"
        )
    elif not understood:
        problem = "it misread a note of one sentence; choose a larger model"
    tokens_in = short.answer.tokens_in + long.answer.tokens_in
    tokens_out = short.answer.tokens_out + long.answer.tokens_out
    return ModelCheck(
        provider=provider.name,
        model=provider.model,
        place=provider.place,
        works=problem is None,
        schema_kept=schema_kept,
        understood=understood,
        context_whole=whole,
        context_asked=asked,
        context_tokens=provider.context_tokens,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=round(sum(provider.price.cost(a.answer.tokens_in, a.answer.tokens_out) for a in (short, long)), 6),
        latency_ms=short.latency_ms,
        problem=problem,
    )


def _failed(provider: str, model: str, place: str, context: int, problem: str) -> ModelCheck:
    return ModelCheck(
        provider=provider,
        model=model,
        place=place,
        works=False,
        schema_kept=None,
        understood=None,
        context_whole=None,
        context_asked=0,
        context_tokens=context,
        tokens_in=0,
        tokens_out=0,
        cost_usd=0.0,
        latency_ms=0,
        problem=problem,
    )
