"""When nights run: each tick takes the newest UTC day that has ended.

The ticks are in New York time and the partitions in UTC: 03:30 there is 07:30 or 08:30 UTC, so daylight saving
neither skips nor repeats a partition. Weekly and monthly ticks take the newest period whose nights have all run.
"""

from datetime import date

from dagster import (
    AssetKey,
    DefaultScheduleStatus,
    RunRequest,
    ScheduleDefinition,
    ScheduleEvaluationContext,
    SkipReason,
    TimeWindowPartitionsDefinition,
    schedule,
)
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from memory_pipeline.moments import latest_complete_day
from memory_pipeline.orchestration.assets.rollups import DAYS, MONTHS, WEEKS, YEARS
from memory_pipeline.orchestration.consolidation import BY_TAG, TRIGGER_TAG, consolidation_job, scheduled_day
from memory_pipeline.orchestration.home import load_project_settings, night_config
from memory_pipeline.orchestration.jobs import (
    daily_rollups_job,
    duplicates_job,
    knowledge_base_job,
    monthly_rollups_job,
    night_job,
    principles_job,
    weekly_rollups_job,
    yearly_rollups_job,
)
from memory_pipeline.orchestration.location import LOCATION, ZONE
from memory_pipeline.orchestration.partitions import (
    EVERY_DAY,
    EVERY_WEEK,
    FIRST_DAY,
    MONTHLY,
    WEEKLY,
    YEARLY,
    newest_period,
)
from memory_pipeline.orchestration.resources import HOLDER_TAG, held_by_others
from memory_pipeline.store import Store


def _held(context: ScheduleEvaluationContext) -> SkipReason | None:
    """Why this tick starts nothing: a process outside Dagster holds the store. The next tick processes what it
    leaves."""
    settings = load_project_settings().values
    skip = held_by_others(
        lambda run_id: context.instance.get_run_by_id(run_id) is not None, Store.of(settings), settings
    )
    if skip is not None:
        context.log.warning(f"no run was started: {skip.skip_message}; the next run processes what is left")
    return skip


def _request(context: ScheduleEvaluationContext, name: str) -> RunRequest | SkipReason:
    day = latest_complete_day(context.scheduled_execution_time)
    if day < FIRST_DAY:
        return SkipReason(f"{day} is before the first partition; see the setting night.first_partition")
    key = day.isoformat()
    return _held(context) or RunRequest(
        run_key=f"{name}-{key}", partition_key=key, run_config=night_config(load_project_settings().values)
    )


@schedule(
    job=duplicates_job,
    cron_schedule="0 3 * * *",
    execution_timezone=ZONE,
    default_status=DefaultScheduleStatus.RUNNING,
    description="03:00 New York: archives the exact duplicates of the last complete UTC day.",
)
def duplicates_schedule(context: ScheduleEvaluationContext) -> RunRequest | SkipReason:
    return _request(context, "duplicates")


@schedule(
    job=night_job,
    cron_schedule="30 3 * * *",
    execution_timezone=ZONE,
    default_status=DefaultScheduleStatus.RUNNING,
    description="03:30 New York: runs the whole night of the last complete UTC day.",
)
def night_schedule(context: ScheduleEvaluationContext) -> RunRequest | SkipReason:
    return _request(context, "night")


@schedule(
    job=consolidation_job,
    cron_schedule=LOCATION.consolidation.schedule,
    execution_timezone=ZONE,
    default_status=DefaultScheduleStatus.RUNNING,
    description=(
        f"`{LOCATION.consolidation.schedule}` New York: consolidates what earlier nights left, including failed and "
        "deferred clusters."
    ),
)
def consolidation_schedule(context: ScheduleEvaluationContext) -> RunRequest | SkipReason:
    day = scheduled_day(context.scheduled_execution_time)
    settings = load_project_settings().values
    if not Store.of(settings).exists():
        return SkipReason("there is no store yet; import something first")
    return _held(context) or RunRequest(
        run_key=f"consolidation-{context.scheduled_execution_time.isoformat()}",
        run_config=night_config(settings, day=day, whole_weeks=True),
        tags={TRIGGER_TAG: "scheduled", BY_TAG: "consolidation_schedule", HOLDER_TAG: "consolidation schedule"},
    )


@schedule(
    job=principles_job,
    cron_schedule="0 0 * * 0",
    execution_timezone="UTC",
    default_status=DefaultScheduleStatus.RUNNING,
    description="Sunday 00:00 UTC: makes the principles of the newest week whose nights have all run, unless they "
    "were already made after its last night.",
)
def principles_schedule(context: ScheduleEvaluationContext) -> RunRequest | SkipReason:
    return _newest_period(context, WEEKLY, "principles")


@schedule(
    job=knowledge_base_job,
    cron_schedule="0 0 1 * *",
    execution_timezone="UTC",
    default_status=DefaultScheduleStatus.RUNNING,
    description="The 1st, 00:00 UTC: makes the knowledge base canonical for the newest month whose nights have all "
    "run, unless this was already done after its last night.",
)
def knowledge_base_schedule(context: ScheduleEvaluationContext) -> RunRequest | SkipReason:
    return _newest_period(context, MONTHLY, "knowledge_base")


def _newest_period(
    context: ScheduleEvaluationContext, partitions: TimeWindowPartitionsDefinition, asset: str
) -> RunRequest | SkipReason:
    """At 00:00 UTC, the night of the day that has just ended has not run yet, and results without it would differ
    from those of a backfill. So the tick takes the period before; usually the sensor `ended_periods` has already
    processed it when its last night ended, unless that night failed or the sensor was off."""
    now = context.scheduled_execution_time
    key = newest_period(partitions, date.fromisoformat(scheduled_day(now)), now)
    if key is None:
        return SkipReason("no partition has ended since the first one; see the setting night.first_partition")
    if key in context.instance.get_materialized_partitions(AssetKey(asset)):
        return SkipReason(f"{key} was already processed after its last night")
    return _held(context) or RunRequest(
        run_key=f"{asset}-{key}", partition_key=key, run_config=night_config(load_project_settings().values)
    )


def _rollup_schedule(
    job: UnresolvedAssetJobDefinition, cron: str, partitions: TimeWindowPartitionsDefinition, asset: str, when: str
) -> ScheduleDefinition:
    @schedule(
        name=f"{asset}_schedule",
        job=job,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=DefaultScheduleStatus.RUNNING,
        description=f"{when}: sums up the newest period whose nights have all run, unless this was already done after "
        "its last night.",
    )
    def tick(context: ScheduleEvaluationContext) -> RunRequest | SkipReason:
        return _newest_period(context, partitions, asset)

    return tick


ROLLUP_SCHEDULES = [
    _rollup_schedule(daily_rollups_job, "0 0 * * *", EVERY_DAY, DAYS, "00:00 UTC"),
    _rollup_schedule(weekly_rollups_job, "0 0 * * 0", EVERY_WEEK, WEEKS, "Sunday 00:00 UTC"),
    _rollup_schedule(monthly_rollups_job, "0 0 1 * *", MONTHLY, MONTHS, "The 1st, 00:00 UTC"),
    _rollup_schedule(yearly_rollups_job, "0 0 1 1 *", YEARLY, YEARS, "1 January, 00:00 UTC"),
]

SCHEDULES: list[ScheduleDefinition] = [
    duplicates_schedule,
    night_schedule,
    consolidation_schedule,
    principles_schedule,
    knowledge_base_schedule,
    *ROLLUP_SCHEDULES,
]
