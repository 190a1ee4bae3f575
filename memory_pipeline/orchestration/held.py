"""Runs whose process is gone are ended; a store that another process holds makes a run wait or skip."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetExecutionContext,
    DagsterEventType,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    OpExecutionContext,
    RunRecord,
    RunsFilter,
    SkipReason,
)
from pydantic import ValidationError

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.errors import SettingError, StoreBusyError
from memory_pipeline.orchestration.resources import NightResource
from memory_pipeline.processes import is_running
from memory_pipeline.store import Store

#: Tag of a skipped run, with the reason.
SKIPPED_TAG = "memory_pipeline/skipped"


def why_held(context: AssetExecutionContext | OpExecutionContext, night: Night) -> str | None:
    """Take the store for a run. If another run has it, log a warning, mark the run as skipped, and return the
    holder."""
    try:
        night.hold_lease()
    except StoreBusyError as held:
        context.log.warning(f"skipped: {held}")
        context.instance.add_run_tags(night.options.run_id, {SKIPPED_TAG: str(held)})
        return str(held)
    return None


def unchecked(name: str, held: str) -> AssetCheckResult:
    """The result of a check that a skipped run could not make, because Dagster requires one."""
    return AssetCheckResult(check_name=name, passed=False, severity=AssetCheckSeverity.WARN, metadata={"skipped": held})


def held_by_others(is_queued: Callable[[str], bool], store: Store, settings: Settings) -> SkipReason | None:
    """Why a tick starts no run: a run that is not in this instance's queue (`is_queued`) holds the store. None if it
    may start one."""
    if not store.exists():
        return None
    try:
        with store.reading() as tx:
            run_id = tx.lease.run()
            holder = tx.lease.holder()
    except StoreBusyError as held:
        return SkipReason(str(held))
    if run_id is None or is_queued(run_id):
        return None
    return SkipReason(f"'{store.path}' is in use by {holder}")


def skipped_reason(instance: DagsterInstance, run_id: str) -> str | None:
    """Why a run was skipped, or None if it was not."""
    run = instance.get_run_by_id(run_id)
    return run.tags.get(SKIPPED_TAG) if run else None


_UNDER_WAY = [DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING]


def end_dead_runs(instance: DagsterInstance) -> list[str]:
    """Mark runs whose process is gone as failed, or as cancelled if that was requested; returns their ids.

    A run that holds the lease of the store that it was configured for is alive, wherever its process is.
    """
    ended = []
    for record in instance.get_run_records(RunsFilter(statuses=_UNDER_WAY)):
        run, pid = record.dagster_run, _process_of(instance, record)
        if pid is None or record.start_time is None or is_running(pid, datetime.fromtimestamp(record.start_time, UTC)):
            continue
        if _holds_lease(run):
            continue
        message = (
            f"Its process ({pid}) ended unexpectedly. What it had committed stays; the next run continues from there."
        )
        if run.status == DagsterRunStatus.CANCELING:
            instance.report_run_canceled(run, message=message)
        else:
            instance.report_run_failed(run, message=message)
        ended.append(run.run_id)
    return ended


def _process_of(instance: DagsterInstance, record: RunRecord) -> int | None:
    starts = instance.all_logs(record.dagster_run.run_id, of_type=DagsterEventType.RUN_START)
    return next((entry.dagster_event.pid for entry in starts if entry.dagster_event), None)


def _holds_lease(run: DagsterRun) -> bool:
    try:
        settings = NightResource.of_run(run).effective_settings()
    except (SettingError, ValidationError):  # a run that was launched with invalid settings never opened a store
        return False
    store = Store.of(settings)
    if not store.exists():
        return False
    with store.reading() as tx:
        return tx.lease.run() == run.run_id
