"""The models that are on this machine, and a real question to the chosen one.

Looking finds keys, programs with a login of their own, and servers on their usual ports; it sends nothing but a request
for the list of models to loopback, and chooses nothing. The check asks: does the model answer, keep to a schema, and
receive a long prompt whole?
"""

from __future__ import annotations

import logging
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import ModelError
from memory_pipeline.models.choose import (
    DEFAULT_CLAUDE,
    NO_MODEL,
    OLLAMA_ADDRESS,
    choose_provider,
    context_tokens,
    endpoint_of,
    make_provider,
    model_name,
)
from memory_pipeline.models.http import send_json
from memory_pipeline.models.provider import Answer, CallError, Provider, Reply, Request
from memory_pipeline.models.questions import CUT_SHORT, Question, json_schema_of

_Schema = TypeVar("_Schema", bound=BaseModel)
_LOOK_S, _LISTING_BYTES = 1.0, 10_000_000
_SHOWN = 6


class FoundModel(Document):
    """A model that can be chosen on this machine."""

    provider: str = Field(description="The value for `model.provider`.")
    what: str = Field(description="What was found.")
    models: tuple[str, ...] = Field(description="The models that it has, if it says.")
    choose: str = Field(description="The command that chooses it.")
    chosen: bool = Field(description="Whether it is the one that reads now.")


@dataclass(frozen=True, slots=True)
class _Server:
    provider: str
    title: str
    address: str
    path: str


_SERVERS = (
    _Server("ollama", "Ollama", OLLAMA_ADDRESS, "/api/tags"),
    _Server("openai", "LM Studio", "http://127.0.0.1:1234/v1", "/models"),
    _Server("openai", "llama.cpp", "http://127.0.0.1:8080/v1", "/models"),
    _Server("openai", "vLLM", "http://127.0.0.1:8000/v1", "/models"),
)
_PROGRAMS = (("claude-code", "claude", "Claude Code"), ("codex", "codex", "Codex"))


def find_models(settings: Settings) -> list[FoundModel]:
    """Every model that is here, in a fixed order: keys, servers, programs."""
    chosen = choose_provider(settings)
    rows: list[tuple[str, str, tuple[str, ...], str, bool]] = []
    if settings.anthropic.api_key:
        rows.append(("anthropic", "an API key for Claude", (DEFAULT_CLAUDE,), "", chosen == "anthropic"))
    if settings.openai.api_key:
        rows.append(("openai", "an API key for OpenAI", (), " MODEL", chosen == "openai"))
    with ThreadPoolExecutor(len(_SERVERS)) as pool:
        listings = list(pool.map(_list_models, _SERVERS))
    for server, models in zip(_SERVERS, listings, strict=True):
        if models is None:
            continue
        name = models[0] if models else "MODEL"
        address = "" if server.provider == "ollama" else f" --base-url {server.address}"
        is_here = endpoint_of(settings).address.rstrip("/") == server.address
        is_chosen = chosen == server.provider and is_here and model_name(settings) in models
        what = f"{server.title} at {server.address}"
        rows.append((server.provider, what, models[:_SHOWN], f" {name}{address}", is_chosen))
    for provider, command, title in _PROGRAMS:
        if shutil.which(command):
            what = f"{title}, the command '{command}', with its own login"
            rows.append((provider, what, (), "", chosen == provider))
    use = "memory-pipeline model use"
    return [
        FoundModel(provider=provider, what=what, models=models, choose=f"{use} {provider}{rest}", chosen=is_chosen)
        for provider, what, models, rest, is_chosen in rows
    ]


def _list_models(server: _Server) -> tuple[str, ...] | None:
    """The models of a server; None if nothing of its kind answers there."""
    try:
        listing = send_json("GET", f"{server.address}{server.path}", timeout_s=_LOOK_S, most_bytes=_LISTING_BYTES)
    except CallError:
        return None
    rows = listing.get("models" if server.provider == "ollama" else "data")
    if not isinstance(rows, list):
        return None
    names = [row.get("name" if server.provider == "ollama" else "id") for row in rows if isinstance(row, dict)]
    return tuple(str(name) for name in names if name)


#: The long prompt has about so many tokens, the size of a question about a day, or what the context has room for.
_LONG_TOKENS = 8_000
_ANSWER_TOKENS = 1_500
#: A line of the long prompt, and its tokens by a generous count.
_LINE, _LINE_TOKENS = "Entry {number}: the nightly job ended without a finding.", 14
_SYSTEM = "You read notes. Answer with one JSON object that has the fields of the schema, and with nothing else."


