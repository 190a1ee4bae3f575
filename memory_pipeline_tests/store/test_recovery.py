"""What comes back of a damaged store: everything, where a snapshot and the logs since read, else what reads."""

from __future__ import annotations

import signal
from datetime import date, timedelta
from pathlib import Path

import pytest

from memory_pipeline.errors import DamagedStoreError, SnapshotError, StoreError
from memory_pipeline.store import (
    Store,
    create_snapshot,
    list_snapshots,
    recover_store,
    restore_snapshot,
    snapshot_directory,
)
from memory_pipeline.store.seal import log_path
from memory_pipeline_tests.build import candidate, fill, lesson, run, sql_rows
from memory_pipeline_tests.store.damaging import AT, damage_block_of, fill_and_settle, flip, note, notes, with_a_log
from memory_pipeline_tests.store.test_faults import python, whole


def test_a_sound_store_is_not_recovered(store: Store) -> None:
    with_a_log(store, 3)
    result = recover_store(store)
    assert result.source == "store" and not result.done and notes(store) == 3


def test_a_damaged_file_comes_back_whole_from_its_snapshot_and_the_log(store: Store) -> None:
    fill_and_settle(store, 4)
    create_snapshot(store, "manual", AT, keep=7)
    for number in range(6):
        note(store, f"reason {number}")
    before = whole(store)
    damage_block_of(store, "embeddings")
    assert recover_store(Store(store.path), dry_run=True).source == "snapshot and log"
    result = recover_store(Store(store.path))
    assert result.source == "snapshot and log" and result.lost == "nothing" and result.done
    assert whole(Store(store.path)) == before and notes(Store(store.path)) == 6
    assert len(list(store.path.parent.glob("store.duckdb.damaged-*"))) == 2, "file and log are kept"


@pytest.mark.slow
def test_the_logs_that_were_folded_in_since_lead_from_a_snapshot_to_the_damaged_store(store: Store) -> None:
    """Rows are inserted, changed and deleted in each log: they refer to rows by where they lie in the file."""
    fill_and_settle(store, 4)
    create_snapshot(store, "manual", AT, keep=7)
    for number in range(2):
        fill(store, lesson(3, topic=("printer", "scanner")[number % 2]))
        run(store, date(2026, 3, 3 + number), snapshot=True)
        note(store, f"reason {number}")
        with store.writing("test") as tx:
            sql_rows(tx, "delete from quarantine where reason = $1", [f"reason {number - 2}"])
        store.settle()
    note(store, "in the log that is still there")
    before, kept = whole(store), notes(store)
    full = store.verify()
    damage_block_of(store, "embeddings")
    result = recover_store(Store(store.path))
    assert (result.source, result.lost) == ("snapshot and log", "nothing")
    assert whole(Store(store.path)) == before and notes(Store(store.path)) == kept
    assert Store(store.path).verify() == full


def branched(store: Store) -> tuple[Path, int]:
    """A store with two notes, of which a snapshot with one was restored; return where the first branch lies now."""
    fill_and_settle(store, 3)
    note(store, "before the snapshot")
    snapshot = create_snapshot(store, "manual", AT, keep=7)
    note(store, "of the branch that is left")
    store.settle()
    restore_snapshot(store, snapshot.name)
    (aside,) = store.path.parent.glob("store.duckdb.before-restore-*Z")
    return aside, 1


@pytest.mark.slow
@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("notes_since", [0, 2])
def test_after_a_restore_a_damaged_file_comes_back_as_the_branch_that_was_restored(
    store: Store, notes_since: int, settled: bool
) -> None:
    _, kept = branched(store)
    for number in range(notes_since):
        note(store, f"since the restore {number}")
    if settled:
        store.settle()
    before = whole(store)
    damage_block_of(store, "embeddings")
    assert recover_store(Store(store.path)).lost == "nothing"
    assert whole(Store(store.path)) == before and notes(Store(store.path)) == kept + notes_since


