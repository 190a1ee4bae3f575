"""The files of conversations where several stores, projects or destinations have the same ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline.config.conversations import Destinations
from memory_pipeline.config.memory_sources import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.conversations.budget import CHARACTERS_PER_TOKEN
from memory_pipeline.markers import outside
from memory_pipeline.night.conversation_runs import ConversationRun, run_conversations
from memory_pipeline.store import Store
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


def settings_of(store: Store, workspace: Path, *projects: str) -> Settings:
    sources = tuple(
        SourceTable(name=name, path=str(workspace), project=name, exclude=("*.md",)) for name in projects or ("p",)
    )
    return settings_for(store, connectors__workspace="", sources=()).with_values({"sources": sources})


def read(store: Store, settings: Settings, *days: date) -> ConversationRun:
    return run_conversations(store, settings, days or (DAY,), now=NOW)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "shop"
    place.mkdir()
    (place / "USER.md").write_text("# The human\n\n- Likes tea.\n")
    return place


@pytest.mark.slow
def test_two_stores_on_one_workspace_leave_what_is_outside_as_it_is(tmp_path: Path, workspace: Path) -> None:
    both = []
    for name, town in (("a", "Lisbon"), ("b", "Porto")):
        (tmp_path / name).mkdir()
        store = Store(tmp_path / name / "store.duckdb")
        say(store, f"I live in {town} with my wife.", "You can decide about the restaurant yourself.")
        both.append((store, settings_of(store, workspace)))
    for _ in range(2):
        done = [read(store, settings) for store, settings in both]
    (told,) = done[-1].moved
    assert "USER.md" in told and "is also written by another store" in told
    text = (workspace / "USER.md").read_text()
    assert outside(text, "conversations").strip() == "# The human\n\n- Likes tea." and "Porto" in text
    assert outside((workspace / "RELATIONAL.md").read_text(), "conversations").strip() == ""


def test_two_projects_with_one_workspace_both_stand_in_its_files(store: Store, workspace: Path) -> None:
    say(store, "I live in Lisbon with my wife.", "We decided to use Postgres.", project="pa")
    say(store, "I work as a nurse in a hospital.", project="pb")
    settings = settings_of(store, workspace, "pa", "pb")
    read(store, settings)
    files = {path.relative_to(workspace).as_posix(): path.read_text() for path in workspace.rglob("*.md")}
    for name in ("USER.md", f"daily/{DAY}.md"):
        assert files[name].count("of project pa:") == files[name].count("of project pb:") == 1
    assert "Lisbon" in files["USER.md"] and "nurse" in files["USER.md"]
    later = DAY + timedelta(days=1)
    say(store, "I prefer trains to planes.", project="pb", day=later)
    read(store, settings, later)
    assert all(word in (workspace / "USER.md").read_text() for word in ("Lisbon", "nurse", "trains"))
    assert "of project pa:" not in (workspace / "daily" / f"{later}.md").read_text()


def test_destinations_that_are_one_file_share_one_budget(store: Store, workspace: Path) -> None:
    towns = [f"I love Villa {first}{second}." for first in "ABCDEF" for second in "abcdefghij"]
    say(store, *towns, *(f"You can decide about the {town[7:-1]} garden yourself." for town in towns))
    names = Destinations(user="USER.md", relational="USER.md", soul="USER.md")
    settings = settings_of(store, workspace).with_values(
        {"compression.destinations": names, "conversations.block_tokens": 1_000}
    )
    read(store, settings)
    text = (workspace / "USER.md").read_text()
    assert "Villa" in text and "You can decide" in text and "earlier or less significant" in text
    assert len(text) <= 1_000 * CHARACTERS_PER_TOKEN + 1_000


def test_a_record_that_cannot_be_read_costs_no_file(store: Store, workspace: Path) -> None:
    say(store, "I live in Lisbon with my wife.")
    store.path.with_suffix(".written").write_text("somebody's")
    done = read(store, settings_of(store, workspace))
    assert not done.problems and "Lisbon" in (workspace / "USER.md").read_text()
    assert len(done.moved) == 1 and "what was written before is not known from" in done.moved[0]
