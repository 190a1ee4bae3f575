"""Principles in words: what patterns have in common, with their subjects beside each other."""

from __future__ import annotations

import pytest

from memory_pipeline.embedding.lexical import Lexical
from memory_pipeline.knowledge.principles import Principle, find_principle


def principle_of(*texts: str, similarity: float = 0.3) -> Principle | str:
    return find_principle(texts, Lexical().embed, similarity=similarity, least=3)


def test_one_rule_for_several_subjects_names_them_all() -> None:
    found = principle_of(
        "Ask Dana before changing prices in the shop.",
        "Ask Dana before changing the shipping table.",
        "Ask Dana before changing the returns policy. It was wrong twice.",
        "Water the plants on Monday.",
    )
    assert isinstance(found, Principle) and found.supporters == (0, 1, 2)
    assert found.text == "Ask Dana before changing prices in the shop / the shipping table / the returns policy."


def test_the_statement_with_the_fewest_figures_is_the_principle() -> None:
    rule = "Restore the backup on another machine every month before trusting it"
    found = principle_of(f"{rule} with 3 files.", f"{rule}.", f"{rule} with all files.", similarity=0.6)
    assert isinstance(found, Principle) and found.text == f"{rule}."


@pytest.mark.parametrize(
    "third",
    [
        "Never ask Dana before changing the returns policy.",
        "Ask Dana after changing the returns policy.",
        "The returns policy was changed by Dana, who asked nobody about prices before.",
    ],
)
def test_what_speaks_against_a_statement_or_says_something_else_is_no_support(third: str) -> None:
    found = principle_of(
        "Ask Dana before changing prices in the shop.", "Ask Dana before changing the shipping table.", third
    )
    assert isinstance(found, str)


def test_patterns_without_a_statement_make_no_principle() -> None:
    assert principle_of("ok", "17/17", "yes") == "the patterns contain no statement"
