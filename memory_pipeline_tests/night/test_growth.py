"""A pattern grows: one lesson is one memory, however many weeks it comes back."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from memory_pipeline.records import Memory
from memory_pipeline.review.rollback import RollbackScope, roll_back
from memory_pipeline.store import Finding, Store
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, run, settings_for

FIRST_NIGHT, NEXT_NIGHT = date(2026, 3, 3), date(2026, 3, 12)


def memories(store: Store) -> dict[str, Memory]:
    with store.reading() as tx:
        return {memory.id: memory for memory in tx.memories.all(include_rolled_back=True)}


def active_hash(store: Store) -> str:
    with store.reading() as tx:
        return tx.contents.digest(active_only=True)


def problems(store: Store) -> list[Finding]:
    with store.reading() as tx:
        return tx.integrity.check(deep=True, facts=True)


def active_patterns(store: Store) -> list[Memory]:
    patterns = [memory for memory in memories(store).values() if memory.abstraction_level == 2]
    return [memory for memory in patterns if memory.archived_at is None and memory.rolled_back_at is None]


LATER = ("The vault keeps 41 keys.", "Kenji has a card.", "Staging differs.")


def comes_back(store: Store, week: int = 1) -> None:
    """The lesson is written down twice more, weeks later, with a detail that nobody knew."""
    text, at = lesson(1)[0].content.split(". ")[0], FIRST + timedelta(days=7 * week)
    again = [f"{text}. {LATER[week - 1]}", f"Noted again: {text}."]
    fill(store, [candidate(words, at + timedelta(hours=n), native_id=f"{week}-{n}") for n, words in enumerate(again)])


@pytest.fixture
def grown(store: Store) -> Store:
    fill(store, lesson(4))
    run(store, FIRST_NIGHT)
    comes_back(store)
    run(store, NEXT_NIGHT)
    return store


def test_a_lesson_that_comes_back_is_the_next_version_of_its_pattern(grown: Store) -> None:
    (pattern,) = active_patterns(grown)
    everything = memories(grown)
    (before,) = [m for m in everything.values() if m.abstraction_level == 2 and m.archived_at]
    assert before.consolidated_into_id == pattern.id
    for detail in ("15 minutes", "Dana", LATER[0]):
        assert detail in pattern.content
    assert pattern.content.lower().count("restart the") == before.content.lower().count("restart the") == 1
    assert before.id in json.loads(pattern.compressed_from or "")["source_ids"]
    assert problems(grown) == []


def test_the_next_version_rests_on_all_raw_memories(grown: Store) -> None:
    (pattern,) = active_patterns(grown)
    with grown.reading() as tx:
        raw = tx.lineage.raw_sources_of([pattern.id])[pattern.id]
    assert len(raw) == 6 and all(memories(grown)[i].archived_at for i in raw)


def test_running_the_night_again_changes_nothing(grown: Store) -> None:
    before = active_hash(grown)
    run(grown, NEXT_NIGHT)
    assert active_hash(grown) == before


def test_undoing_the_night_brings_the_version_before_back(store: Store) -> None:
    fill(store, lesson(4))
    run(store, FIRST_NIGHT)
    comes_back(store)
    before = active_hash(store)
    report = run(store, NEXT_NIGHT)
    assert active_hash(store) != before
    roll_back(store, settings_for(store), RollbackScope(run_id=report.run_id))
    assert active_hash(store) == before


def test_it_grows_week_after_week_and_live_equals_backfill(store: Store, tmp_path: Path) -> None:
    nights = [FIRST_NIGHT + timedelta(days=7 * week) for week in range(4)]
    later = Store(tmp_path / "later.duckdb")
    for target in (store, later):
        fill(target, lesson(4))
    run(store, nights[0])
    for week in (1, 2, 3):
        comes_back(store, week)
        run(store, nights[week])
        comes_back(later, week)
    for night in nights:
        run(later, night)
    assert active_hash(later) == active_hash(store)
    (pattern,) = active_patterns(store)
    assert all(detail in pattern.content for detail in LATER)
    assert problems(store) == []


def test_what_contradicts_a_pattern_does_not_join_it(store: Store) -> None:
    fill(store, lesson(4))
    run(store, FIRST_NIGHT)
    text = lesson(1)[0].content.split(". ")[0]
    fill(store, [candidate(f"Never {text[0].lower()}{text[1:]}.", FIRST + timedelta(days=7), native_id="not")])
    run(store, NEXT_NIGHT)
    (pattern,) = active_patterns(store)
    assert "Never" not in pattern.content and pattern.created_at.date() < NEXT_NIGHT
