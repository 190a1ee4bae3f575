"""A brain, the store that read it, and what a night made of it: what the tests of syncs share."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path

from memory_pipeline.ingest.formats.brain_sync import BrainSync, sync_brain
from memory_pipeline.records import Memory
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, lesson, made_before, run
from memory_pipeline_tests.ingest.brains import Row, brain
from memory_pipeline_tests.ingest.bring import bring as bring_format

DAY = date(2026, 3, 3)


def lessons(number: int = 4) -> list[Row]:
    """Near-copies of one lesson as rows of a brain."""
    told = lesson(number)
    return [
        (f"stm_{n:012x}", one.content, '["ops"]', 1.5, (FIRST + timedelta(hours=n)).replace(tzinfo=None).isoformat())
        for n, one in enumerate(told)
    ]


def other() -> Row:
    return "stm_other", "Dana prefers CSV for the weekly numbers.", '["people"]', 1.0, "2026-03-01T08:00:00"


def bring(store: Store, path: Path, zone: tzinfo = UTC) -> None:
    bring_format(store, path, "brain", zone=zone, project="p")


def sync(store: Store, path: Path, *, dry_run: bool = False, wait_s: float = 0.2) -> BrainSync:
    return sync_brain(store, path, UTC, now=datetime.now(UTC), dry_run=dry_run, wait_s=wait_s)


def told(done: BrainSync) -> tuple[int, int, int, int]:
    return done.added, done.archived, done.restored, done.retired


def contents(path: Path) -> list[Row]:
    """Every row of every table that the brain's own programs know."""
    tables = ("stm", "embeddings", "atoms", "compression_log")
    with closing(sqlite3.connect(path)) as connection:
        known = [t for t in tables if connection.execute(f"pragma table_info({t})").fetchall()]
        return [row for table in known for row in connection.execute(f"select * from {table} order by 1").fetchall()]


def after_a_night(store: Store, tmp_path: Path) -> Path:
    """A brain that was imported, and of which a night made one abstraction of four memories."""
    found = brain(tmp_path / "brain.db", *lessons(), other())

    def read_and_slept_over(target: Store) -> None:
        bring(target, found)
        assert run(target, DAY, run_id="the-night").memories_archived == 4

    made_before(store, "a brain after a night", read_and_slept_over)
    return found


def made(store: Store) -> Memory:
    with store.reading() as tx:
        (found,) = [m for m in tx.memories.all() if m.source.connector == "night"]
    return found
