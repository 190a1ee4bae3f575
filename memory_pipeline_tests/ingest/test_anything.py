"""Whatever a file holds: bad rows cost themselves alone, and what comes in a check, a night and an export carry."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.ingest.exporting import export_memories
from memory_pipeline.ingest.formats import IMPORTERS
from memory_pipeline.store import Store
from memory_pipeline_tests.build import run
from memory_pipeline_tests.ingest.anything import archived_pair, as_line, rows
from memory_pipeline_tests.ingest.bring import bring, memories_of

SLOW_DATA = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
QUICK = settings(max_examples=3, deadline=None, suppress_health_check=SLOW_DATA)
LONG = settings(max_examples=10, deadline=None, suppress_health_check=SLOW_DATA)
NEIGHBOURS = [{"id": f"neighbour-{n}", "content": f"A plain good row, the {n}th."} for n in range(3)]


@contextmanager
def place() -> Iterator[Path]:
    """A directory for one example."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def ids_of(store: Store) -> set[str]:
    with store.reading() as tx:
        return {memory.id for memory in tx.memories.all(include_rolled_back=True)}


def hold_to_the_promise(given_rows: list[dict[str, Any]], *, with_night: bool) -> None:
    """Import the rows between good neighbours, and see that nothing is lost and all is sound."""
    with place() as home:
        lines = [as_line(NEIGHBOURS[0])]
        for row in given_rows:
            lines += [as_line(row), as_line(NEIGHBOURS[1])]
        lines += [as_line(row) for row in NEIGHBOURS]
        (home / "m.jsonl").write_text("\n".join(lines), encoding="utf-8")
        store = Store(home / "s.duckdb")
        summary = bring(store, home / "m.jsonl")
        assert summary.read == summary.imported + summary.unchanged + summary.quarantined
        assert {row["id"] for row in NEIGHBOURS} <= ids_of(store)
        sound(store)
        if with_night:
            report = run(store, date(2026, 5, 30))
            # A night stops where many memories have vectors of another model alone: here it may be one of eight.
            others = [error for error in report.errors if error.stage != "embed"]
            assert not others and (report.errors or report.verdict != "FAIL"), report.errors
            sound(store)
        export_memories(store, "jsonl", home / "all.jsonl", everything=True)
        copy = Store(home / "copy.duckdb")
        assert not bring(copy, home / "all.jsonl").quarantined
        with store.reading() as one, copy.reading() as other:
            assert one.contents.digest() == other.contents.digest()
        sound(copy)


def sound(store: Store) -> None:
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []


@pytest.mark.slow
@QUICK
@given(st.lists(rows(), min_size=10, max_size=20))
def test_whatever_rows_hold_the_store_is_sound_and_good_neighbours_are_in(given_rows: list[dict[str, Any]]) -> None:
    hold_to_the_promise(given_rows, with_night=False)


@pytest.mark.slow
@QUICK
@given(archived_pair("a", "b"), archived_pair("b", "a"))
def test_rows_that_speak_of_each_other_are_let_in_only_where_their_word_holds(
    one: list[dict[str, Any]], other: list[dict[str, Any]]
) -> None:
    hold_to_the_promise([*one, *other], with_night=False)


@pytest.mark.slow
@LONG
@given(st.lists(st.one_of(rows().map(lambda row: [row]), archived_pair("c", "d")), min_size=10, max_size=20))
def test_whatever_rows_hold_a_night_an_export_and_another_import_carry_them(groups: list[list[dict[str, Any]]]) -> None:
    hold_to_the_promise([row for group in groups for row in group], with_night=True)


_PIECES = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        (b"\n", b"\r\n", b"\r", b",", b'"', b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xe9", b"[", b"{", b"content,id",
         b'{"content": "a row"}', b"- a note", b"# Heading", b"```", b"<!-- openclaw:dreaming:x:start -->",
         b'{"type": "user", "message": {"content": "words"}}\n', b"---\n")
    ),
)  # fmt: skip


#: Formats of directories: the file that holds anything, and a good one beside it, whose words must come in.
_BESIDE = {
    "openclaw": ("memory/2026-03-01.md", "MEMORY.md", "- a good note\n"),
    "openclaw-sessions": (
        "sessions/a.jsonl",
        "sessions/b.jsonl",
        '{"type": "message", "id": "e1", "message": {"role": "user", "content": "a good note"}}\n',
    ),
    "codex": ("MEMORY.md", "raw_memories.md", "- a good note\n"),
    "claude-code": (
        "s1.jsonl",
        "s2.jsonl",
        '{"type": "user", "uuid": "u1", "sessionId": "s2", "message": {"role": "user", "content": "a good note"}}\n',
    ),
}


@QUICK
@given(st.lists(_PIECES, max_size=30).map(b"".join), st.sampled_from(tuple(IMPORTERS)))
def test_whatever_bytes_a_file_holds_an_import_says_what_is_wrong(data: bytes, name: str) -> None:
    with place() as home:
        path = home / "file"
        if name in _BESIDE:
            odd, good, words = _BESIDE[name]
            for file, held in ((odd, data), (good, words.encode())):
                (path / file).parent.mkdir(parents=True, exist_ok=True)
                (path / file).write_bytes(held)
        else:
            path.write_bytes(data)
        store = Store(home / "s.duckdb")
        assert isinstance(IMPORTERS[name].evidence(path), str | None)
        try:
            bring(store, path, name)
        except MemoryPipelineError:
            return
        if name in _BESIDE:
            assert "a good note" in {memory.content for memory in memories_of(store)}
        sound(store)
