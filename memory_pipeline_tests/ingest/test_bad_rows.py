"""One row costs one row: what is wrong with it is named at its line, and its neighbours come in."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_pipeline.errors import InputError
from memory_pipeline.ingest import tables
from memory_pipeline.ingest.dates import file_date, parse_moment, written_time, zone
from memory_pipeline.records import Memory
from memory_pipeline.store import Store
from memory_pipeline.store.memories import Memories
from memory_pipeline_tests.build import NOW
from memory_pipeline_tests.ingest.anything import deep, json_values
from memory_pipeline_tests.ingest.bring import bring
from memory_pipeline_tests.ingest.bring import read as read_format


def read(path: Path, name: str, limit: int = 100_000) -> tuple[dict[int, str], list[str]]:
    """Reasons by line of what was rejected, and the contents of the rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "MAX_LINE_BYTES", limit)
        found = read_format(path, name)
    return {row.line: row.reason for row in found.rejected}, found.words


def written(path: Path, *parts: str | bytes) -> Path:
    path.write_bytes(b"".join(part if isinstance(part, bytes) else part.encode() for part in parts))
    return path


#: Column, value, and words of the reason.
BAD_VALUES: tuple[tuple[str, Any, str], ...] = (
    ("importance", 10**400, "importance is inf; use 0 to 3"),
    ("importance", float("inf"), "importance is inf"),
    ("importance", [1], "importance is a list, which is not a number"),
    ("confidence_score", -1, "confidence_score is -1; use 0 to 1"),
    ("reuse_count", 1.5, "use a whole number"),
    ("source", {"line": float("inf")}, "source contains 'inf'"),
    ("source", {"line": 10**400}, "beyond 64 bits"),
    ("source", {"line": 2**40}, "line is 1.09951e+12"),
    ("source", {"file": "\ud800"}, "source contains a lone surrogate"),
    ("tags", ["\ud800"], "an entry of tags contains a lone surrogate"),
    ("tags", [["a"]], "an entry of tags is a list, which is not text"),
    ("tags", {"a": 1}, "tags is an object, which is not a list"),
    ("tags", ["t"] * 201, "tags has 201 entries; the maximum is 200"),
    ("categories", ["c" * 501], "501 characters long; the maximum is 500"),
    ("content", "\ud800", "content contains a lone surrogate"),
    ("content", "a\x00b", "content contains a NUL character at position 1"),
    ("content", 7, "content is '7', which is not text"),
    ("content", {"text": "x"}, "content is an object, which is not text"),
    ("id", "x" * 201, "201 characters long; the maximum is 200"),
    ("id", {"a": 1}, "id is an object, which is not text"),
    ("project_id", "a\nb", "contains control characters"),
    ("created_at", "0001-01-01T00:00:00+14:00", "before 2000 or in the future"),
    ("created_at", "9999-12-31T23:59:59-14:00", "before 2000 or in the future"),
    ("created_at", 10**400, "not a time; use ISO 8601"),
    ("created_at", -62135596801, "not a time; use ISO 8601"),
    ("created_at", "2035-01-01", "before 2000 or in the future"),
    ("compressed_from", {"note": "\ud800"}, "compressed_from contains a lone surrogate"),
    ("compressed_from", {"note": "n"}, "compressed_from names no source_ids"),
    ("compressed_from", {"source_ids": []}, "compressed_from names no source_ids"),
    ("compressed_from", {"source_ids": ["nowhere"]}, "compressed_from and sources name different memories"),
    ("compressed_from", {"deep": deep(30)}, "nested more than 20 levels"),
    ("archived", True, "archived is true but archived_at is missing"),
    ("archived_by", "c", "says that it is archived, but archived_at"),
    ("archived_at", "2026-03-01", "says that it is archived, but archived_by"),
    ("rolled_back_at", "2026-03-01", "only a memory that a night made can be rolled back"),
    ("sources", [{"id": "a"}], "lacks its id or its similarity"),
    ("sources", [{"id": "a", "relation": "cause", "similarity": 1}], "sources has the relation 'cause'"),
    ("embedding", [float("nan")], "not finite"),
    ("embedding", "[[1]]", "embedding is not a list of numbers"),
)


