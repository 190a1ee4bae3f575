"""What harms a file: every damage is named, and nothing is called whole that is not."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from memory_pipeline.errors import DamagedStoreError, SnapshotError, StoreError
from memory_pipeline.store import (
    Store,
    create_snapshot,
    list_snapshots,
    recover_store,
    settle_stores,
    snapshot_directory,
    verify_snapshot,
)
from memory_pipeline.store.seal import log_path, read_blocks
from memory_pipeline_tests.build import candidate, fill, lesson, slowly
from memory_pipeline_tests.store.damaging import (
    AT,
    damage_block_of,
    fill_and_settle,
    flip,
    hold,
    note,
    notes,
    with_a_log,
)
from memory_pipeline_tests.store.test_faults import ADD_ONE, python, whole

DAMAGE: dict[str, Callable[[Path], object]] = {
    "one flipped byte at the start": lambda log: flip(log, 20),
    "one flipped byte in the middle": lambda log: flip(log, log.stat().st_size // 2),
    "one flipped byte at the end": lambda log: flip(log, log.stat().st_size - 5),
    "random bytes": lambda log: log.write_bytes(b"this is not a log" * 500),
    "cut off": lambda log: log.write_bytes(log.read_bytes()[:-9]),
    "emptied": lambda log: log.write_bytes(b""),
    "deleted": lambda log: log.unlink(),
}


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(damage, id=name, marks=() if name in ("random bytes", "cut off", "deleted") else pytest.mark.slow)
        for name, damage in DAMAGE.items()
    ],
)
def test_a_log_that_lost_what_was_committed_is_named_by_readers_and_writers(
    store: Store, damage: Callable[[Path], object]
) -> None:
    log = with_a_log(store)
    damage(log)
    kept = log.read_bytes() if log.exists() else None
    for attempt in (lambda: notes(Store(store.path)), lambda: note(Store(store.path), "one more")):
        with pytest.raises(DamagedStoreError, match=r"write-ahead log .*memory-pipeline recover"):
            attempt()
    assert (log.read_bytes() if log.exists() else None) == kept, "nothing was touched"


def test_random_bytes_beside_a_store_without_a_seal_are_no_log(store: Store) -> None:
    fill_and_settle(store, 2)
    store.path.with_name(f"{store.path.name}.lock").unlink()
    log_path(store.path).write_bytes(b"this is not a log" * 100)
    with pytest.raises(DamagedStoreError, match="its start is not that of a log"):
        notes(Store(store.path))
    result = recover_store(store)
    assert result.done and notes(Store(store.path)) == 0 and whole(store)


@pytest.mark.slow
def test_a_commit_that_a_kill_kept_from_being_sealed_is_there(store: Store) -> None:
    with_a_log(store, 2)
    assert python(ADD_ONE, store.path, KILL_POINT="store.commit.logged#2").returncode == -signal.SIGKILL
    with Store(store.path).reading() as tx:
        assert "late" in {memory.id for memory in tx.memories.all()}
    assert whole(Store(store.path))


@pytest.mark.parametrize("cut", [1, *(pytest.param(cut, marks=pytest.mark.slow) for cut in (20, 200))])
def test_a_commit_that_a_kill_cut_off_costs_only_itself(store: Store, cut: int) -> None:
    log = with_a_log(store, 3)
    assert python(ADD_ONE, store.path, KILL_POINT="store.commit.logged#2").returncode == -signal.SIGKILL
    log.write_bytes(log.read_bytes()[:-cut])
    again = Store(store.path)
    with again.reading() as tx:
        kept = {memory.id for memory in tx.memories.all()}
    assert kept - {"late"} == {f"gateway-{n}" for n in range(4)} and notes(again) == 3
    fill(again, [candidate("written after the crash", native_id="after")])
    assert whole(Store(store.path)) and notes(again) == 3


@pytest.mark.parametrize("kept", [0, 60, *slowly(1, 2, 10, 300)])
def test_a_log_that_holds_nothing_but_a_commit_that_was_cut_off_is_in_nobodys_way(store: Store, kept: int) -> None:
    fill_and_settle(store, 2)
    sealed = store.path.with_name(f"{store.path.name}.lock").read_bytes()
    note(store, "cut off")
    log = log_path(store.path)
    log.write_bytes(log.read_bytes()[:kept])
    store.path.with_name(f"{store.path.name}.lock").write_bytes(sealed)  # as if killed before it was sealed
    assert notes(Store(store.path)) == 0
    note(Store(store.path), "after the crash")
    assert notes(Store(store.path)) == 1 and whole(Store(store.path))


def test_no_commit_changes_a_byte_of_the_store_file(store: Store) -> None:
    fill_and_settle(store, 4)
    before = store.path.read_bytes()
    for number in range(5):
        note(store, f"reason {number}")
    assert store.path.read_bytes() == before and notes(Store(store.path)) == 5
    inode = store.path.stat().st_ino
    store.settle()
    assert store.path.stat().st_ino != inode and not log_path(store.path).exists() and notes(Store(store.path)) == 5


@pytest.mark.parametrize("place", ["fold.verified", "replace.sealed", *slowly("fold.copied", "replace.done")])
def test_a_kill_while_the_log_is_folded_in_changes_nothing(store: Store, place: str) -> None:
    with_a_log(store, 7)
    before = whole(store)
    code = "import sys; from memory_pipeline.store import Store; Store(sys.argv[1]).settle()"
    assert python(code, store.path, KILL_POINT=place).returncode == -signal.SIGKILL
    again = Store(store.path)
    assert whole(again) == before and notes(again) == 7
    note(again, "after the kill")
    again.settle()
    assert notes(Store(store.path)) == 8 and not log_path(store.path).exists()
    assert not list(store.path.parent.glob(".*.folded*"))


def test_a_log_that_was_folded_in_before_a_kill_is_not_applied_twice(store: Store) -> None:
    with_a_log(store, 3)
    code = "import sys; from memory_pipeline.store import Store; Store(sys.argv[1]).settle()"
    assert python(code, store.path, KILL_POINT="replace.done").returncode == -signal.SIGKILL
    assert log_path(store.path).exists(), "the kill came before the log went"
    assert notes(Store(store.path)) == 3 and not log_path(store.path).exists()


@pytest.mark.slow
def test_a_kill_while_a_store_is_made_leaves_none_or_a_whole_one(store: Store) -> None:
    for place in ("store.commit.before#1", "store.commit.after#1"):
        assert python(ADD_ONE, store.path, KILL_POINT=place).returncode == -signal.SIGKILL
        fill(Store(store.path), [candidate("x y z", native_id=place)])
        assert whole(Store(store.path))


@pytest.mark.slow
@pytest.mark.parametrize("table", ["embeddings", "audit_log", "memories"])
def test_a_store_with_a_damaged_block_gives_no_snapshot_and_costs_none(store: Store, table: str) -> None:
    for hour in range(3):
        fill(store, lesson(3, topic=("gateway", "printer", "scanner")[hour]))
        create_snapshot(store, "manual", AT + timedelta(hours=hour), keep=3)
    known = list_snapshots(store)
    damage_block_of(store, table)
    with pytest.raises(StoreError, match=r"damaged.*memory-pipeline recover"):
        create_snapshot(Store(store.path), "manual", AT + timedelta(hours=9), keep=3)
    assert list_snapshots(store) == known
    for snapshot in known:
        verify_snapshot(store, snapshot.name)


@pytest.mark.parametrize("table", [pytest.param("embeddings", marks=pytest.mark.slow), "audit_log"])
def test_a_snapshot_with_a_damaged_block_is_not_called_whole(store: Store, table: str) -> None:
    fill_and_settle(store, 4)
    snapshot = create_snapshot(store, "manual", AT, keep=3)
    damage_block_of(Store(snapshot_directory(store) / f"{snapshot.name}.duckdb"), table)
    with pytest.raises(SnapshotError, match="damaged"):
        verify_snapshot(store, snapshot.name)


def test_damage_is_told_without_figures_of_checksums_and_not_a_second_time_at_the_end(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    fill_and_settle(store, 4)
    damage_block_of(store, "memories")
    note(store, "x")
    with pytest.raises(StoreError, match="the checksum does not match") as told:
        create_snapshot(Store(store.path), "manual", AT, keep=3)
    assert "computed checksum" not in str(told.value)
    settle_stores(quietly=True)
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
    settle_stores()
    assert [record.levelname for record in caplog.records if str(store.path) in record.getMessage()].count("WARNING")


def test_every_used_block_is_read_those_of_indexes_too(store: Store) -> None:
    fill_and_settle(store, 4)
    blocks, damaged = read_blocks(store.path)
    assert blocks > 2 and damaged == []
    for number in range(blocks):
        data = store.path.read_bytes()
        flip(store.path, 12_288 + number * 262_144 + 100_000)
        assert read_blocks(store.path)[1] in ([number], []), "free blocks may hold anything"
        store.path.write_bytes(data)
    flip(store.path, 5000)
    flip(store.path, 9000)
    with pytest.raises(ValueError, match="headers"):
        read_blocks(store.path)


def database(connect: Callable[[str], Any], statement: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with closing(connect(str(path))) as connection:
            connection.execute(statement)

    return make


FOREIGN: dict[str, tuple[Callable[[Path], object], str]] = {
    "a database of another program": (
        database(duckdb.connect, "create table customers (id integer)"),
        "customers.*another program|another program.*customers",
    ),
    "one that keeps migrations too": (
        database(duckdb.connect, "create table schema_migrations (version text)"),
        "another program",
    ),
    "a SQLite file": (database(sqlite3.connect, "create table memories (id text)"), "SQLite database"),
    "a text": (lambda path: path.write_text("hello" * 1000), "is not a store of this program"),
    "an empty file": (lambda path: path.touch(), "is empty"),
    "a directory": (lambda path: path.mkdir(), "is a directory"),
    "a link in a circle": (lambda path: path.symlink_to(path), "its links lead in a circle"),
}


@pytest.mark.parametrize(("make", "words"), FOREIGN.values(), ids=FOREIGN.keys())
def test_what_is_no_store_is_refused_and_left_as_it_was(
    tmp_path: Path, make: Callable[[Path], object], words: str
) -> None:
    path = tmp_path / "other.duckdb"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=words), Store(path).reading():
        pass
    with pytest.raises(StoreError, match=words):
        fill(Store(path), [candidate("x y z")])
    assert before is None or path.read_bytes() == before


def test_a_store_named_through_a_link_has_its_log_beside_the_file(store: Store, tmp_path: Path) -> None:
    fill_and_settle(store, 2)
    link = tmp_path / "link.duckdb"
    link.symlink_to(store.path)
    note(Store(link), "through the link")
    assert notes(store) == 1 and log_path(store.path).exists() and not log_path(link).exists()


def test_a_log_whose_store_is_gone_is_not_thrown_away(store: Store) -> None:
    log = with_a_log(store)
    store.path.rename(store.path.with_name("elsewhere.duckdb"))
    for attempt in (lambda: notes(Store(store.path)), lambda: note(Store(store.path), "new")):
        with pytest.raises(DamagedStoreError, match="write-ahead log"):
            attempt()
    assert log.stat().st_size > 1000


def test_another_programs_open_connection_keeps_the_log_from_being_folded_in(store: Store) -> None:
    with_a_log(store, 2)
    inode = store.path.stat().st_ino
    process = hold(store, read_only=True)
    try:
        store.settle()
        assert store.path.stat().st_ino == inode and log_path(store.path).exists()
    finally:
        process.communicate()
    store.settle()
    assert store.path.stat().st_ino != inode
