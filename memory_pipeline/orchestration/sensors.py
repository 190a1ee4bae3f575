"""Sensors: a failed night still gets its report and notice, the last night of a week or month starts the weekly or
monthly job, dead runs are ended, many waiting memories start a consolidation job, and files of sources that changed and
have been quiet for a minute are imported.

What a night has read of a source is known from the store: a change that was imported in any way starts nothing.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import dagster as dg

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.report import announce_failed_run, report_run
from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.moments import end_of, latest_complete_day
from memory_pipeline.orchestration import jobs
from memory_pipeline.orchestration.assets.compactions import compaction_job, context_tokens, time_or_tokens
from memory_pipeline.orchestration.consolidation import BY_TAG, TRIGGER_TAG, consolidation_job
from memory_pipeline.orchestration.home import load_project_settings, night_config
from memory_pipeline.orchestration.location import watches
from memory_pipeline.orchestration.partitions import DAILY, earlier_memories, periods_ending_with
from memory_pipeline.orchestration.resources import HOLDER_TAG, NightResource, end_dead_runs
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many

#: How long a file must not have changed, so that nothing half written is read.
QUIET = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Changes:
    """Files that differ from what nights have read, by source and name, with their hashes, and their newest time."""

    files: Mapping[str, str]
    newest: datetime | None = None
    problems: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """The same for the same files with the same bytes."""
        return hashlib.sha256(json.dumps(sorted(self.files.items())).encode()).hexdigest()[:32]


def find_changes(settings: Settings) -> Changes:
    """Compare the files of every source with what nights have read. Files that cannot be opened, and sources that
    cannot be read, start nothing; the night announces them."""
    from memory_pipeline.ingest.candidates import Skipped  # importers and masking: for a tick that has a source
    from memory_pipeline.ingest.sources import FoundFile, changed_files, find_files, with_known_projects

    store = Store.of(settings)
    settings = with_known_projects(settings, store)
    known = {}
    if store.exists():
        with store.reading() as tx:
            known = {source.name: tx.sources.files(source.name) for source in settings.sources_of_store}
    changed: dict[str, FoundFile] = {}
    problems = [broken.told for broken in settings.broken("sources")]
    for source in settings.sources_of_store:
        try:
            files = find_files(source, settings, Skipped())
        except MemoryPipelineError as error:
            problems.append(f"{source.name}: {error}")
            continue
        differing = changed_files(files, known.get(source.name, {}), source, settings)
        changed |= {f"{source.name}/{file.name}": file for file in differing if file.digest}
    newest = max((datetime.fromtimestamp(file.modified_ns / 1e9, UTC) for file in changed.values()), default=None)
    return Changes({name: file.digest for name, file in changed.items()}, newest, tuple(problems))


@watches(is_on=False, job=jobs.sources_job, minimum_interval_seconds=30)
def changed_sources(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    """Imports what is new in the sources, up to now, once their changed files have been quiet for a minute. Edits and
    removals wait for the night. One change starts one run."""
    settings = load_project_settings().values
    if not settings.sources_of_store and not settings.broken("sources"):
        return dg.SkipReason("no source feeds this store; 'memory-pipeline sources add PATH' adds one")
    changes = find_changes(settings)
    answer = choose_run(changes, settings, context.cursor, datetime.now(UTC))
    if isinstance(answer, dg.RunRequest):
        context.update_cursor(changes.state)
    return answer


def choose_run(
    changes: Changes, settings: Settings, started: str | None, now: datetime
) -> dg.RunRequest | dg.SkipReason:
    """A run, or why there is none. `started`: the state for which a run was started."""
    count = how_many(len(changes.files), "changed file")
    key = latest_complete_day(now).isoformat()
    if changes.newest is None:
        return dg.SkipReason("; ".join(["nothing changed", *changes.problems]))
    if changes.newest > now - QUIET:
        return dg.SkipReason(f"{count}, the last one less than a minute ago")
    if changes.state == started:
        return dg.SkipReason(f"{count}, for which a run was started")
    if key not in DAILY.get_partition_keys(current_time=now):
        return dg.SkipReason(f"{key} is before the first partition")
    return dg.RunRequest(
        run_key=f"sources-{changes.state}-{key}",
        partition_key=key,
        run_config=night_config(settings, up_to_now=True),
        tags={HOLDER_TAG: "sources sensor"},
    )


@watches(dg.run_failure_sensor, monitored_jobs=[jobs.night_job, jobs.duplicates_job])
def failed_night_notice(context: dg.RunFailureSensorContext) -> None:
    """Reports and announces a night as FAIL that died before it could report itself; what it had archived stays
    archived."""
    run = context.dagster_run
    partition = run.tags.get("dagster/partition")
    night = NightResource.of_run(run)
    store = night.store()
    if partition is None or not store.exists():
        return
    with store.reading() as tx:
        if tx.journal.report(run.run_id) is not None:
            return
    opened, message = night.open(run.run_id, partition, context.log), context.failure_event.message or ""
    report_run(opened, "night", datetime.now(UTC), fatal=message)


@watches(
    dg.run_failure_sensor,
    monitored_jobs=[
        jobs.sources_job,
        consolidation_job,
        jobs.principles_job,
        jobs.knowledge_base_job,
        jobs.kb_compress_job,
        compaction_job,
    ],
)
def failed_run_notice(context: dg.RunFailureSensorContext) -> None:
    """Announces a failed run that is not a night; what it had committed stays."""
    run = context.dagster_run
    night = NightResource.of_run(run)
    if night.store().exists():
        opened = night.open(run.run_id, latest_complete_day(datetime.now(UTC)).isoformat(), context.log)
        announce_failed_run(opened, run.job_name, context.failure_event.message or "the run failed")


@watches(is_on=False, job=consolidation_job, minimum_interval_seconds=60)
def unconsolidated_sensor(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    """Starts a consolidation when many memories are waiting that no night has processed. The cursor is the position in
    the audit log up to which they were counted, so that one backlog starts one job."""
    settings = load_project_settings().values
    store = Store.of(settings)
    if not store.exists():
        return dg.SkipReason("there is no store yet; import something first")
    as_of = end_of(latest_complete_day(datetime.now(UTC)))
    with store.reading() as tx:
        waiting = tx.memories.unconsolidated(
            created_before=as_of - timedelta(hours=settings.compression.freshness_hours),
            as_of=as_of,
            critical_floor=settings.compression.critical_floor,
            after=int(context.cursor or 0),
        )
    counted = [sequence for sequence, project in waiting if settings.is_consolidated(project)]
    if len(counted) < settings.consolidation.threshold:
        return dg.SkipReason(f"{len(counted)} unconsolidated memories; {settings.consolidation.threshold} start a job")
    newest = max(counted)
    context.update_cursor(str(newest))
    return dg.RunRequest(
        run_key=f"unconsolidated-{newest}",
        run_config=night_config(settings, whole_weeks=True),
        tags={TRIGGER_TAG: "threshold", BY_TAG: "unconsolidated_sensor", HOLDER_TAG: "unconsolidated sensor"},
    )


@watches(minimum_interval_seconds=30)
def dead_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Marks runs as failed whose process was killed or lost with the machine, so that the next run can start."""
    ended = end_dead_runs(context.instance)
    return dg.SkipReason(f"ended {', '.join(ended)}" if ended else "the process of every active run is alive")


