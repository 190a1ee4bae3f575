"""Processes that work on a store until they are killed, at any instant; after each kill the store has to be whole.

`python -m memory_pipeline_tests.laws.kills KIND COUNT [SEED]` runs as many kills as you like and prints what was lost.
What a worker says it has committed, it says through a pipe: all of that has to be there.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path

from memory_pipeline.consolidation.knowledge_base import compress_knowledge_base, knowledge_base_night
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.consolidation.run import PHASES, run_phase
from memory_pipeline.store import Store, create_snapshot, list_snapshots, restore_snapshot
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, night_of, run, settings_for, sql_rows
from memory_pipeline_tests.laws.crashes import DAY, prepare

Acknowledge = Callable[[int], None]
AT = datetime(2026, 3, 5, tzinfo=UTC)


def _leases(path: Path, acknowledge: Acknowledge) -> None:
    """The shortest of writes, one after the other: the lease taken and released, and a row that stays. Every other
    worker keeps the file open from one to the next."""
    store = Store(path)
    with store.kept_open() if os.getpid() % 2 else nullcontext():
        _write_leases(store, acknowledge)


def _write_leases(store: Store, acknowledge: Acknowledge) -> None:
    with store.reading() as tx:
        row = sql_rows(tx, "select coalesce(max(line), 0) from quarantine")[0]
    for number in count(int(row[0]) + 1 if row else 1):
        store.take_lease(f"run-{os.getpid()}", "worker")
        with store.writing("worker") as tx:
            tx.journal.keep_quarantine([("kills", number, "a row that stays", "x")], AT)
        acknowledge(number)
        store.release_lease(f"run-{os.getpid()}")
        store.settle()


def _imports(path: Path, acknowledge: Acknowledge) -> None:
    store = Store(path)
    with store.reading() as tx:
        row = sql_rows(tx, "select count(*) from memories where starts_with(id, 'row-')")[0]
    first = int(row[0]) if row else 0
    for number in count(first, 40):
        rows = [
            candidate(f"imported note {n} about subject {n * 7919 % 1009}", FIRST, native_id=f"row-{n:06}")
            for n in range(number, number + 40)
        ]
        fill(store, rows)
        acknowledge(number + 40)
        store.settle()


def _night(path: Path, acknowledge: Acknowledge) -> None:
    store = Store(path)
    run(store, DAY, settings_for(store), run_id=f"run-{os.getpid()}", snapshot=True)
    store.settle()


def _rollback(path: Path, acknowledge: Acknowledge) -> None:
    store = Store(path)
    with store.reading() as tx:
        if tx.runs.rolled_back_at("the-night"):
            return  # the one before was killed after its commit
    roll_back(store, settings_for(store), RollbackScope(run_id="the-night"))


def _restore(path: Path, acknowledge: Acknowledge) -> None:
    store = Store(path)
    while True:
        for snapshot in list_snapshots(store):
            restore_snapshot(store, snapshot.name)
            for aside in path.parent.glob("*.before-restore-*"):
                aside.unlink(missing_ok=True)


def _knowledge_base(path: Path, acknowledge: Acknowledge) -> None:
    store = Store(path)
    compress_knowledge_base(knowledge_base_night(store, settings_for(store), f"kb-{os.getpid()}"))


def _job(path: Path, acknowledge: Acknowledge) -> None:
    store = Store(path)
    night = night_of(store, DAY, run_id=f"job-{os.getpid()}", snapshot=True)
    with store.kept_open():
        for phase in PHASES:
            run_phase(night, phase)
    store.release_lease(night.options.run_id)


def _nothing(store: Store) -> None:
    with store.writing("prepare"):
        pass


def _after_a_night(store: Store) -> None:
    run(store, DAY, settings_for(store), run_id="the-night", snapshot=True)


def _with_snapshots(store: Store) -> None:
    create_snapshot(store, "first", AT, keep=7)
    fill(store, lesson(5, topic="printer"))
    create_snapshot(store, "second", AT + timedelta(hours=1), keep=7)


def _with_entries(store: Store) -> None:
    form = "Title: {}\nRecommendation: {}.\nExamples:\n- S-{}: it hung"
    advice = ("Restart the relay", "Water the fern", "Renew the licence", "Rotate the logs", "Warm the cache")
    fill(
        store,
        [candidate(form.format(a, a, f"{a[:2]}{n}"), native_id=f"{a}-{n}") for a in advice for n in range(3)],
    )


@dataclass(frozen=True)
class Kind:
    """What a worker does, on what, and how what it acknowledged is counted again."""

    work: Callable[[Path, Acknowledge], None]
    prepare: Callable[[Store], None]
    counted: str | None = None
    lasts: float | None = None


KINDS: Mapping[str, Kind] = {
    "lease": Kind(_leases, _nothing, "select coalesce(max(line), 0) from quarantine where file = 'kills'", 0.5),
    "import": Kind(_imports, _nothing, "select count(*) from memories where starts_with(id, 'row-')", 1.0),
    "night": Kind(_night, lambda store: None),
    "rollback": Kind(_rollback, _after_a_night),
    "restore": Kind(_restore, _with_snapshots, lasts=1.0),
    "kb-compress": Kind(_knowledge_base, _with_entries),
    "job": Kind(_job, lambda store: None),
}


@dataclass
class Outcome:
    """How many workers were killed while they worked, and what was wrong with a store afterwards."""

    killed: int = 0
    finished: int = 0
    problems: list[str] = field(default_factory=list)


def _in_a_process(work: Callable[[Acknowledge], None]) -> tuple[int, int]:
    """Fork a worker; return its number and the end of the pipe that its acknowledgements come through."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    try:
        os.close(reading)
        work(lambda number: os.write(writing, struct.pack("q", number)) and None)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _acknowledged(reading: int) -> int:
    last = 0
    while data := os.read(reading, 8):
        (last,) = struct.unpack("q", data)
    os.close(reading)
    return last


