"""The history of runs in files that stay open: what Dagster writes is there for every process, whoever opens it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import (
    AssetCheckResult,
    AssetCheckSpec,
    AssetKey,
    DagsterEventType,
    DagsterInstance,
    MaterializeResult,
    asset,
    materialize,
)

from memory_pipeline.orchestration.home import prepare_dagster_home


@asset(check_specs=[AssetCheckSpec("is_small", asset="note")])
def note() -> MaterializeResult:  # type: ignore[type-arg]
    return MaterializeResult(metadata={"words": 7}, check_results=[AssetCheckResult(passed=True)])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = prepare_dagster_home(tmp_path / "store.duckdb")
    monkeypatch.setenv("DAGSTER_HOME", str(place))
    return place


@pytest.fixture
def instance(home: Path) -> Iterator[DagsterInstance]:
    with DagsterInstance.get() as opened:
        yield opened


def test_a_run_its_events_and_its_checks_are_read_back(instance: DagsterInstance) -> None:
    done = materialize([note], instance=instance)
    run = instance.get_run_by_id(done.run_id)
    assert run is not None and run.is_success
    found = instance.get_latest_materialization_event(AssetKey("note"))
    assert found is not None and found.asset_materialization is not None
    assert found.asset_materialization.metadata["words"].value == 7
    (check,) = instance.all_logs(done.run_id, of_type=DagsterEventType.ASSET_CHECK_EVALUATION)
    assert check.dagster_event is not None and check.dagster_event.asset_check_evaluation_data.passed


def test_all_runs_share_one_file_of_events(home: Path, instance: DagsterInstance) -> None:
    runs = [materialize([note], instance=instance).run_id for _ in range(3)]
    assert not (home / "history" / "runs").exists()
    assert (home / "history" / "event_log.db").exists()
    assert all(instance.all_logs(run) for run in runs)


@pytest.mark.slow
def test_another_process_reads_the_history_while_it_is_open(home: Path, instance: DagsterInstance) -> None:
    run = materialize([note], instance=instance).run_id
    script = f"from dagster import DagsterInstance; print(len(DagsterInstance.get().all_logs('{run}')))"
    seen = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ)
    assert int(seen.stdout) == len(instance.all_logs(run))


def test_a_page_that_watches_a_run_hears_of_its_events(instance: DagsterInstance) -> None:
    run = materialize([note], instance=instance).run_id
    heard: list[str] = []

    def listen(entry: object, cursor: str) -> None:
        heard.append(cursor)

    instance.event_log_storage.watch(run, None, listen)
    deadline = time.monotonic() + 30
    while len(heard) < len(instance.all_logs(run)) and time.monotonic() < deadline:
        time.sleep(0.05)
    instance.event_log_storage.end_watch(run, listen)
    assert len(heard) == len(instance.all_logs(run))


@pytest.mark.slow
def test_processes_that_begin_a_history_at_the_same_time_all_open_it(home: Path) -> None:
    script = "from dagster import DagsterInstance; DagsterInstance.get().get_runs()"
    started = [subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True) for _ in range(3)]
    told = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], told
    with DagsterInstance.get() as opened:
        assert opened.get_runs() == []


#: A process that is killed just before its nth statement in a file of the history.
_KILLED = """
import os, signal, sys
from sqlalchemy import Engine, event
left = int(sys.argv[1])
def count(*_):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
event.listen(Engine, "before_cursor_execute", count)
from dagster import DagsterInstance
DagsterInstance.get()
"""


@pytest.mark.slow
def test_a_history_whose_creation_was_killed_is_created_again(home: Path) -> None:
    for statement in (24, 80, 121, 168):
        for directory in ("history", "schedules"):
            shutil.rmtree(home / directory, ignore_errors=True)
        killed = subprocess.run([sys.executable, "-c", _KILLED, str(statement)], env=os.environ)
        assert killed.returncode == -signal.SIGKILL, statement
        with DagsterInstance.get() as opened:
            done = materialize([note], instance=opened)
            assert done.success and opened.all_logs(done.run_id), statement
