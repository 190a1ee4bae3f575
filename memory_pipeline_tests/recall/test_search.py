"""Search results as the context of an agent."""

from __future__ import annotations

from memory_pipeline.recall.search import Match, fit_budget
from memory_pipeline.recall.words import WordIndex
from memory_pipeline_tests.build import memory


def counted(text: str) -> int:
    return len(text.split())


def test_of_a_best_memory_that_is_too_long_the_statements_nearest_to_the_question_are_given() -> None:
    rule = "Restart the gateway after the key changes."
    long = memory("long", f"{rule} It keeps the old one. Dana lost two orders.", token_count=16)
    short = memory("short", "The key lies in the vault.", token_count=6)
    found = [Match(one, 1.0) for one in (long, short)]

    def given(question: str, budget: int) -> list[tuple[str, int]]:
        return [(one.content, one.token_count) for one in fit_budget(found, budget, question, counted)]

    assert given("How many orders were lost?", 12) == [(f"{rule} Dana lost two orders.", 11)]
    assert given("How many orders were lost?", 5) == [("Dana lost two orders.", 4)]
    assert given("What about the gateway and its key?", 8) == [(rule, 7)]
    assert given("anything", 22) == [(long.content, 16), (short.content, 6)]


def test_of_more_equal_texts_than_are_looked_at_the_last_ones_are_found() -> None:
    index = WordIndex("english")
    index.add(0, ["The lamp of the attic broke again.", *(f"The lamp {n} broke." for n in range(100, 400))])
    rows, scores = index.search("lamp attic", 50)
    assert rows.tolist() == [0, *range(300, 251, -1)] and (scores[1:] == scores[1]).all()