def _after(
    name: str, job: Any, following: Mapping[dg.TimeWindowPartitionsDefinition, Any], description: str
) -> dg.SensorDefinition:
    """A sensor that after each run of a job for a day starts the jobs that follow: of this day, or of the periods that
    end with it, with the settings of that run."""

    @dg.run_status_sensor(
        name=name,
        run_status=dg.DagsterRunStatus.SUCCESS,
        monitored_jobs=[job],
        request_jobs=list(following.values()),
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=description,
    )
    def start(context: dg.RunStatusSensorContext) -> list[dg.RunRequest] | dg.SkipReason:
        run = context.dagster_run
        day = run.tags.get("dagster/partition")
        if day is None:
            return dg.SkipReason("the run is of no day")
        ended = {DAILY: day, **periods_ending_with(date.fromisoformat(day))}
        requests = [
            dg.RunRequest(
                run_key=f"{following[partitions].name}-{key}-{run.run_id}",
                job_name=following[partitions].name,
                partition_key=key,
                run_config=night_config(NightResource.of_run(run).effective_settings()),
            )
            for partitions, key in ended.items()
            if partitions in following
        ]
        return requests or dg.SkipReason("no period ends with this day")

    return start


ended_periods = _after(
    "ended_periods",
    jobs.night_job,
    jobs.PERIOD_JOBS,
    "Starts the weekly and monthly jobs after the last night of a period: its principles, or its knowledge base.",
)
ended_days = _after("ended_days", jobs.night_job, {DAILY: jobs.daily_rollups_job}, "Sums up a day after its night.")
ended_rollups = _after(
    "ended_rollups",
    jobs.daily_rollups_job,
    jobs.ROLLUP_JOBS,
    "Sums up the week, the month and the year that end with a day, after the day itself.",
)

SENSORS = [
    ended_days, ended_rollups, failed_night_notice, failed_run_notice, unconsolidated_sensor, dead_runs, ended_periods,
    earlier_memories, changed_sources, context_tokens, time_or_tokens,
]  # fmt: skip
