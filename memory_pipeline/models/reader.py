"""Who read the notes of a run, in one sentence: the model, where it is, what it was asked and what that cost."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from memory_pipeline.config.settings import Settings
from memory_pipeline.models.choose import DEFAULT_CLAUDE, choose_provider, endpoint_of, model_name
from memory_pipeline.models.pricing import PRICES
from memory_pipeline.records import ModelCall

NO_MODEL = (
    "No model read these notes: copies and readings only. 'memory-pipeline model check' shows what is on this machine."
)
#: Tokens of a note with its day and heading beside its own, and of what else is in a question.
_FRAMED, _PER_QUESTION = 1.3, 3_300
_SUBSCRIPTIONS = {"claude-code": "Claude Code's login", "codex": "Codex's login"}


def describe_reader(settings: Settings, calls: Sequence[ModelCall], unread: tuple[int, int] = (0, 0)) -> str:
    """Who read, as every screen and report of a night says it. `calls`: of the run; `unread`: the notes that no model
    has read, and their tokens."""
    provider = choose_provider(settings)
    if provider == "none":
        return f"{NO_MODEL} {_would_read(settings, *unread)}".strip()
    sent = [call for call in calls if call.mode != "cache"]
    asked = {call.prompt_hash for call in sent if not call.asked_again}
    again = {call.prompt_hash for call in sent if call.asked_again}
    reused = {call.prompt_hash for call in calls if call.mode == "cache"}
    if not calls:
        nothing = "no question has an answer" if provider == "recorded" else "there was nothing to ask"
        return f"{model_name(settings)} reads {_place(settings, provider)}; {nothing}."
    parts = [_count(len(asked), "question")]
    if again:
        parts.append(f"{len(again):,} asked again")
    if reused:
        parts.append(f"{len(reused):,} answered before")
    cost = sum(call.cost_usd for call in sent)
    parts.append(f"{cost:.4f} USD" if cost else "free")
    return f"Read by {model_name(settings)} {_place(settings, provider)}: {', '.join(parts)}."


def _would_read(settings: Settings, notes: int, tokens: int) -> str:
    """What the default model would read, and for how much. Measured on 1,282 notes of a workspace: 19 questions, 3,300
    tokens of instructions and statements in each, and half as many tokens of answers as of notes."""
    if not notes:
        return ""
    asked = ceil(_FRAMED * tokens / settings.reading.question_tokens)
    cost = PRICES[DEFAULT_CLAUDE].cost(round(_FRAMED * tokens) + asked * _PER_QUESTION, tokens // 2)
    words = f"{DEFAULT_CLAUDE} would read {_count(notes, 'note')} in about {_count(asked, 'question')}"
    return f"{words}, for {max(cost, 0.01):.2f} USD."


def _place(settings: Settings, provider: str) -> str:
    if provider in _SUBSCRIPTIONS:
        return f"with {_SUBSCRIPTIONS[provider]}"
    if provider == "recorded":
        return "from recorded answers"
    endpoint = endpoint_of(settings)
    return "on this machine" if endpoint.is_local else f"at {endpoint.address}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
