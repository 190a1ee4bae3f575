"""What a search and a context say where nothing is near a question."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_pipeline.interfaces.operations import search_lines
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
def shop(tmp_path: Path) -> ProjectMemory:
    store = Store(tmp_path / "store.duckdb")
    fill(store, [candidate(text, native_id=f"n{n}") for n, text in enumerate(NOTES)], project="shop")
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