def test_a_value_that_cannot_be_kept_is_named_and_costs_its_row(store: Store, tmp_path: Path) -> None:
    lines = []
    for number, (column, value, _) in enumerate(BAD_VALUES):
        bad = {"id": f"bad-{number}", "content": "A row.", "embedding_model": "m", column: value}
        lines += [json.dumps(bad), json.dumps({"content": f"the good neighbour {number}"})]
    summary = bring(store, written(tmp_path / "m.jsonl", "\n".join(lines)))
    reasons = {rejected.line: rejected.reason for rejected in summary.rejected}
    for number, (column, value, words) in enumerate(BAD_VALUES):
        assert words in reasons.pop(2 * number + 1, ""), (column, str(value)[:50])
    assert not reasons and summary.imported == len(BAD_VALUES)


def test_every_kind_of_broken_line_is_named_at_its_own(tmp_path: Path) -> None:
    path = written(
        tmp_path / "m.jsonl",
        b'\xef\xbb\xbf{"content": "after a mark"}\n',
        b'{"content": "caf\xe9"}\n',
        b"[" * 100_000 + b"\n",
        '[{"content": "a"}]\n',
        '{"content": "x", "importance": ' + "9" * 5000 + "}\n",
        '{"content": "' + "x" * 100_000 + '"}\n',
        b"\x00\x01\n\n",
        '{"content": "last"}',
    )
    wrong, contents = read(path, "jsonl")
    assert list(wrong) == [2, 3, 4, 5, 6, 7] and contents == ["after a mark", "last"]
    assert "not UTF-8" in wrong[2] and wrong[2].endswith("at position 16")
    assert "one object per line" in wrong[4] and "longer than" in wrong[6]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("name", ["jsonl", "csv"])
def test_a_byte_order_mark_says_how_a_file_is_written(tmp_path: Path, name: str, encoding: str) -> None:
    text = '{"content": "un café"}\n{"content": "zwei"}\n' if name == "jsonl" else "content\nun café\nzwei\n"
    assert read(written(tmp_path / "m", text.encode(encoding)), name) == ({}, ["un café", "zwei"])


def test_every_kind_of_broken_csv_row_is_named_at_its_first_line(tmp_path: Path) -> None:
    path = written(
        tmp_path / "m.csv",
        "content,tags\n",  # 1
        '"two\nlines",t\n',  # 2-3
        "x" * 200 + ",t\n",  # 4
        "unquoted, comma,t\n",  # 5
        b"caf\xe9,t\n",  # 6
        "nul\x00,t\n",  # 7
        '"never closed,t\n',  # 8
        "short\n",  # 9
        '"' + "long\n" * 60 + '",t\n',  # 10-70
        'a "word" inside,t\n',  # 71
        "last,t\n",  # 72
    )
    wrong, contents = read(path, "csv", limit=150)
    assert [line for line in wrong if line < 10] == [4, 5, 6, 7, 8]
    assert "3 fields, the header names 2" in wrong[5] and "closing quote" in wrong[8] and "longer" in wrong[4]
    kept = [content for content in contents if content != "long"]
    assert kept == ["two\nlines", "short", 'a "word" inside', "last"]


rows_of_parquet = [{"id": f"r{n}", "content": f"Row number {n} of the file."} for n in range(4000)]


def test_of_a_parquet_file_with_a_damaged_page_the_other_rows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "m.parquet"
    table = pa.Table.from_pylist(rows_of_parquet)
    pq.write_table(table, path, row_group_size=1000, write_page_checksum=True, compression="none")
    data = bytearray(path.read_bytes())
    place = data.index(b"Row number 1500 of")
    data[place : place + 8] = b"\xff" * 8
    wrong, contents = read(written(path, bytes(data)), "parquet")
    (line,) = wrong
    assert "the file is damaged there" in wrong[line] and 1001 <= line <= 1501 and f"rows {line} to 2000" in wrong[line]
    assert {row["content"] for row in rows_of_parquet[:1000] + rows_of_parquet[2000:]} <= set(contents)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.binary(min_size=1, max_size=8)), min_size=1, max_size=4))
