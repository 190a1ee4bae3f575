"""The language model that the settings choose: the registry of providers, with their addresses, keys and contexts; and
who read the notes of a run, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from memory_pipeline.config.models import ProviderName
from memory_pipeline.config.settings import Settings
from memory_pipeline.config.sources import is_same_server
from memory_pipeline.errors import ModelError, NoModelError
from memory_pipeline.models.http import is_on_this_machine
from memory_pipeline.models.limits import FREE, PRICES, Price
from memory_pipeline.models.provider import Provider
from memory_pipeline.models.providers.anthropic import AnthropicMessages
from memory_pipeline.models.providers.command_lines import ClaudeCode, Codex
from memory_pipeline.models.providers.recorded import Recorded
from memory_pipeline.models.providers.servers import ChatCompletions, Ollama
from memory_pipeline.records import ModelCall
from memory_pipeline.text.counts import how_many

#: The current Haiku; `model.name` chooses another one.
DEFAULT_CLAUDE = "claude-haiku-5-5"
OLLAMA_ADDRESS = "http://127.0.0.1:11434"
_OPENAI_ADDRESS = "https://api.openai.com/v1"
#: Tokens that a model takes at once, where no server says so. Small ones run on machines where memory is short.
_LARGE, _OPENAI, _SMALL = 200_000, 128_000, 16_384


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address with the key that belongs to it; empty if none does."""

    address: str
    key: str

    @property
    def is_local(self) -> bool:
        """True if it is on this machine."""
        return is_on_this_machine(self.address)


def choose_provider(settings: Settings) -> ProviderName:
    """The provider's name: what is set, and for `auto` the one for which there is a key. No subscription and no server
    is used unless it is chosen."""
    chosen = settings.model.provider
    if chosen != "auto":
        return chosen
    # A key that must not be sent is told of, rather than passed over.
    has_key = settings.anthropic.api_key or "anthropic.api_key" in settings.withheld_keys
    return "anthropic" if has_key else "none"


def has_model(settings: Settings) -> bool:
    """True if any model is asked."""
    return choose_provider(settings) != "none"


def require_model(settings: Settings, purpose: str) -> None:
    """Raises NoModelError if no model is chosen. `purpose`: what only a model can do, as in `answer`."""
    if not has_model(settings):
        raise NoModelError(
            f"no model is chosen, and only a model can {purpose}; 'memory-pipeline model list' shows what there is"
        )


def model_reads(settings: Settings) -> bool:
    """True if a model reads notes, conversations, sessions and periods, rather than distilling clusters alone."""
    return settings.reading.ask_model and has_model(settings)


def model_name(settings: Settings) -> str:
    """The model's name as questions and kept answers have it; empty without a model."""
    provider = choose_provider(settings)
    if settings.model.name or provider == "none":
        return settings.model.name
    return {"anthropic": DEFAULT_CLAUDE, "recorded": "recorded"}.get(provider, f"{provider}-default")


def context_tokens(settings: Settings) -> int:
    """Tokens that a question and its answer may have together. It depends on settings alone, so that questions, and the
    answers that are kept of them, are the same on every machine."""
    if settings.model.context_tokens:
        return settings.model.context_tokens
    provider = choose_provider(settings)
    if provider == "openai":
        return _OPENAI if is_same_server(endpoint_of(settings).address, _OPENAI_ADDRESS) else _SMALL
    return _SMALL if provider == "ollama" else _LARGE


def endpoint_of(settings: Settings) -> Endpoint:
    """The endpoint at which the chosen model is asked. A key goes only to the address that it belongs to:
    `model.api_key` to `model.base_url`, and a provider's own key to the provider's own address."""
    own = {
        "anthropic": (settings.anthropic.base_url, settings.anthropic.api_key),
        "openai": (settings.openai.base_url, settings.openai.api_key),
        "ollama": (OLLAMA_ADDRESS, ""),
    }
    address, key = own.get(choose_provider(settings), ("", ""))
    wanted = settings.model.base_url or address
    if settings.model.api_key:
        return Endpoint(wanted, settings.model.api_key)
    return Endpoint(wanted, key if wanted == address or is_same_server(wanted, address) else "")


def model_price(settings: Settings) -> Price:
    """The price of the chosen model; nothing for a subscription, and for one on this machine that has no known price: a
    gateway to a priced one may run there. `model.prices` comes before the list.

    Raises ModelError if none is known, because then its cost could not be capped.
    """
    provider = choose_provider(settings)
    if provider in ("claude-code", "codex", "recorded", "none"):
        return FREE
    model = model_name(settings) if provider == "anthropic" else settings.model.name
    for entry in reversed(settings.model.prices):
        name, _, rates = entry.rpartition("=")
        if name == model:
            tokens_in, _, tokens_out = rates.partition("/")
            return Price(float(tokens_in), float(tokens_out))
    if model in PRICES:
        return PRICES[model]
    if not model or provider == "ollama" or endpoint_of(settings).is_local:
        return FREE
    raise ModelError(
        f"no price is known for the model '{model}', so its cost could not be capped; add "
        f'model.prices = ["{model}=IN/OUT"] in USD per million tokens (0/0 if it is free)'
    )