def _examine(path: Path, kind: Kind, acknowledged: int, sources: str, acknowledge: Acknowledge, *, deep: bool) -> None:
    """Raise unless every block and table reads, every link holds, and all that was acknowledged is there."""
    store = Store(path)
    store.verify()
    with store.reading() as tx:
        if kind.counted:
            row = sql_rows(tx, kind.counted)[0]
            assert row and row[0] >= acknowledged, f"{row} of {acknowledged} acknowledged"
        else:
            assert tx.contents.sources_fingerprint() == sources or kind.work is _restore
        assert not (findings := tx.integrity.check(deep=deep)), findings


def kills(kind_name: str, number: int, seed: int, directory: Path) -> Iterator[Outcome]:
    """Kill `number` workers, one after the other; the outcome so far after each. Some have done before they die."""
    kind, chance, outcome = KINDS[kind_name], random.Random(f"{kind_name}-{seed}"), Outcome()
    calm, path = directory / "calm" / "store.duckdb", directory / "work" / "store.duckdb"
    sources, lasts = _prepare(kind, calm)
    acknowledged = 0
    for turn in range(4 * number):
        if outcome.killed == number:
            return
        if (turn % 3 == 0 and not kind.counted) or (not path.exists() and turn == 0):
            shutil.rmtree(path.parent, ignore_errors=True)
            shutil.copytree(calm.parent, path.parent)
        pid, reading = _in_a_process(partial(kind.work, path))
        time.sleep(chance.uniform(0.01, lasts))
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        acknowledged = max(acknowledged, _acknowledged(reading))
        outcome.killed += os.WIFSIGNALED(status)
        outcome.finished += os.WIFEXITED(status)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            outcome.problems.append(f"turn {turn}: the worker failed by itself")
        look = partial(_examine, path, kind, acknowledged, sources, deep=turn % 5 == 0)
        pid, reading = _in_a_process(look)
        _acknowledged(reading)
        if os.waitpid(pid, 0)[1]:
            outcome.problems.append(f"turn {turn}: the store is not whole")
            shutil.copytree(path.parent, directory / f"lost-{turn}", dirs_exist_ok=True)
        yield outcome


def _prepare(kind: Kind, calm: Path) -> tuple[str, float]:
    """A store to begin with, the fingerprint of its sources, and how long a worker may live, in seconds."""
    calm.parent.mkdir(parents=True)

    def begin(acknowledge: Acknowledge) -> None:
        kind.prepare(prepare(calm))
        with Store(calm).reading() as tx:
            (calm.parent / "sources").write_text(tx.contents.sources_fingerprint())

    pid, reading = _in_a_process(begin)
    _acknowledged(reading)
    assert os.waitpid(pid, 0)[1] == 0
    lasts = kind.lasts
    if lasts is None:
        trial = calm.parent.with_name("trial")
        shutil.copytree(calm.parent, trial)
        start = time.monotonic()
        pid, reading = _in_a_process(partial(kind.work, trial / calm.name))
        _acknowledged(reading)
        assert os.waitpid(pid, 0)[1] == 0
        lasts = (time.monotonic() - start) * 1.05
        shutil.rmtree(trial)
    return (calm.parent / "sources").read_text(), lasts


def main(kind_name: str, number: str, seed: str = "0") -> int:
    directory = Path(tempfile.mkdtemp(prefix=f"kills-{kind_name}-"))
    outcome = Outcome()
    start = time.monotonic()
    for turn, outcome in enumerate(kills(kind_name, int(number), int(seed), directory), 1):
        if turn % 100 == 0 or outcome.problems:
            print(kind_name, turn, outcome, f"{time.monotonic() - start:.0f} s", flush=True)
        if len(outcome.problems) > 5:
            break
    print(kind_name, "seed", seed, outcome, f"{time.monotonic() - start:.0f} s", directory, flush=True)
    if not outcome.problems:
        shutil.rmtree(directory)
    return bool(outcome.problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
