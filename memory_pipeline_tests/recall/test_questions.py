"""The words by which a person would ask for a memory."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.recall.questions import _words, question_for, word_frequencies

_TEXTS = st.lists(st.text(st.sampled_from("aAbnoNtTİßé1_- .*\n"), max_size=30) | st.text(max_size=40), max_size=5)


@given(_TEXTS)
def test_a_word_is_counted_once_for_each_text_that_says_something_by_it(texts: list[str]) -> None:
    assert word_frequencies(texts) == Counter(
        word for text in texts for word in {word.lower() for word in _words(text)}
    )


def test_stop_words_are_not_counted_in_any_case() -> None:
    assert word_frequencies(["The gateway and THE Printer", "a Gateway"]) == {"gateway": 2, "printer": 1}


def test_a_reading_is_asked_for_by_the_words_that_its_series_tells() -> None:
    line = "Brain ingestion finished: 12 entries, dashboard regeneration pending, quorum reached"
    series = "Brain ingestion finished: 12 entries (3 April 2026, the newest of 16 readings since 14 March)."
    asked = question_for(line, Counter({"brain": 9}), series)
    assert asked is not None
    assert {"dashboard", "quorum"}.isdisjoint(asked.split())
    assert question_for(line, Counter({"brain": 9}), "Other words.") == question_for(line, Counter({"brain": 9}))
