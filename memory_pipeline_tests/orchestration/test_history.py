"""The history of runs in files that stay open: what Dagster writes is there for every process, whoever opens it."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from dagster import (
    AssetCheckKey,
    AssetCheckResult,
    AssetCheckSpec,
    AssetKey,
    DagsterEventType,
    DagsterInstance,
    MaterializeResult,
    asset,
    materialize,
)

from memory_pipeline.orchestration.history import RunHistory
from memory_pipeline.orchestration.home import prepare_dagster_home


@asset(check_specs=[AssetCheckSpec("is_small", asset="note")])
def note() -> MaterializeResult:  # type: ignore[type-arg]
    return MaterializeResult(metadata={"words": 7}, check_results=[AssetCheckResult(passed=True)])


def test_a_check_is_one_event_and_not_an_output_of_any_type_besides(instance: DagsterInstance) -> None:
    run = materialize([note], instance=instance).run_id
    kinds = [log.dagster_event_type for log in instance.all_logs(run)]
    assert kinds.count(DagsterEventType.STEP_OUTPUT) == kinds.count(DagsterEventType.ASSET_CHECK_EVALUATION) == 1
    assert not [log for log in instance.all_logs(run) if "note_is_small" in str(log.message)]


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


_FILES = ["history/runs.db", "history/event_log.db", "schedules/schedules.db"]


def _open(home: Path) -> None:
    history = RunHistory(str(home))
    for part in (history.run_storage, history.event_log_storage, history.schedule_storage):
        part.dispose()


def _parts(file: Path) -> tuple[list[str], list[str], list[str], str]:
    """What a whole file has: its tables and indexes in the order of their creation, the names of the data migrations
    that are done, the number of its schema, and the mode of its journal."""
    with closing(sqlite3.connect(file)) as db:
        made = [text for (text,) in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")]
        done = [name for (name,) in db.execute("SELECT name FROM secondary_indexes ORDER BY name")]
        number = [text for (text,) in db.execute("SELECT version_num FROM alembic_version")]
        return made, done, number, db.execute("PRAGMA journal_mode").fetchone()[0]


@pytest.mark.parametrize("name", _FILES)
def test_a_history_whose_creation_was_killed_is_completed(home: Path, name: str) -> None:
    _open(home)
    file = home / name
    made, done, number, journal = whole = _parts(file)
    assert len(made) > 10 and len(done) >= 2 and len(number) == 1 and journal == "wal"
    for finished in (0, 1, 2, len(made) // 2, len(made) - 3, len(made)):
        for there in home.glob(f"{name}*"):
            there.unlink()
        with closing(sqlite3.connect(file)) as db:
            for statement in made[:finished]:
                db.execute(statement)
        assert finished or not file.stat().st_size
        _open(home)
        again = _parts(file)
        assert (sorted(again[0]), *again[1:]) == (sorted(whole[0]), *whole[1:]), finished


@pytest.mark.parametrize("name", _FILES)
def test_a_history_of_which_a_file_is_missing_gets_that_file(home: Path, name: str) -> None:
    _open(home)
    whole = _parts(home / name)
    for there in home.glob(f"{name}*"):
        there.unlink()
    with DagsterInstance.get() as opened:
        done = materialize([note], instance=opened)
        assert done.success and opened.all_logs(done.run_id)
    assert _parts(home / name) == whole


def test_records_in_a_history_that_was_never_finished_stay(home: Path) -> None:
    with DagsterInstance.get() as opened:
        earlier = materialize([note], instance=opened).run_id
        events = len(opened.all_logs(earlier))
    with closing(sqlite3.connect(home / "history" / "event_log.db", isolation_level=None)) as db:
        db.execute("DROP TABLE asset_check_executions")
        db.execute("DROP INDEX idx_events_by_asset")
        db.execute("DROP TABLE alembic_version")
        db.execute("DELETE FROM secondary_indexes")
        db.execute("UPDATE asset_keys SET last_materialization_timestamp = NULL")
    with DagsterInstance.get() as opened:
        later = materialize([note], instance=opened)
        assert later.success
        assert len(opened.all_logs(earlier)) == len(opened.all_logs(later.run_id)) == events
        assert {run.run_id for run in opened.get_runs()} == {earlier, later.run_id}
        assert opened.get_asset_keys() == [AssetKey("note")]
        key = AssetCheckKey(AssetKey("note"), "is_small")
        (check,) = opened.event_log_storage.get_asset_check_execution_history(key, limit=5)
        assert check.run_id == later.run_id


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
def test_a_process_killed_while_it_creates_the_history_leaves_one_that_the_next_completes(home: Path) -> None:
    _open(home)
    whole = {name: sorted(_parts(home / name)[0]) for name in _FILES}
    for statement in (24, 27, 121, 144, 168, 178, 245, 275):
        for directory in ("history", "schedules"):
            shutil.rmtree(home / directory, ignore_errors=True)
        killed = subprocess.run([sys.executable, "-c", _KILLED, str(statement)], env=os.environ)
        assert killed.returncode == -signal.SIGKILL, statement
        with DagsterInstance.get() as opened:
            done = materialize([note], instance=opened)
            assert done.success and opened.all_logs(done.run_id), statement
        assert {name: sorted(_parts(home / name)[0]) for name in _FILES} == whole, statement
