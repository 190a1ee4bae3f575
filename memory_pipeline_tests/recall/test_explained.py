"""A search says why each memory stands where it stands; and routine never stands before a statement that answers."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from memory_pipeline.interfaces.operations import search_lines
from memory_pipeline.recall.documents import Explanation, SearchResults
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, settings_for
from memory_pipeline_tests.reading.answering import Answer, Asked, Model, answer, statement

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOTES = ("The gateway moved to port 18789", "Checked open ports of the gateway, all fine", "Watered the plants at noon")


def read(asked: Asked) -> Answer:
    """One statement, and the rest is routine."""
    kept = statement("The gateway listens on port 18789.", {asked.number("18789"): "moved to port 18789"})
    others = [item["n"] for item in asked.items]
    return answer(kept, routine=others, digests=[{"day": "2026-03-02", "text": "Open ports of the gateway, plants."}])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = Store(Path(tmp_path_factory.mktemp("explained")) / "store.duckdb")
    fill(made, [candidate(text, AT, native_id=str(number)) for number, text in enumerate(NOTES)])
    Model(made, read).night(date(2026, 3, 10))
    return made


def found(store: Store, query: str, **options: object) -> SearchResults:
    with ProjectMemory(store, settings_for(store), "p", actor="test") as memory:
        return memory.search(query, explain=True, **options)  # type: ignore[arg-type]


def why(results: SearchResults) -> list[Explanation]:
    return [one.explanation for one in results.results if one.explanation]


def test_a_statement_stands_before_the_digest_of_routine_with_the_same_words(store: Store) -> None:
    first, second = found(store, "gateway port").results[:2]
    assert first.content == "The gateway listens on port 18789."
    assert second.content.startswith("2026-03-02:") and second.relevance_score < first.relevance_score  # type: ignore[operator]


def test_each_memory_says_which_words_and_which_nearness_found_it(store: Store) -> None:
    results = found(store, "gateway port")
    first = why(results)[0]
    assert first.terms == ("gateway", "port") and first.words > 0 and first.cosine > 0
    assert first.inherited and first.weight < 1.0
    assert "why: words" in "\n".join(search_lines(results, None))


def test_a_day_that_a_query_names_is_told(store: Store) -> None:
    assert any(one.time > 0 and one.inherited for one in why(found(store, "plants on 2026-03-02")))


def test_a_search_that_was_not_asked_why_does_not_say_it(store: Store) -> None:
    with ProjectMemory(store, settings_for(store), "p", actor="test") as memory:
        (first, *_) = memory.search("gateway port").as_json()["results"]
    assert "explanation" not in first
