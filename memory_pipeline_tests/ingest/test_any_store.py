"""Whatever the documents and databases of other stores hold: a value costs its row, and good neighbours come in."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.store import Store
from memory_pipeline_tests.ingest.anything import json_values
from memory_pipeline_tests.ingest.brains import SCHEMA as BRAIN
from memory_pipeline_tests.ingest.bring import bring, memories_of
from memory_pipeline_tests.ingest.test_anything import LONG, place, sound
from memory_pipeline_tests.ingest.test_langgraph import SCHEMA as LANGGRAPH

GOOD = "A plain good note."
_ROW = st.dictionaries(
    st.sampled_from(
        ("id", "memory", "text", "value", "label", "name", "observations", "type", "role", "content", "created_at",
         "updated_at", "metadata", "categories", "user_id", "expiration_date", "tool_calls", "tags", "agent_type")
    ),
    json_values(),
    max_size=8,
)  # fmt: skip


def _mem0(path: Path, rows: list[Any]) -> None:
    good = {"id": "good", "memory": GOOD, "hash": "x"}
    path.write_text(json.dumps({"results": [*rows, good]}, allow_nan=False), encoding="utf-8")


def _mcp_memory(path: Path, rows: list[Any]) -> None:
    odd = [{"type": "entity", "name": "e", "entityType": "t", "observations": [row]} for row in rows]
    good = {"type": "entity", "name": "note", "entityType": "t", "observations": [GOOD]}
    path.write_text("\n".join(json.dumps(row) for row in [*rows, *odd, good]), encoding="utf-8")


def _letta(path: Path, rows: list[Any]) -> None:
    agent = {"name": "a", "messages": rows, "memory_blocks": rows, "block_ids": rows, "tools": rows, "tool_ids": rows}
    blocks = [*rows, {"label": "x", "value": GOOD}]
    path.write_text(json.dumps({"agents": [agent, *rows], "blocks": blocks, "passages": rows}), encoding="utf-8")


def _cell(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return value if isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**63) else json.dumps(value)


def _database(
    path: Path, schema: str, table: str, columns: tuple[str, ...], rows: list[Any], good: list[object]
) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(schema)
        marks = ", ".join("?" * len(columns))
        statement = f"insert or ignore into {table} ({', '.join(columns)}) values ({marks})"
        for row in rows:
            held = list(row.values())
            connection.execute(statement, [_cell(held[n % len(held)]) if held else None for n in range(len(columns))])
        connection.execute(statement, good)


def _brain(path: Path, rows: list[Any]) -> None:
    columns = ("id", "content", "categories", "importance", "access_count", "created_at", "expires_at")
    good: list[object] = ["good", GOOD, "[]", 1.0, 0, "2026-03-01", None]
    _database(path, BRAIN, "stm", columns, rows, good)
    with closing(sqlite3.connect(path)) as connection, connection:
        for name in ("compressed_from", "archived_by", "archived_at"):
            connection.execute(f"alter table stm add column {name} text")
        connection.execute("update stm set compressed_from = content, archived_by = categories where id <> 'good'")
        for number, row in enumerate(rows):
            odd = [_cell(value) for value in row.values()] or [None]
            cells = [odd[n % len(odd)] for n in range(6)]
            connection.execute("insert or ignore into atoms values (?, ?, ?, ?, ?, ?, 'a', ?, 'good', null)",
                               [f"a{number}", *cells])  # fmt: skip
            connection.execute("insert or ignore into embeddings values (?, 'stm', 'good', ?, ?, ?, '2026')",
                               [f"e{number}", *cells[:3]])  # fmt: skip


def _langgraph(path: Path, rows: list[Any]) -> None:
    columns = ("prefix", "key", "value", "created_at", "updated_at", "expires_at")
    good: list[object] = ["n", "k", json.dumps({"text": GOOD}), "2026-03-01 09:00:00", None, None]
    _database(path, LANGGRAPH, "store", columns, rows, good)


_FORMATS: dict[str, Callable[[Path, list[Any]], None]] = {
    "mem0": _mem0,
    "mcp-memory": _mcp_memory,
    "letta": _letta,
    "brain": _brain,
    "langgraph": _langgraph,
}


@pytest.mark.slow
@LONG
@given(st.lists(_ROW, max_size=12), st.sampled_from(tuple(_FORMATS)))
def test_whatever_values_a_store_holds_its_good_rows_come_in(rows: list[Any], name: str) -> None:
    with place() as home:
        path = home / "file"
        try:
            _FORMATS[name](path, rows)
        except ValueError:  # a value that JSON itself cannot hold
            return
        store = Store(home / "s.duckdb")
        for _ in range(2):
            summary = bring(store, path, name, embedding__model="minilm")
        assert summary.imported == 0
        assert any(GOOD in memory.content for memory in memories_of(store))
        sound(store)
