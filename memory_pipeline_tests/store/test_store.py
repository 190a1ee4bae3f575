"""The store: transactions, migrations, guards, locks, snapshots, and clear words when something is wrong."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline.errors import SnapshotError, StoreBusyError, StoreError, StoreVersionError
from memory_pipeline.store import (
    Store,
    create_snapshot,
    list_snapshots,
    restore_snapshot,
    snapshot_directory,
    snapshots,
    verify_snapshot,
)
from memory_pipeline_tests.build import candidate, fill, lesson, memory, run, settings_for, sql_rows
from memory_pipeline_tests.store.damaging import hold

AT = datetime(2026, 3, 3, tzinfo=UTC)


def whole(store: Store) -> str:
    with store.reading() as tx:
        return tx.contents.digest(with_log=True)


def test_a_transaction_is_whole_or_nothing(store: Store) -> None:
    fill(store, [candidate("x y z")])
    before = whole(store)
    with pytest.raises(RuntimeError), store.writing("test") as tx:
        tx.memories.add([memory("m", "half way")])
        raise RuntimeError
    assert whole(store) == before


@pytest.mark.parametrize(
    "statement",
    [
        "delete from memories where id = 'm'",
        "update memories set content = 'other' where id = 'm'",
        "update memories set categories = ['other'] where id = 'm'",
        "update memories set created_at = now()::timestamp where id = 'm'",
    ],
)
def test_the_store_itself_refuses_to_lose_or_change_a_source(store: Store, statement: str) -> None:
    fill(store, [candidate("x y z", native_id="m")])
    with pytest.raises(StoreError, match="law 1"), store.writing("test") as tx:
        sql_rows(tx, statement)
    with store.reading() as tx:
        assert [m.content for m in tx.memories.all()] == ["x y z"]


def test_every_write_leaves_a_trace_with_who_and_which_run(store: Store) -> None:
    fill(store, lesson(4))
    run(store, date(2026, 3, 3))
    with store.reading() as tx:
        rows = sql_rows(
            tx, "select table_name, action, actor, run_id, count(*) from audit_log group by all order by all"
        )
    assert ("memories", "insert", "import", None, 4) in rows
    assert ("memories", "insert", "night", "run-2026-03-03", 1) in rows
    assert ("memories", "update", "night", "run-2026-03-03", 4) in rows
    assert ("lineage", "insert", "night", "run-2026-03-03", 4) in rows


def test_check_finds_what_is_wrong_and_says_how_to_mend_it(store: Store) -> None:
    fill(store, lesson(4))
    run(store, date(2026, 3, 3))
    with store.reading() as tx:
        assert tx.integrity.check() == []
    import duckdb

    with duckdb.connect(str(store.path)) as raw:
        raw.execute("drop trigger memories_updated on memories")
        raw.execute("update memories set content = 'forged' where id = 'gateway-0'")
        raw.execute("update memories set consolidated_into_id = 'nowhere' where id = 'gateway-1'")
        raw.execute(
            "update embeddings set vector = list_transform(vector, lambda x: x * 2) where memory_id = 'gateway-2'"
        )
    with store.reading() as tx:
        findings = tx.integrity.check()
    assert {f.where for f in findings} >= {"gateway-0", "gateway-1", "gateway-2"}
    assert all(f.mend and f.problem and f.rule for f in findings)


def test_a_store_of_a_newer_program_is_refused(store: Store) -> None:
    fill(store, [candidate("x y z")])
    with store.writing("test") as tx:
        sql_rows(tx, "insert into schema_migrations values (999, '999_future.sql', now()::timestamp)")
    with pytest.raises(StoreVersionError, match=r"has schema 999, this program knows \d+; install a newer"):
        Store(store.path).reading().__enter__()


def test_a_missing_store_says_what_to_do(store: Store) -> None:
    with pytest.raises(StoreError, match="import something first"), store.reading():
        pass


@pytest.mark.parametrize("damage", ["truncate", "garbage"])
def test_a_damaged_file_is_named_and_not_touched(store: Store, damage: str) -> None:
    fill(store, lesson(4))
    data = store.path.read_bytes()[:5000] if damage == "truncate" else b"this is not a database" * 500
    store.path.write_bytes(data)
    with pytest.raises(StoreError, match=store.path.name), Store(store.path).reading() as tx:
        tx.memories.all()
    assert store.path.read_bytes() == data


def test_a_held_store_is_waited_for_and_then_its_holder_named(store: Store) -> None:
    fill(store, [candidate("x y z")])
    process = hold(store)
    try:
        with pytest.raises(StoreBusyError, match=rf"held by process {process.pid}"), Store(store.path, 0.3).reading():
            pass
    finally:
        process.communicate()
    with store.reading() as tx:
        assert len(tx.memories.all()) == 1


@pytest.mark.slow
def test_a_snapshot_is_verified_and_restores_the_store(store: Store) -> None:
    fill(store, lesson(4))
    before = whole(store)
    snapshot = create_snapshot(store, "manual", AT, keep=7)
    run(store, date(2026, 3, 3))
    assert whole(store) != before
    verify_snapshot(store, snapshot.name)
    store.settle()
    restore_snapshot(store, snapshot.name)
    assert whole(Store(store.path)) == before
    assert len(list(store.path.parent.glob("store.duckdb.before-restore-*"))) == 1
    with pytest.raises(StoreError, match="law 1"), Store(store.path).writing("test") as tx:
        sql_rows(tx, "delete from memories")


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "update memories set reuse_count = reuse_count + 1 where id = (select min(id) from memories)",
        "update lineage set similarity = similarity / 2",
        "update compression_log set reason = 'another'",
        "insert into conflicts (project_id, a, b, kind, detail, score, found_at) "
        "values ('p', 'a', 'b', 'number', '1 / 2', 0.9, '2026-03-03')",
        "insert into atoms (id, project_id, subject, action, outcome, consequences, confidence, source_ids, "
        "created_at) values ('atom', 'p', 's', 'a', 'o', '', 0.5, [], '2026-03-03')",
        "update playbook_entries set content = 'another'",
    ],
)
def test_what_a_process_knows_of_the_contents_is_what_it_would_find_again(store: Store, change: str) -> None:
    fill(store, lesson(5))
    run(store, date(2026, 3, 3))
    with store.reading() as tx:
        before = tx.contents.knowledge_digest()
        assert before == tx.contents.knowledge_digest() == tx.contents.digest(with_log=True)
    with store.writing("test") as tx:
        sql_rows(tx, change)
    with store.reading() as tx:
        assert before != tx.contents.knowledge_digest() == tx.contents.digest(with_log=True)


def test_a_snapshot_can_be_restored_beside_the_store(store: Store, tmp_path: Path) -> None:
    fill(store, lesson(4))
    snapshot = create_snapshot(store, "manual", AT, keep=7)
    restore_snapshot(store, snapshot.name, tmp_path / "beside.duckdb")
    assert whole(Store(tmp_path / "beside.duckdb")) == whole(store)
    with pytest.raises(SnapshotError, match="exists"):
        restore_snapshot(store, snapshot.name, tmp_path / "beside.duckdb")


def test_an_importer_that_writes_while_a_snapshot_begins_does_not_spoil_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, lesson(3))
    sweep = snapshots._sweep

    def write_and_sweep(swept: Store) -> None:
        fill(store, lesson(2, topic="printer"))
        sweep(swept)

    monkeypatch.setattr(snapshots, "_sweep", write_and_sweep)
    taken = create_snapshot(store, "beside", datetime.now(UTC), 7)
    with store.reading() as tx:
        assert tx.contents.digest(with_log=True) == taken.store_hash


@pytest.mark.slow
def test_every_night_takes_a_snapshot_and_seven_are_kept(store: Store) -> None:
    quiet = settings_for(store, compression__min_active_memories=100)
    for day in range(1, 10):
        fill(store, [candidate(f"note of day {day} about topic {day * 7}", datetime(2026, 3, day, tzinfo=UTC))])
        run(store, date(2026, 3, day), quiet, snapshot=True)
    names = [snapshot.name for snapshot in list_snapshots(store)]
    assert len(names) == 7 and names == sorted(names) and all(name.endswith("-night") for name in names)
    assert len(list(snapshot_directory(store).glob("*.duckdb"))) == 7


def test_a_night_that_finds_the_store_as_the_last_snapshot_has_it_copies_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, lesson(4))
    first = create_snapshot(store, "night", AT, 7)
    with store.writing("test") as tx:
        tx.lease.drop()  # what is no knowledge makes no snapshot
    with monkeypatch.context() as watched:
        watched.setattr(snapshots.folding, "copy_files", lambda *_: pytest.fail("the store was copied"))
        assert create_snapshot(store, "night", AT + timedelta(days=1), 7) == first
    file = snapshot_directory(store) / f"{first.name}.duckdb"
    file.write_bytes(file.read_bytes()[:-100] + b"x" * 100)
    second = create_snapshot(store, "night", AT + timedelta(days=2), 7)
    assert second != first and second.store_hash == first.store_hash
    fill(store, lesson(2, topic="printer"))
    assert create_snapshot(store, "night", AT + timedelta(days=3), 7).store_hash != first.store_hash


def test_a_damaged_snapshot_is_refused(store: Store) -> None:
    fill(store, lesson(4))
    snapshot = create_snapshot(store, "manual", AT, keep=7)
    file = snapshot_directory(store) / f"{snapshot.name}.duckdb"
    file.write_bytes(file.read_bytes()[:-100] + b"x" * 100)
    before = whole(store)
    with pytest.raises(SnapshotError, match="damaged"):
        restore_snapshot(store, snapshot.name)
    assert whole(store) == before


@pytest.mark.parametrize("label", ["../up", "a/b", "", "Capital", "x" * 60])
def test_a_label_never_becomes_a_path(store: Store, label: str) -> None:
    fill(store, [candidate("x y z")])
    with pytest.raises(SnapshotError, match="not a snapshot label"):
        create_snapshot(store, label, AT, keep=7)


def test_restoring_over_a_store_that_is_open_elsewhere_is_refused(store: Store) -> None:
    fill(store, lesson(4))
    snapshot = create_snapshot(store, "manual", AT, keep=7)
    process = hold(store)
    try:
        with pytest.raises(StoreBusyError, match=f"process {process.pid}"):
            restore_snapshot(Store(store.path, 0.3), snapshot.name)
    finally:
        process.communicate()


def test_restoring_while_a_night_runs_is_refused_and_no_lease_comes_back(store: Store) -> None:
    fill(store, lesson(4))
    store.take_lease("run-a", "nightly")
    snapshot = create_snapshot(store, "manual", AT, keep=7)
    with pytest.raises(StoreBusyError, match=r"is in use by nightly on .*; restore when it has ended"):
        restore_snapshot(store, snapshot.name)
    store.release_lease("run-a")
    restore_snapshot(store, snapshot.name)
    Store(store.path).take_lease("run-b", "nightly")


def test_an_unknown_snapshot_says_so(store: Store) -> None:
    fill(store, [candidate("x y z")])
    with pytest.raises(SnapshotError, match="snapshot list"):
        verify_snapshot(store, "../../etc/passwd")


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_nothing_is_half_written(store: Store) -> None:
    """A file-size limit stands in for the full disk: the write fails in the middle, the store opens again."""
    fill(store, lesson(4))
    before = whole(store)
    limit = store.path.stat().st_size + 20_000
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "from pathlib import Path\n"
        "from memory_pipeline.store import Store\n"
        "from memory_pipeline_tests.build import candidate, fill\n"
        "try:\n"
        "    fill(Store(Path(sys.argv[1])), [candidate('word ' * 400 + str(n)) for n in range(3000)])\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(store.path)], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("StoreError") and "disk is full" in done.stdout, done.stdout + done.stderr
    with Store(store.path).reading() as tx:
        assert tx.integrity.check() == []
        kept = len(tx.memories.all())
    assert whole(Store(store.path)) == before or kept % 500 == 4


def test_threads_that_change_one_row_wait_for_each_other(store: Store) -> None:
    fill(store, [candidate("x y z", native_id="m")])

    def use(_: int) -> None:
        with Store(store.path).writing("agent") as tx:
            tx.memories.count_uses({"m": 1}, {"m": 1})

    with ThreadPoolExecutor(8) as pool, store.kept_open():
        list(pool.map(use, range(24)))
    with store.reading() as tx:
        memory = tx.memories.read(["m"])["m"]
    assert (memory.reuse_count, memory.useful_count) == (24, 24)


def test_holding_the_files_waits_for_a_thread_that_reads(store: Store) -> None:
    fill(store, [candidate("x y z")])
    reading, go_on = threading.Event(), threading.Event()

    def read() -> None:
        with store.reading():
            reading.set()
            go_on.wait(20)

    thread = threading.Thread(target=read)
    thread.start()
    assert reading.wait(20)
    threading.Timer(0.1, go_on.set).start()
    with store.held(shared=False):
        assert go_on.is_set()
    thread.join()
