"""No secret passes an import, wherever a source put it; a masked memory is still the same memory."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from planted_secrets import DISTINCTIVE, parts_of

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.exporting import export_memories
from memory_pipeline.ingest.gate import mask_id
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.records import Source
from memory_pipeline.store import Store
from memory_pipeline_tests.build import NOW, candidate, fill
from memory_pipeline_tests.ingest.bring import bring, memories_of, read, write

_RANDOM = random.Random(7)
TOKEN = DISTINCTIVE["GitHub classic"][1](_RANDOM)
OTHER = DISTINCTIVE["GitHub classic"][1](_RANDOM)
MAIL = "dana.field@example.com"


def everything(store: Store, directory: Path) -> str:
    """All that the store tells of its memories, and its quarantine."""
    export_memories(store, "jsonl", directory / "all.jsonl", everything=True)
    with store.reading() as tx:
        return (directory / "all.jsonl").read_text(encoding="utf-8") + str(tx.journal.quarantine())


def test_a_secret_in_any_field_of_a_row_reaches_neither_store_nor_summary(store: Store, tmp_path: Path) -> None:
    row = {
        "id": f"chat-{TOKEN}", "content": f"one {TOKEN}", "project_id": f"for {MAIL}", "tags": [TOKEN, "fine"],
        "categories": [f"ask {MAIL}"], "source": {"file": f"notes-{TOKEN}.md", "connector": TOKEN},
        "created_at_quality": TOKEN, "created_at": "2026-03-01",
        "embedding_model": TOKEN,
    }  # fmt: skip
    bad = [
        {"content": f"bad {TOKEN}", "importance": f"{TOKEN}"},
        {"content": f"bad {MAIL}", "pattern_type": TOKEN},
        {"content": "x" * 150 + " " + TOKEN, "importance": 9},
    ]
    path = tmp_path / f"dump-{TOKEN}.jsonl"
    path.write_text("\n".join([json.dumps(row), *map(json.dumps, bad), f'{{"content": "{TOKEN}",}}', f"{TOKEN}"]))
    summary = bring(store, path)
    assert (summary.imported, summary.quarantined) == (1, 5), summary
    told = everything(store, tmp_path) + json.dumps(summary.as_json())
    for secret in (TOKEN, OTHER, MAIL, TOKEN[:20], OTHER[:20]):
        assert secret not in told
    (kept,) = memories_of(store)
    assert kept.tags == ("fine",)


def test_masked_ids_stay_different_and_the_same_however_often_they_come(store: Store, tmp_path: Path) -> None:
    rows = [
        {"id": f"chat-{TOKEN}", "content": "one thing"},
        {"id": f"chat-{OTHER}", "content": "one thing"},
        {"id": MAIL, "content": "another thing"},
    ]
    path = tmp_path / "m.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert bring(store, path).imported == 3
    with store.reading() as tx:
        before, ids = tx.contents.digest(), {memory.id for memory in tx.memories.all()}
    assert len(ids) == 3 and all("[REDACTED:" in name and mask_id(name) == name for name in ids)
    again = bring(store, path)
    with store.reading() as tx:
        assert (again.imported, again.unchanged, tx.contents.digest()) == (0, 3, before)
    export_memories(store, "jsonl", tmp_path / "out.jsonl", everything=True)
    assert bring(store, tmp_path / "out.jsonl").imported == 0


@pytest.mark.parametrize(
    "name",
    ["m-17", "3f2a9c1b-04de-4c55-9a6e-0d3c5b7a9e11", "row:api-token:3f2a9c1b04de5c559a6e", "pattern-2026-03-01-0001",
     "openclaw:secret-santa:memory/2026-03-01.md#3f2a9c1b04de~2", "row:discord:3f2a9c1b04de5c559a6e@3f2a9c1b04de",
     "1772352000123", "a" * 40, "telegram:1234567890:17", "550e8400e29b41d4a716446655440000"],
)  # fmt: skip
def test_ordinary_ids_are_left_alone(name: str) -> None:
    assert mask_id(name) == name


def test_an_id_stays_short_enough_to_be_read_again() -> None:
    assert len(mask_id("x " * 75 + TOKEN)) <= 200


def test_without_masking_everything_stays(store: Store) -> None:
    import_memories(
        store, iter([candidate(f"key {TOKEN}", native_id=MAIL, tags=(TOKEN,))]), project="p", embedder=Lexical(),
        now=NOW, mask=False,
    )  # fmt: skip
    (kept,) = memories_of(store)
    assert (kept.id, kept.content, kept.tags) == (MAIL, f"key {TOKEN}", (TOKEN,))


def test_headings_hashtags_and_file_names_of_a_workspace_bring_no_secret(store: Store, tmp_path: Path) -> None:
    root = tmp_path / "space"
    text = f"# Notes\n## Key {OTHER}\n- deploy with #{OTHER} and rest\n## {MAIL}\n- {MAIL}: admin\n"
    write(root, f"memory/2026-03-01-{TOKEN}.md", text)
    summary = bring(store, root, "openclaw")
    told = (everything(store, tmp_path) + json.dumps(summary.as_json())).lower()
    for secret in (TOKEN, OTHER, MAIL, TOKEN[4:20], OTHER[4:20], "dana-field", "dana"):
        assert secret.lower() not in told
    assert "[REDACTED:email]: admin" in {memory.content for memory in memories_of(store)}


def test_a_key_on_many_lines_is_masked_as_one_and_later_lines_keep_their_numbers(tmp_path: Path) -> None:
    key = DISTINCTIVE["PGP key"][1](_RANDOM)
    lines = key.split("\n")
    block = "\n".join([lines[0], "Version: 1", "", *lines[1:]])
    text = f"# Day\n\n- before\n\n{block}\n\n- after\n"
    write(tmp_path, "memory/2026-03-01.md", text)
    found = read(tmp_path, "openclaw")
    entries = found.candidates
    assert [entry.content for entry in entries] == ["before", "[REDACTED:secret]", "after"]
    assert entries[-1].source.line == text.split("\n").index("- after") + 1
    assert not any(part in entry.content for entry in entries for part in parts_of(key))
    assert dict(found.skipped.masked) == {"secret": 1}


def test_a_secret_that_a_long_entry_is_cut_through_is_masked_before(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-03-01.md", f"- {'word ' * 790}{TOKEN} end\n")
    assert TOKEN[:12] not in " ".join(read(tmp_path, "openclaw").words)
    assert TOKEN in " ".join(read(tmp_path, "openclaw", import__redact=False).words)


def test_a_file_without_a_header_is_refused_without_being_quoted(store: Store, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(f"dana,{TOKEN}\n")
    with pytest.raises(InputError) as refused:
        bring(store, tmp_path / "m.csv", "csv")
    assert TOKEN not in str(refused.value)


def test_what_was_masked_is_counted_once_for_each_place(store: Store) -> None:
    note = candidate(f"{TOKEN} and {MAIL}", native_id=f"m-{OTHER}")
    summary = fill(store, [note, replace(note, native_id="n", source=Source("jsonl", "plain.jsonl", 2))])
    assert dict(summary.masked) == {"secret": 3, "email": 2}
