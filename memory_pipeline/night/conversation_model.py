"""What a model proposes to keep of conversations, if the settings choose one: asked about several days at once, before
these are read. What it does not answer is left to the rules, and told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_pipeline.config.settings import Settings
from memory_pipeline.conversations.answers import proposals_from
from memory_pipeline.conversations.chunks import chunks_of
from memory_pipeline.conversations.proposals import Proposals
from memory_pipeline.conversations.questions import STEERS, Accepted, TurnsQuestion, questions_about
from memory_pipeline.conversations.turns import turns_of
from memory_pipeline.distillers import attempt_in
from memory_pipeline.errors import ModelError, in_words
from memory_pipeline.models import Declined, ModelClient
from memory_pipeline.models.choose import has_model
from memory_pipeline.night.context import Night
from memory_pipeline.night.distillation import answer_book, session_of
from memory_pipeline.night.speakers import names_of
from memory_pipeline.store.conversations import SpokenDay
from memory_pipeline.wording.counts import how_many

#: Days are asked about until they have so many questions: in batch mode these are one batch.
_QUESTIONS_AT_ONCE = 400


@dataclass(frozen=True, slots=True)
class ModelBill:
    """What was asked in a run: calls with every attempt, answers that were known already, and the cost."""

    calls: int
    reused: int
    cost_usd: float

    def since(self, before: ModelBill) -> ModelBill:
        """What was asked after an earlier look."""
        cost = round(self.cost_usd - before.cost_usd, 6)
        return ModelBill(self.calls - before.calls, self.reused - before.reused, cost)


@dataclass(frozen=True, slots=True)
class _Asked:
    day: SpokenDay
    questions: list[TurnsQuestion]
    hostile: int


def asks_model(settings: Settings) -> bool:
    """Whether a model is asked about conversations: the one that distils, unless the settings say no."""
    return settings.conversations.ask_model and has_model(settings)


def with_proposals(night: Night, days: Sequence[SpokenDay]) -> Iterator[tuple[SpokenDay, Proposals | None]]:
    """Each day, in order, with what the model proposes to keep of it; without anything if no model is asked.

    An error of the model is noted once, and the days that it has not answered are left to the rules.
    """
    client = _client(night) if days and asks_model(night.settings) else None
    if client is None:
        yield from ((day, None) for day in days)
        return
    group: list[_Asked] = []
    for number, day in enumerate(days, start=1):
        night.hold_lease()
        group.append(_asked(night, day))
        if number == len(days) or sum(len(one.questions) for one in group) >= _QUESTIONS_AT_ONCE:
            yield from _answered(night, client, group)
            group = []


def bill_of(night: Night) -> ModelBill:
    """What the run has asked so far."""
    calls = answer_book(night).calls()
    sent = [call for call in calls if call.mode != "cache"]
    return ModelBill(len(sent), len(calls) - len(sent), round(sum(call.cost_usd for call in sent), 6))


def _client(night: Night) -> ModelClient | None:
    try:
        return ModelClient(night.settings)
    except ModelError as error:  # no price: nothing can be asked
        night.note_error("", "extraction", error)
        return None


def _asked(night: Night, day: SpokenDay) -> _Asked:
    with night.store.reading() as tx:
        memories = tx.conversations.turns(day.project_id, day.night)
    try:
        names = names_of(night.store, night.settings, day.project_id, memories)
        chunks = chunks_of(turns_of(memories, names).turns, night.settings.conversations.chunk_tokens)
        questions, hostile = questions_about(chunks, night.settings, lambda text: attempt_in(text) is not None)
    except Exception:  # one day never costs the others; who reads it notes the error
        night.log.exception("preparing the questions about %s on %s", day.project_id, day.night)
        return _Asked(day, [], 0)
    if hostile:
        chunks_left = how_many(hostile, "chunk")
        night.log.warning("%s, %s: %s left to the rules: one turn %s", day.project_id, day.night, chunks_left, STEERS)
    return _Asked(day, questions, hostile)


def _answered(night: Night, client: ModelClient, group: Sequence[_Asked]) -> Iterator[tuple[SpokenDay, Proposals]]:
    """The days with the answers about them."""
    questions = {
        (place, number): one.question for place, asked in enumerate(group) for number, one in enumerate(asked.questions)
    }
    results: dict[tuple[int, int], Accepted | Declined | Exception] = {}
    try:
        found = client.ask(questions, session_of(night), "conversations")
        results.update(found)
    except ModelError as error:
        if not any(known.stage == "extraction" and known.error == in_words(error) for known in night.errors):
            night.note_error("", "extraction", error)
    for place, asked in enumerate(group):
        answers = [results.get((place, number)) for number in range(len(asked.questions))]
        yield asked.day, proposals_from(asked.questions, answers, asked.hostile)
