"""What a search finds through an archived reading says it, and what only counts its line is given to no agent."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from memory_pipeline.interfaces.mcp.tools import as_hit
from memory_pipeline.interfaces.operations import lineage_lines, search_lines
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store
from memory_pipeline.workspace.contents import COUNTS, contents_of
from memory_pipeline_tests.build import FIRST, candidate, fill, run, settings_for
from memory_pipeline_tests.consolidation.test_series import lines
from memory_pipeline_tests.interfaces.in_process import command

TIMES = ("61.25", "62.50", "64.75", "60.10", "63.33", "62.90", "61.75", "62.05")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store after a night that made two series, one of which only counts."""
    store = Store(Path(tmp_path_factory.mktemp("found")) / "store.duckdb")
    fill(
        store,
        [
            *lines("The greenhouse pump check took {}s of the morning", *TIMES),
            *lines("The greenhouse report was kept at 0{}:30 by the clock", *range(1, 7)),
            candidate("The greenhouse has two doors of glass.", FIRST + timedelta(days=3), native_id="doors"),
        ],
    )
    run(store, date(2026, 3, 20))
    return store


def test_a_search_for_an_archived_value_shows_the_reading_beside_its_series(made: Store) -> None:
    with ProjectMemory(made, settings_for(made), "p", actor="test") as memories:
        assert memories.search("greenhouse pump 64.75").results[0].found_through is None  # the series says it
        through = memories.search("greenhouse pump 62.50").results[0].found_through
    assert through is not None and through.content == "The greenhouse pump check took 62.50s of the morning"
    assert through.day == date(2026, 3, 2)


def test_every_door_shows_it(made: Store) -> None:
    with ProjectMemory(made, settings_for(made), "p", actor="test") as memories:
        found = memories.search("greenhouse pump 62.50")
    assert any("62.50s" in line for line in search_lines(found, 100))
    assert any("62.50s" in line for line in search_lines(found, None))
    assert "62.50s" in as_hit(found.results[0])["text"]
    assert "62.50s" in found.as_json()["results"][0]["found_through"]["content"]


def test_no_door_shows_a_day_that_nobody_knows(store: Store) -> None:
    """Neither of the archived memory that something was found through, nor of a source."""
    readings = lines("The greenhouse pump check took {}s of the morning", *TIMES)
    fill(store, [replace(reading, created_at_quality="mtime") for reading in readings])
    run(store, date(2026, 3, 20))
    with ProjectMemory(store, settings_for(store), "p", actor="test") as memories:
        found, text = memories.search("greenhouse pump 62.50"), memories.context("greenhouse pump 62.50").text
        tree = memories.lineage(found.results[0].id)
    assert all(node.undated for node in tree.nodes if node.depth)
    assert sum("  undated  " in line for line in lineage_lines(tree, None)) >= len(TIMES)
    assert any("archived undated" in line for line in search_lines(found, 100))
    assert "(archived undated [" in as_hit(found.results[0])["text"] and "(undated: The greenhouse" in text


def test_of_a_long_memory_the_words_around_the_value_are_shown(store: Store) -> None:
    steps = " ".join(f"step{chr(97 + n)}{chr(97 + m)}" for n in range(8) for m in range(8))
    fill(store, lines(f"Barn log: {steps} ending with {{}} litres {steps}", *TIMES))
    run(store, date(2026, 3, 20))
    with ProjectMemory(store, settings_for(store), "p", actor="test") as memories:
        through = memories.search("barn log ending 62.50 litres").results[0].found_through
    assert through is not None and "with 62.50 litres" in through.content and len(through.content) < 520


def test_a_memory_that_says_what_was_asked_has_nothing_besides(made: Store) -> None:
    with ProjectMemory(made, settings_for(made), "p", actor="test") as memories:
        found = memories.search("doors of glass").results
    assert found[0].id == "doors" and all(one.found_through is None for one in found)


def test_a_series_of_which_nothing_varies_is_found_but_in_no_context_and_no_export(made: Store) -> None:
    with ProjectMemory(made, settings_for(made), "p", actor="test") as memories:
        assert "report was kept" in memories.search("greenhouse report kept").results[0].content
        assert "report was kept" not in memories.context("the greenhouse report that was kept").text
    contents = contents_of(made, "p")
    assert [one.memory_type for one in contents.series] == ["fact"] and contents.left_out == {COUNTS: 1}


def test_what_only_an_archived_memory_says_answers_as_well_as_before(store: Store, tmp_path: Path) -> None:
    words = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath")
    notes = {f"n{n}": f"The {word} pump of the barn took {30 + 2 * n}.5 litres" for n, word in enumerate(words)}
    away = {"archived_by": "c", "archived_at": "2026-03-02T00:00:00Z", "consolidated_into_id": "all",
            "importance_before": 1.0}  # fmt: skip
    links = [{"id": name, "relation": "distilled", "similarity": 0.9} for name in notes]
    rows: list[dict[str, object]] = [{"id": name, "content": text, **away} for name, text in notes.items()]
    rows.append({"id": "all", "content": "Eight of them were looked after.", "sources": links, "abstraction_level": 1})
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    assert "9 imported" in command("import", "jsonl", file, "--project", "p", "--store", store.path).out
    with ProjectMemory(store, settings_for(store), "p", actor="test") as memories:
        (found,) = memories.search("fjord pump 40.5 litres").results
        assert found.id == "all" and found.found_through is not None and found.found_through.id == "n5"
        assert (found.relevance_score or 0) >= 0.4
        assert "fjord" in memories.context("fjord pump 40.5 litres").text
