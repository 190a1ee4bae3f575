"""A question fits the context of its model, however small that is, or says what it needs."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from memory_pipeline.config.loading import load_settings
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError
from memory_pipeline.reading.items import Item, Standing, split_into_questions
from memory_pipeline.reading.question import question_about, room_for

DAY = date(2026, 3, 5)


def settings_of(context: int, tmp_path: Path) -> Settings:
    given = {"store.path": str(tmp_path / "store.duckdb"), "model.provider": "ollama", "model.name": "any"}
    return load_settings({**given, "model.context_tokens": context}, environment={}).values


@pytest.mark.parametrize("use", ["notes", "conversation", "session"])
@pytest.mark.parametrize("words", [6, 40, 10_000])
@pytest.mark.parametrize("context", [7_500, 8_192, 16_384, 200_000])
def test_a_full_question_fits(tmp_path: Path, context: int, words: int, use: str) -> None:
    settings = settings_of(context, tmp_path)
    room = room_for(use, settings)
    tokens = min(words, room.longest_item)
    items = [Item(f"{n}", "queue " * tokens, DAY, tokens, speaker=None) for n in range(300)]
    standing = [Standing(f"{n}", "x" * 240, DAY) for n in range(room.standing)]
    first = next(split_into_questions(items, room.item_tokens))
    question = question_about(use, first, standing, settings, lambda one, other: 0.0)
    assert not question.too_long
    assert question.request.max_tokens >= sum(item.tokens for item in first) // 4


def test_a_context_that_the_instructions_fill_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="tokens at least, and the model takes 2,048; choose a model"):
        room_for("notes", settings_of(2_048, tmp_path))
