"""Runs whose process is gone: ended, reported, and no longer in the way of the next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from dagster import (
    DagsterEvent,
    DagsterEventType,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    SkipReason,
    build_sensor_context,
)

from memory_pipeline.definitions import defs
from memory_pipeline.errors import InputError, StoreBusyError
from memory_pipeline.orchestration import resources
from memory_pipeline.orchestration.consolidation import JOB_NAME, cancel_job, find_job, job_record, list_jobs
from memory_pipeline.orchestration.resources import end_dead_runs
from memory_pipeline.orchestration.sensors import dead_runs
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson, sql_rows


def ended_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def started(instance: DagsterInstance, pid: int, **configured: object) -> DagsterRun:
    """A run that Dagster has seen start in a process."""
    run = instance.create_run_for_job(
        defs.resolve_job_def(JOB_NAME), run_config={"resources": {"night": {"config": configured}}}
    )
    event = DagsterEvent(DagsterEventType.RUN_START.value, JOB_NAME, message="it began", pid=pid)
    instance.report_dagster_event(event, run.run_id)
    return run


def status_of(instance: DagsterInstance, run: DagsterRun) -> DagsterRunStatus:
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    return found.status


def test_only_a_run_whose_process_is_gone_is_ended(instance: DagsterInstance, store: Store) -> None:
    waiting = instance.create_run_for_job(defs.resolve_job_def(JOB_NAME))
    alive, dead, unwanted = (started(instance, pid) for pid in (os.getpid(), ended_process(), ended_process()))
    instance.report_run_canceling(unwanted)
    assert sorted(end_dead_runs(instance)) == sorted([dead.run_id, unwanted.run_id])
    assert status_of(instance, alive) == DagsterRunStatus.STARTED
    assert status_of(instance, dead) == DagsterRunStatus.FAILURE
    assert status_of(instance, unwanted) == DagsterRunStatus.CANCELED
    assert status_of(instance, waiting) == DagsterRunStatus.NOT_STARTED
    assert "ended unexpectedly" in job_record(instance, find_job(instance, dead.run_id)).error
    assert end_dead_runs(instance) == []


def test_a_run_that_ends_while_it_is_looked_at_is_not_called_dead(
    instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = started(instance, os.getpid())

    def ends_now(pid: int, seen_at: datetime) -> bool:
        instance.report_dagster_event(DagsterEvent(DagsterEventType.RUN_SUCCESS.value, JOB_NAME), run.run_id)
        return False

    monkeypatch.setattr(resources, "is_running", ends_now)
    assert end_dead_runs(instance) == [] and status_of(instance, run) == DagsterRunStatus.SUCCESS


def test_a_run_that_holds_the_lease_of_its_store_is_alive_wherever_it_is(
    instance: DagsterInstance, store: Store, tmp_path: Path
) -> None:
    other = Store(tmp_path / "other.duckdb")
    for held, configured in ((store, {}), (other, {"settings": {"store.path": str(other.path)}})):
        run = started(instance, ended_process(), **configured)
        _hold_and_let_go(instance, held, run)


def _hold_and_let_go(instance: DagsterInstance, store: Store, run: DagsterRun) -> None:
    store.take_lease(run.run_id, "another machine")
    with store.writing("test") as tx:
        sql_rows(tx, "update lease set host = 'elsewhere'")
    assert end_dead_runs(instance) == []
    with store.writing("test") as tx:
        sql_rows(tx, "update lease set heartbeat_at = heartbeat_at - interval 2 minutes")
    assert end_dead_runs(instance) == [run.run_id]


def test_a_process_that_began_later_is_not_the_holder(store: Store) -> None:
    store.take_lease("dead-run", "before the restart")
    with store.writing("test") as tx:
        sql_rows(tx, "update lease set pid = $1", [os.getppid()])
    with pytest.raises(StoreBusyError, match="before the restart"):
        store.take_lease("mine", "me")
    with store.writing("test") as tx:
        sql_rows(tx, "update lease set heartbeat_at = heartbeat_at - interval 90 days")
    store.take_lease("mine", "me")


@pytest.mark.slow
def test_a_killed_job_is_ended_and_the_next_one_can_begin(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, lesson(4))
    command = [str(Path(sys.executable).with_name("memory-pipeline")), "jobs", "start", "--store", str(store.path)]
    killed = subprocess.run(
        command, env={**os.environ, "KILL_POINT": "store.commit.after#3"}, capture_output=True, cwd=tmp_path
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()[-1000:]
    home = str(store.path.with_suffix(".dagster"))
    monkeypatch.setenv("DAGSTER_HOME", home)
    with DagsterInstance.from_config(home) as instance:
        (job,) = list_jobs(instance)
        assert job.status == "running"
        skipped = dead_runs(build_sensor_context(instance=instance))
        assert isinstance(skipped, SkipReason) and job.job_id in (skipped.skip_message or "")
        (job,) = list_jobs(instance)
        assert job.status == "failed" and "ended unexpectedly" in job.error
        with pytest.raises(InputError, match="has ended"):
            cancel_job(instance, job.job_id)
    again = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert again.returncode == 0 and "completed" in again.stdout and "playbook created: 1" in again.stdout
