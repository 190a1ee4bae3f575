"""A pattern grows: one lesson is one memory, however many weeks it comes back."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from memory_pipeline.config.policies import PolicyTable
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.consolidation.run import run_week
from memory_pipeline.recall.past import read_state
from memory_pipeline.records import Memory
from memory_pipeline.store import Finding, Store
from memory_pipeline_tests.build import (
    FIRST,
    candidate,
    fill,
    lesson,
    night_of,
    rules_are_found,
    run,
    settings_for,
    sql_rows,
)

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


DETAIL = "Dana lost two test orders to this."
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


@pytest.mark.slow
def test_a_claim_said_again_joins_though_its_own_detail_takes_it_far_away(store: Store) -> None:
    fill(store, lesson(4))
    run(store, FIRST_NIGHT)
    claim, at = lesson(1)[0].content.split(". ")[0], FIRST + timedelta(days=7)
    far = (
        "Tulips that Kenji planted behind the office in autumn flower red, white and yellow; Marta waters them twice a "
        "day with rain from the barrel, and the children of the neighbours count every blossom on Sundays."
    )
    fill(store, [candidate(f"{claim}. {far}", at, native_id="far"), candidate(f"{DETAIL} {far}", at, native_id="not")])
    run(store, NEXT_NIGHT)
    (pattern,) = active_patterns(store)
    everything = memories(store)
    assert far in pattern.content and everything["far"].consolidated_into_id == pattern.id
    assert everything["not"].archived_at is None, "it shares a detail only"
    assert problems(store) == []


@pytest.mark.slow
def test_the_next_version_rests_on_all_raw_memories(grown: Store) -> None:
    (pattern,) = active_patterns(grown)
    with grown.reading() as tx:
        raw = tx.lineage.raw_sources_of([pattern.id])[pattern.id]
    assert len(raw) == 6 and all(memories(grown)[i].archived_at for i in raw)


@pytest.mark.slow
def test_running_the_night_again_changes_nothing(grown: Store) -> None:
    before = active_hash(grown)
    run(grown, NEXT_NIGHT)
    assert active_hash(grown) == before


@pytest.mark.slow
def test_undoing_the_night_brings_the_version_before_back(store: Store) -> None:
    fill(store, lesson(4))
    run(store, FIRST_NIGHT)
    comes_back(store)
    before = active_hash(store)
    report = run(store, NEXT_NIGHT)
    assert active_hash(store) != before
    roll_back(store, settings_for(store), RollbackScope(run_id=report.run_id))
    assert active_hash(store) == before


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_pattern_grows_after_a_note_that_narrows_it(store: Store) -> None:
    fill(store, lesson(4))
    run(store, FIRST_NIGHT)
    claim = lesson(1)[0].content.split(". ")[0]
    fill(store, [candidate(f"{claim}. Not on staging.", FIRST + timedelta(days=7), native_id="narrows")])
    run(store, NEXT_NIGHT)
    comes_back(store, 2)
    run(store, NEXT_NIGHT + timedelta(days=7))
    (pattern,) = active_patterns(store)
    assert "Not on staging." in pattern.content and LATER[1] in pattern.content
    assert problems(store) == []


@pytest.mark.slow
def test_a_pattern_grows_with_what_agrees_though_two_notes_contradict_each_other(store: Store) -> None:
    fill(store, lesson(4))
    run(store, FIRST_NIGHT)
    claim, at = lesson(1)[0].content.split(". ")[0], FIRST + timedelta(days=7)
    keys = [f"{claim}. The vault has {number} keys." for number in (3, 4)]
    fill(store, [candidate(words, at + timedelta(hours=n), native_id=f"keys-{n}") for n, words in enumerate(keys)])
    run(store, NEXT_NIGHT)
    (pattern,) = active_patterns(store)
    left = [memory.content for memory in memories(store).values() if memory.content in keys and not memory.archived_at]
    assert len(left) == 1 and left[0].removeprefix(f"{claim}. ") not in pattern.content
    assert "keys" in pattern.content and problems(store) == []


def test_what_contradicts_a_pattern_does_not_join_it(store: Store) -> None:
    fill(store, lesson(4))
    run(store, FIRST_NIGHT)
    text = lesson(1)[0].content.split(". ")[0]
    fill(store, [candidate(f"Never {text[0].lower()}{text[1:]}.", FIRST + timedelta(days=7), native_id="not")])
    run(store, NEXT_NIGHT)
    (pattern,) = active_patterns(store)
    assert "Never" not in pattern.content and pattern.created_at.date() < NEXT_NIGHT


RULE = "Restart the {} after changing its configuration file, because it reads the settings only once at the start."
WEEK_END = date(2026, 3, 7)
DETAILS = ("Dana lost two orders to this.", "The health page stays green.", "A reload is not enough.", "Kenji saw it.")
AGAIN = ("The vault keeps 41 keys.", "Staging differs from it.")
ONCE_MORE = ("Marco has a script.", "The pager stays silent.")


def noted(store: Store, day: int, details: tuple[str, ...]) -> None:
    """The rule about the gateway, noted with a detail each, an hour apart."""
    at = FIRST + timedelta(days=day)
    texts = [f"{RULE.format('gateway')} {detail}" for detail in details]
    fill(store, [candidate(text, at + timedelta(hours=n), native_id=f"{day}-{n}") for n, text in enumerate(texts)])


def begin(store: Store) -> None:
    """The rule about the gateway, and what is known of two other services already."""
    noted(store, 0, DETAILS)
    known = [
        candidate(RULE.format(service), native_id=service, abstraction_level=2, confidence_score=0.9)
        for service in ("mail relay", "label printer")
    ]
    fill(store, known)


def form_week(store: Store) -> None:
    night = night_of(store, WEEK_END, settings_for(store), run_id=f"week-{WEEK_END}")
    with rules_are_found():
        run_week(night)
    store.release_lease(night.options.run_id)


def active_principle(store: Store) -> Memory:
    (one,) = (m for m in memories(store).values() if m.abstraction_level == 3 and m.archived_at is None)
    return one


def patterns_under(store: Store, principle: Memory) -> set[str]:
    with store.reading() as tx:
        return {link.source_id for link in tx.lineage.of([principle.id]) if link.relation == "principle"}


@pytest.fixture
def with_principle(store: Store) -> Store:
    begin(store)
    run(store, FIRST_NIGHT)
    form_week(store)
    return store


@pytest.mark.slow
def test_a_principle_stands_on_the_next_version_of_its_pattern(with_principle: Store) -> None:
    store = with_principle
    before = active_principle(store)
    noted(store, 7, AGAIN)
    run(store, NEXT_NIGHT)
    after = active_principle(store)
    assert after.id != before.id and after.content == before.content
    assert patterns_under(store, after) == {pattern.id for pattern in active_patterns(store)}
    assert memories(store)[before.id].consolidated_into_id == after.id
    assert after.confidence_score == before.confidence_score, "it is the model's word"
    with store.reading() as tx:
        assert len(tx.lineage.witnesses_of([after.id])[after.id]) == 8, "six notes and two patterns of elsewhere"
        (entry,) = (entry for entry in tx.playbook.read() if after.id in entry.source_ids)
    assert before.id not in entry.source_ids
    assert problems(store) == []


@pytest.mark.slow
def test_undoing_the_night_brings_the_principle_back_as_it_was(with_principle: Store) -> None:
    store = with_principle
    noted(store, 7, AGAIN)
    before, principle = active_hash(store), active_principle(store)
    report = run(store, NEXT_NIGHT)
    roll_back(store, settings_for(store), RollbackScope(run_id=report.run_id))
    assert active_principle(store).id == principle.id and active_hash(store) == before
    assert problems(store) == []
    run(store, NEXT_NIGHT, run_id="once more")
    assert patterns_under(store, active_principle(store)) == {pattern.id for pattern in active_patterns(store)}
    assert problems(store) == []


@pytest.mark.slow
def test_principles_over_growing_patterns_are_the_same_live_and_in_a_backfill(store: Store, tmp_path: Path) -> None:
    later = Store(tmp_path / "later.duckdb")
    begin(store)
    begin(later)
    noted(later, 7, AGAIN)
    noted(later, 14, ONCE_MORE)
    run(store, FIRST_NIGHT)
    form_week(store)
    noted(store, 7, AGAIN)
    run(store, NEXT_NIGHT)
    noted(store, 14, ONCE_MORE)
    run(store, NEXT_NIGHT + timedelta(days=7))
    run(later, FIRST_NIGHT)
    form_week(later)
    run(later, NEXT_NIGHT)
    run(later, NEXT_NIGHT + timedelta(days=7))
    assert active_hash(later) == active_hash(store)
    twice = active_hash(store)
    run(store, NEXT_NIGHT + timedelta(days=7))
    assert active_hash(store) == twice
    assert patterns_under(store, active_principle(store)) == {pattern.id for pattern in active_patterns(store)}


@pytest.mark.slow
def test_the_past_shows_the_version_of_that_day(with_principle: Store) -> None:
    store = with_principle
    before = active_principle(store)
    noted(store, 7, AGAIN)
    run(store, NEXT_NIGHT)
    then = read_state(store, "before:night:2026-03-12").active
    assert before.id in then and active_principle(store).id not in then


@pytest.mark.slow
def test_a_pinned_principle_stays_as_it_is(with_principle: Store) -> None:
    store = with_principle
    before = active_principle(store)
    with store.writing("person", "pin") as tx:
        sql_rows(tx, "update memories set pinned = true where id = $1", [before.id])
    noted(store, 7, AGAIN)
    run(store, NEXT_NIGHT)
    assert active_principle(store).id == before.id
    assert problems(store) == []


OF_OWN = (
    "The choir keeps the scores of its winter concerts in the damp basement.",
    "Tulips that Kenji planted in autumn flower red, white and yellow.",
    "A ferry leaves for the northern islands at nine in the morning.",
    "Pancakes taste best with lemon, sugar and a little rum.",
    "The third chapter of the novel is set in a lighthouse.",
)


STRICT = {"distill": PolicyTable(threshold=0.93)}


def test_notes_of_one_claim_are_a_pattern_though_their_details_are_far_apart(store: Store) -> None:
    claim = lesson(1)[0].content.split(". ")[0]
    fill(store, [candidate(f"{claim}. {detail}", native_id=f"own-{n}") for n, detail in enumerate(OF_OWN)])
    with store.reading() as tx:
        ids = [memory.id for memory in tx.memories.all()]
    run(store, FIRST_NIGHT, settings_for(store, compression__policies=STRICT))
    (pattern,) = active_patterns(store)
    assert all(detail in pattern.content for detail in OF_OWN)
    _, vectors = night_of(store, FIRST_NIGHT).vectors_of(ids)
    near = vectors @ vectors.T
    assert near[~np.eye(len(ids), dtype=bool)].max() < 0.93, "or this is no test of claims"
    assert problems(store) == []


@pytest.mark.parametrize(
    "others",
    [
        ("Never restart the payment gateway after rotating its API key, otherwise it keeps using the old key.",) * 2,
        ("Restart the mail gateway after rotating its API key, otherwise it keeps using the old key.",) * 2,
        ("It takes 4 minutes.",) * 2,
    ],
)
def test_another_claim_or_a_short_one_makes_no_pattern(store: Store, others: tuple[str, str]) -> None:
    claim = lesson(1)[0].content.split(". ")[0]
    texts = [f"{words} {detail}" for words, detail in zip((f"{claim}.", *others), OF_OWN, strict=False)]
    fill(store, [candidate(text, native_id=str(n)) for n, text in enumerate(texts)])
    run(store, FIRST_NIGHT)
    assert active_patterns(store) == []
