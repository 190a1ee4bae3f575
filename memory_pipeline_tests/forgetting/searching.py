"""Looks for words in every file below a directory: its bytes, and every text in it, in whatever form it is kept."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow.parquet as pq


def files_with(directory: Path, *words: str) -> list[str]:
    """The files that hold one of these words, in their bytes or in what they decode to. The words are of ASCII."""
    wanted = [word.lower().encode("ascii") for word in words]
    found = []
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            told = [path.name, *_texts_in(path, content[:16])]
            folded = content.lower() + "\0".join(told).casefold().encode("utf-8", "replace")
            if any(word in folded for word in wanted):
                found.append(str(path.relative_to(directory)))
    return found


def _texts_in(path: Path, begins: bytes) -> Iterator[str]:
    if begins.startswith(b"SQLite"):
        with closing(sqlite3.connect(path)) as database:
            for (table,) in database.execute("select name from sqlite_master where type = 'table'").fetchall():
                for row in database.execute(f'select * from "{table}"'):
                    for value in row:
                        yield str(value)
                        if isinstance(value, bytes) and value[:1] == b"\x78":
                            yield zlib.decompress(value).decode("utf-8", "replace")
    elif begins.startswith(b"PAR1"):
        yield str(pq.read_table(path).to_pylist())
    elif begins[8:12] == b"DUCK":
        with duckdb.connect(str(path), read_only=True, config={"threads": 1}) as database:
            tables = database.execute("select table_name from duckdb_tables()").fetchall()
            every = " union all ".join(f'select to_json(t)::text from "{table}" t' for (table,) in tables)
            yield from (str(row[0]) for row in database.execute(every).fetchall())
