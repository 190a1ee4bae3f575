"""The words by which a person would ask for a memory."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.recall import word_frequencies
from memory_pipeline.recall.questions import _words

_TEXTS = st.lists(st.text(st.sampled_from("aAbnoNtTİßé1_- .*\n"), max_size=30) | st.text(max_size=40), max_size=5)


@given(_TEXTS)
def test_a_word_is_counted_once_for_each_text_that_says_something_by_it(texts: list[str]) -> None:
    assert word_frequencies(texts) == Counter(
        word for text in texts for word in {word.lower() for word in _words(text)}
    )


def test_stop_words_are_not_counted_in_any_case() -> None:
    assert word_frequencies(["The gateway and THE Printer", "a Gateway"]) == {"gateway": 2, "printer": 1}
