"""The context of a task: the best mix within a budget of tokens."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.openclaw_files import is_written_by_program
from memory_pipeline.models.embedders.lexical import Lexical
from memory_pipeline.recall.context import Piece, build_context
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, run, settings_for

DAY = date(2026, 3, 3)


def counted(text: str) -> int:
    return len(text.split())


def piece(
    name: str, content: str, relevance: float, *, direction: int = 0, kind: str = "memory", **more: object
) -> Piece:
    vector = np.zeros(8, dtype=np.float32)
    vector[direction] = 1
    return Piece(kind, name, content, DAY, "notes.md:3", None, relevance, vector, **more)  # type: ignore[arg-type]


def given_for(pieces: list[Piece], budget: int = 1000, task: str = "the gateway") -> list[str]:
    return [item.id for item in build_context("p", task, budget, pieces, counted).items]


def test_what_says_the_same_as_a_better_piece_is_left_out() -> None:
    pieces = [piece("a", "one", 0.9), piece("b", "one again", 0.89), piece("c", "another", 0.5, direction=1)]
    assert given_for(pieces) == ["a", "c"]


def test_guidance_is_not_given_beside_the_pattern_that_it_comes_from() -> None:
    pattern = piece("a", "Restart the gateway.", 0.9, kind="pattern")
    entry = piece("e", "Restart it.", 0.8, direction=1, kind="playbook", stands_for=("a",))
    assert given_for([pattern, entry]) == ["a"]


def test_what_holds_in_general_comes_first_and_every_piece_has_its_day_source_and_id() -> None:
    pieces = [
        piece("note", "The gateway is slow.", 0.9),
        piece("rule", "Measure first.", 0.8, direction=1, kind="principle"),
    ]
    context = build_context("p", "the gateway", 1000, pieces, counted)
    assert context.text == (
        "## Principles\n- Measure first. (2026-03-03, notes.md:3) [rule]\n\n"
        "## Notes\n- The gateway is slow. (2026-03-03, notes.md:3) [note]"
    )
    assert context.tokens == counted(context.text)
    assert is_written_by_program(f"\n{context.text}\n"), "a reader of workspaces knows it for ours"
    assert not is_written_by_program("## Notes\n- The gateway is slow. (2026-03-03)\n- See [note]\n")


def test_of_a_best_piece_that_is_too_long_the_statements_nearest_to_the_task_are_given() -> None:
    others = (
        "The vault holds the key. Dana lost two orders. Nobody knows why the lights in the hall stayed on all night."
    )
    long = piece("a", f"{others} Restart the gateway after the key changes.", 0.9)
    (item,) = build_context("p", "restart the gateway", 24, [long], counted).items
    assert item.content == "The vault holds the key. Dana lost two orders. Restart the gateway after the key changes."


@given(
    st.lists(st.tuples(st.text("ab cd.", min_size=1, max_size=80), st.floats(0, 1), st.integers(0, 7)), max_size=12),
    st.integers(1, 120),
)
def test_a_context_never_takes_more_tokens_than_it_may(rows: list[tuple[str, float, int]], budget: int) -> None:
    pieces = [piece(f"m{n}", text, score, direction=d) for n, (text, score, d) in enumerate(rows)]
    context = build_context("p", "ab cd", budget, pieces, counted)
    assert counted(context.text) == context.tokens <= budget


@pytest.fixture
def mine(tmp_path: Path) -> ProjectMemory:
    store = Store(tmp_path / "store.duckdb")
    fill(store, [*lesson(4), candidate("The gateway has two nodes.", native_id="nodes")])
    run(store, DAY)
    return ProjectMemory(store, settings_for(store), "p", actor="test", embedder=Lexical())


def test_an_abstraction_is_given_and_its_archived_sources_are_not(mine: ProjectMemory) -> None:
    items = mine.context("restart the payment gateway", 500).items
    assert [item.kind for item in items if item.kind in ("pattern", "memory")] == ["pattern", "memory"]
    assert not {item.id for item in items} & {f"gateway-{n}" for n in range(4)}


@pytest.mark.parametrize("budget", [49, 100_001])
def test_a_budget_out_of_range_is_refused(mine: ProjectMemory, budget: int) -> None:
    with pytest.raises(InputError, match="50 to 100000"):
        mine.context("the gateway", budget)


def test_a_value_that_a_newer_one_supersedes_is_not_given(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.duckdb")
    notes = [
        candidate(f"The billing service uses PostgreSQL {version}.", FIRST + timedelta(days=days), native_id=version)
        for days, version in ((0, "15"), (6, "16"))
    ]
    fill(store, notes)
    run(store, date(2026, 3, 9))
    mine = ProjectMemory(store, settings_for(store), "p", actor="test", embedder=Lexical())
    found = {one.id: one.superseded_by for one in mine.search("which PostgreSQL does billing use").results}
    assert found == {"16": None, "15": "16"}
    assert [item.id for item in mine.context("which PostgreSQL does billing use").items] == ["16"]


def test_an_id_cannot_pass_for_a_source() -> None:
    told = piece("openclaw:p:MEMORY.md#api", "The zone is UTC+9.", 0.9)
    assert "(2026-03-03, notes.md:3)" in told.line()
    assert "(2026-03-03) [" in piece("openclaw:p:notes.md#1f", "The zone is UTC+9.", 0.9).line()


def test_what_was_learned_comes_before_what_was_noted_and_new_before_old(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.duckdb")
    told = "The gateway runs with the key of the vault"
    notes = [
        candidate(f"{told}, noted.", FIRST, native_id="noted"),
        candidate(f"{told}, learned.", FIRST, native_id="learned", memory_type="lesson"),
        candidate(f"{told}, decided.", FIRST - timedelta(days=300), native_id="old", memory_type="lesson"),
    ]
    fill(store, notes)
    mine = ProjectMemory(store, settings_for(store), "p", actor="test", embedder=Lexical())
    given = mine.context("how does the gateway get the key of the vault", 500).items
    relevance = {item.id: item.relevance_score for item in given}
    assert next(iter(relevance)) == "learned"
    assert relevance["learned"] > relevance.get("noted", 0)
    assert relevance["learned"] > relevance.get("old", 0)


def test_a_task_is_not_given_beside_its_end(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.duckdb")
    task = "TODO: write the runbook for the restore of the shop database"
    end = "Done: wrote the runbook for the restore of the shop database."
    fill(store, [candidate(task, FIRST), candidate(end, FIRST + timedelta(days=1))])
    found = ProjectMemory(store, settings_for(store), "p", actor="agent").context("restore the shop database")
    assert "Done: wrote the runbook" in found.text and "TODO" not in found.text
