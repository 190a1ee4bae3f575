"""Who reads a day's conversations: the model, if the settings choose one, and else the classifier. What a model has not
answered yet is read by the classifier meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_pipeline.config.settings import Settings
from memory_pipeline.conversations.asking import ask_about, classifier_vectors
from memory_pipeline.conversations.extraction import Found, found_by_classifier
from memory_pipeline.errors import ModelError, in_words
from memory_pipeline.models import Declined, ModelClient, Question
from memory_pipeline.models.choose import has_model
from memory_pipeline.night.context import Night
from memory_pipeline.night.distillation import answer_book, session_of
from memory_pipeline.reading.answers import ReadingAnswer
from memory_pipeline.reading.question import Reading
from memory_pipeline.records import Extraction, Turn


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


def bill_of(night: Night) -> ModelBill:
    """What the run has asked so far."""
    calls = answer_book(night).calls()
    sent = [call for call in calls if call.mode != "cache"]
    return ModelBill(len(sent), len(calls) - len(sent), round(sum(call.cost_usd for call in sent), 6))


def asks_model(settings: Settings) -> bool:
    """Whether a model reads conversations: the one that distils, unless the settings say no."""
    return settings.conversations.ask_model and has_model(settings)


def read_turns(night: Night, turns: Sequence[Turn], known: Sequence[Extraction]) -> Found:
    """What is worth keeping of a day's turns. `known`: the extractions that stand before them.

    An error of the model is noted once a run, and leaves the rest to the classifier.
    """
    if not turns:
        return Found()
    if not asks_model(night.settings):
        return found_by_classifier(turns, classifier_vectors())
    problems: list[ModelError] = []

    def ask(question: Question[ReadingAnswer, Reading]) -> Reading | Declined | Exception | None:
        if problems:
            return None
        try:
            client = ModelClient(night.settings)
            return next((result for _, result in client.ask({"": question}, session_of(night), "conversations")), None)
        except ModelError as error:
            problems.append(error)
            return None

    asked = ask_about("conversation", turns, known, ask, night.settings, night.embedder)
    for error in problems:
        if not any(one.stage == "extraction" and one.error == in_words(error) for one in night.errors):
            night.note_error("", "extraction", error)
    return asked.found.with_others(found_by_classifier(asked.left, classifier_vectors())) if asked.left else asked.found