class _Port(BaseModel, extra="forbid"):
    """What the short question asks for."""

    port: int = Field(description="The port that is in use now.")
    reason: str = Field(description="Why it was changed, in the note's own words.")


class _Words(BaseModel, extra="forbid"):
    """What the long question asks for."""

    first_word: str = Field(description="The code word in the first line.")
    last_word: str = Field(description="The code word in the last line.")


class ModelCheck(Document):
    """The result of a check of the model."""

    provider: str = Field(description="The value of `model.provider`.")
    model: str = Field("", description="The model's name.")
    place: str = Field("", description="The address, or the command.")
    works: bool = Field(description="Whether it can read notes.")
    schema_kept: bool | None = Field(None, description="Whether its answer had the structure that was asked for.")
    understood: bool | None = Field(None, description="Whether it read a short note rightly.")
    context_whole: bool | None = Field(
        None, description="Whether the first and the last word of a long prompt arrived."
    )
    context_asked: int = Field(0, description="Tokens of that prompt, about.")
    context_tokens: int = Field(0, description="Tokens that a question and its answer may have together.")
    tokens_in: int = Field(0, description="Tokens of both questions, as the server counted them; 0 if it counts none.")
    tokens_out: int = Field(0, description="Tokens of both answers.")
    cost_usd: float = Field(0.0, description="What both cost; 0 if they were free.")
    latency_ms: int = Field(0, description="Milliseconds for the short question.")
    problem: str | None = Field(None, description="Why it does not work, and what to do.")


def check_model(settings: Settings, log: logging.Logger) -> ModelCheck:
    """Ask the chosen model a short question and a long one. Sends nothing if no model is chosen."""
    name = choose_provider(settings)
    if name == "none":
        return ModelCheck(provider=name, works=False, problem=NO_MODEL)
    made = ModelCheck(
        provider=name,
        model=settings.model.name,
        place=settings.model.base_url,
        works=False,
        context_tokens=context_tokens(settings),
    )
    try:
        provider = make_provider(settings)
        made = made.model_copy(update={"model": provider.model, "place": provider.place})
        provider.prepare(log)
        note = '{"note": "We moved the export from 8021 to 8031: 8021 was taken."}'
        began = time.monotonic()
        short, port = _ask(provider, settings, _Port, note)
        latency_ms = int(1000 * (time.monotonic() - began))
        lines = max(4, min(_LONG_TOKENS, provider.context_tokens - _ANSWER_TOKENS - 1_500) // _LINE_TOKENS)
        middle = [_LINE.format(number=number) for number in range(lines)]
        code_words = "\n".join(["Code word: marmalade", *middle, "Code word: lighthouse"])
        long, words = _ask(provider, settings, _Words, code_words)
    except (ModelError, CallError) as error:
        return made.model_copy(update={"problem": str(error)})
    asked = lines * _LINE_TOKENS
    understood = port is not None and port.port == 8031
    whole = words is not None and (words.first_word, words.last_word) == ("marmalade", "lighthouse")
    problem = None
    if {short.stop_reason, long.stop_reason} & CUT_SHORT:
        problem = "an answer ended early; raise model.context_tokens, or choose a model with a larger context"
    elif port is None or words is None:
        problem = "the answer does not keep to the schema; choose a larger model or another provider"
    elif not whole:
        problem = (
            f"of a prompt of some {asked:,} tokens a part did not arrive, or was not read; set model.context_tokens to "
            "what the server really takes, or start the server with more"
        )
    elif not understood:
        problem = "it misread a note of one sentence; choose a larger model"
    figures = {
        "works": problem is None,
        "schema_kept": port is not None and words is not None,
        "understood": understood,
        "context_whole": whole,
        "context_asked": asked,
        "tokens_in": short.tokens_in + long.tokens_in,
        "tokens_out": short.tokens_out + long.tokens_out,
        "cost_usd": round(sum(provider.price.cost(answer.tokens_in, answer.tokens_out) for answer in (short, long)), 6),
        "latency_ms": latency_ms,
        "problem": problem,
    }
    return made.model_copy(update=figures)


def _ask(provider: Provider, settings: Settings, schema: type[_Schema], user: str) -> tuple[Answer, _Schema | None]:
    """The answer, and what is in it; None if it does not keep to the schema."""
    request = Request(
        provider.model, "check-1", _SYSTEM, user, max_tokens=_ANSWER_TOKENS, schema=json_schema_of(schema)
    )
    answer = provider.ask(request, settings.model.timeout_s)
    question: Question[_Schema, _Schema] = Question(request, schema, lambda parsed: parsed, provider.context_tokens)
    result = question.read(Reply.of(request, answer, 0))
    return answer, result if isinstance(result, schema) else None
