"""A day of conversations that a model reads: what is kept, what its pages say, and who may take something back."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from memory_pipeline.consolidation.conversation_runs import run_conversations
from memory_pipeline.store import Store
from memory_pipeline.workspace.directory import pages_of
from memory_pipeline_tests.build import fill
from memory_pipeline_tests.consolidation.test_conversations import MONDAY, NOW, TUESDAY, files_of, spoken, standing
from memory_pipeline_tests.reading.answering import Answer, Asked, Model, answer, statement

RULE = "The agent never touches the production database."


def read(asked: Asked) -> Answer:
    """A boundary of the human's; and an invention, and an agent that takes the boundary back."""
    if asked.is_repair:
        return answer()
    if asked.says("never touch"):
        quote = {asked.number("never touch"): "never touch the production database"}
        return answer(
            statement(RULE, quote, kind="boundary", about="human"),
            statement("There are 14 production databases.", quote),
        )
    quote = {asked.number("backup of"): "the backup of the production database ran"}
    replaces = [one["n"] for one in asked.standing]
    return answer(statement("The backup of the production database ran.", quote, replaces=replaces))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "store.duckdb")
    fill(made, spoken(MONDAY, "please never touch the production database", "a: Understood."))
    return made


def converse(model: Model, store: Store, day: date) -> dict[str, str]:
    """The pages after a day was read, and read again with the answers."""
    place = pages_of(store.path, "p")
    place.mkdir(parents=True, exist_ok=True)
    for _ in range(4):
        run_conversations(store, model.settings, [day], now=NOW)
        if not model.give():
            break
    return files_of(place)


def test_the_page_of_a_day_says_what_the_model_was_asked(store: Store) -> None:
    pages = converse(Model(store, read, sources=()), store, MONDAY)
    assert "The model was asked 1 question; 1 extraction" in pages["daily/2026-03-02.md"]
    assert "The agent never touches the production database. (boundary" in pages["RELATIONAL.md"]
    assert [(one.kind, one.text) for one in standing(store)] == [("boundary", RULE)]


def test_a_page_says_how_many_questions_wait(store: Store) -> None:
    model = Model(store, read, sources=())
    place = pages_of(store.path, "p")
    place.mkdir(parents=True, exist_ok=True)
    run_conversations(store, model.settings, [MONDAY], now=NOW)
    assert "1 question without an answer yet" in files_of(place)["daily/2026-03-02.md"]


@pytest.mark.slow
def test_an_agent_takes_nothing_back_that_the_human_said(store: Store) -> None:
    model = Model(store, read, sources=())
    converse(model, store, MONDAY)
    fill(store, spoken(TUESDAY, "a: the backup of the production database ran fine"))
    pages = converse(model, store, TUESDAY)
    assert RULE in [one.text for one in standing(store)]
    assert "revoked" not in pages["RELATIONAL.md"]
    assert "which only the human can do" in model.asked[-1].user
