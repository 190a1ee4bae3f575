"""The consolidation job, the night's steps over a scope as one op with a time limit, retries and cancellation; and what
Dagster knows of each."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
from dagster._core.errors import DagsterExecutionInterruptedError
from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.report import report_run
from memory_pipeline.consolidation.run import PHASES, run_phase, take_snapshot
from memory_pipeline.documents import Document, Moment
from memory_pipeline.errors import InputError, RunStoppedError, SettingError, StoreError, in_words
from memory_pipeline.orchestration.location import documented
from memory_pipeline.orchestration.resources import SKIPPED_TAG, JobResource, as_day, why_held
from memory_pipeline.orchestration.showing import log_news
from memory_pipeline.records import MEMORY_TYPES
from memory_pipeline.store import Store
from memory_pipeline.store.rows import only_one

JOB_NAME = "consolidation"
TRIGGER_TAG, BY_TAG = "memory_pipeline/trigger", "memory_pipeline/triggered_by"
#: Tag of a run with the figures of the phases that it is done with, as JSON by phase.
PHASES_TAG = "memory_pipeline/phases"
MAX_RETRIES = 3
#: Seconds before a failed phase is retried; doubled for each further retry.
_RETRY_DELAY_S = 5.0
_LOOK_EVERY_S = 1.0
#: Seconds that a job may take to end after it was cancelled, before its record is shown as it is.
_LONGEST_END_S = 30.0


class _Watch:
    """Called between two units of work: checks whether the time is up or someone cancelled the run."""

    def __init__(self, instance: dg.DagsterInstance, run_id: str, timeout_s: float, log: Any) -> None:
        self._instance, self._run_id, self._timeout_s, self._log = instance, run_id, timeout_s, log
        record = instance.get_run_record_by_id(run_id)
        started = record.start_time if record and record.start_time else datetime.now(UTC).timestamp()
        self._deadline = time.monotonic() + timeout_s - (datetime.now(UTC).timestamp() - started)
        self._looked_at = -_LOOK_EVERY_S

    def __call__(self) -> None:
        if time.monotonic() >= self._deadline:
            raise RunStoppedError(f"timed out after {self._timeout_s:g} s (setting consolidation.timeout)")
        if time.monotonic() - self._looked_at < _LOOK_EVERY_S:
            return
        self._looked_at = time.monotonic()
        try:
            run = self._instance.get_run_by_id(self._run_id)
        except Exception as error:  # Dagster's files may be busy for a moment; the next check will succeed
            self._log.warning(f"could not read whether the run was cancelled: {error}")
            return
        if run is not None and run.status in (dg.DagsterRunStatus.CANCELING, dg.DagsterRunStatus.CANCELED):
            raise DagsterExecutionInterruptedError("the run was cancelled")


def _report(job: Night | None, fatal: str | None = None) -> None:
    """Report a job that ends early, from its rows; `fatal` is the error that ended it, unless someone cancelled it."""
    if job is None:
        return
    job.keep_going = lambda: None
    try:
        report_run(job, "job", job.started_at, fatal=fatal)
    except Exception:
        job.log.exception("the job could not be reported")


def _phases_done(run: dg.DagsterRun) -> dict[str, dict[str, int]]:
    """The figures of the phases that a run is done with; a retry goes on with the next one."""
    figures: dict[str, dict[str, int]] = json.loads(run.tags.get(PHASES_TAG, "{}"))
    return figures


@documented(dg.op, name="consolidate", out=dg.Out(dict, is_required=False), required_resource_keys={"night"})
def _consolidate(context: dg.OpExecutionContext) -> Iterator[dg.Output[dict[str, Any]]]:
    """Runs the steps of the night over a scope, in their order, and the principles. A phase that fails is tried again
    from there; the log has one line and the figures of each."""
    night: JobResource = context.resources.night
    job: Night | None = None
    phase = "start"
    run = context.instance.get_run_by_id(context.run_id) if context.retry_number else None
    done = _phases_done(run) if run else {}  # a run that is executed anew has the tags of the one before
    try:
        job = night.open_job(context.run_id, context.log)
        job.keep_going = _Watch(context.instance, context.run_id, job.settings.consolidation.timeout, context.log)
        job.keep_going()
        if context.retry_number == 0:
            if why_held(context, job):
                return
            take_snapshot(job)
        for phase in (name for name in PHASES if name not in done):
            job.keep_going()
            done[phase] = run_phase(job, phase)
            context.instance.add_run_tags(context.run_id, {PHASES_TAG: json.dumps(done)})
            log_news(context.log, done[phase], done[phase])
        report_run(job, "job", job.started_at)
    except DagsterExecutionInterruptedError:
        _report(job)
        raise
    except RunStoppedError as stopped:
        _report(job, str(stopped))
        raise dg.Failure(description=str(stopped), allow_retries=False) from stopped
    except (InputError, SettingError) as mistake:
        raise dg.Failure(description=str(mistake), allow_retries=False) from mistake
    except Exception as error:
        if context.retry_number >= MAX_RETRIES:
            _report(job, f"phase {phase}: {in_words(error)}")
        delay = _RETRY_DELAY_S * 2**context.retry_number
        context.log.warning(f"phase {phase} failed ({in_words(error)}); retrying in {delay:g} s")
        raise dg.RetryRequested(max_retries=MAX_RETRIES, seconds_to_wait=delay) from error
    metrics = {name: value for figures in done.values() for name, value in figures.items()}
    yield dg.Output(metrics, metadata=metrics)


@documented(
    dg.job,
    name=JOB_NAME,
    executor_def=dg.in_process_executor,
    resource_defs={"night": JobResource.configure_at_launch()},
    tags={"dagster/max_retries": "0"},
)
def consolidation_job() -> None:
    """Runs the night's own steps over a scope instead of a day: exact duplicates, series, merges, canonical entries,
    patterns, principles, playbook. Runs at 02:00 over what earlier nights left, when many memories are waiting, and
    when someone starts it."""
    _consolidate()


def scheduled_day(now: datetime) -> str:
    """The newest day whose night has run: the day before the last complete one."""
    return (now.astimezone(UTC) - timedelta(days=2)).date().isoformat()


class JobRecord(Document):
    """Everything known about a consolidation job; its status is Dagster's."""

    job_id: str = Field(description="The job's id, which is that of its Dagster run.")
    status: str = Field(description="`pending`, `running`, `completed`, `failed` or `cancelled`.")
    trigger: str = Field(description="What started it: `manual`, `scheduled` or `threshold`.")
    triggered_by: str = Field(description="Who started it.")
    scope: dict[str, Any] = Field(
        description="What it was limited to, if anything: `projects`, `memory_types`, `date_range`, "
        "`unconsolidated_only`."
    )
    dry_run: bool = Field(description="Whether it was a dry run.")
    phases_completed: tuple[str, ...] = Field(description="The completed phases, in order.")
    metrics: dict[str, int] = Field(description="The figures of the phases, by name.")
    created_at: Moment = Field(description="When it was requested.")
    started_at: Moment | None = Field(description="When it began.")
    completed_at: Moment | None = Field(description="When it ended.")
    duration_seconds: float | None = Field(description="Its duration in seconds.")
    error: str | None = Field(description="The error that made it fail.")
    skipped: str | None = Field(description="Why it was skipped, for example because a night held the store.")
    retry_count: int = Field(description="How often its phases were retried.")
    max_retries: int = Field(description="Maximum number of retries per phase.")
    verdict: str | None = Field(
        default=None,
        description="The verdict of its report: what Dagster reports as completed may have had errors; "
        "null if the job has none: it has not ended, or it archived nothing and had no error.",
    )


