"""Ends runs whose process is gone: killed, or lost with the machine.

Dagster's run monitoring cannot check processes on the same machine. With one run at a time, such a run would block
every later one in the queue forever.
"""

from datetime import UTC, datetime

from dagster import DagsterEventType, DagsterInstance, DagsterRun, DagsterRunStatus, RunRecord, RunsFilter
from pydantic import ValidationError

from memory_pipeline.errors import SettingError
from memory_pipeline.orchestration.resources import NightResource
from memory_pipeline.processes import is_running
from memory_pipeline.store import Store

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
        return tx.lease.run(settings.store.lease_expiry_s) == run.run_id