def test_a_branch_that_is_moved_back_comes_back_as_itself(store: Store) -> None:
    aside, _ = branched(store)
    note(store, "of the other branch")
    note(store, "of the other branch, too")
    store.settle()
    aside.replace(store.path)
    assert notes(Store(store.path)) == 2
    damage_block_of(store, "embeddings")
    assert recover_store(Store(store.path)).lost == "nothing"
    with Store(store.path).reading() as tx:
        reasons = {reason for (reason,) in sql_rows(tx, "select reason from quarantine")}
    assert reasons == {"before the snapshot", "of the branch that is left"}


def test_a_branch_that_is_moved_back_takes_no_log_of_the_other_one(store: Store) -> None:
    aside, _ = branched(store)
    note(store, "of the other branch")
    kept = log_path(store.path).read_bytes()
    aside.replace(store.path)
    for attempt in (lambda: notes(Store(store.path)), lambda: note(Store(store.path), "more"), store.verify):
        with pytest.raises(DamagedStoreError, match="belongs to a different file"):
            attempt()
    assert log_path(store.path).read_bytes() == kept


@pytest.mark.slow
def test_a_log_that_a_kill_kept_from_being_folded_in_is_kept_once(store: Store) -> None:
    fill_and_settle(store, 4)
    create_snapshot(store, "manual", AT, keep=7)
    for number in range(3):
        note(store, f"reason {number}")
        code = "import sys; from memory_pipeline.store import Store; Store(sys.argv[1]).settle()"
        assert python(code, store.path, KILL_POINT="replace.sealed").returncode == -signal.SIGKILL
    store.settle()
    assert len(list(snapshot_directory(store).glob("log-*.wal"))) == 1
    note(store, "reason 3")
    store.settle()
    before = whole(store)
    damage_block_of(store, "embeddings")
    assert recover_store(Store(store.path)).lost == "nothing"
    assert whole(Store(store.path)) == before and notes(Store(store.path)) == 4


@pytest.mark.slow
def test_what_was_brought_back_comes_back_again(store: Store) -> None:
    fill_and_settle(store, 4)
    create_snapshot(store, "manual", AT, keep=7)
    for number in range(3):
        note(store, f"reason {number}")
        if number % 2:
            store.settle()
        damage_block_of(store, "embeddings")
        assert recover_store(Store(store.path)).lost == "nothing"
    assert notes(Store(store.path)) == 3


@pytest.mark.slow
def test_kept_logs_go_with_the_snapshots_that_they_follow(store: Store) -> None:
    for hour in range(5):
        fill(store, [candidate(f"note {hour}", native_id=f"n{hour}")])
        create_snapshot(store, "manual", AT + timedelta(hours=hour), keep=3)
    assert len(list(snapshot_directory(store).glob("log-*.wal"))) <= 2


@pytest.mark.parametrize("at", [0.5, *(pytest.param(at, marks=pytest.mark.slow) for at in (0.1, 0.9))])
def test_of_a_damaged_log_everything_before_the_damage_comes_back(store: Store, at: float) -> None:
    log = with_a_log(store, 40)
    flip(log, int(log.stat().st_size * at))
    result = recover_store(Store(store.path))
    assert result.source == "store and part of its log" and "damaged log" in result.lost
    assert abs(notes(Store(store.path)) - 40 * at) < 8 and whole(Store(store.path))


@pytest.mark.slow
def test_a_store_that_is_gone_comes_back_from_the_newest_snapshot_that_is_whole(store: Store) -> None:
    fill_and_settle(store, 4)
    first = create_snapshot(store, "manual", AT, keep=7)
    early = whole(store)
    fill(store, lesson(4, topic="printer"))
    second = create_snapshot(store, "manual", AT + timedelta(hours=1), keep=7)
    late = whole(store)
    flip(snapshot_directory(store) / f"{second.name}.duckdb", 300_000)
    damaged = store.path.read_bytes()[:9000]
    store.path.write_bytes(damaged)
    result = recover_store(Store(store.path))
    assert (result.source, result.snapshot) == ("snapshot and log", first.name) and whole(Store(store.path)) == late
    for kept in [*snapshot_directory(store).glob("log-*.wal"), *snapshot_directory(store).glob("*-recovered.json")]:
        kept.unlink()
    store.path.write_bytes(damaged)
    result = recover_store(Store(store.path))
    assert (result.source, result.snapshot) == ("snapshot", first.name) and whole(Store(store.path)) == early
    assert "everything since snapshot" in result.lost


