"""The pages of conversations where several destinations are one, and where nothing can be recorded."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from memory_pipeline.config.night import Destinations
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.conversation_runs import ConversationRun, run_conversations
from memory_pipeline.store import Store
from memory_pipeline.workspace import conversation_pages
from memory_pipeline.workspace.conversation_pages import CHARACTERS_PER_TOKEN
from memory_pipeline.workspace.directory import pages_of
from memory_pipeline_tests.build import candidate, fill, settings_for

DAY = date(2026, 3, 2)
NOW = datetime(2026, 4, 1, tzinfo=UTC)


def say(store: Store, *said: str, project: str = "p", day: date = DAY) -> None:
    """Keep turns of the human, a minute apart."""
    start = datetime(day.year, day.month, day.day, 9, tzinfo=UTC)
    turns = [
        candidate(
            words,
            start + timedelta(minutes=line),
            native_id=f"{project}-{day}-{line}",
            memory_type="conversation",
            tags=("human",),
        )
        for line, words in enumerate(said)
    ]
    fill(store, [replace(turn, project_id=project) for turn in turns])


def read(store: Store, settings: Settings, *days: date) -> ConversationRun:
    return run_conversations(store, settings, days or (DAY,), now=NOW)


@pytest.mark.slow
def test_destinations_that_are_one_file_share_one_budget(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation_pages, "BUDGET_TOKENS", 1_000)
    towns = [f"I love Villa {first}{second}." for first in "ABCDEF" for second in "abcdefghij"]
    say(store, *towns, *(f"You can decide about the {town[7:-1]} garden yourself." for town in towns))
    names = Destinations(user="USER.md", relational="USER.md", soul="USER.md")
    settings = settings_for(store).with_values({"compression.destinations": names})
    read(store, settings)
    text = (pages_of(store.path, "p") / "USER.md").read_text()
    assert "Villa" in text and "You can decide" in text and "earlier or less significant" in text
    assert len(text) <= 1_000 * CHARACTERS_PER_TOKEN + 1_000


def test_a_record_that_cannot_be_read_costs_no_file(store: Store) -> None:
    say(store, "I live in Lisbon with my wife.")
    store.path.with_suffix(".written").write_text("somebody's")
    done = read(store, settings_for(store))
    assert not done.problems and "Lisbon" in (pages_of(store.path, "p") / "USER.md").read_text()
    assert len(done.moved) == 1 and "what was written before is not known from" in done.moved[0]
