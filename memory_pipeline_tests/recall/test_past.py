"""The past: memories as of a day, a moment, a run and a snapshot, histories, and differences."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.errors import InputError
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.recall.past import diff_states, diff_text, read_state, search_state
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.reporting.pages import difference_page
from memory_pipeline.store import Store, create_snapshot, verify_snapshot
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, made_before, run, settings_for, sql_rows

DAY = date(2026, 3, 3)


def told(store: Store) -> tuple[datetime, datetime]:
    """An import, a night, another import; the moments after the first two."""

    def make(target: Store) -> tuple[datetime, datetime]:
        fill(target, lesson(5))
        imported = datetime.now(UTC)
        run(target, DAY, snapshot=True)
        ran = datetime.now(UTC)
        fill(target, [candidate("Something new", FIRST + timedelta(days=20), native_id="new")])
        return imported, ran

    return made_before(store, "told", make)


def test_a_day_goes_by_the_memories_own_time(store: Store) -> None:
    told(store)
    assert set(read_state(store, "2026-03-02").active) == {f"gateway-{n}" for n in range(5)}
    assert len(read_state(store, "2026-03-10").active) == 1
    assert "new" in read_state(store, "2026-03-21").active and "new" not in read_state(store, "2026-03-20").active
    before = read_state(store, "2026-03-02").active["gateway-0"]
    assert (before.importance, before.archived_by) == (1.0, None)


@pytest.mark.slow
def test_a_moment_goes_by_what_the_store_held(store: Store) -> None:
    imported, ran = told(store)
    assert set(read_state(store, imported.isoformat()).active) == {f"gateway-{n}" for n in range(5)}
    assert len(read_state(store, ran.isoformat()).active) == 1
    roll_back(store, settings_for(store), RollbackScope(run_id=f"run-{DAY}"))
    assert len(read_state(store, ran.isoformat()).active) == 1, "a rollback does not rewrite the past"
    assert len(read_state(store, "now").active) == 6


@pytest.mark.slow
def test_runs_nights_and_snapshots_are_states_too(store: Store) -> None:
    told(store)
    snapshot = create_snapshot(store, "here", datetime.now(UTC), 7)
    assert len(read_state(store, f"before:run-{DAY}").active) == 5
    assert len(read_state(store, f"before:night:{DAY}").active) == 5
    assert len(read_state(store, f"night:{DAY}").active) == len(read_state(store, f"run-{DAY}").active) == 1
    assert read_state(store, snapshot.name).active.keys() == read_state(store, "now").active.keys()
    assert verify_snapshot(store, snapshot.name)


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ("2019-01-01T00:00Z", "the store's history begins on"),
        ("yesterday", "'yesterday' is not a day, moment, night, run or snapshot"),
        ("night:2026-07-01", "the night of 2026-07-01 has not been run"),
        ("night:soon", "write it as night:YYYY-MM-DD"),
    ],
)
def test_what_is_no_state_is_named(store: Store, when: str, words: str) -> None:
    told(store)
    with pytest.raises(InputError, match=words):
        read_state(store, when)


@pytest.mark.slow
def test_the_past_can_be_searched(store: Store) -> None:
    told(store)
    hits = search_state(
        store, read_state(store, "2026-03-02"), Lexical(), "payment gateway key", None, 10, settings_for(store)
    )
    assert {hit.memory.id for hit in hits} == {f"gateway-{n}" for n in range(5)}
    assert all(hit.memory.archived_at is None for hit in hits)
    fill(store, lesson(1, topic="printer"), project="other")
    with pytest.raises(InputError, match="give one project with --project: other, p"):
        search_state(store, read_state(store, "now"), Lexical(), "gateway", None, 10, settings_for(store))


def test_a_search_of_the_past_counts_all_that_match(store: Store) -> None:
    fill(store, [candidate(f"The lamp {n} of the hall broke.", FIRST, native_id=f"lamp-{n}") for n in range(120)])
    with ProjectMemory(store, settings_for(store), "p", actor="test") as memory:
        found = memory.search("lamp of the hall", 5, as_of="now")
    assert (len(found.results), found.total_found) == (5, 120)


def test_what_others_stand_for_is_found_in_the_past_if_sources_are_wanted(store: Store) -> None:
    fill(store, lesson(4))
    assert run(store, DAY).clusters_compressed == 1
    with ProjectMemory(store, settings_for(store), "p", actor="test") as memory:
        alone, all_of_them = (
            memory.search("payment gateway", 20, as_of="now", include_sources=wanted) for wanted in (False, True)
        )
    assert (len(alone.results), len(all_of_them.results)) == (1, 5)
    assert all_of_them.results[0].id == alone.results[0].id


def test_a_history_tells_who_did_what_when_and_why(store: Store) -> None:
    told(store)
    roll_back(store, settings_for(store), RollbackScope(run_id=f"run-{DAY}"))
    with store.reading() as tx:
        events = tx.history.of("gateway-3")
        with pytest.raises(InputError, match="no memory 'gone'"):
            tx.history.of("gone")
    assert [(e.table, e.action, e.actor) for e in events] == [
        ("memories", "insert", "import"),
        ("memories", "update", "night"),
        ("lineage", "insert", "night"),
        ("memories", "update", "memory-pipeline rollback"),
        ("lineage", "delete", "memory-pipeline rollback"),
    ]
    archived = events[1]
    assert archived.run_id == f"run-{DAY}" and archived.before and archived.after
    assert (archived.before["importance"], archived.after["importance"]) == (1.0, 0.5)
    assert [e.sequence for e in events] == sorted(e.sequence for e in events)


def test_a_difference_shows_what_came_went_and_changed(store: Store) -> None:
    told(store)
    with store.writing("agent") as tx:
        sql_rows(tx, "update memories set pinned = true where id = 'new'")
    night = diff_states(read_state(store, f"before:night:{DAY}"), read_state(store, f"night:{DAY}"))
    assert len(night.added) == 1 and {m.id for m in night.gone} == {f"gateway-{n}" for n in range(5)}
    assert all(m.why == f"archived into {night.added[0].id}" for m in night.gone)
    assert night.tokens_after < night.tokens_before
    since = diff_states(read_state(store, datetime.now(UTC).isoformat()), read_state(store, "now"))
    assert not (since.added or since.gone or since.changed)
    assert diff_text(night).count("\n- ") == 5 and "+ " in diff_text(night)


def test_a_difference_as_a_page_shows_markup_and_runs_none(store: Store) -> None:
    fill(store, [candidate("<script>alert(1)</script> & more", native_id="odd")])
    empty = read_state(store, "2026-02-01")
    page = difference_page(diff_states(empty, read_state(store, "now")))
    assert "<script>" not in page and "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in page


@pytest.mark.slow
def test_states_around_runs_and_replacements_are_named_in_words(store: Store) -> None:
    fill(store, lesson(4))
    report = run(store, date(2026, 3, 4), run_id="0f3c1234-night", snapshot=True)
    before, after = read_state(store, "before:night:2026-03-04"), read_state(store, "0f3c1234-night")
    assert before.label == "before the night of 2026-03-04 (run 0f3c1234)"
    assert after.label == "after the night of 2026-03-04 (run 0f3c1234)"
    told = diff_text(diff_states(before, read_state(store, "now")))
    assert report.abstractions_created == 1 and told.count("archived into “Restart the") == 4


def test_a_note_without_a_time_belongs_to_its_own_day(store: Store) -> None:
    midnight = datetime(2026, 3, 4, tzinfo=UTC)
    fill(store, [candidate("Moved to port 5433", midnight, native_id="tomorrow"), *lesson(5)])
    assert "tomorrow" not in read_state(store, "2026-03-03").active
    assert "tomorrow" in read_state(store, "2026-03-04").active
    run(store, date(2026, 3, 3))
    (made,) = (one for one in read_state(store, "2026-03-03").active.values() if one.compressed_from)
    assert made.created_at == midnight, "the night of a day makes its memories at the end of it"
