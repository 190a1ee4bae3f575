"""Runs what follows the nights of a period from the command line: principles, the knowledge base, and rollups."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from memory_pipeline.config.settings import Settings
from memory_pipeline.interfaces.cli.instances import job_of, run_config
from memory_pipeline.interfaces.cli.run_causes import cause_to_tell, causes_of

if TYPE_CHECKING:
    from dagster import DagsterInstance, TimeWindowPartitionsDefinition


def run_ended_periods(instance: DagsterInstance, settings: Settings, day: date) -> dict[str, str]:
    """Run the weekly and monthly steps if the night of `day` was the last one of its period. Returns the outcome in
    words, by job and partition."""
    from memory_pipeline.orchestration.partitions import periods_ending_with

    return _run_periods(instance, settings, periods_ending_with(day))


def run_missing_periods(instance: DagsterInstance, settings: Settings, last_night: date) -> dict[str, str]:
    """Run the weekly or monthly step of the newest period, up to `last_night`, if it has never run for any. Returns
    the outcome in words, by job and partition."""
    from dagster import AssetKey

    from memory_pipeline.orchestration.jobs import PERIOD_ASSETS
    from memory_pipeline.orchestration.partitions import newest_period

    missing = {}
    for partitions, asset in PERIOD_ASSETS.items():
        key = newest_period(partitions, last_night, datetime.now(UTC))
        if key is not None and not instance.get_materialized_partitions(AssetKey(asset)):
            missing[partitions] = key
    return _run_periods(instance, settings, missing)


def _run_periods(
    instance: DagsterInstance, settings: Settings, periods: Mapping[TimeWindowPartitionsDefinition, str]
) -> dict[str, str]:
    from memory_pipeline.orchestration.jobs import PERIOD_JOBS

    jobs = ((PERIOD_JOBS[partitions].name, key) for partitions, key in periods.items())
    return {f"{name} {key}": _outcome(instance, settings, name, key, {}) for name, key in jobs}


def run_rollups(instance: DagsterInstance, settings: Settings, last_day: date) -> dict[str, str]:
    """Sum up every day from the first memory to `last_day`, and each week, month and year of them that has ended: a run
    for each level. Returns the outcome in words, by job and span."""
    from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

    from memory_pipeline.orchestration.jobs import ROLLUP_JOBS, daily_rollups_job
    from memory_pipeline.orchestration.partitions import EVERY_DAY, first_day_of, newest_period

    first_day = first_day_of(settings, of_demo=False) or last_day
    begin = datetime.combine(first_day, datetime.min.time(), UTC).timestamp()
    results = {}
    for partitions, job in {EVERY_DAY: daily_rollups_job, **ROLLUP_JOBS}.items():
        first = partitions.get_partition_key_for_timestamp(begin)
        newest = newest_period(partitions, last_day, datetime.now(UTC))
        if newest is not None and newest >= first:
            span = {ASSET_PARTITION_RANGE_START_TAG: first, ASSET_PARTITION_RANGE_END_TAG: newest}
            results[f"{job.name} {first} to {newest}"] = _outcome(instance, settings, job.name, None, span)
    return results


def _outcome(
    instance: DagsterInstance, settings: Settings, name: str, partition: str | None, tags: Mapping[str, str]
) -> str:
    """Run a job, and say what became of it."""
    from memory_pipeline.orchestration.resources import HOLDER_TAG

    result = job_of(name).execute_in_process(
        instance=instance,
        partition_key=partition,
        raise_on_error=False,
        tags={HOLDER_TAG: "memory-pipeline backfill", **tags},
        run_config=run_config(settings),
    )
    causes = causes_of(result)
    return "done" if result.success else f"FAILED: {cause_to_tell(causes)}"
