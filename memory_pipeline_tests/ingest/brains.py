"""Files as the programs of a Helios brain write them, with as much as a test needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from memory_pipeline.models.embedders.model import Vectors

#: The tables of `brain.py`, of which a reader needs these.
SCHEMA = """
create table stm (id text primary key, content text not null, categories text, importance real default 1.0,
    access_count integer default 0, created_at text not null, updated_at text, expires_at text,
    source text default 'agent', source_message_id text);
create table atoms (id text primary key, subject text not null, action text not null, outcome text not null,
    consequences text not null, confidence real default 1.0, source text default 'agent', created_at text not null,
    source_memory_id text, subject_embedding blob);
create table embeddings (id text primary key, source_type text not null, source_id text not null, content text,
    embedding blob not null, model text default 'all-MiniLM-L6-v2', created_at text not null,
    unique (source_type, source_id));
create table working_memory (id text primary key, label text not null, content text not null, pinned_at text not null,
    position integer not null);
create virtual table stm_fts using fts5(content, content='', content_rowid='');
"""
#: The tables of its predecessor.
EARLIER = """
create table memories (id text primary key, content text not null, categories text, importance real, timestamp text);
create table embeddings (memory_id text, vector blob);
"""

Row = tuple[object, ...]


def brain(path: Path, *memories: Row, schema: str = SCHEMA) -> Path:
    """A brain in which `memories` (id, content, categories, importance, time) are stored, as WAL."""
    table, time = ("stm", "created_at") if schema == SCHEMA else ("memories", "timestamp")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("pragma journal_mode = wal")
        connection.executescript(schema)
        connection.executemany(
            f"insert into {table} (id, content, categories, importance, {time}) values (?, ?, ?, ?, ?)", memories
        )
    return path


def noted(number: int, content: str, at: str = "2026-03-01T09:00:00.000001", importance: float = 1.0) -> Row:
    """A row of `brain`."""
    return f"stm_{number:012x}", content, '["ops"]', importance, at


def change(path: Path, statement: str, *parameters: Sequence[object]) -> None:
    """Change a brain as its agent does, once for each row of parameters (or once)."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for row in parameters or ((),):
            connection.execute(statement, row)


def rows_of(path: Path, statement: str) -> list[Row]:
    """What a statement gives."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return connection.execute(statement).fetchall()


def blob(vector: Vectors) -> bytes:
    """A vector as a brain stores it."""
    return np.asarray(vector, dtype="<f4").tobytes()
