"""`memory.jsonl` as @modelcontextprotocol/server-memory 2026.8.31 writes it."""

from __future__ import annotations

from pathlib import Path

from memory_pipeline.ingest.formats import importer_of
from memory_pipeline.store import Store
from memory_pipeline_tests.build import NOW
from memory_pipeline_tests.ingest.bring import bring_twice, lines

DANA = {
    "type": "entity",
    "name": "Dana",
    "entityType": "person",
    "observations": ["Prefers CSV", "Dana works in Lisbon"],
}
EMPTY = {"type": "entity", "name": "empty", "entityType": "thing", "observations": []}
MAINTAINS = {"type": "relation", "from": "Dana", "to": "payment gateway", "relationType": "maintains"}


def test_each_observation_and_relation_is_a_memory_that_names_its_subject(store: Store, tmp_path: Path) -> None:
    path = lines(tmp_path / "memory.jsonl", DANA, EMPTY, MAINTAINS)
    brought = bring_twice(store, path, "mcp-memory")
    assert importer_of("mcp-memory").evidence(path) == "entities and relations of a knowledge graph, one a line"
    assert importer_of("jsonl").evidence(path) is None
    assert brought.words == ["Dana maintains payment gateway", "Dana works in Lisbon", "Dana: Prefers CSV"]
    assert brought.skipped == {"entities without observations": 1}
    assert {m.categories for m in brought.memories.values()} == {("person",), ("relation",)}
    assert {(m.created_at, m.created_at_quality) for m in brought.memories.values()} == {(NOW, "import")}


def test_a_file_that_is_written_anew_brings_only_what_is_new(store: Store, tmp_path: Path) -> None:
    path = lines(tmp_path / "memory.json", DANA)
    before = bring_twice(store, path, "mcp-memory").memories.keys()
    more = {**DANA, "observations": ["Never deploys on Fridays", *DANA["observations"], "Prefers CSV"]}
    after = bring_twice(store, lines(path, MAINTAINS, more), "mcp-memory").memories.keys()
    assert len(after - before) == 2 and before <= after


def test_a_bad_line_costs_itself_alone(store: Store, tmp_path: Path) -> None:
    bad = ['{"type": "entity", "name"', "[]", {"type": "poem"}, {**DANA, "name": ""}, {**MAINTAINS, "to": None}]
    odd = {**EMPTY, "observations": ["empty is fine", "", " \n", 7, None]}
    brought = bring_twice(store, lines(tmp_path / "memory.jsonl", *bad, odd, MAINTAINS), "mcp-memory")
    assert brought.words == ["Dana maintains payment gateway", "empty is fine"]
    assert brought.summary.quarantined == 7 and brought.skipped == {"observations without words": 2}


def test_a_last_line_that_cannot_be_read_is_no_line_to_come(store: Store, tmp_path: Path) -> None:
    path = lines(tmp_path / "memory.jsonl", DANA, '{"type": "entity", "na', end="")
    brought = bring_twice(store, path, "mcp-memory")
    assert brought.summary.quarantined == 1 and len(brought.words) == 2


def test_the_same_words_of_two_entities_are_two_memories(store: Store, tmp_path: Path) -> None:
    omar = {**DANA, "name": "Omar", "observations": ["Prefers CSV"]}
    brought = bring_twice(store, lines(tmp_path / "memory.jsonl", DANA, omar), "mcp-memory")
    assert {"Dana: Prefers CSV", "Omar: Prefers CSV"} <= set(brought.words)
