"""The commands about days, weeks, months and years, and how their ends are caught up with."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError, StoreBusyError
from memory_pipeline.interfaces.cli.base import (
    Answer,
    OnlyProjectOption,
    QuietOption,
    current_user,
    group,
)
from memory_pipeline.interfaces.cli.failures import cause_to_tell, causes_of
from memory_pipeline.interfaces.cli.instances import run_config
from memory_pipeline.interfaces.cli.nights import run_job
from memory_pipeline.interfaces.cli.output import progress_printer
from memory_pipeline.moments import latest_complete_day, read_day
from memory_pipeline.store import Store

if TYPE_CHECKING:
    from dagster import DagsterInstance, TimeWindowPartitionsDefinition

    from memory_pipeline.periods.running import MadeRollup

rollups_app = group("rollups", "What days, weeks, months and years amount to: run, show, list.")


@rollups_app.command("run", epilog="Example: memory-pipeline rollups run --from 2026-03-01 --to 2026-03-31")
def rollups_run(
    settings: Settings,
    store: Store,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="First day (default: that of the first memory).")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="DATE", help="Last day (default: the last complete one).")
    ] = None,
    project: OnlyProjectOption = None,
    quiet: QuietOption = False,
) -> Answer:
    """Make the summaries of every day, week, month and year that holds one of these days and has ended, and write their
    pages beside the store. Running it again changes nothing, unless the notes of a day have changed."""
    from memory_pipeline.periods.running import finish_rollups, periods_to_make, roll_up

    newest = latest_complete_day(datetime.now(UTC))
    last = min(read_day(to, "--to"), newest) if to else newest
    first = read_day(from_, "--from") if from_ else None
    if first and first > last:
        raise InputError(f"--from {first} is after {last}; give an earlier day")
    periods = periods_to_make(store, first, last, newest)
    run_id = str(uuid.uuid4())
    holder = f"rollups of {current_user()}"
    store.take_lease(run_id, holder)
    try:
        made = roll_up(
            store,
            settings,
            periods,
            holder=holder,
            run_id=run_id,
            projects=[project] if project else (),
            progress=progress_printer(),
        )
        failed = finish_rollups(store, settings, made, is_newest=True)
    finally:
        store.release_lease(run_id)
    told = [_ran(made), *(f"Not written: {problem}" for problem in failed)]
    return Answer(
        [one for one in made if one.status != "empty"],
        "\n".join(told),
        failed=failed or any(one.problem for one in made),
    )


@rollups_app.command("list", epilog="Example: memory-pipeline rollups list --project webshop")
def rollups_list(store: Store, project: OnlyProjectOption = None) -> Answer:
    """List the summaries: their periods, how many notes each has, and their tokens."""
    from memory_pipeline.periods.shown import list_rollups

    with store.reading() as tx:
        found = list_rollups(tx, project)
    lines = [
        f"{one.project}  {one.level:<5}  {one.period:<10}  {one.notes:>6,} notes  {one.entries:>4} entries  "
        f"{one.tokens:>5,} of {one.budget:,} tokens"
        for one in found
    ]
    return Answer(found, "\n".join(lines) or "No rollups yet; 'memory-pipeline rollups run' makes them.")


@rollups_app.command("show", epilog="Example: memory-pipeline rollups show 2026-W11")
def rollups_show(
    store: Store,
    period: Annotated[
        str, typer.Argument(metavar="period", help="2026-03-14, 2026-W11, 2026-03 or 2026; a week begins on Sunday.")
    ],
    project: OnlyProjectOption = None,
) -> Answer:
    """Show the summary of a day, a week, a month or a year, with the memories behind it."""
    from memory_pipeline.periods.calendar import read_period
    from memory_pipeline.periods.shown import show_rollups

    asked = read_period(period)
    with store.reading() as tx:
        found = show_rollups(tx, asked, project)
    return Answer(found, "\n\n".join(one.text for one in found))


def _ran(made: Sequence[MadeRollup]) -> str:
    counted = {status: sum(one.status == status for one in made) for status in ("new", "changed", "unchanged", "empty")}
    told = [f"Rollups: {counted['new']:,} new, {counted['changed']:,} changed, {counted['unchanged']:,} as they were."]
    if counted["empty"]:
        told.append(f"Nothing to say of {counted['empty']:,} periods.")
    told += [f"Not written: {one.problem}" for one in made if one.problem]
    told += [f"Note: {one.moved}." for one in made if one.moved]
    return "\n".join(told)


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
    config, by = run_config(settings), "memory-pipeline backfill"
    try:
        result = run_job(instance, name, by, config, lambda *_: None, partition_key=partition, tags=tags)
    except StoreBusyError as error:
        return f"FAILED: {error}"
    return "done" if result.success else f"FAILED: {cause_to_tell(causes_of(result))}"