@settings(max_examples=15, deadline=None)
def test_a_parquet_file_that_was_altered_anywhere_is_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, bytes]]
) -> None:
    path = tmp_path_factory.mktemp("parquet") / "m.parquet"
    pq.write_table(pa.Table.from_pylist(rows_of_parquet[:50]), path, row_group_size=20, write_page_checksum=True)
    data = bytearray(path.read_bytes())
    for place, new in changes:
        start = 4 + place % (len(data) - 12)
        data[start : start + len(new)] = new
    try:
        wrong, contents = read(written(path, bytes(data)), "parquet")
    except InputError as error:
        assert "m.parquet" in str(error)
        return
    assert wrong or contents


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2], pa.int64()),
        pa.array([b"\xff", b"x"], pa.binary()),
        pa.array([{"a": 1}, None], pa.struct([("a", pa.int64())])),
        pa.array([[1], []], pa.list_(pa.int64())),
        pa.array([2**62, 0], pa.timestamp("ms")),
        pa.array([2**62, 1], pa.timestamp("ns")),
        pa.array([None, None], pa.null()),
        pa.array(["1e400", "x"], pa.string()),
        pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
        pa.array([timedelta(1), None], pa.duration("us")),
        pa.array(["a", "b"]).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("name", ["content", "created_at", "importance", "tags", "source"])
def test_columns_of_any_type_cost_the_rows_that_do_not_fit(tmp_path: Path, column: Any, name: str) -> None:
    columns = {"content": pa.array(["one", "two"]), name: column}
    pq.write_table(pa.table(columns), tmp_path / "m.parquet")
    wrong, contents = read(tmp_path / "m.parquet", "parquet")
    assert len(wrong) + len(contents) == 2


def test_a_file_whose_name_is_not_utf8_is_read_and_named(store: Store, tmp_path: Path) -> None:
    odd = os.fsdecode(b"caf\xe9\n.jsonl")
    summary = bring(store, written(tmp_path / odd, '{"content": "fine"}\n{}\n'))
    assert (summary.imported, summary.rejected[0].file) == (1, "caf\\xe9\\n.jsonl")
    (tmp_path / "work" / "memory").mkdir(parents=True)
    written(tmp_path / "work" / "memory" / os.fsdecode(b"2026-03-01-caf\xe9.md"), "- a note of that day\n")
    written(tmp_path / "work" / "memory" / "0001-01-01.md", "- of no year\n")
    written(tmp_path / "work" / "memory" / "9999-12-31.md", "- of the last\n")
    written(tmp_path / "work" / "memory" / "2026-03-02.md.gz", b"\x1f\x8b\x08\x00" + b"\xff" * 40)
    summary = bring(store, tmp_path / "work", "openclaw")
    assert summary.imported == 3 and [r.file for r in summary.rejected] == ["memory/2026-03-02.md.gz"]
    with store.reading() as tx:
        files = {memory.content: memory.source.file for memory in tx.memories.all()}
        assert tx.integrity.check(deep=True) == []
    assert files["a note of that day"] == "memory/2026-03-01-caf\\xe9.md"


@pytest.mark.parametrize("kept", [0.0, 2e11, -1.0])
def test_a_file_time_of_a_clock_that_was_never_set_is_no_date(store: Store, tmp_path: Path, kept: float) -> None:
    (tmp_path / "MEMORY.md").write_text("- a note\n")
    os.utime(tmp_path / "MEMORY.md", (kept, kept))
    assert dict(bring(store, tmp_path, "openclaw").dates) == {"import": 1}


@given(json_values(), st.sampled_from(("UTC", "+14:00", "-12:00", "Europe/Lisbon")))
@settings(deadline=None)
def test_whatever_stands_where_a_time_should_it_is_a_time_of_our_days_or_refused(value: Any, name: str) -> None:
    from memory_pipeline.ingest.candidates import RowError

    try:
        moment = parse_moment(value, zone(name), NOW)
    except RowError:
        return
    assert moment is None or datetime(2000, 1, 1, tzinfo=UTC) <= moment <= NOW + timedelta(days=1)


