"""The laws as a model: imports, nights, late notes, rollbacks, snapshots, restores and failures, in any order."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.errors import InputError
from memory_pipeline.recall.past import read_state
from memory_pipeline.records import Memory
from memory_pipeline.store import Store, create_snapshot, list_snapshots, restore_snapshot
from memory_pipeline_tests.build import FIRST, BrokenEmbedder, candidate, fill, lesson, night_of, settings_for, sql_rows

TOPICS = ("gateway", "printer", "scanner")
DAYS = 6


def mutable_free(memory: Memory) -> tuple[object, ...]:
    """What the first law keeps still."""
    return memory.project_id, memory.content, memory.categories, memory.created_at


class AnyOrder(RuleBasedStateMachine):
    """Whatever is done in whatever order, the laws hold after every step."""

    runs = Bundle("runs")

    @initialize()
    def start(self) -> None:
        self.directory = Path(tempfile.mkdtemp())
        self.store = Store(self.directory / "store.duckdb")
        self.settings = settings_for(self.store)
        self.seen: dict[str, tuple[object, ...]] = {}
        self.number = 0
        self.hash_before_run: dict[str, str] = {}
        self.touched_since: set[str] = set()
        fill(self.store, lesson(4))

    def teardown(self) -> None:
        if hasattr(self, "directory"):
            shutil.rmtree(self.directory, ignore_errors=True)

    def active_hash(self) -> str:
        with self.store.reading() as tx:
            return tx.contents.digest(active_only=True)

    def something_else_happened(self) -> None:
        self.touched_since = set(self.hash_before_run)

    @rule(
        topic=st.sampled_from(TOPICS), count=st.integers(1, 4), day=st.integers(0, DAYS), project=st.sampled_from("pq")
    )
    def notes_arrive(self, topic: str, count: int, day: int, project: str) -> None:
        self.number += 1
        notes = [
            candidate(note.content, FIRST + timedelta(days=day, hours=n), native_id=f"{project}-{self.number}-{n}")
            for n, note in enumerate(lesson(count, topic=topic))
        ]
        fill(self.store, notes, project)
        self.something_else_happened()

    @rule(count=st.integers(2, 6), day=st.integers(0, DAYS), figure=st.integers(20, 99), project=st.sampled_from("pq"))
    def readings_arrive(self, count: int, day: int, figure: int, project: str) -> None:
        self.number += 1
        lines = [
            candidate(
                f"HOOK: check complete in {figure + n}.5s, task={'success' if (figure + n) % 3 else 'failed'}",
                FIRST + timedelta(days=day, hours=n),
                native_id=f"{project}-r{self.number}-{n}",
            )
            for n in range(count)
        ]
        fill(self.store, lines, project)
        self.something_else_happened()

    @rule(target=runs, day=st.integers(1, DAYS + 2), failing=st.sampled_from(["", "", "", "embedder", "distiller"]))
    def a_night(self, day: int, failing: str) -> str:
        return self.night(day, failing=failing)

    @rule(target=runs, day=st.integers(1, DAYS + 2))
    def a_night_with_an_agent_writing(self, day: int) -> str:
        self.number += 1
        written: list[str] = []

        def write(step: str, done: int, total: int) -> None:
            if not written:
                written.append(f"agent-{self.number}")
                fill(self.store, [candidate(f"an agent writes note {self.number}", native_id=written[0])])

        run_id = self.night(day, progress=write)
        if written:
            assert written[0] in read_state(self.store, "now").active
            self.touched_since.add(run_id)
        return run_id

    def night(self, day: int, failing: str = "", **parts: Any) -> str:
        self.number += 1
        run_id = f"run-{self.number}"
        self.something_else_happened()
        self.hash_before_run[run_id] = self.active_hash()
        night = night_of(
            self.store, date(2026, 3, 1) + timedelta(days=day), self.settings, run_id=run_id, snapshot=True
        )
        for name, value in parts.items():
            setattr(night, name, value)
        if failing == "embedder":
            night.__dict__["embedder"] = BrokenEmbedder()
        if failing == "distiller":
            night.__dict__["distiller"] = BrokenDistiller(night.distiller)
        report = run_night(night)
        assert report.memories_archived >= 0
        return run_id

    @rule(day=st.integers(1, DAYS + 2))
    def a_dry_run(self, day: int) -> None:
        before = self.store.path.read_bytes()
        self.number += 1
        partition = date(2026, 3, 1) + timedelta(days=day)
        run_night(night_of(self.store, partition, self.settings, run_id=f"dry-{self.number}", dry_run=True))
        assert self.store.path.read_bytes() == before

    @rule(run_id=runs)
    def a_rollback(self, run_id: str) -> None:
        with self.store.reading() as tx:
            if not sql_rows(tx, "select 1 from audit_log where run_id = $1", [run_id]):
                return  # a restore has taken the store to before that run
            again = tx.runs.rolled_back_at(run_id)
        before = self.active_hash()
        try:
            roll_back(self.store, self.settings, RollbackScope(run_id=run_id), cascade=True)
        except InputError as error:  # a snapshot of after the rollback was restored
            assert again and "was already rolled back on" in str(error)
            assert self.active_hash() == before
            return
        if run_id in self.hash_before_run and run_id not in self.touched_since:
            assert self.active_hash() == self.hash_before_run[run_id]
        self.something_else_happened()

    @rule()
    def a_snapshot(self) -> None:
        create_snapshot(self.store, "model", datetime.now(UTC), 7)

    @precondition(lambda self: list_snapshots(self.store))
    @rule(data=st.data())
    def a_restore(self, data: st.DataObject) -> None:
        snapshot = data.draw(st.sampled_from(list_snapshots(self.store)))
        restore_snapshot(self.store, snapshot.name)
        with self.store.reading() as tx:
            assert tx.contents.digest(with_log=True) == snapshot.store_hash
        self.seen = {}  # another history: an abstraction of both carries its own night's time in each
        self.something_else_happened()

    @invariant()
    def the_store_is_sound(self) -> None:
        if hasattr(self, "store"):
            with self.store.reading() as tx:
                assert tx.integrity.check(deep=True) == []

    @invariant()
    def nothing_is_lost_or_altered(self) -> None:
        if hasattr(self, "store"):
            with self.store.reading() as tx:
                now = {memory.id: mutable_free(memory) for memory in tx.memories.all(include_rolled_back=True)}
            assert [memory_id for memory_id, kept in self.seen.items() if now.get(memory_id) != kept] == []
            self.seen = now

    @invariant()
    def what_is_archived_leads_to_something_active_of_its_project(self) -> None:
        if hasattr(self, "store"):
            with self.store.reading() as tx:
                memories = {memory.id: memory for memory in tx.memories.all()}
            for memory in memories.values():
                end = memory
                while end.consolidated_into_id:
                    end = memories[end.consolidated_into_id]
                assert end.archived_at is None and end.project_id == memory.project_id


class BrokenDistiller:
    """Names itself like the real one, and fails at every second cluster."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def drafts(self, tasks: Any, session: Any) -> Any:
        for number, (task, draft) in enumerate(self._real.drafts(tasks, session)):
            yield task, draft if number % 2 else RuntimeError("the model is on strike")


def _deterministic(examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        phases=[Phase.generate],
    )


class TestAnyOrder(AnyOrder.TestCase):  # type: ignore[misc,name-defined]
    """Runs in the default suite, with few examples; the slow one looks longer."""

    settings = _deterministic(examples=2, steps=7)


@pytest.mark.slow
class TestAnyOrderAtLength(AnyOrder.TestCase):  # type: ignore[misc,name-defined]
    """The same model with more and longer histories."""

    settings = _deterministic(examples=12, steps=18)
