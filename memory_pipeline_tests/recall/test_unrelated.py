"""What a search and a context say where nothing is near a question."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from memory_pipeline.errors import EmbeddingError
from memory_pipeline.interfaces.operations import search_lines
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.recall.documents import NOTHING_NEAR
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, settings_for

NOTES = (
    "The payment gateway keeps its old API key for 15 minutes after it is rotated.",
    "Dana wants the weekly report on Thursdays before ten.",
    "The deploy took 25 minutes because the build cache was cold.",
    "Invoices to Mira go to Lindenweg 4 from April on.",
    "The staging database is restored every night at 02:00.",
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "store.duckdb")
    fill(made, [candidate(text, native_id=f"n{n}") for n, text in enumerate(NOTES)], project="shop")
    return made


@pytest.fixture
def shop(store: Store) -> ProjectMemory:
    return ProjectMemory(store, settings_for(store), "shop", actor="agent")


@pytest.mark.parametrize(
    ("question", "is_known"),
    [
        ("How long does the gateway use a key that was replaced?", True),
        ("What time is the test data gone in the morning?", True),
        ("Where do bills for Mira have to be sent?", True),
        ("Which river flows through Vienna?", False),
        ("How many legs does a spider have?", False),
    ],
)
def test_where_nothing_is_near_a_question_a_search_and_a_context_say_so(
    shop: ProjectMemory, question: str, is_known: bool
) -> None:
    found, context = shop.search(question), shop.context(question, 200)
    assert found.nothing_near is context.nothing_near is not is_known
    assert context.text.startswith(NOTHING_NEAR) is not is_known
    assert (NOTHING_NEAR in search_lines(found, 80)) is not is_known
    assert context.tokens <= 200


class Overwhelmed(Lexical):
    """An embedder that takes a query, and fails for many texts at once."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        if len(texts) > 5:
            raise EmbeddingError("too many texts")
        return super().embed(texts)


def test_a_search_claims_nothing_if_the_questions_cannot_be_embedded(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    memory = ProjectMemory(store, settings_for(store), "shop", actor="agent", embedder=Overwhelmed())
    assert not memory.search("Which river flows through Vienna?").nothing_near
    assert "too many texts" in caplog.text


def test_a_search_by_words_alone_says_nothing_of_meaning(shop: ProjectMemory) -> None:
    assert not shop.search("Which river flows through Vienna?", mode="bm25").nothing_near


def test_a_context_says_so_although_memories_that_no_search_shows_have_half_of_the_words(tmp_path: Path) -> None:
    store = Store(tmp_path / "other.duckdb")
    known = (*NOTES[:2], NOTES[4], "Prune the images.")
    notes = [f"I wrote down how service {n} is started, and I know how it is stopped." for n in range(12)]
    fill(store, [candidate(text, native_id=text) for text in (*known, *notes)], project="shop")
    memory = ProjectMemory(store, settings_for(store), "shop", actor="agent")
    question = "How do I prune roses?"
    assert memory.search(question).nothing_near and memory.context(question, 200).nothing_near
