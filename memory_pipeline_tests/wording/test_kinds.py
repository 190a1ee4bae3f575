"""The memory type of an entry, from its label, its headings and its wording."""

from __future__ import annotations

from collections import Counter

import pytest

from memory_pipeline.wording.kinds import kind_of
from memory_pipeline_tests.wording.labelled_entries import ALONE, UNDER_HEADINGS


@pytest.mark.parametrize("entries", [UNDER_HEADINGS, ALONE], ids=["under headings", "alone"])
def test_entries_get_the_type_that_a_person_gives_them(entries: tuple[tuple[str, str, tuple[str, ...]], ...]) -> None:
    told = [(kind, kind_of(text, headings)) for kind, text, headings in entries]
    said, right = Counter(own for _, own in told), Counter(own for kind, own in told if kind == own)
    assert right.total() >= 0.95 * len(told)
    assert min(right[kind] / said[kind] for kind in said) >= 0.85


def test_the_innermost_heading_that_names_a_kind_decides() -> None:
    assert kind_of("The pump needs a slow start.", ("Lessons", "Incidents")) == "error_fix"
    assert kind_of("The pump needs a slow start.", ("Lessons", "Pump")) == "lesson"
    assert kind_of("The pump needs a slow start.", ("Lessons", "TODO")) == "other"


@pytest.mark.parametrize("heading", ["Error handling", "Decision engine", "Lesson plan", "Risk model", "Fixed costs"])
def test_a_word_inside_a_heading_names_no_kind(heading: str) -> None:
    assert kind_of("Two rooms, one of them with a window", (heading,)) == "other"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Decision: keep the old printer.", "decision"),
        ("accuracy=0.91 loss=0.3 lr=3e-4", "other"),
        ("[ ] write the lesson down", "other"),
        ("**job**: POSTFLIGHT: outcome recorded", "other"),
    ],
)
def test_what_an_entry_says_itself_counts_more_than_its_heading(text: str, kind: str) -> None:
    assert kind_of(text, ("Lessons Learned",)) == kind


def test_what_shows_no_kind_has_the_usual_one_of_its_place() -> None:
    assert kind_of("Two Raspberry Pi", usual="fact") == "fact"
    assert kind_of("Two Raspberry Pi") == "other"
    assert kind_of("2026-03-01: two more Raspberry Pi", usual="fact") == "other"


def test_the_order_of_sentences_makes_no_other_type() -> None:
    rule, aside = "Clear the cache after editing a template.", "The cache lives in Redis."
    assert kind_of(f"{rule} {aside}") == kind_of(f"{aside} {rule}") == "lesson"
