"""What was taken back in a conversation, in searches and contexts."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, slowly
from memory_pipeline_tests.consolidation.test_conversations import (
    MONDAY,
    TUESDAY,
    WEDNESDAY,
    read,
    spoken,
)
from memory_pipeline_tests.reading.saying import reading_as

ALLOWED = "You may restart the workers without asking me."
ENDED = "You may no longer restart the workers without asking me."


@pytest.mark.parametrize(
    ("first", "then", "task"),
    [
        (ALLOWED, ENDED, "restart the workers"),
        *slowly(
            (
                "The staging server runs on port 8080.",
                "No, the staging server runs on port 9090, not 8080.",
                "staging port",
            ),
            ("We decided to use Mongo.", "Mongo is out, we go with Postgres instead.", "Mongo or Postgres"),
            ("I'm allergic to nuts.", "Actually I'm not allergic to nuts, only to peanuts.", "allergic to nuts"),
        ),
    ],
)
def test_a_context_tells_what_was_withdrawn_by_its_withdrawal_alone(
    store: Store, settings: Settings, workspace: Path, monkeypatch: pytest.MonkeyPatch, first: str, then: str, task: str
) -> None:
    reading_as(monkeypatch, (first, "context", ""), (then, "correction", first))
    fill(store, [*spoken(MONDAY, first, "a: Good."), *spoken(TUESDAY, "a: Hello.", then)])
    read(store, settings)
    memory = ProjectMemory(store, settings, "p", actor="me")
    text = memory.context(task).text
    assert then in text
    assert first not in text
    ranked = [one.content for one in memory.search(task, limit=10).results]
    assert ranked.index(then) < (ranked.index(first) if first in ranked else 99)


def test_who_says_it_again_is_withdrawn_too_and_the_last_word_is_told(
    store: Store, settings: Settings, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = "You may restart the workers again without asking me."
    reading_as(monkeypatch, (ALLOWED, "trust", ""), (ENDED, "boundary", ALLOWED), (again, "trust", ENDED))
    fill(store, [*spoken(MONDAY, ALLOWED), *spoken(MONDAY, f"{ALLOWED}", hour=11), *spoken(TUESDAY, ENDED),
                 *spoken(WEDNESDAY, again)])  # fmt: skip
    read(store, settings)
    memory = ProjectMemory(store, settings, "p", actor="me")
    text = memory.context("restart the workers").text
    assert again in text
    assert ALLOWED not in text
    assert ENDED not in text


def test_a_turn_that_says_more_than_what_was_withdrawn_is_still_told(
    store: Store, settings: Settings, workspace: Path
) -> None:
    both = f"{ALLOWED} I live in Lisbon with my wife."
    fill(store, [*spoken(MONDAY, both), *spoken(TUESDAY, ENDED)])
    read(store, settings)
    text = ProjectMemory(store, settings, "p", actor="me").context("restart the workers in Lisbon").text
    assert ENDED in text
