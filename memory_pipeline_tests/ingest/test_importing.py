"""Imports are idempotent, mask secrets and quarantine bad rows; exports can be imported as the same store."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memory_pipeline.errors import InputError, OutputError
from memory_pipeline.ingest.candidates import Candidate, Skipped
from memory_pipeline.ingest.exporting import export_memories
from memory_pipeline.ingest.formats import read_format
from memory_pipeline.ingest.importer import row_id
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.store import Store
from memory_pipeline_tests.build import NOW, BrokenEmbedder, candidate, fill, run, settings_for
from memory_pipeline_tests.ingest.bring import bring, lines, memories_of


def contents(store: Store) -> dict[str, str]:
    return {m.id: m.content for m in memories_of(store)}


def test_importing_the_same_file_twice_changes_nothing(store: Store, tmp_path: Path) -> None:
    path = lines(tmp_path / "m.jsonl", {"content": "one"}, {"content": "one"}, {"id": "x", "content": "two"})
    assert bring(store, path).imported == 3
    with store.reading() as tx:
        before = tx.contents.digest()
    again = bring(store, path)
    with store.reading() as tx:
        assert tx.contents.digest() == before
    assert (again.imported, again.unchanged) == (0, 3)


def test_bad_rows_are_quarantined_with_line_and_reason_and_the_rest_imported(store: Store, tmp_path: Path) -> None:
    path = lines(
        tmp_path / "m.jsonl",
        {"content": "fine"},
        "{}",
        "null",
        '{"content": "trailing",}',
        {"text": "no content"},
        {"content": "   "},
        {"content": "too important", "importance": 9},
        {"content": "when?", "created_at": "yesterday"},
        {"content": "ancient", "created_at": 12},
        {"content": "from the future", "created_at": "2036-01-01T00:00:00Z"},
        {"content": "nul \u0000 inside"},
        {"content": "odd vector", "embedding": [0.0, 0.0], "embedding_model": "x"},
        {"content": "half vector", "embedding": [1.0]},
        {"content": "last fine"},
        '{"content": "half wri',
    )
    summary = bring(store, path)
    assert sorted(contents(store).values()) == ["fine", "last fine"]
    assert [r.line for r in sorted(summary.rejected, key=lambda r: r.line)] == [*range(2, 14), 15]
    with store.reading() as tx:
        kept = {line: reason for _, line, reason, _ in tx.journal.quarantine()}
    assert (
        "importance is 9; use 0 to 3" in kept[7]
        and "the line is not a JSON object" in kept[15]
        and "length is zero" in kept[12]
    )


def test_an_import_of_nothing_leaves_a_store_that_a_night_can_run_on(store: Store, tmp_path: Path) -> None:
    assert bring(store, lines(tmp_path / "empty.jsonl")).read == 0
    assert run(store, date(2026, 3, 3)).verdict == "IDLE"


def test_equal_rows_without_ids_are_memories_of_their_own_however_often_they_are_read(
    store: Store, tmp_path: Path
) -> None:
    path = lines(tmp_path / "m.jsonl", *[{"content": "the same words", "created_at": "2026-03-01"}] * 3)
    assert [bring(store, path).imported, bring(store, path).imported] == [3, 0]
    assert len(contents(store)) == 3


def test_the_first_hundred_rejected_rows_are_shown_and_all_are_kept(store: Store, tmp_path: Path) -> None:
    summary = bring(store, lines(tmp_path / "m.jsonl", *["{}"] * 120))
    assert (summary.quarantined, len(summary.rejected)) == (120, 100)
    with store.reading() as tx:
        assert len(tx.journal.quarantine()) == 120


def test_a_line_of_megabytes_is_quarantined_without_being_kept(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(b'{"content": "' + b"x" * 5_000_000 + b'"}\n{"content": "after"}\n')
    assert bring(store, path).rejected[0].reason == "the line is longer than 4000000 bytes"
    assert list(contents(store).values()) == ["after"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1772352000, datetime(2026, 3, 1, 8, tzinfo=UTC)),
        (1772352000000, datetime(2026, 3, 1, 8, tzinfo=UTC)),
        ("2026-03-01T08:00:00Z", datetime(2026, 3, 1, 8, tzinfo=UTC)),
        ("2026-03-01T08:00:00-05:00", datetime(2026, 3, 1, 13, tzinfo=UTC)),
        ("2026-03-01T08:00:00", datetime(2026, 3, 1, 13, tzinfo=UTC)),
        (None, NOW),
    ],
)
def test_times_are_told_apart_by_magnitude_and_zone(
    store: Store, tmp_path: Path, value: object, expected: datetime
) -> None:
    bring(
        store, lines(tmp_path / "m.jsonl", {"content": "x y z", "created_at": value}), zone=ZoneInfo("America/New_York")
    )
    (only,) = memories_of(store)
    assert only.created_at == expected
    assert only.created_at_quality == ("import" if value is None else "exact")


def test_edited_content_under_a_known_id_is_kept_as_a_version_and_the_old_one_stays(
    store: Store, tmp_path: Path
) -> None:
    bring(store, lines(tmp_path / "a.jsonl", {"id": "m1", "content": "old words"}))
    edited = lines(tmp_path / "b.jsonl", {"id": "m1", "content": "new words"})
    assert bring(store, edited).new_versions == 1
    assert bring(store, edited).new_versions == 0
    assert sorted(contents(store).values()) == ["new words", "old words"]


def test_an_id_of_another_project_is_quarantined(store: Store, tmp_path: Path) -> None:
    bring(store, lines(tmp_path / "a.jsonl", {"id": "m1", "content": "a a a", "project_id": "one"}))
    summary = bring(store, lines(tmp_path / "b.jsonl", {"id": "m1", "content": "b b b", "project_id": "two"}))
    assert "belongs to project 'one'" in summary.rejected[0].reason


def test_conversation_turns_are_read(store: Store, tmp_path: Path) -> None:
    turn = {"role": "user", "content": "please move it", "timestamp": "2026-03-01T08:00:00Z"}
    blocks = {"message": {"role": "assistant", "content": [{"type": "text", "text": "moved"}]}, "timestamp": 1772352000}
    bring(store, lines(tmp_path / "t.jsonl", turn, blocks))
    found = memories_of(store)
    assert {(m.content, m.memory_type, m.tags) for m in found} == {
        ("please move it", "conversation", ("human",)),
        ("moved", "conversation", ("agent",)),
    }


def test_of_a_transcript_what_nobody_said_is_left_out_and_long_turns_are_split(store: Store, tmp_path: Path) -> None:
    blocks = [{"type": "tool_use", "id": "t"}, {"type": "thinking", "thinking": "hm"}]
    long = " ".join(f"Sentence number {n} says something about the export." for n in range(200))
    path = lines(
        tmp_path / "t.jsonl",
        {"role": "system", "content": "You are helpful."},
        {"role": "developer", "content": "Answer briefly."},
        {"role": "tool", "content": "3 files"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "t"}]},
        {"role": "assistant", "content": blocks},
        {"role": "AI", "content": "Done."},
        {"role": "Dana", "content": "Thanks, all of you."},
        {"role": "user", "content": long, "id": "long", "project_id": "exports"},
        {"role": "user", "content": "Keep this.", "memory_type": "decision"},
        {"role": "user", "content": "  "},
    )
    skipped = Skipped()
    found = list(read_format("jsonl", path, UTC, NOW, settings_for(store), skipped))
    said = [item for item in found if isinstance(item, Candidate)]
    told = [(one.native_id, one.memory_type, one.tags, one.project_id) for one in said]
    assert told == [
        (None, "conversation", ("agent",), None),
        (None, "conversation", ("role:Dana",), None),
        ("long", "conversation", ("human",), "exports"),
        ("long~2", "conversation", ("human",), "exports"),
        ("long~3", "conversation", ("human",), "exports"),
        (None, "decision", ("human",), None),
    ]
    assert [item.reason for item in found if not isinstance(item, Candidate)] == ["content is empty"]
    assert skipped.counts == {
        "texts of the system": 2, "results of tools": 1, "calls of tools": 2, "thoughts of the agent": 1
    }  # fmt: skip


def test_a_row_keeps_the_type_that_it_states_and_else_has_that_of_its_label(store: Store, tmp_path: Path) -> None:
    told = "Lesson: restart the worker after changing its environment, otherwise it keeps the old values."
    stated = {"id": "b", "content": told, "memory_type": "other"}
    unknown = {"id": "c", "content": "The small pump", "memory_type": "Gotchas"}
    bring(store, lines(tmp_path / "r.jsonl", {"id": "a", "content": told}, stated, unknown))
    assert {m.id: m.memory_type for m in memories_of(store)} == {"a": "lesson", "b": "other", "c": "warning"}


def test_the_id_of_a_row_does_not_depend_on_the_type_that_its_label_tells(store: Store, tmp_path: Path) -> None:
    bring(store, lines(tmp_path / "r.jsonl", {"content": "Rule: drain the hose before winter."}))
    (memory,) = memories_of(store)
    told = Candidate(content=memory.content, source=memory.source)
    assert (memory.memory_type, memory.id) == ("lesson", row_id("default", memory.content, told))


def test_csv_and_parquet_rows_are_read(store: Store, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "m.csv").write_text(
        'content,tags,importance,pinned\n"a, b",x;y,2.0,true\nbad,,seven,\n', encoding="utf-8-sig"
    )
    assert bring(store, tmp_path / "m.csv", "csv").quarantined == 1
    pq.write_table(pa.table({"content": ["from parquet"], "categories": [["k"]]}), tmp_path / "m.parquet")
    bring(store, tmp_path / "m.parquet", "parquet")
    found = {m.content: m for m in memories_of(store)}
    assert found["a, b"].tags == ("x", "y") and found["a, b"].pinned and found["a, b"].importance == 2.0
    assert found["from parquet"].categories == ("k",)


@pytest.mark.parametrize(
    ("name", "text"), [("csv", "a,b\n1,2\n"), ("parquet", "no parquet"), ("jsonl", None), ("xml", "x")]
)
def test_a_file_of_the_wrong_kind_says_so(store: Store, tmp_path: Path, name: str, text: str | None) -> None:
    path = tmp_path / "file"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError):
        bring(store, path, name)


def test_a_vector_that_comes_along_is_kept_and_a_wrong_one_named(store: Store, tmp_path: Path) -> None:
    vector = Lexical().embed(["hello there"])[0].tolist()
    good = {"id": "good", "content": "hello there", "embedding": vector, "embedding_model": "lexical-384"}
    short = {"id": "short", "content": "x y z", "embedding": [1.0], "embedding_model": "lexical-384"}
    summary = bring(store, lines(tmp_path / "m.jsonl", good, short))
    assert summary.embedded == 0 and summary.imported == 1
    assert "memory 'short' has a vector of 1 numbers" in summary.rejected[0].reason


def test_vectors_of_several_models_and_dimensions_come_along(store: Store) -> None:
    given = {"a": ((1.0, 0.0), "x"), "b": ((0.0, 1.0), "x"), "c": ((1.0,), "x"), "d": ((1.0, 0.0), "y")}
    fill(
        store,
        [
            candidate(f"This is {name}.", native_id=name, embedding=vector, embedding_model=model)
            for name, (vector, model) in given.items()
        ],
    )
    with store.reading() as tx:
        for name, (vector, model) in given.items():
            found, vectors = tx.vectors.read(list(given), model, len(vector))
            assert vectors[found.index(name)].tolist() == list(vector)


def test_a_failing_embedder_does_not_fail_the_import(store: Store) -> None:
    summary = fill(store, [candidate("one thing")], embedder=BrokenEmbedder())
    assert summary.imported == 1 and summary.embedding_error == "the model is not there; the next night tries again"


def test_secrets_addresses_and_phones_are_masked_on_the_way_in(store: Store) -> None:
    summary = fill(store, [candidate("key sk-ant-abcdefghijklmnop0123, mail dana@example.com, call +1 555 123 4567")])
    assert dict(summary.masked) == {"secret": 1, "email": 1, "phone": 1}
    assert list(contents(store).values()) == ["key [REDACTED:secret], mail [REDACTED:email], call [REDACTED:phone]"]


def test_export_rows_carry_the_columns_that_scripts_rely_on(store: Store, tmp_path: Path) -> None:
    fill(store, [candidate("x y z", native_id="m")])
    assert export_memories(store, "jsonl", tmp_path / "a.jsonl") == 1
    row = json.loads((tmp_path / "a.jsonl").read_text())
    assert list(row)[:17] == [
        "id", "project_id", "content", "memory_type", "categories", "tags", "importance", "created_at",
        "effective_date", "abstraction_level", "archived", "archived_by", "archived_at", "consolidated_into_id",
        "source_ids", "pinned", "confidence_score",
    ]  # fmt: skip


def test_an_export_to_nowhere_says_so_and_leaves_nothing(store: Store, tmp_path: Path) -> None:
    fill(store, [candidate("x y z")])
    with pytest.raises(OutputError, match="directory that exists"):
        export_memories(store, "jsonl", tmp_path / "missing" / "a.jsonl")
