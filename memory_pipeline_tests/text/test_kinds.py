"""The memory type of an entry, by its own label and by the headings above it."""

from __future__ import annotations

import pytest

from memory_pipeline.text.kinds import is_reading, kind_of


def test_the_innermost_heading_that_names_a_kind_decides() -> None:
    assert kind_of("The pump needs a slow start.", ("Lessons", "Incidents")) == "error_fix"
    assert kind_of("The pump needs a slow start.", ("Lessons", "Pump")) == "lesson"
    assert kind_of("The pump needs a slow start.", ("Lessons", "TODO")) == "other"


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Decisions", "decision"),
        ("## Key decisions (March)", "decision"),
        ("Lessons from the outage", "lesson"),
        ("Lessons learned", "lesson"),
        ("2026-03-04 - Gotchas", "warning"),
        ("Research findings", "discovery"),
    ],
)
def test_a_heading_names_the_kind_of_what_stands_under_it(heading: str, kind: str) -> None:
    assert kind_of("Two rooms, one of them with a window", (heading,)) == kind


@pytest.mark.parametrize(
    "heading", ["Error handling", "Decision engine", "Lesson plan", "Risk model", "Fixed costs", "Fixes and decisions"]
)
def test_a_word_inside_a_heading_names_no_kind(heading: str) -> None:
    assert kind_of("Two rooms, one of them with a window", (heading,)) == "other"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Decision: keep the old printer.", "decision"),
        ("**Gotcha:** the valve sticks.", "warning"),
        ("accuracy=0.91 loss=0.3 lr=3e-4", "other"),
        ("[ ] write the lesson down", "other"),
        ("TODO: write the lesson down", "other"),
        ("Title: Labels\nRecommendation: feed them slowly", "lesson"),
    ],
)
def test_what_an_entry_says_itself_counts_more_than_its_heading(text: str, kind: str) -> None:
    assert kind_of(text, ("Lessons Learned",)) == kind


def test_what_a_sentence_means_is_no_mark() -> None:
    assert kind_of("We decided to keep the old printer.") == "other"
    assert kind_of("Always clear the cache after editing a template.") == "other"


def test_what_has_no_mark_has_the_usual_type_of_its_place() -> None:
    assert kind_of("Two Raspberry Pi", usual="fact") == "fact"
    assert kind_of("Two Raspberry Pi") == "other"


def test_a_line_of_figures_is_a_reading() -> None:
    assert is_reading("CPU 41%, memory 7.2 GB, disk 81%")
    assert not is_reading("The backup of 3 March needed the old key, since the new one was not in the vault yet.")


def test_a_label_may_stand_behind_a_time() -> None:
    assert kind_of("10:15 Lesson: restart the desk first.") == "lesson"
    assert kind_of("- 10:15 **Decision:** no glass bottles.") == "decision"
