"""Which of some memories give another value for what a query asks, and that the newest of them stands first."""

from __future__ import annotations

import pytest

from memory_pipeline.text.facts import content_words
from memory_pipeline.text.values import other_values

BUDGET = "What is the monthly budget for books?"
OLD = "The monthly budget for books is 40 euros. The shelf has 6 boards."


@pytest.mark.parametrize(
    ("newer", "changes"),
    [
        ("The monthly budget for books is 55 euros now.", True),
        ("Raised what may be spent: a budget for books of 55 euros.", True),
        ("The monthly budget for books is still 40 euros.", False),
        ("The monthly budget for books was talked about.", False),
        ("The cat weighs 5 kg, says the vet.", False),
        ("The shelf has 8 boards now.", False),
    ],
)
def test_another_value_is_of_what_is_asked(newer: str, changes: bool) -> None:
    found = other_values(content_words(BUDGET), [OLD, newer], content_words)
    assert bool(found[0, 1]) is changes and not found.diagonal().any()


def test_the_times_at_which_two_notes_were_written_are_no_values() -> None:
    texts = [f"09:05 {OLD}", "10:15 The monthly budget for books is still 40 euros."]
    assert not other_values(content_words(BUDGET), texts, content_words).any()


def test_a_value_of_another_kind_is_no_other_value() -> None:
    checked = "The monthly budget for books is checked on 3 March at 09:30."
    found = other_values(content_words(BUDGET), [OLD, checked], content_words)
    assert not found[0, 1]
