"""Who read the notes of a run, in one sentence: the model, where it is, what it was asked and what that cost."""

from __future__ import annotations

from collections.abc import Sequence

from memory_pipeline.config.settings import Settings
from memory_pipeline.models.choose import choose_provider, endpoint_of, model_name
from memory_pipeline.records import ModelCall

NO_MODEL = (
    "No model read these notes: copies and readings only. 'memory-pipeline model check' shows what is on this machine."
)
_SUBSCRIPTIONS = {"claude-code": "Claude Code's login", "codex": "Codex's login"}


def describe_reader(settings: Settings, calls: Sequence[ModelCall]) -> str:
    """Who read, as every screen and report of a night says it. `calls`: of the run."""
    provider = choose_provider(settings)
    if provider == "none":
        return NO_MODEL
    sent = [call for call in calls if call.mode != "cache"]
    asked = {call.prompt_hash for call in sent if not call.asked_again}
    again = {call.prompt_hash for call in sent if call.asked_again}
    reused = {call.prompt_hash for call in calls if call.mode == "cache"}
    if not calls:
        return f"{model_name(settings)} reads {_place(settings, provider)}; there was nothing to ask."
    parts = [_count(len(asked), "question")]
    if again:
        parts.append(f"{len(again):,} asked again")
    if reused:
        parts.append(f"{len(reused):,} answered before")
    cost = sum(call.cost_usd for call in sent)
    parts.append(f"{cost:.4f} USD" if cost else "free")
    return f"Read by {model_name(settings)} {_place(settings, provider)}: {', '.join(parts)}."


def _place(settings: Settings, provider: str) -> str:
    if provider in _SUBSCRIPTIONS:
        return f"with {_SUBSCRIPTIONS[provider]}"
    if provider == "recorded":
        return "from recorded answers"
    endpoint = endpoint_of(settings)
    return "on this machine" if endpoint.is_local else f"at {endpoint.address}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