_STATUS = {
    dg.DagsterRunStatus.STARTED: "running",
    dg.DagsterRunStatus.CANCELING: "running",
    dg.DagsterRunStatus.SUCCESS: "completed",
    dg.DagsterRunStatus.FAILURE: "failed",
    dg.DagsterRunStatus.CANCELED: "cancelled",
}
_SCOPE = ("projects", "memory_types", "first_day", "last_day", "unconsolidated_only")


def list_jobs(instance: dg.DagsterInstance, limit: int = 20) -> list[JobRecord]:
    """The newest jobs, newest first."""
    records = instance.get_run_records(dg.RunsFilter(job_name=JOB_NAME), limit=limit)
    return [job_record(instance, record) for record in records]


def find_job(instance: dg.DagsterInstance, job_id: str) -> dg.RunRecord:
    """The job with an id, or the only one whose id starts with it. Raises InputError if there is none or several."""
    records = instance.get_run_records(dg.RunsFilter(job_name=JOB_NAME))
    jobs = {record.dagster_run.run_id: record for record in records}
    return only_one(jobs, job_id, "job", "'memory-pipeline jobs list' shows the jobs")


def job_of_run(instance: dg.DagsterInstance, run_id: str) -> JobRecord | None:
    """The job with exactly this id; None if there is none."""
    record = instance.get_run_record_by_id(run_id)
    return job_record(instance, record) if record and record.dagster_run.job_name == JOB_NAME else None


def job_record(instance: dg.DagsterInstance, record: dg.RunRecord) -> JobRecord:
    run = record.dagster_run
    steps = instance.get_run_step_stats(run.run_id)
    done = _phases_done(run)
    configured: Any = run.run_config
    config = configured.get("resources", {}).get("night", {}).get("config", {})
    started, ended = record.start_time, record.end_time
    return JobRecord(
        job_id=run.run_id,
        status=_STATUS.get(run.status, "pending"),
        trigger=run.tags.get(TRIGGER_TAG, "manual"),
        triggered_by=run.tags.get(BY_TAG, "Dagster"),
        scope=_scope(config),
        dry_run=bool(config.get("dry_run", False)),
        phases_completed=tuple(done),
        metrics={name: value for figures in done.values() for name, value in figures.items()},
        created_at=record.create_timestamp,
        started_at=started,
        completed_at=ended,
        duration_seconds=round(ended - started, 3) if started and ended else None,
        error=_error(instance, run) if run.status == dg.DagsterRunStatus.FAILURE else None,
        skipped=run.tags.get(SKIPPED_TAG),
        retry_count=sum(max(0, (step.attempts or 1) - 1) for step in steps),
        max_retries=MAX_RETRIES,
    )


