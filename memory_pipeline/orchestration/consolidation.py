"""The consolidation job: the night's steps over a scope as one op, with a time limit, retries and cancellation."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

from dagster import (
    DagsterInstance,
    DagsterRunStatus,
    Failure,
    JobDefinition,
    OpExecutionContext,
    Out,
    Output,
    RetryRequested,
    graph,
    in_process_executor,
    op,
)
from dagster._core.errors import DagsterExecutionInterruptedError

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.phases import PHASES, run_phase
from memory_pipeline.consolidation.report import report_run
from memory_pipeline.consolidation.run import take_snapshot
from memory_pipeline.errors import InputError, RunStoppedError, SettingError, in_words
from memory_pipeline.orchestration.held import why_held
from memory_pipeline.orchestration.resources import JobResource
from memory_pipeline.orchestration.sentences import of_phase

JOB_NAME = "consolidation"
TRIGGER_TAG, BY_TAG = "memory_pipeline/trigger", "memory_pipeline/triggered_by"
#: Tag of a run with the figures of the phases that it is done with, as JSON by phase.
PHASES_TAG = "memory_pipeline/phases"
MAX_RETRIES = 3
#: Seconds before a failed phase is retried; doubled for each further retry.
_RETRY_DELAY_S = 5.0
_LOOK_EVERY_S = 1.0


class _Watch:
    """Called between two units of work: checks whether the time is up or someone cancelled the run."""

    def __init__(self, instance: DagsterInstance, run_id: str, timeout_s: float, log: Any) -> None:
        self._instance, self._run_id, self._timeout_s, self._log = instance, run_id, timeout_s, log
        record = instance.get_run_record_by_id(run_id)
        started = record.start_time if record and record.start_time else datetime.now(UTC).timestamp()
        self._deadline = monotonic() + timeout_s - (datetime.now(UTC).timestamp() - started)
        self._looked_at = -_LOOK_EVERY_S

    def __call__(self) -> None:
        if monotonic() >= self._deadline:
            raise RunStoppedError(f"timed out after {self._timeout_s:g} s (setting consolidation.timeout)")
        if monotonic() - self._looked_at < _LOOK_EVERY_S:
            return
        self._looked_at = monotonic()
        try:
            run = self._instance.get_run_by_id(self._run_id)
        except Exception as error:  # Dagster's files may be busy for a moment; the next check will succeed
            self._log.warning(f"could not read whether the run was cancelled: {error}")
            return
        if run is not None and run.status in (DagsterRunStatus.CANCELING, DagsterRunStatus.CANCELED):
            raise DagsterExecutionInterruptedError("the run was cancelled")


def _open(context: OpExecutionContext, night: JobResource) -> Night:
    job = night.open_job(context.run_id, context.log)
    if not isinstance(job.keep_going, _Watch):
        job.keep_going = _Watch(context.instance, context.run_id, job.settings.consolidation.timeout, context.log)
    return job


def _report(job: Night | None, night: JobResource, run_id: str, fatal: str | None = None) -> None:
    """Report a job that ends early, from its rows; `fatal` is the error that ended it, unless someone cancelled it."""
    if job is None:
        return
    job.keep_going = lambda: None
    try:
        if fatal:
            job.note_error("", "night", fatal, tell=False)
        report_run(job, "job", night.started_at(run_id), fatal=fatal)
    except Exception:
        job.log.exception("the job could not be reported")


@op(
    name="consolidate",
    out=Out(dict, is_required=False),
    description=(
        "Runs the steps of the night over a scope, in their order, and the principles. A phase that fails is tried "
        "again from there; the log has one line and the figures of each."
    ),
    required_resource_keys={"night"},
)
def _consolidate(context: OpExecutionContext) -> Iterator[Output[dict[str, Any]]]:
    night: JobResource = context.resources.night
    job: Night | None = None
    phase, done = "start", night.phases_done(context.run_id)
    try:
        job = _open(context, night)
        job.keep_going()
        if context.retry_number == 0:
            if why_held(context, job):
                return
            take_snapshot(job)
        for phase in (name for name in PHASES if name not in done):
            job.keep_going()
            done[phase] = run_phase(job, phase)
            context.instance.add_run_tags(context.run_id, {PHASES_TAG: json.dumps(done)})
            if told := of_phase(phase, done[phase]):
                context.log.info(told)
        report_run(job, "job", night.started_at(context.run_id))
    except DagsterExecutionInterruptedError:
        _report(job, night, context.run_id)
        raise
    except RunStoppedError as stopped:
        _report(job, night, context.run_id, str(stopped))
        raise Failure(description=str(stopped), allow_retries=False) from stopped
    except (InputError, SettingError) as mistake:
        raise Failure(description=str(mistake), allow_retries=False) from mistake
    except Exception as error:
        if context.retry_number >= MAX_RETRIES:
            _report(job, night, context.run_id, f"phase {phase}: {in_words(error)}")
        delay = _RETRY_DELAY_S * 2**context.retry_number
        context.log.warning(f"phase {phase} failed ({in_words(error)}); retrying in {delay:g} s")
        raise RetryRequested(max_retries=MAX_RETRIES, seconds_to_wait=delay) from error
    metrics = {name: value for figures in done.values() for name, value in figures.items()}
    yield Output(metrics, metadata=metrics)


@graph(name=JOB_NAME)
def _consolidation() -> None:
    _consolidate()


consolidation_job: JobDefinition = _consolidation.to_job(
    name=JOB_NAME,
    executor_def=in_process_executor,
    resource_defs={"night": JobResource.configure_at_launch()},
    description=(
        "Runs the night's own steps over a scope instead of a day: exact duplicates, series, merges, canonical "
        "entries, patterns, principles, playbook. Runs at 02:00 over what earlier nights left, when many memories are "
        "waiting, and when someone starts it."
    ),
    tags={"dagster/max_retries": "0"},
)


def scheduled_day(now: datetime) -> str:
    """The newest day whose night has run: the day before the last complete one."""
    return (now.astimezone(UTC) - timedelta(days=2)).date().isoformat()