def make_provider(settings: Settings) -> Provider:
    """The chosen provider, which has sent nothing yet.

    Raises ModelError for settings with which no model can be asked: no key, no price, no file.
    """
    name, model, context = choose_provider(settings), settings.model, context_tokens(settings)
    if name == "recorded":
        return Recorded(model.answers, model.record, model=model.name, context_tokens=context)
    if name in _PROGRAMS:
        return _PROGRAMS[name](model.name, context_tokens=context)
    own_key = f"{name}.api_key"
    for key in ("model.api_key", own_key if name == "anthropic" or not model.base_url else ""):
        if reason := settings.withheld_keys.get(key):
            raise ModelError(reason)
    endpoint = endpoint_of(settings)
    if name == "anthropic":
        _check_key(endpoint, settings.anthropic.api_key, "ANTHROPIC_API_KEY")
    elif name == "openai" and not endpoint.is_local:
        _check_key(endpoint, settings.openai.api_key, "OPENAI_API_KEY")
    return _SERVERS[name](
        model.name or (DEFAULT_CLAUDE if name == "anthropic" else ""),
        endpoint.address,
        endpoint.key,
        model_price(settings),
        context_tokens=context,
        timeout_s=model.timeout_s,
    )


#: A provider is a class in `providers/` and a line here.
_SERVERS: Mapping[str, type[AnthropicMessages | ChatCompletions | Ollama]] = {
    server.name: server for server in (AnthropicMessages, ChatCompletions, Ollama)
}
_PROGRAMS: Mapping[str, type[ClaudeCode | Codex]] = {program.name: program for program in (ClaudeCode, Codex)}


def _check_key(endpoint: Endpoint, own_key: str, variable: str) -> None:
    """Raise ModelError if there is a key that belongs to another address, and none for this one."""
    if own_key and not endpoint.key:
        raise ModelError(
            f"the key in {variable} is not sent to '{endpoint.address}', where it does not belong; set "
            "MEMORY_PIPELINE_MODEL_API_KEY for that server"
        )


NO_MODEL = (
    "No model read these notes: copies and readings only. 'memory-pipeline model list' shows what is on this machine."
)
#: Tokens of a note with its day and heading beside its own, and of what else is in a question.
_FRAMED, _PER_QUESTION = 1.3, 3_300
_SUBSCRIPTIONS = {"claude-code": "Claude Code's login", "codex": "Codex's login"}


@dataclass(frozen=True, slots=True)
class Waiting:
    """What no model has read yet: notes, and turns of conversations of some days, with the tokens of both."""

    notes: int = 0
    turns: int = 0
    days: int = 0
    tokens: int = 0

    def __bool__(self) -> bool:
        return bool(self.notes or self.turns)

    def __str__(self) -> str:
        counted = [how_many(number, noun) for number, noun in ((self.notes, "note"), (self.turns, "turn")) if number]
        return " and ".join(counted)


def describe_reader(settings: Settings, calls: Sequence[ModelCall], waiting: Waiting = Waiting()) -> str:
    """The line on who read, as every screen and report of a night says it. `calls`: of the run; `waiting`: what is left
    after it."""
    provider = choose_provider(settings)
    if provider == "none":
        return f"{NO_MODEL} {_would_read(settings, waiting)}".strip()
    verb = "waits" if waiting.notes + waiting.turns == 1 else "wait"
    waits = f"{waiting} {verb} for its answers" if waiting else ""
    sent = [call for call in calls if call.mode != "cache"]
    asked = {call.prompt_hash for call in sent if not call.asked_again}
    again = {call.prompt_hash for call in sent if call.asked_again}
    reused = {call.prompt_hash for call in calls if call.mode == "cache"}
    if not calls:
        return f"{model_name(settings)} reads {_place(settings, provider)}; {waits or 'there was nothing to ask'}."
    parts = [how_many(len(asked), "question")]
    if again:
        parts.append(f"{len(again):,} asked again")
    if reused:
        parts.append(f"{len(reused):,} answered before")
    cost = sum(call.cost_usd for call in sent)
    parts.append(f"{cost:.4f} USD" if cost else "free")
    by = "" if model_name(settings) == provider == "recorded" else f" by {model_name(settings)}"
    sentence = f"Read{by} {_place(settings, provider)}: {', '.join(parts)}."
    return f"{sentence} {waits[:1].upper()}{waits[1:]}." if waits else sentence


def _would_read(settings: Settings, waiting: Waiting) -> str:
    """Says what the default model would read, and for how much. Measured on 1,282 notes of a workspace: 19 questions,
    3,300 tokens of instructions and statements in each, and half as many tokens of answers as of notes. Conversations
    take a question a day at least."""
    if not waiting:
        return ""
    tokens = waiting.tokens
    asked = max(1, waiting.days, ceil(_FRAMED * tokens / settings.reading.question_tokens))
    each = PRICES[DEFAULT_CLAUDE].cost(round(_FRAMED * tokens / asked) + _PER_QUESTION, tokens // 2 // asked)
    cost = max(asked * each, 0.01)
    return f"{DEFAULT_CLAUDE} would read {waiting} in about {how_many(asked, 'question')}, for {cost:.2f} USD."


def _place(settings: Settings, provider: str) -> str:
    if provider in _SUBSCRIPTIONS:
        return f"with {_SUBSCRIPTIONS[provider]}"
    if provider == "recorded":
        return "from recorded answers"
    endpoint = endpoint_of(settings)
    return "on this machine" if endpoint.is_local else f"at {endpoint.address}"