@given(st.from_regex(r"(\d{4}-\d{2}-\d{2})?[ T]?(\d{2}:\d{2}(:\d{2})?)?( ?(Z|PST|\+\d{2}:\d{2}))?", fullmatch=True))
@settings(max_examples=40, deadline=None)
def test_whatever_date_a_name_or_heading_holds_it_can_be_reckoned_with(text: str) -> None:
    for name in ("+14:00", "-12:00"):
        dated = file_date(text)
        found = written_time(text, dated[0] if dated else None, zone(name))
        assert found is None or found[0].tzinfo is not None


@given(st.permutations([{"id": f"m{n}", "content": f"Note {n}.", "created_at": f"2026-03-0{n}"} for n in range(1, 6)]))
@settings(max_examples=2, deadline=None)
def test_the_order_of_rows_with_ids_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, shuffled: list[dict[str, Any]]
) -> None:
    link = {"id": "m2", "relation": "duplicate", "similarity": 1.0}
    archived = {"archived_by": "c", "archived_at": "2026-03-09", "consolidated_into_id": "m1", "importance_before": 1.0}
    more = {"m1": {"sources": [link]}, "m2": archived}
    home = tmp_path_factory.mktemp("order")
    hashes = set()
    for name, order in (("a", shuffled), ("b", sorted(shuffled, key=lambda row: row["id"]))):
        store = Store(home / f"{name}.duckdb")
        lines = [
            json.dumps({**row, **more.get(row["id"], {}), "source": {"connector": "x", "line": 1}}) for row in order
        ]
        assert bring(store, written(home / "m.jsonl", "\n".join(lines))).quarantined == 0
        with store.reading() as tx:
            assert tx.integrity.check(deep=True) == []
            hashes.add(tx.transfer.digest())
    assert len(hashes) == 1


def test_an_export_of_the_active_memories_comes_into_another_store_without_their_archived_sources(
    store: Store, tmp_path: Path
) -> None:
    made = {
        "id": "made",
        "content": "What three notes say.",
        "abstraction_level": 2,
        "source": {"connector": "night"},
        "sources": [{"id": f"gone-{n}", "relation": "distilled", "similarity": 0.9} for n in range(3)],
        "compressed_from": {"source_ids": [f"gone-{n}" for n in range(3)]},
    }
    summary = bring(store, written(tmp_path / "m.jsonl", json.dumps(made)))
    assert (summary.imported, summary.quarantined) == (1, 0) and "were imported without them" in summary.notes[0]
    with store.reading() as tx:
        (only,) = tx.memories.all()
        assert tx.integrity.check(deep=True) == [] and only.source.connector == "import"


@pytest.mark.parametrize(
    ("into", "words"), [("nowhere", "does not name it as a source"), ("y", "circle"), ("z", "name it as a source")]
)
def test_a_row_that_was_put_away_for_nothing_is_refused(store: Store, tmp_path: Path, into: str, words: str) -> None:
    away = {"archived_by": "c", "archived_at": "2026-03-09", "importance_before": 1.0}
    link = {"relation": "duplicate", "similarity": 1.0}
    rows = [
        {"id": "x", "content": "x", **away, "consolidated_into_id": into, "sources": [{"id": "y", **link}]},
        {"id": "y", "content": "y", **away, "consolidated_into_id": "x", "sources": [{"id": "x", **link}]},
        {"id": "z", "content": "a good row"},
    ]
    summary = bring(store, written(tmp_path / "m.jsonl", "\n".join(map(json.dumps, rows))))
    assert summary.imported == 1 and words in summary.rejected[0].reason
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []


def test_a_row_that_cannot_be_written_costs_itself_alone(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = Memories.add

    def choosy(self: Memories, memories: Sequence[Memory]) -> None:
        if any("bad" in memory.content for memory in memories):
            raise OverflowError("a value that nothing foresaw")
        add(self, memories)

    monkeypatch.setattr(Memories, "add", choosy)
    lines = [json.dumps({"id": f"m{n}", "content": "bad" if n == 4 else f"Note {n}."}) for n in range(9)]
    summary = bring(store, written(tmp_path / "m.jsonl", "\n".join(lines)))
    assert summary.imported == 8
    assert [(r.line, r.reason) for r in summary.rejected] == [(5, "the row cannot be written (OverflowError)")]