def with_verdicts(settings: Settings, jobs: Sequence[JobRecord]) -> list[JobRecord]:
    """The jobs, each with the verdict of its report; None for all if the store cannot be read."""
    try:
        with Store.of(settings).reading() as tx:
            known = tx.journal.verdicts_of([job.job_id for job in jobs])
    except StoreError:
        known = {}
    return [job.model_copy(update={"verdict": known.get(job.job_id)}) for job in jobs]


def cancel_job(instance: dg.DagsterInstance, job_id: str) -> JobRecord:
    """Cancel a job and return its record. What it has committed stays; it stops between two units of work.

    Raises InputError for a job that has ended.
    """
    run = find_job(instance, job_id).dagster_run
    if run.is_finished:
        raise InputError(f"job '{run.run_id}' has ended ({_STATUS[run.status]}); there is nothing to cancel")
    if run.status in (dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING):
        instance.report_run_canceling(run, message="Cancelled with 'memory-pipeline jobs cancel'.")
        deadline = time.monotonic() + _LONGEST_END_S
        while time.monotonic() < deadline and not (instance.get_run_by_id(run.run_id) or run).is_finished:
            time.sleep(0.1)
    else:
        instance.report_run_canceled(run, message="Cancelled before it started.")
    return job_record(instance, find_job(instance, run.run_id))


def status_text(job: JobRecord) -> str:
    """A job's status, with the verdict of its report if known."""
    return f"{job.status} ({job.verdict})" if job.verdict else job.status


def job_text(job: JobRecord) -> str:
    lines = [f"{job.job_id}  {status_text(job)}, {job.trigger}, by {job.triggered_by}"]
    lines.append(f"  scope: {_scope_text(job.scope)}")
    lines.append(f"  phases completed: {', '.join(job.phases_completed) or 'none'}")
    if job.started_at:
        took = f", {job.duration_seconds:.1f} s" if job.duration_seconds is not None else ""
        started = f"{job.started_at:%Y-%m-%d %H:%M:%S}"
        lines.append(f"  started {started} UTC{took}, {job.retry_count} of {job.max_retries} retries used")
    figures = {name: value for name, value in job.metrics.items() if value}
    lines += [f"  {name.replace('_', ' ')}: {value}" for name, value in figures.items()]
    lines += [f"  error: {job.error}"] if job.error else []
    lines += [f"  skipped: {job.skipped}"] if job.skipped else []
    return "\n".join(lines)


def _scope_text(scope: Mapping[str, Any]) -> str:
    """The scope of a job as text: `from 2026-11-01, type lesson`."""
    first, last = scope.get("date_range") or (None, None)
    parts = [" ".join(f"{word} {day}" for word, day in (("from", first), ("to", last)) if day)]
    for noun, names in (("project", scope.get("projects") or ()), ("type", scope.get("memory_types") or ())):
        parts.append(f"{noun}{'s' if len(names) > 1 else ''} {' and '.join(names)}" if names else "")
    parts.append("only raw memories" if scope.get("unconsolidated_only") else "")
    return ", ".join(filter(None, parts)) or "everything"


def _scope(config: Mapping[str, Any]) -> dict[str, Any]:
    """The scope as requested: date_range, memory_types, unconsolidated_only and projects."""
    given = {name: config[name] for name in _SCOPE if config.get(name)}
    first, last = given.pop("first_day", None), given.pop("last_day", None)
    return {**({"date_range": [first, last]} if first or last else {}), **given}


def _error(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str | None:
    for entry in reversed(instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_FAILURE)):
        event = entry.dagster_event
        if event is None:
            continue
        failure = event.step_failure_data
        if failure.user_failure_data and failure.user_failure_data.description:
            return str(failure.user_failure_data.description)
        error = failure.error
        while error is not None and error.cause is not None:
            error = error.cause
        return error.message.strip() if error else event.message
    ended = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
    return ended[-1].message if ended else "see its log in Dagster"


def check_scope(settings: Settings, scope: Mapping[str, Any]) -> None:
    """Raises InputError for an invalid scope: an unknown project or type, invalid days, or days in the wrong order."""
    first, last = as_day(scope.get("first_day"), "first_day"), as_day(scope.get("last_day"), "last_day")
    if first and last and last < first:
        raise InputError(f"the scope ends on {last}, before it begins on {first}; swap them")
    wrong = [kind for kind in scope.get("memory_types") or () if kind not in MEMORY_TYPES]
    if wrong:
        raise InputError(f"there is no memory type '{wrong[0]}'; use {', '.join(MEMORY_TYPES)}")
    with Store.of(settings).reading() as tx:
        known = tx.memories.projects()
    unknown = [project for project in scope.get("projects") or () if project not in known]
    if unknown:
        raise InputError(f"there is no project '{unknown[0]}' in the store; it has {', '.join(known) or 'none'}")
