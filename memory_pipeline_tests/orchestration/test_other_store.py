"""A run whose configuration names a store puts everything beside that store, and nothing beside the project's own."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterInstance, RunRequest, build_run_status_sensor_context, build_schedule_context

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.definitions import defs
from memory_pipeline.interfaces.cli.instances import instance_of
from memory_pipeline.interfaces.cli.nights import run_night_job
from memory_pipeline.orchestration.home import load_project_settings, night_config
from memory_pipeline.orchestration.schedules import night_schedule
from memory_pipeline.orchestration.sensors import failed_night_notice
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson, settings_for
from memory_pipeline_tests.interfaces.in_process import command

DAY = "2026-03-03"
BESIDE = {"other.duckdb", "other.night", "other.snapshots", "reports"}


@pytest.fixture
def default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the project's own store, which nobody has made."""
    directory = tmp_path / "default"
    monkeypatch.setenv("MEMORY_PIPELINE_STORE_PATH", str(directory / "store.duckdb"))
    return directory


@pytest.fixture
def other(tmp_path: Path, default: Path) -> Store:
    """Another store, with something to distil."""
    made = Store(tmp_path / "elsewhere" / "other.duckdb")
    fill(made, lesson(5))
    return made


def names_beside(store: Store) -> set[str]:
    return {path.name for path in store.path.parent.iterdir()}


def launch(instance: DagsterInstance, config: dict[str, Any], job: str = "night") -> Any:
    return defs.resolve_job_def(job).execute_in_process(
        instance=instance, partition_key=DAY, raise_on_error=False, run_config=config
    )


@pytest.mark.slow
def test_a_launched_night_leaves_everything_beside_the_store_that_it_names(
    instance: DagsterInstance, default: Path, other: Store
) -> None:
    result = launch(instance, night_config(settings_for(other)))
    assert result.success and not default.exists()
    assert names_beside(other) >= BESIDE
    with other.reading() as tx:
        assert tx.journal.report(result.run_id) is not None


@pytest.mark.slow
def test_a_night_from_the_command_line_does_too_and_its_history_lies_there(default: Path, other: Store) -> None:
    done = command("night", DAY, "--store", other.path)
    assert done.code == 0, done.err
    assert not default.exists() and names_beside(other) >= {*BESIDE, "other.dagster"}


@pytest.mark.slow
def test_settings_of_a_run_go_with_it_and_secrets_do_not(default: Path, other: Store) -> None:
    changes = {"model.provider": "none", "anthropic.api_key": "sk-secret"}
    settings = load_project_settings({"store.path": str(other.path)}).values.with_values(changes)
    before = dict(os.environ)
    with instance_of(settings) as instance:
        assert {name for name in os.environ if os.environ[name] != before.get(name)} <= {"DAGSTER_HOME"}
        run_night_job(instance, settings, NightOptions(date.fromisoformat(DAY), ""), lambda *_: None)
        (run,) = instance.get_runs()
    given = run.run_config["resources"]["night"]["config"]["settings"]
    assert given == {"store.path": str(other.path), "model.provider": "none"}
    assert "sk-secret" not in str(run.run_config)


def test_what_a_tick_asks_for_names_the_store(instance: DagsterInstance, other: Store, default: Path) -> None:
    tick = datetime(2026, 3, 4, 8, 30, tzinfo=UTC)
    request = night_schedule(build_schedule_context(instance=instance, scheduled_execution_time=tick))
    assert isinstance(request, RunRequest)
    given = request.run_config["resources"]["night"]["config"]["settings"]
    assert given["store.path"] == str(default / "store.duckdb")


def test_a_failed_night_is_reported_in_the_store_that_it_worked_on(
    instance: DagsterInstance, default: Path, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_pipeline.consolidation.context.Night.hold_lease", lambda _: 1 / 0)
    result = launch(instance, night_config(settings_for(other)))
    assert not result.success
    run = instance.get_run_by_id(result.run_id)
    assert run is not None
    (ended,) = [e for e in instance.all_logs(run.run_id) if e.dagster_event and e.dagster_event.is_run_failure]
    assert ended.dagster_event is not None
    context = build_run_status_sensor_context("failed_night_notice", ended.dagster_event, instance, run)
    failed_night_notice(context.for_run_failure())
    with other.reading() as tx:
        report = tx.journal.report(result.run_id)
    assert report is not None and report["verdict"] == "FAIL"
    assert not default.exists() and (other.path.parent / "reports" / "notices.jsonl").exists()


def test_the_overrides_of_a_run_make_the_same_settings_again(other: Store) -> None:
    from memory_pipeline.config.policies import PolicyTable

    changes = {"compression.policies": {"merge": PolicyTable(enabled=False)}, "consolidation.projects": ("a", "b")}
    settings: Settings = settings_for(other, **{key.replace(".", "__"): value for key, value in changes.items()})
    overrides = night_config(settings)["resources"]["night"]["config"]["settings"]
    assert load_project_settings(overrides).values == settings
