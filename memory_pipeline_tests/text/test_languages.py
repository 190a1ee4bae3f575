"""Other languages: what turns a statement is known, and what is not read merges only as a copy."""

from __future__ import annotations

import pytest
from planted_languages import PAIRS

from memory_pipeline.consolidation.merging import merge_contents, says_again
from memory_pipeline.models.conflicts import find_conflict
from memory_pipeline.text.languages import is_english, names_of

CONTRACTED = ("I've got type 1 diabetes so meal times matter.", "We’ve no son at home, o we'll go")
CONFLICTS = [(language, one, other) for language, group, one, other in PAIRS if group == "conflict"]
COPIES = [(language, one, other) for language, group, one, other in PAIRS if group == "duplicate"]


def test_a_negation_an_opposite_or_another_weekday_keeps_apart_in_every_language() -> None:
    joined = [(language, one, other) for language, one, other in CONFLICTS if says_again(one, other)]
    assert len(joined) <= 0.03 * len(CONFLICTS), joined


@pytest.mark.parametrize("text", CONTRACTED)
def test_a_contraction_is_english(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize(("language", "one", "other"), COPIES)
def test_copies_of_other_languages_are_one(language: str, one: str, other: str) -> None:
    assert find_conflict(one, other) is None and says_again(one, other)


def test_a_text_of_another_language_that_differs_in_an_unknown_word_is_kept_in_full() -> None:
    one = "Der Server im Keller wird am Abend von Jonas gewartet."
    other = "Der Server im Keller wird am Abend von Jonas repariert."
    assert not says_again(one, other)
    merged = merge_contents([one, other])
    assert "gewartet" in merged and "repariert" in merged


def test_days_and_months_are_known_by_their_names() -> None:
    weekdays, months = names_of("weekday"), names_of("month")
    assert {weekdays[name] for name in ("montag", "segunda", "понедельник", "星期一", "月曜日", "월요일")} == {1}
    assert {months[name] for name in ("mai", "mayo", "maggio", "мая", "mayıs")} == {5}


@pytest.mark.parametrize(
    "text",
    [
        "The backup was finished tonight.",
        "deploy OK",
        "Restart the gateway after rotating keys",
        "The café in Zürich opens at eight and the señor likes it.",
        "brain: 743 memories",
    ],
)
def test_english_is_read(text: str) -> None:
    assert is_english(text)
