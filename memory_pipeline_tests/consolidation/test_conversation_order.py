"""Days of conversations in any order give what they give in order; and what a person took back stays taken back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import permutations
from pathlib import Path

import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.conversation_runs import list_days, run_conversations
from memory_pipeline.consolidation.review.rollback import RollbackScope, preview_rollback, roll_back
from memory_pipeline.records import ExtractionKind
from memory_pipeline.reporting.summary import summary
from memory_pipeline.store import Store
from memory_pipeline.workspace.directory import pages_of
from memory_pipeline_tests.build import fill, run, settings_for
from memory_pipeline_tests.consolidation.test_conversations import NOW, files_of, spoken
from memory_pipeline_tests.reading.saying import reading_as

DAYS = [date(2026, 3, 11) + timedelta(days=n) for n in range(4)]
TALKS = [
    spoken(DAYS[0], "I live in Lisbon.", "We decided to use Postgres because the team knows it."),
    spoken(DAYS[1], "I live in Porto now, not Lisbon.", "I prefer short answers."),
    spoken(DAYS[2], "Correction: we use DuckDB, not Postgres.", "I prefer short answers."),
    spoken(DAYS[3], "I live in Rome now."),
]

#: What a reader finds in them, and what each takes the place of.
FOUND: tuple[tuple[str, ExtractionKind, str], ...] = (
    ("I live in Lisbon.", "fact", ""),
    ("We decided to use Postgres because the team knows it.", "decision", ""),
    ("I live in Porto now, not Lisbon.", "fact", "I live in Lisbon."),
    ("I prefer short answers.", "preference", ""),
    ("Correction: we use DuckDB, not Postgres.", "correction", "We decided to use Postgres because the team knows it."),
    ("I live in Rome now.", "fact", "I live in Porto now, not Lisbon."),
    ("I like tea.", "preference", ""),
)


@pytest.fixture(scope="module", autouse=True)
def _reader() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        reading_as(patched, *FOUND)
        yield


def what_stands(store: Store) -> object:
    with store.reading() as tx:
        assert not tx.integrity.check(deep=True)
        extracted = [(one.id, one.destination, one.withdraws, one.text) for one in tx.conversations.standing("p")]
        memories = sorted(
            (m.id, m.content, m.archived_at, m.consolidated_into_id) for m in tx.memories.all(include_archived=True)
            if m.rolled_back_at is None
        )  # fmt: skip
        return extracted, memories


def states(store: Store) -> list[str]:
    return [day.state for day in list_days(store, None, date(2026, 3, 20))]


@pytest.fixture(scope="module")
def in_order(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, dict[str, str]]:
    place = tmp_path_factory.mktemp("in_order")
    store = Store(place / "store.duckdb")
    settings = settings_for(store)
    for talk in TALKS:
        fill(store, talk)
    for day in DAYS:
        run_conversations(store, settings, [day], now=NOW)
    return what_stands(store), files_of(pages_of(store.path, "p"))


def read_in(order: list[int], store: Store, settings: Settings) -> None:
    for talk in TALKS:
        fill(store, talk)
    for number in order:
        run_conversations(store, settings, [DAYS[number]], now=NOW)
    run_conversations(store, settings, None, now=NOW)


@pytest.mark.slow
def test_a_later_day_is_read_again_when_an_earlier_one_was(
    store: Store, tmp_path: Path, in_order: tuple[object, dict[str, str]]
) -> None:
    settings = settings_for(store)
    for talk in TALKS:
        fill(store, talk)
    run_conversations(store, settings, [DAYS[3]], now=NOW)
    done = run_conversations(store, settings, [DAYS[0]], now=NOW)
    assert done.open_again == (DAYS[3],) and states(store) == ["read", "open", "open", "stale"]
    run_conversations(store, settings, None, now=NOW)
    assert states(store) == ["read"] * 4
    assert (what_stands(store), files_of(pages_of(store.path, "p"))) == in_order
    user = files_of(pages_of(store.path, "p"))["USER.md"]
    assert "Rome" in user and "Porto" not in user and "Lisbon" not in user


@pytest.mark.slow
@pytest.mark.parametrize("order", [list(order) for order in permutations(range(4))][1:])
def test_any_order_of_days_ends_as_in_order(
    store: Store, tmp_path: Path, order: list[int], in_order: tuple[object, dict[str, str]]
) -> None:
    read_in(order, store, settings_for(store))
    assert (what_stands(store), files_of(pages_of(store.path, "p"))) == in_order


@pytest.mark.slow
@pytest.mark.parametrize("late", range(4))
def test_turns_that_come_late_end_as_if_they_had_come_in_time(
    store: Store, tmp_path: Path, late: int, in_order: tuple[object, dict[str, str]]
) -> None:
    settings = settings_for(store)
    for number, talk in enumerate(TALKS):
        fill(store, talk if number != late else talk[1:])
    run_conversations(store, settings, None, now=NOW)
    fill(store, TALKS[late][:1])
    run_conversations(store, settings, None, now=NOW)
    assert (what_stands(store), files_of(pages_of(store.path, "p"))) == in_order


def test_reading_a_day_that_changes_nothing_leaves_the_later_ones(store: Store, tmp_path: Path) -> None:
    settings = settings_for(store)
    fill(store, TALKS[1])
    run_conversations(store, settings, [DAYS[1]], now=NOW)
    fill(store, spoken(DAYS[0], "Fine.", "Thanks."))
    assert run_conversations(store, settings, [DAYS[0]], now=NOW).open_again == ()
    assert states(store) == ["read", "read"]


@pytest.mark.slow
def test_what_a_person_took_back_is_read_again_only_when_it_is_asked_for(store: Store, tmp_path: Path) -> None:
    settings = settings_for(store)
    for talk in TALKS[:2]:
        fill(store, talk)
    run_conversations(store, settings, [DAYS[0]], now=NOW)
    run_id = run_conversations(store, settings, [DAYS[1]], now=NOW).run_id
    whole, files = what_stands(store), files_of(pages_of(store.path, "p"))
    roll_back(store, settings, RollbackScope(run_id=run_id))
    assert states(store) == ["read", "taken back"]
    left = run_conversations(store, settings, None, now=NOW)
    assert not left.days and left.left is not None and "--date 2026-03-12" in left.left
    fill(store, TALKS[2])
    fill(store, spoken(DAYS[1], "I like tea.", hour=20))
    report = run(store, DAYS[2], settings)
    assert report.conversation_days_left == 1
    assert "  Taken back      1 day of conversations, as a rollback left them" in "\n".join(summary(report))
    assert states(store) == ["read", "taken back", "read"]
    assert "Porto" not in files_of(pages_of(store.path, "p"))["USER.md"]
    run_conversations(store, settings, [DAYS[1]], now=NOW)
    assert states(store)[1] == "read" and "Porto" in files_of(pages_of(store.path, "p"))["USER.md"]
    assert whole and files


def test_a_night_of_the_day_itself_asks_for_it(store: Store, tmp_path: Path) -> None:
    settings = settings_for(store)
    fill(store, TALKS[0])
    run_id = run_conversations(store, settings, [DAYS[0]], now=NOW).run_id
    roll_back(store, settings, RollbackScope(run_id=run_id))
    run(store, DAYS[0], settings)
    assert states(store) == ["read"]


@pytest.mark.slow
def test_a_dry_run_of_a_rollback_leaves_the_files_that_a_rollback_takes_away(store: Store, tmp_path: Path) -> None:
    settings = settings_for(store)
    for talk in TALKS[:2]:
        fill(store, talk)
    run_conversations(store, settings, [DAYS[0]], now=NOW)
    before = files_of(pages_of(store.path, "p"))
    run_id = run_conversations(store, settings, [DAYS[1]], now=NOW).run_id
    after = files_of(pages_of(store.path, "p"))
    assert preview_rollback(store, settings, RollbackScope(run_id=run_id)).days == (DAYS[1],)
    assert files_of(pages_of(store.path, "p")) == after
    roll_back(store, settings, RollbackScope(since=datetime(2020, 1, 1, tzinfo=UTC)), cascade=True)
    assert files_of(pages_of(store.path, "p")) == {} and not any(pages_of(store.path, "p").rglob("*"))
    assert before


def test_a_night_says_that_it_read_earlier_days_and_moved_lines_of_a_person(store: Store, tmp_path: Path) -> None:
    settings = settings_for(store)
    for talk in TALKS[:2]:
        fill(store, talk)
    run(store, DAYS[0], settings)
    fill(store, spoken(DAYS[0], "I like tea.", hour=20))
    user = pages_of(store.path, "p") / "USER.md"
    user.write_text(user.read_text().replace("## Updates", "My own line.\n## Updates", 1))
    report = run(store, DAYS[1], settings)
    assert report.conversation_days_again == 1
    text = "\n".join(summary(report))
    assert "  Read too        1 earlier day of conversations" in text
    assert "  Note: 1 line that a person wrote stands" in text
    assert not [one for one in report.errors if one.stage != "sources"]
