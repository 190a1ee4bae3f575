"""What follows from a run: a failed night still gets its report and its notice; the last night of a week or month is
followed by what is made of them. And what starts a job when many memories wait."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from dagster import (
    DagsterRunStatus,
    DefaultSensorStatus,
    RunFailureSensorContext,
    RunRequest,
    RunStatusSensorContext,
    SensorEvaluationContext,
    SkipReason,
    run_failure_sensor,
    run_status_sensor,
    sensor,
)

from memory_pipeline.moments import latest_complete_day
from memory_pipeline.orchestration.consolidation import BY_TAG, TRIGGER_TAG, consolidation_job
from memory_pipeline.orchestration.dead_runs import end_dead_runs
from memory_pipeline.orchestration.home import load_project_settings, night_config
from memory_pipeline.orchestration.jobs import (
    PERIOD_JOBS,
    duplicates_job,
    kb_compress_job,
    knowledge_base_job,
    night_job,
    principles_job,
    rollback_job,
)
from memory_pipeline.orchestration.partitions import periods_ending_with
from memory_pipeline.orchestration.resources import NightResource
from memory_pipeline.reporting.notices import announce_failed_run
from memory_pipeline.reporting.report import failed_night
from memory_pipeline.store import Store


@run_failure_sensor(
    monitored_jobs=[night_job, duplicates_job],
    default_status=DefaultSensorStatus.RUNNING,
    description="A night that died before it could report itself is reported as FAIL and announced; what it had "
    "archived stays archived.",
)
def failed_night_notice(context: RunFailureSensorContext) -> None:
    run = context.dagster_run
    partition = run.tags.get("dagster/partition")
    night = NightResource.of_run(run)
    store = night.store()
    if partition is None or not store.exists():
        return
    with store.reading() as tx:
        if tx.journal.report(run.run_id) is not None:
            return
    failed_night(night.open(run.run_id, partition, context.log), context.failure_event.message or "", datetime.now(UTC))


@run_failure_sensor(
    monitored_jobs=[consolidation_job, principles_job, knowledge_base_job, kb_compress_job, rollback_job],
    default_status=DefaultSensorStatus.RUNNING,
    description="A run that failed and is not a night is announced; what it had committed stays.",
)
def failed_run_notice(context: RunFailureSensorContext) -> None:
    run = context.dagster_run
    night = NightResource.of_run(run)
    if night.store().exists():
        opened = night.open(run.run_id, latest_complete_day(datetime.now(UTC)).isoformat(), context.log)
        announce_failed_run(opened, run.job_name, context.failure_event.message or "the run failed")


@sensor(
    job=consolidation_job,
    minimum_interval_seconds=60,
    default_status=DefaultSensorStatus.RUNNING,
    description="Starts a consolidation when many memories wait that no night has looked at. The cursor is the place "
    "in the audit log up to which they were counted, so that one pile starts one job.",
)
def unconsolidated_sensor(context: SensorEvaluationContext) -> RunRequest | SkipReason:
    settings = load_project_settings().values
    store = Store.of(settings)
    if not store.exists():
        return SkipReason("there is no store yet; import something first")
    as_of = datetime.combine(latest_complete_day(datetime.now(UTC)) + timedelta(days=1), time(), UTC)
    with store.reading() as tx:
        waiting = tx.memories.unconsolidated(
            created_before=as_of - timedelta(hours=settings.compression.freshness_hours),
            critical_floor=settings.compression.critical_floor,
            after=int(context.cursor or 0),
        )
    mine = [(sequence, project) for sequence, project in waiting if settings.is_consolidated(project)]
    if len(mine) < settings.consolidation.threshold:
        return SkipReason(f"{len(mine)} unconsolidated memories, {settings.consolidation.threshold} start a job")
    newest = max(sequence for sequence, _ in mine)
    context.update_cursor(str(newest))
    return RunRequest(
        run_key=f"unconsolidated-{newest}",
        run_config=night_config(settings, holder="unconsolidated sensor", whole_weeks=True),
        tags={TRIGGER_TAG: "threshold", BY_TAG: "unconsolidated_sensor"},
    )


@sensor(
    minimum_interval_seconds=30,
    default_status=DefaultSensorStatus.RUNNING,
    description="Reports runs as failed whose process was killed or went with the machine, so that the next can begin.",
)
def dead_runs(context: SensorEvaluationContext) -> SkipReason:
    settings = load_project_settings().values
    ended = end_dead_runs(context.instance, Store.of(settings), settings.store.lease_expiry_s)
    return SkipReason(f"ended {', '.join(ended)}" if ended else "every run that is under way has its process")


@run_status_sensor(
    run_status=DagsterRunStatus.SUCCESS,
    monitored_jobs=[night_job],
    request_jobs=[principles_job, knowledge_base_job],
    default_status=DefaultSensorStatus.RUNNING,
    description="The last night of a week or a month has ended: its principles, or its knowledge base, are made next.",
)
def ended_periods(context: RunStatusSensorContext) -> Iterator[RunRequest | SkipReason]:
    run = context.dagster_run
    day = run.tags.get("dagster/partition")
    ended = periods_ending_with(date.fromisoformat(day)) if day else {}
    for partitions, key in ended.items():
        name = PERIOD_JOBS[partitions].name
        yield RunRequest(
            run_key=f"{name}-{key}-{run.run_id}",
            job_name=name,
            partition_key=key,
            run_config=night_config(NightResource.of_run(run).effective_settings()),
        )
    if not ended:
        yield SkipReason("no week or month ends with this night")


SENSORS = [failed_night_notice, failed_run_notice, unconsolidated_sensor, dead_runs, ended_periods]
