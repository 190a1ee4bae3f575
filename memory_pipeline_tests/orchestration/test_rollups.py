"""Rollups in Dagster: partitions, runs of many periods, and what starts them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from dagster import (
    AssetKey,
    DagsterInstance,
    ExecuteInProcessResult,
    SensorDefinition,
    build_schedule_context,
    build_sensor_context,
    job,
)

from memory_pipeline.definitions import defs
from memory_pipeline.orchestration.assets.periods import DAYS, MONTHS, WEEKS, YEARS
from memory_pipeline.orchestration.jobs import night_job
from memory_pipeline.orchestration.partitions import MONTHLY, WEEKLY, YEARLY, periods_ending_with
from memory_pipeline.orchestration.schedules import ROLLUP_SCHEDULES
from memory_pipeline.orchestration.sensors import ended_days
from memory_pipeline.periods.running import periods_to_make, roll_up
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, settings_for

MONDAY = datetime(2026, 3, 9, 10, tzinfo=UTC)
JOBS = {DAYS: "sum_up_days", WEEKS: "sum_up_weeks", MONTHS: "sum_up_months", YEARS: "sum_up_years"}


def noted(store: Store) -> None:
    texts = ["We keep PostgreSQL for the orders.", "The port of the staging database is 5433.", "TODO: ask Dana twice"]
    kinds = ["decision", "fact", "other"]
    notes = enumerate(zip(texts, kinds, strict=True))
    fill(store, [candidate(t, MONDAY + timedelta(days=n), memory_type=k) for n, (t, k) in notes])


def of_range(instance: DagsterInstance, name: str, first: str, last: str) -> ExecuteInProcessResult:
    tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
    job = defs.resolve_job_def(JOBS[name])
    result = job.execute_in_process(instance=instance, tags=tags, raise_on_error=True)
    assert result.success
    return result


@pytest.mark.slow
def test_a_run_of_many_periods_gives_what_the_command_line_gives(store: Store, instance: DagsterInstance) -> None:
    noted(store)
    of_range(instance, DAYS, "2026-03-01", "2026-03-31")
    of_range(instance, WEEKS, "2026-03-08", "2026-03-22")
    result = of_range(instance, MONTHS, "2026-02-01", "2026-03-01")
    checks = result.get_asset_check_evaluations()
    assert len(checks) == 3 and all(check.passed for check in checks)
    with store.reading() as tx:
        here = tx.rollups.all()
    other = Store(store.path.with_name("other.duckdb"))
    noted(other)
    last = date(2026, 3, 31)
    roll_up(other, settings_for(other), periods_to_make(other, None, last, last), holder="t", run_id="r")
    with other.reading() as tx:
        assert here == [one for one in tx.rollups.all() if one.level != "year"]
    of_march = instance.get_latest_materialization_event(AssetKey(MONTHS))
    assert of_march is not None and of_march.asset_materialization is not None
    shown = of_march.asset_materialization.metadata
    assert shown["rollups"].value == 1 and "10 Mar" in str(shown["rollup"].value) and "](" not in str(shown["rollup"])


def test_periods_end_with_their_last_day() -> None:
    assert periods_ending_with(date(2026, 3, 14)) == {WEEKLY: "2026-03-08"}
    assert periods_ending_with(date(2026, 3, 31)) == {MONTHLY: "2026-03-01"}
    assert periods_ending_with(date(2025, 12, 31)) == {MONTHLY: "2025-12-01", YEARLY: "2025"}


def test_a_tick_takes_the_newest_period_whose_nights_have_run(store: Store, instance: DagsterInstance) -> None:
    noted(store)
    wanted = {
        f"{DAYS}_schedule": (datetime(2026, 3, 12, tzinfo=UTC), "2026-03-10"),
        f"{WEEKS}_schedule": (datetime(2026, 3, 15, tzinfo=UTC), "2026-03-01"),
        f"{MONTHS}_schedule": (datetime(2026, 4, 1, tzinfo=UTC), "2026-02-01"),
        f"{YEARS}_schedule": (datetime(2026, 1, 1, tzinfo=UTC), "2024"),
    }
    assert {one.name for one in ROLLUP_SCHEDULES} == wanted.keys()
    for one in ROLLUP_SCHEDULES:
        at, key = wanted[one.name]
        ticked = one.evaluate_tick(
            build_schedule_context(instance, scheduled_execution_time=at, repository_def=defs.get_repository_def())
        )
        assert [request.partition_key for request in ticked.run_requests or []] == [key], ticked.skip_message


def test_a_night_is_followed_by_the_sum_of_its_day_and_that_by_what_ends_with_it() -> None:
    sensors = [sensor for sensor in defs.sensors or () if sensor.name in ("ended_days", "ended_rollups")]
    followed = {sensor.name: {job.name for job in sensor.jobs} for sensor in sensors}
    assert followed["ended_days"] == {"sum_up_days"}
    assert followed["ended_rollups"] == {"sum_up_weeks", "sum_up_months", "sum_up_years"}


def ticked(sensor: SensorDefinition, instance: DagsterInstance, cursor: str | None) -> tuple[dict[str, str], str]:
    """A tick of a sensor of runs as the daemon makes it, from the cursor that the last one left: by run key, the day or
    period that is asked for, and the new cursor."""
    tick = sensor.evaluate_tick(build_sensor_context(instance, cursor=cursor, repository_def=defs.get_repository_def()))
    assert tick.cursor
    return {str(request.run_key): str(request.partition_key) for request in tick.run_requests or []}, tick.cursor


def test_a_day_is_summed_up_once_after_each_run_of_its_night(store: Store, instance: DagsterInstance) -> None:
    noted(store)

    def ended(name: str, day: str) -> str:
        """A successful run of a job of this name, which does nothing; returns its id."""
        return (
            job(name=name)(lambda: None).execute_in_process(instance=instance, tags={"dagster/partition": day}).run_id
        )

    ended(night_job.name, "2026-03-08")
    asked, cursor = ticked(ended_days, instance, None)
    assert asked == {}  # what ran before the sensor began

    runs = [(ended(night_job.name, day), day) for day in ("2026-03-09", "2026-03-10", "2026-03-10")]
    ended("another_job", "2026-03-10")
    for run_id, day in runs:
        asked, cursor = ticked(ended_days, instance, cursor)
        assert asked == {f"sum_up_days-{day}-{run_id}": day}
    for _ in range(2):
        asked, cursor = ticked(ended_days, instance, cursor)
        assert asked == {}
