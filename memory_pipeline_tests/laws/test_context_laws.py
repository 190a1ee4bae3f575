"""A context holds whatever a search prints within the same tokens."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.demo.generate import make_demo
from memory_pipeline.interfaces.operations import search_lines
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.recall.context import build_context
from memory_pipeline.recall.documents import RecalledMemory, SearchResults
from memory_pipeline.recall.pieces import Piece
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.records.identifiers import hash_letters
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, settings_for

BUDGETS = (250, 500, 1000, 2000)
WORD = st.text("abcdefghij0123", min_size=1, max_size=8)
FOUND = st.lists(
    st.tuples(
        st.uuids(), st.lists(WORD, min_size=1, max_size=40), st.integers(0, 40), st.sampled_from([None, "human"])
    ),
    min_size=1,
    max_size=30,
)
GUIDANCE = st.lists(st.tuples(st.lists(WORD, min_size=1, max_size=20), st.integers(0, 30)), max_size=6)


def count(text: str) -> int:
    """Signs and words, as a tokenizer would count them that splits neither."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def printed(results: SearchResults, budget: int) -> list[RecalledMemory]:
    """The memories that a search prints into a pipe, best first, while they fit."""
    found = []
    for memory, line in zip(results.results, search_lines(results, None), strict=True):
        budget -= count(line)
        if budget < 0:
            break
        found.append(memory)
    return found


@given(FOUND, GUIDANCE, st.integers(50, 1000))
def test_a_context_holds_what_a_search_prints_within_the_same_tokens(
    found: list[tuple], guides: list[tuple[list[str], int]], budget: int
) -> None:
    memories, pieces = [], []
    for place, (known, words, days, speaker) in enumerate(found):
        fields = {"id": str(known), "content": f"{' '.join(words)} {place}.", "day": date(2026, 3, 1) + timedelta(days)}
        memories.append(recalled(speaker, relevance_score=1 - place / 100, **fields))
        pieces.append(piece("memory", 1 - place / 100, speaker, handle=hash_letters(str(known))[:4], **fields))
    for number, (words, place) in enumerate(guides):
        pieces.insert(place, piece("atom", 0.5, id=f"a{number}", content=" ".join(words), day=date(2026, 3, 1)))
    searched = printed(SearchResults(results=tuple(memories), total_found=len(memories), search_time_ms=0), budget)
    context = build_context("p", "abc", budget, pieces, count)
    assert {memory.id for memory in searched} <= {item.id for item in context.items}
    assert all(memory.content in context.text for memory in searched)
    assert count(context.text) <= budget


@pytest.fixture
def homelab(store: Store) -> ProjectMemory:
    notes = [note for note in make_demo().notes if note.project == "homelab"]
    fill(store, [candidate(note.text, note.noted_at, native_id=note.id) for note in notes], "homelab")
    return ProjectMemory(store, settings_for(store), "homelab", actor="test", embedder=Lexical())


@pytest.mark.slow
def test_a_context_answers_the_questions_of_the_demo_that_a_search_answers(homelab: ProjectMemory) -> None:
    questions = [one for one in make_demo().truth["questions"] if one["project"] == "homelab"]  # type: ignore[attr-defined]
    assert len(questions) == 7
    for asked in questions:
        results = homelab.search(asked["question"], 100)
        for budget in BUDGETS:
            within = " ".join(memory.content for memory in printed(results, budget))
            context = homelab.context(asked["question"], budget)
            assert asked["answer"] in context.text or asked["answer"] not in within, (asked, budget)


def recalled(speaker: str | None, **fields: object) -> RecalledMemory:
    return RecalledMemory(
        project_id="p", subject="", steers=False, memory_type="conversation" if speaker else "other",
        abstraction_level=0, pattern_type=None, confidence_score=None, source_memory_count=0, categories=(),
        tags=(speaker,) if speaker else (), importance=1.0, created_at=datetime(2026, 3, 1, tzinfo=UTC),
        source="notes.md:3", archived=False, consolidated_into_id=None, superseded_by=None,
        **fields,  # type: ignore[arg-type]
    )  # fmt: skip


def piece(kind: str, relevance: float, speaker: str | None = None, **fields: object) -> Piece:
    return Piece(kind=kind, source="", confidence=None, relevance=relevance, speaker=speaker, **fields)  # type: ignore[arg-type]
