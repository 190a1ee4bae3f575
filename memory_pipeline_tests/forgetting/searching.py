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
    """The files that hold one of these words, in their bytes or in what they decode to."""
    found = []
    wanted = [word.casefold() for word in words]
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            told = [path.name, path.read_bytes().decode("utf-8", "replace"), *_texts_in(path)]
            folded = "\0".join(told).casefold()
            if any(word in folded for word in wanted):
                found.append(str(path.relative_to(directory)))
    return found


def _texts_in(path: Path) -> Iterator[str]:
    begins = path.read_bytes()[:16]
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
        with duckdb.connect(str(path), read_only=True) as database:
            for (table,) in database.execute("select table_name from duckdb_tables()").fetchall():
                for row in database.execute(f'select to_json(t)::text from "{table}" t').fetchall():
                    yield str(row[0])
