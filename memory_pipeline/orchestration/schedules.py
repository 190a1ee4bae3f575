"""The schedules of nights: each tick takes the newest UTC day that has ended.

Only the whole night is on from the start. The ticks are in New York time and the partitions in UTC: 03:30 there is
07:30 or 08:30 UTC, so daylight saving neither skips nor repeats a partition. Weekly and monthly ticks take the newest
period whose nights have all run.
"""

from collections.abc import Callable
from datetime import date
from typing import Any

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from memory_pipeline.errors import StoreBusyError
from memory_pipeline.moments import latest_complete_day
from memory_pipeline.orchestration import jobs
from memory_pipeline.orchestration.assets.periods import DAYS, MONTHS, WEEKS, YEARS
from memory_pipeline.orchestration.consolidation import BY_TAG, TRIGGER_TAG, consolidation_job, scheduled_day
from memory_pipeline.orchestration.home import load_project_settings, night_config
from memory_pipeline.orchestration.location import LOCATION, STARTS_OFF, ZONE
from memory_pipeline.orchestration.partitions import DAILY, FIRST_DAY, MONTHLY, WEEKLY, newest_period
from memory_pipeline.orchestration.resources import HOLDER_TAG
from memory_pipeline.store import Store


def _find_obstacle(context: dg.ScheduleEvaluationContext) -> dg.SkipReason | None:
    """The reason why this tick starts nothing: a process outside Dagster holds the store. The next tick processes what
    it leaves."""
    store = Store.of(load_project_settings().values)
    if not store.exists():
        return None
    try:
        with store.reading() as tx:
            run_id, holder = tx.lease.run(), tx.lease.holder()
        if run_id is None or context.instance.get_run_by_id(run_id) is not None:
            return None
        why = f"'{store.path}' is in use by {holder}"
    except StoreBusyError as error:
        why = str(error)
    context.log.warning(f"no run was started: {why}; the next run processes what is left")
    return dg.SkipReason(why)


def _request_run(run_key: str, partition: str) -> dg.RunRequest:
    config = night_config(load_project_settings().values)
    return dg.RunRequest(run_key=run_key, partition_key=partition, run_config=config)


def _ticks(name: str, job: Any, cron: str, description: str, zone: str = ZONE) -> Callable[..., dg.ScheduleDefinition]:
    """Declare a function as the ticks of a schedule, of which only the night's is on from the start."""
    is_on = job is jobs.night_job
    return dg.schedule(
        name=f"{name}_schedule",
        job=job,
        cron_schedule=cron,
        execution_timezone=zone,
        default_status=dg.DefaultScheduleStatus.RUNNING if is_on else dg.DefaultScheduleStatus.STOPPED,
        description=description if is_on else description + STARTS_OFF,
    )


def _nightly(name: str, job: UnresolvedAssetJobDefinition, cron: str, description: str) -> dg.ScheduleDefinition:
    @_ticks(name, job, cron, description)
    def tick(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        day = latest_complete_day(context.scheduled_execution_time)
        if day < FIRST_DAY:
            return dg.SkipReason(f"{day} is before the first partition")
        return _find_obstacle(context) or _request_run(f"{name}-{day}", day.isoformat())

    return tick


duplicates_schedule = _nightly(
    "duplicates",
    jobs.duplicates_job,
    "0 3 * * *",
    "03:00 New York: archives the exact duplicates of the last complete UTC day.",
)
night_schedule = _nightly(
    "night", jobs.night_job, "30 3 * * *", "03:30 New York: runs the whole night of the last complete UTC day."
)


@_ticks(
    "consolidation",
    consolidation_job,
    LOCATION.consolidation.schedule,
    f"`{LOCATION.consolidation.schedule}` New York: consolidates what earlier nights left, including failed and "
    "deferred clusters.",
)
def consolidation_schedule(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    day = scheduled_day(context.scheduled_execution_time)
    settings = load_project_settings().values
    if not Store.of(settings).exists():
        return dg.SkipReason("there is no store yet; import something first")
    return _find_obstacle(context) or dg.RunRequest(
        run_key=f"consolidation-{context.scheduled_execution_time.isoformat()}",
        run_config=night_config(settings, day=day, whole_weeks=True),
        tags={TRIGGER_TAG: "scheduled", BY_TAG: "consolidation_schedule", HOLDER_TAG: "consolidation schedule"},
    )


def _of_period(
    asset: str, job: UnresolvedAssetJobDefinition, partitions: dg.TimeWindowPartitionsDefinition, cron: str, when: str
) -> dg.ScheduleDefinition:
    """A schedule for the newest week or month, or another period; `when`: when it ticks and what it does then.

    At 00:00 UTC, the night of the day that has just ended has not run yet, and results without it would differ from
    those of a backfill. So the tick takes the period before; usually the sensor `ended_periods` has already processed
    it when its last night ended, unless that night failed or the sensor was off.
    """

    @_ticks(
        asset, job, cron, f"{when} whose nights have all run, unless this was already done after its last night.", "UTC"
    )
    def tick(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        now = context.scheduled_execution_time
        key = newest_period(partitions, date.fromisoformat(scheduled_day(now)), now)
        if key is None:
            return dg.SkipReason("no partition has ended since the first one")
        if key in context.instance.get_materialized_partitions(dg.AssetKey(asset)):
            return dg.SkipReason(f"{key} was already processed after its last night")
        return _find_obstacle(context) or _request_run(f"{asset}-{key}", key)

    return tick


principles_schedule = _of_period(
    "principles", jobs.principles_job, WEEKLY, "0 0 * * 0", "Sunday 00:00 UTC: makes the principles of the newest week"
)
knowledge_base_schedule = _of_period(
    "knowledge_base",
    jobs.knowledge_base_job,
    MONTHLY,
    "0 0 1 * *",
    "The 1st, 00:00 UTC: makes the knowledge base canonical for the newest month",
)
ROLLUP_SCHEDULES = [
    _of_period(asset, job, partitions, cron, f"{when}: sums up the newest period")
    for (partitions, job), asset, cron, when in zip(
        ({DAILY: jobs.daily_rollups_job} | jobs.ROLLUP_JOBS).items(),
        (DAYS, WEEKS, MONTHS, YEARS),
        ("0 0 * * *", "0 0 * * 0", "0 0 1 * *", "0 0 1 1 *"),
        ("00:00 UTC", "Sunday 00:00 UTC", "The 1st, 00:00 UTC", "1 January, 00:00 UTC"),
        strict=True,
    )
]

SCHEDULES: list[dg.ScheduleDefinition] = [
    duplicates_schedule, night_schedule, consolidation_schedule, principles_schedule, knowledge_base_schedule,
    *ROLLUP_SCHEDULES,
]  # fmt: skip
