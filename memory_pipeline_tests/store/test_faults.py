"""Bad days of a disk: one clear error each, nothing lost, and the way out."""

from __future__ import annotations

import os
import sys
from datetime import UTC, date, datetime, timedelta
from subprocess import CompletedProcess

import pytest

from memory_pipeline.errors import StoreError
from memory_pipeline.store import Store, create_snapshot, list_snapshots, restore_snapshot, snapshot_directory
from memory_pipeline_tests import processes
from memory_pipeline_tests.build import candidate, fill, lesson, run

AT = datetime(2026, 3, 4, tzinfo=UTC)


def whole(store: Store) -> str:
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
        return tx.contents.digest(with_log=True)


def python(code: str, *arguments: object, **environment: str) -> CompletedProcess[str]:
    """Run lines of Python in a process of their own."""
    return processes.run(_execute, code, [*map(str, arguments)], environment={**os.environ, **environment})


def _execute(code: str, arguments: list[str]) -> None:
    sys.argv = ["-c", *arguments]
    exec(compile(code, "-c", "exec"), {"__name__": "__main__"})


#: Adds one memory to the store that is named.
ADD_ONE = (
    "import sys; from pathlib import Path; from memory_pipeline.store import Store; "
    "from memory_pipeline_tests.build import candidate, fill; "
    "fill(Store(Path(sys.argv[1])), [candidate('written just before the crash', native_id='late')])"
)


def test_a_truncated_store_comes_back_from_its_snapshot(store: Store) -> None:
    fill(store, lesson(4))
    before = whole(store)
    snapshot = create_snapshot(store, "manual", AT, keep=7)
    store.path.write_bytes(store.path.read_bytes()[:9000])
    with pytest.raises(StoreError, match="snapshot restore"), Store(store.path).reading() as tx:
        tx.memories.all()
    restore_snapshot(Store(store.path), snapshot.name)
    assert whole(Store(store.path)) == before
    assert len(list(store.path.parent.glob("*.before-restore-*"))) == 1, "the damaged file is kept too"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_directory_that_cannot_be_written_is_one_sentence(store: Store) -> None:
    fill(store, lesson(4))
    for path in (store.path.parent, *store.path.parent.parents):
        if path.owner() == "root" and str(path).startswith("/tmp/"):
            path.chmod(0o755)
    store.path.chmod(0o444)
    store.path.parent.chmod(0o555)
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from memory_pipeline.store import Store\n"
        "from memory_pipeline_tests.build import candidate, fill\n"
        "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "try:\n"
        "    fill(Store(Path(sys.argv[1])), [candidate('x y z')])\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    try:
        done = python(code, store.path)
    finally:
        store.path.parent.chmod(0o755)
        store.path.chmod(0o644)
    assert done.stdout.startswith("StoreError") and "cannot be written: permission denied" in done.stdout, done
    assert len(done.stdout.strip().splitlines()) == 1
    assert whole(Store(store.path))


def test_half_written_reports_and_snapshots_are_never_taken_for_whole_ones(store: Store) -> None:
    fill(store, lesson(4))
    directory = snapshot_directory(store)
    directory.mkdir()
    (directory / ".20260101T000000000000Z-night.partial").write_bytes(b"half")
    (directory / "20260101T000000000000Z-night.duckdb").write_bytes(b"a copy nobody described")
    (directory / "20260102T000000000000Z-night.json").write_text('{"name": "20260102T0000')
    old = (datetime.now() - timedelta(hours=2)).timestamp()
    for leftover in directory.iterdir():
        os.utime(leftover, (old, old))
    assert list_snapshots(store) == []
    run(store, date(2026, 3, 3), snapshot=True)
    assert len(list_snapshots(store)) == 1
    assert not list(directory.glob(".*.partial")) and not (directory / "20260101T000000000000Z-night.duckdb").exists()
    assert not list((store.path.parent / "reports").glob(".*.partial"))


@pytest.mark.slow
def test_a_clock_that_was_set_back_does_not_drop_the_snapshot_just_taken(store: Store) -> None:
    for hour in range(8):
        fill(store, [candidate(f"note {hour}", native_id=f"n{hour}")])
        create_snapshot(store, "manual", AT + timedelta(hours=hour), keep=7)
    fill(store, [candidate("after the clock went back", native_id="back")])
    taken = create_snapshot(store, "manual", AT + timedelta(hours=6, minutes=30), keep=7)
    names = [snapshot.name for snapshot in list_snapshots(store)]
    assert taken.name in names and len(names) == 7
