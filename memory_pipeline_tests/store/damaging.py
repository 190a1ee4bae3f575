"""What harms a store: for the tests that look what is told of it, and what comes back."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from memory_pipeline.store import Store, engine
from memory_pipeline.store.seal import log_path
from memory_pipeline_tests.build import fill, lesson, made_before, sql_rows

AT = datetime(2026, 3, 4, tzinfo=UTC)


def fill_and_settle(store: Store, memories: int) -> None:
    """A store that is one file, without a log."""

    def make(target: Store) -> None:
        fill(target, lesson(memories))
        target.settle()

    made_before(store, f"settled {memories}", make)


def note(store: Store, text: str) -> None:
    """A commit that stays in the log."""
    with store.writing("test") as tx:
        sql_rows(tx, "insert into quarantine values ('f', 1, $1, 'x', now()::timestamp)", [text])


def notes(store: Store) -> int:
    with store.reading() as tx:
        row = sql_rows(tx, "select count(*) from quarantine")[0]
    assert row is not None
    return int(row[0])


def with_a_log(store: Store, commits: int = 40) -> Path:
    """A store whose last commits stand in the write-ahead log alone."""
    fill_and_settle(store, 4)
    with store.kept_open():
        for number in range(commits):
            note(store, f"reason {number}")
    return log_path(store.path)


def hold(store: Store, *, read_only: bool = False) -> subprocess.Popen[str]:
    """A process of another program that has the store open until its input closes."""
    code = (
        f"import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only={read_only}); "
        "print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(store.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0x40
    path.write_bytes(data)


def damage_block_of(store: Store, table: str) -> None:
    """Flip one byte in a block that holds rows of `table`."""
    with engine.attached_copy(store.path, read_only=True) as connection:
        blocks = connection.execute(
            f"select distinct block_id from pragma_storage_info('{table}') where persistent and block_id >= 0"
        ).fetchall()
    size = 262_144
    flip(store.path, 12_288 + min(block for (block,) in blocks) * size + size // 2)
