"""Asks a model about turns, part by part: each part is given what stands, with what the parts before it gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from memory_pipeline.config.settings import Settings
from memory_pipeline.conversations.extraction import Embed, Found, found_by_reader, item_of
from memory_pipeline.distillers import attempt_by
from memory_pipeline.errors import EmbeddingError, ModelError
from memory_pipeline.models import Declined, Question
from memory_pipeline.models.choose import model_name
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.models.embedders.choose import builtin_embedder
from memory_pipeline.reading.answers import ReadingAnswer
from memory_pipeline.reading.items import Item, Standing, split_into_questions
from memory_pipeline.reading.question import Reading, question_about, room_for
from memory_pipeline.records import Extraction, Turn

STEERS = "turns that try to steer their reader"
#: Asks one question; None if nothing may be asked.
Ask = Callable[[Question[ReadingAnswer, Reading]], Reading | Declined | Exception | None]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model found, the turns that it has not read, and why it cannot be asked at all."""

    found: Found
    left: tuple[Turn, ...]
    problem: ModelError | None = None


def ask_about(
    use: str, turns: Sequence[Turn], known: Sequence[Extraction], ask: Ask, settings: Settings, embedder: Embedder
) -> Asked:
    """What a model finds in some turns. `use`: `conversation` or `session`; `known`: the extractions that stand.

    Turns that try to steer their reader are shown to no model, and are left with those that have no answer.
    """
    shown = [turn for turn in turns if attempt_by(turn.speaker, turn.words) is None]
    by_item = {item_of(turn).id: turn for turn in shown}
    try:
        room = room_for(use, settings)
    except ModelError as error:
        return Asked(Found(questions=1, waiting=1), tuple(turns), error)
    parts = list(split_into_questions((item_of(turn) for turn in shown), room.item_tokens))
    found, left = Found(questions=len(parts)), [turn for turn in turns if turn not in shown]
    if left:
        found = found.with_others(Found(refused={STEERS: len(left)}))
    for part in parts:
        mine = [by_item[item.id] for item in part]
        gone = {old for one in found.extractions for old in one.withdraws}
        standing = [one for one in (*known, *found.extractions) if one.id not in gone]
        question = question_about(
            use, part, _nearest(embedder, standing, part, room.standing), settings, likeness_by(embedder)
        )
        result = ask(question)
        if isinstance(result, Reading):
            found = found.with_others(found_by_reader(mine, result, model_name(settings)))
        else:
            left += mine
            if isinstance(result, Declined) and not result.again:
                found = found.with_others(Found(refused={result.reason: 1}))
            else:
                found = found.with_others(Found(waiting=1))
    return Asked(found, tuple(left))


def classifier_vectors() -> Embed | None:
    """What makes the vectors of the classifier, whichever model embeds memories; None if it is not installed."""
    try:
        return builtin_embedder().embed
    except EmbeddingError:
        return None


def likeness_by(embedder: Embedder) -> Callable[[str, str], float]:
    """The cosine of two texts by an embedder."""

    def cosine(a: str, b: str) -> float:
        vectors = embedder.embed([a, b])
        return float(vectors[0] @ vectors[1])

    return cosine


def _nearest(embedder: Embedder, known: Sequence[Extraction], items: Sequence[Item], most: int) -> list[Standing]:
    """The `most` standing extractions that are nearest to any of some turns, by day and id."""
    shown = list(known)
    if len(shown) > most:
        vectors = embedder.embed([one.text for one in shown])
        nearness = (vectors @ embedder.embed([item.words for item in items]).T).max(axis=1)
        order = np.lexsort((np.arange(len(shown)), -np.round(nearness, 5)))
        shown = [shown[place] for place in sorted(order[:most])]
    return [
        Standing(one.id, one.text, one.day, of_human=one.speaker == "human")
        for one in sorted(shown, key=lambda one: (one.day, one.id))
    ]