@pytest.mark.slow
@pytest.mark.parametrize("table", ["embeddings", "audit_log"])
def test_without_a_snapshot_what_reads_of_a_damaged_store_comes_back(store: Store, table: str) -> None:
    fill_and_settle(store, 5)
    run(store, date(2026, 3, 3), snapshot=True)
    store.settle()
    for snapshot in snapshot_directory(store).iterdir():
        snapshot.unlink()
    before = whole(store)
    damage_block_of(store, table)
    note(store, "in the log")
    result = recover_store(Store(store.path))
    assert result.source == "what reads of the store" and result.done
    assert ("audit_log" in result.lost) == (table == "audit_log")
    assert whole(Store(store.path)) == before and notes(Store(store.path)) == 1
    report = run(Store(store.path), date(2026, 3, 4), snapshot=True)
    assert report.verdict != "FAIL" and not report.errors and whole(Store(store.path))


@pytest.mark.slow
@pytest.mark.parametrize("with_snapshot", [True, False])
def test_where_file_and_log_are_damaged_the_loss_of_the_log_is_told(store: Store, with_snapshot: bool) -> None:
    fill_and_settle(store, 5)
    if with_snapshot:
        create_snapshot(store, "manual", AT, keep=7)
    for number in range(20):
        note(store, f"reason {number}")
    damage_block_of(store, "embeddings")
    flip(log_path(store.path), log_path(store.path).stat().st_size // 2)
    result = recover_store(Store(store.path))
    assert "damaged log" in result.lost and 0 < notes(Store(store.path)) < 20 and whole(Store(store.path))
    assert result.source == ("snapshot and log" if with_snapshot else "what reads of the store")


def test_without_a_snapshot_a_store_whose_memories_do_not_read_stays_as_it_is(store: Store) -> None:
    fill_and_settle(store, 5)
    damage_block_of(store, "memories")
    damaged = store.path.read_bytes()
    with pytest.raises(StoreError, match=r"some of its memories cannot be read \(DuckDB: ") as told:
        recover_store(Store(store.path))
    words = str(told.value)
    assert ".incoming" not in words and "computed checksum" not in words
    assert words.endswith("keep a copy of them, and restore a backup if you have one")
    assert store.path.read_bytes() == damaged


@pytest.mark.slow
def test_nights_never_drop_a_snapshot_that_a_person_made(store: Store) -> None:
    fill(store, lesson(2))
    made = create_snapshot(store, "lunch", AT, keep=None)
    for hour in range(1, 5):
        fill(store, [candidate(f"note {hour}", native_id=f"n{hour}")])
        create_snapshot(store, "night", AT + timedelta(hours=hour), keep=2)
    assert [snapshot.label for snapshot in list_snapshots(store)] == ["lunch", "night", "night"]
    assert list_snapshots(store)[0] == made


def test_without_any_snapshot_a_damaged_store_stays_as_it_is_and_says_so(store: Store) -> None:
    fill_and_settle(store, 4)
    damaged = store.path.read_bytes()[:9000]
    store.path.write_bytes(damaged)
    with pytest.raises(StoreError, match="no snapshot"):
        recover_store(Store(store.path))
    assert store.path.read_bytes() == damaged


def test_an_unreadable_snapshot_directory_entry_is_passed_over_or_named(store: Store) -> None:
    fill_and_settle(store, 4)
    snapshot = create_snapshot(store, "manual", AT, keep=7)
    described = snapshot_directory(store) / f"{snapshot.name}.json"
    described.unlink()
    described.mkdir()
    assert list_snapshots(store) == []
    with pytest.raises(SnapshotError, match="snapshot list"):
        restore_snapshot(store, snapshot.name)
