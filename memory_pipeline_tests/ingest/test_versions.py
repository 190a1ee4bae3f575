"""Rows of which an import brings other words than the store has."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from memory_pipeline.interfaces.cli.setup import import_text
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store
from memory_pipeline_tests.build import NOW, settings_for
from memory_pipeline_tests.ingest.bring import bring, bring_twice, lines, memories_of


def row(words: str, **fields: object) -> dict[str, object]:
    return {"id": "k1", "content": words, "created_at": "2026-03-01T09:00:00Z", **fields}


def active(store: Store) -> list[str]:
    return sorted(memory.content for memory in memories_of(store) if memory.archived_at is None)


def test_the_words_that_came_last_hold_and_earlier_ones_come_back(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    other = {"id": "k2", "content": "Another one."}
    for number, words in enumerate(("First words.", "Second words.", "First words.", "Third words.", "Second words.")):
        lines(file, row(words), other)
        told = bring(store, file, "jsonl", now=NOW + timedelta(days=number))
        assert active(store) == sorted([words, "Another one."])
        assert told.replaced == (number > 0)
        bring_twice(store, file, "jsonl")
    assert "Archived, because their id has other words now: 1." in import_text(told)
    assert "Project" not in import_text(told)
    with store.reading() as tx:
        assert {link.relation for memory in memories_of(store) for link in tx.lineage.of([memory.id])} == {"superseded"}


def test_of_several_words_in_one_file_the_last_hold_however_often_it_is_read(store: Store, tmp_path: Path) -> None:
    file = lines(tmp_path / "a.jsonl", row("First words."), row("Second words."), row("Third words."))
    assert bring_twice(store, file, "jsonl").summary.projects == {"default": 3}
    assert active(store) == ["Third words."]


def test_what_is_critical_or_pinned_stays_beside_its_new_words(store: Store, tmp_path: Path) -> None:
    for fields in ({"importance": 2.9}, {"pinned": True}):
        name = json.dumps(fields)
        for words in ("Old words.", "New words."):
            bring(store, lines(tmp_path / "a.jsonl", row(f"{words} {name}", id=name, **fields)), "jsonl")
    assert len(active(store)) == 4


def test_who_said_a_turn_is_told(store: Store, tmp_path: Path) -> None:
    turns = [
        {"role": role, "content": f"I prefer the {drink}.", "timestamp": "2026-03-01T09:00:00Z"}
        for role, drink in (("user", "tea"), ("assistant", "juice"), ("Dana", "milk"))
    ]
    bring(store, lines(tmp_path / "a.jsonl", *turns), "jsonl")
    project = memories_of(store)[0].project_id
    text = ProjectMemory(store, settings_for(store), project, actor="me").context("what do you prefer").text
    assert all(f"- {speaker}: I prefer the " in text for speaker in ("Dana", "Agent", "Human"))
