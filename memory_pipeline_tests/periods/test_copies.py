"""What a rollup tells once, and without how it was written down."""

from __future__ import annotations

from datetime import timedelta

from memory_pipeline.periods.days import DECISION, FACT, PATTERN, Entry, short
from memory_pipeline.periods.making import without_copies
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, settings_for
from memory_pipeline_tests.periods.test_rollups import LAST, MONDAY, make, text_of


def test_lines_that_differ_only_in_figures_are_no_notes(store: Store) -> None:
    lines = [candidate(f"Morning briefing came with {n} items", MONDAY + timedelta(days=n)) for n in range(5)]
    fill(store, [*lines, candidate("The gateway was moved to the second rack today.", MONDAY)])
    make(store, settings_for(store), MONDAY.date() + timedelta(days=6))
    assert "briefing" in text_of(store, "2026-03-12") and "briefing" not in text_of(store, "2026-03-13")
    week = text_of(store, "2026-W11")
    assert "briefing" not in week and "second rack today (9 March 2026)" in week


def test_a_note_with_many_figures_is_told(store: Store) -> None:
    fill(store, [candidate("The new nurse Amira starts 11-02, room 3.", MONDAY)])
    make(store, settings_for(store), MONDAY.date())
    assert "Amira" in text_of(store, f"{MONDAY.date()}")


def test_entries_that_differ_in_a_number_a_negation_or_what_they_mean_are_no_copies() -> None:
    texts = [
        "Take a backup before updating the router.",
        "Reminder: take a backup before updating the router.",
        "Never take a backup before updating the router.",
        "The deploy of the shop took 14 minutes on Monday.",
        "The deploy of the shop took 22 minutes on Monday.",
        "Pull the left rope first, then the right one, when the curtain is opened.",
        "Pull the right rope first, then the left one, when the curtain is closed.",
    ]
    entries = [Entry(FACT, text, MONDAY.date(), str(n), 1.0) for n, text in enumerate(texts)]
    assert len(without_copies(entries)) == 6


def test_a_lesson_is_told_once_however_often_it_was_noted_with_another_detail() -> None:
    def told(*notes: tuple[str, str]) -> list[str]:
        entries = [Entry(kind, words, LAST, f"{n}", 1.0) for n, (kind, words) in enumerate(notes)]
        return [entry.words for entry in without_copies(entries)]

    lesson_, seeds = (
        "Run three seeds before reporting a gain on the dev set.",
        "Run three seeds before choosing a rate.",
    )
    assert len(told((FACT, f"{lesson_} It adds 5 hours."), (FACT, f"{lesson_} The spread was 0.9 points."))) == 1
    assert told((FACT, f"{lesson_} It adds 5 hours."), (PATTERN, lesson_)) == [lesson_]
    assert len(told((FACT, lesson_), (FACT, seeds))) == 2
    assert len(told((FACT, lesson_), (DECISION, lesson_))) == 2
    assert len(told((FACT, f"{lesson_} It rained."), (FACT, "The cluster sleeps on Sunday. It rained."))) == 2
    assert (
        len(told((FACT, "The port of the staging database is 5433."), (FACT, "Port of the staging database: 5432.")))
        == 2
    )


def test_an_entry_says_nothing_of_how_it_was_written_down() -> None:
    def told(text: str) -> str | None:
        return short(text, lambda words: len(words.split()))

    assert (
        told("11:09 UTC - The insurance is cheaper if it is paid once.")
        == "The insurance is cheaper if it is paid once."
    )
    assert told("Noted again: lower the MTU of the VPN.") == "Lower the MTU of the VPN."
