"""The first night on days of conversations that were there before it, and what every screen says of what waits."""

from __future__ import annotations

import socket
from datetime import date, timedelta
from pathlib import Path

import pytest

from memory_pipeline.consolidation.conversation_runs import list_days
from memory_pipeline.consolidation.report import make_notice
from memory_pipeline.consolidation.review.rollback import RollbackScope, as_text, roll_back
from memory_pipeline.models.choose import Waiting, describe_reader
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.reporting.summary import summary
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, run, settings_for
from memory_pipeline_tests.consolidation.test_conversations import MONDAY, spoken, standing
from memory_pipeline_tests.reading.answering import Answer, Asked, Model, answer, statement

DAYS = [MONDAY + timedelta(days=n) for n in range(3)]
NIGHT = date(2026, 3, 20)
RULES = ("never call the clinic before nine", "never book seats in the first row", "never share the garden key")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "store.duckdb")
    for day, rule in zip(DAYS, RULES, strict=True):
        fill(made, spoken(day, f"please {rule}", f"a: Understood, for all of {day:%A}."))
    return made


def read(asked: Asked) -> Answer:
    """A boundary for each of the rules."""
    found = {rule: asked.number(rule) for rule in RULES if asked.says(rule)}
    return answer(
        *(statement(f"The agent must {rule}.", {n: rule}, kind="boundary", about="human") for rule, n in found.items())
    )


def kept_as_memories(asked: Asked) -> Answer:
    """A fact of the work for each of the rules, which becomes a memory."""
    found = {rule: asked.number(rule) for rule in RULES if asked.says(rule)}
    return answer(*(statement(f"The rule is: {rule}.", {n: rule}) for rule, n in found.items()))


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_one_night_reads_every_day_before_it(store: Store) -> None:
    report = Model(store, read).night(NIGHT)
    assert [day.state for day in list_days(store, None, NIGHT)] == ["read"] * 3
    assert sorted(one.text for one in standing(store)) == sorted(f"The agent must {rule}." for rule in RULES)
    assert report.turns_waiting == 0
    assert report.read_by.endswith("free.")


@pytest.mark.slow
def test_a_question_without_an_answer_waits_and_every_later_night_asks_it(store: Store) -> None:
    model = Model(store, read)
    report = run(store, NIGHT, model.settings, run_id="first")
    assert report.turns_waiting == 6 and "6 turns wait for its answers." in report.read_by
    later = Model(store, read).night(NIGHT + timedelta(days=30))
    assert later.turns_waiting == 0 and len(standing(store)) == 3


@pytest.mark.slow
def test_days_that_no_model_has_read_are_read_once_there_is_one(store: Store) -> None:
    without = run(store, NIGHT, run_id="without")
    assert without.turns_waiting == 6 and "would read 6 turns in about 3 questions" in without.read_by
    Model(store, read).night(NIGHT + timedelta(days=1))
    assert {one.proposed_by != "" for one in standing(store)} == {True}


def test_at_the_cap_the_days_that_wait_for_a_model_alone_are_left(store: Store) -> None:
    run(store, NIGHT, run_id="without")
    settings = Model(store, read, model__most_calls=0).settings
    report = run(store, NIGHT + timedelta(days=1), settings, run_id="capped")
    assert not report.errors and report.turns_waiting == 6
    with store.reading() as tx:
        read_by = [row.run_id for row in tx.conversations.days("p")]
    assert read_by == ["capped", "without", "without"]


def test_a_server_that_is_away_is_asked_once_and_named_with_what_waits(store: Store) -> None:
    fill(store, [candidate("Moved the queue to Postgres.", native_id="note")])
    address = f"http://127.0.0.1:{free_port()}"
    settings = settings_for(store, model__provider="ollama", model__name="m", model__base_url=address)
    report = run(store, NIGHT, settings)
    assert (report.verdict, {error.stage for error in report.errors}) == ("FAIL", {"extraction", "read"})
    assert "could not be asked about conversations" in report.verdict_reason and address in report.verdict_reason
    assert report.read_by.endswith("1 note and 6 turns wait for its answers.")
    assert "there was nothing to ask" not in "\n".join(summary(report))


def test_a_context_that_is_too_small_for_a_question_is_an_error_and_leaves_the_day_waiting(store: Store) -> None:
    settings = Model(store, read, model__context_tokens=4096).settings
    report = run(store, NIGHT, settings)
    (error,) = report.errors
    assert error.stage == "extraction" and "the model takes 4,096" in error.error
    assert report.turns_waiting == 6
    assert {day.unanswered for day in list_days(store, None, NIGHT)} == {1}


def test_a_night_that_only_read_conversations_is_undone_by_its_day(tmp_path: Path) -> None:
    store = Store(tmp_path / "one_day.duckdb")
    fill(store, spoken(MONDAY, f"please {RULES[0]}", "a: Understood."))
    report = run(store, NIGHT, run_id="only")
    assert len(standing(store)) == 1 and not report.memories_archived
    roll_back(store, settings_for(store), RollbackScope(run_id=f"{NIGHT}"))
    assert not standing(store)


@pytest.mark.slow
def test_what_was_taken_back_waits_for_nothing_and_the_undoing_names_its_days(store: Store) -> None:
    run(store, NIGHT, run_id="only")
    undone = roll_back(store, settings_for(store), RollbackScope(run_id="only"))
    assert undone.days == tuple(DAYS) and "'conversations run --date DAY' reads a day again" in as_text(undone)
    later = run(store, NIGHT + timedelta(days=1), run_id="later")
    assert later.turns_waiting == 0 and later.conversation_days_left == 3


def test_what_conversations_add_is_counted_as_added(store: Store) -> None:
    report = Model(store, kept_as_memories).night(NIGHT)
    with store.reading() as tx:
        made = [one for one in tx.memories.all() if one.source.connector == "conversations"]
    added = sum(one.token_count for one in made)
    assert made and report.tokens_without == report.tokens_after - added
    assert make_notice(report, report.finished_at).priority == "info"


@pytest.mark.slow
def test_a_search_between_a_night_and_its_undoing_leaves_the_same_hash(store: Store) -> None:
    with store.reading() as tx:
        before = tx.contents.digest(active_only=True)
    run(store, NIGHT, run_id="only")
    with ProjectMemory(store, settings_for(store), "p", actor="test") as memory:
        assert memory.search("garden key clinic").results
    assert roll_back(store, settings_for(store), RollbackScope(run_id="only")).active_hash == before
    with store.reading() as tx:
        assert any(one.reuse_count for one in tx.memories.all())


def test_a_report_leads_to_the_days_that_it_read(store: Store) -> None:
    report = Model(store, read).night(NIGHT)
    assert "(memory-pipeline conversations list)" in "\n".join(summary(report))


def test_nothing_waits_where_nothing_was_said(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "s.duckdb", model__provider="ollama", model__name="m")
    assert describe_reader(settings, [], Waiting()).endswith("there was nothing to ask.")


def test_ten_times_as_many_notes_cost_about_ten_times_as_much(tmp_path: Path) -> None:
    def price(notes: int) -> float:
        told = describe_reader(settings_for(tmp_path / "s.duckdb"), [], Waiting(notes=notes, tokens=60 * notes))
        return float(told.rpartition("for ")[2].removesuffix(" USD."))

    # Each question is a prompt of its own, far below the length from which a prompt costs more.
    assert price(20_000) == pytest.approx(10 * price(2_000), rel=0.1)
