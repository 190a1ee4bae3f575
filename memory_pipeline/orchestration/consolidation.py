"""The consolidation job: a Dagster run over a scope, with one op per phase, a time limit, retries and cancellation."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

from dagster import (
    DagsterInstance,
    DagsterRunStatus,
    Failure,
    In,
    JobDefinition,
    OpDefinition,
    OpExecutionContext,
    Out,
    Output,
    RetryRequested,
    graph,
    in_process_executor,
    op,
)
from dagster._core.errors import DagsterExecutionInterruptedError

from memory_pipeline.errors import InputError, RunStoppedError, SettingError, in_words
from memory_pipeline.night.context import Night
from memory_pipeline.night.phases import PHASES, run_phase
from memory_pipeline.night.run import take_snapshot
from memory_pipeline.orchestration.held import why_held
from memory_pipeline.orchestration.resources import JobResource
from memory_pipeline.orchestration.sentences import of_phase
from memory_pipeline.reporting.report import report_run

JOB_NAME = "consolidation"
TRIGGER_TAG, BY_TAG = "memory_pipeline/trigger", "memory_pipeline/triggered_by"
MAX_RETRIES = 3
_LOOK_EVERY_S = 1.0


def step_of(phase: str) -> str:
    """The op that runs a phase; its name differs from the asset's."""
    return f"consolidate_{phase}"


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


def _make_op(phase: str, first: bool, last: bool) -> OpDefinition:
    @op(
        name=step_of(phase),
        ins={} if first else {"so_far": In(dict)},
        out=Out(dict, is_required=not first),
        description=PHASES[phase].__doc__,
        required_resource_keys={"night"},
    )
    def run(context: OpExecutionContext, **given: dict[str, Any]) -> Iterator[Output[dict[str, Any]]]:
        night: JobResource = context.resources.night
        job: Night | None = None
        try:
            job = _open(context, night)
            job.keep_going()
            if first and context.retry_number == 0:
                if why_held(context, job):
                    return
                take_snapshot(job)
            figures = run_phase(job, phase)
            if last:
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
            delay = night.effective_settings().consolidation.retry_delay_s * 2**context.retry_number
            context.log.warning(f"phase {phase} failed ({in_words(error)}); retrying in {delay:g} s")
            raise RetryRequested(max_retries=MAX_RETRIES, seconds_to_wait=delay) from error
        metrics = {**given.get("so_far", {}), **figures}
        if told := of_phase(phase, figures):
            context.log.info(told)
        yield Output(metrics, metadata={**figures, "metrics": json.dumps(metrics)})

    return run


def _make_graph() -> Callable[[], None]:
    ops = [_make_op(phase, number == 0, number == len(PHASES) - 1) for number, phase in enumerate(PHASES)]

    def consolidate() -> None:
        so_far = ops[0]()
        for phase in ops[1:]:
            so_far = phase(so_far=so_far)

    return consolidate


consolidation_job: JobDefinition = graph(name=JOB_NAME)(_make_graph()).to_job(
    name=JOB_NAME,
    executor_def=in_process_executor,
    resource_defs={"night": JobResource.configure_at_launch()},
    description=(
        "Consolidates a scope: exact duplicates, series, merges, canonical entries, patterns, principles, playbook. "
        "Its phases are the steps of the night, over a scope instead of a day. Runs at 02:00 over what earlier nights "
        "left, when many memories are waiting, and when someone starts it."
    ),
    tags={"dagster/max_retries": "0"},
)


def scheduled_day(now: datetime) -> str:
    """The newest day whose night has run: the day before the last complete one."""
    return (now.astimezone(UTC) - timedelta(days=2)).date().isoformat()
