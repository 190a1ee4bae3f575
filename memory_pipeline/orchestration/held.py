"""Handles a store that is held by another process: a scheduled run is skipped with a warning that names the holder,
and never fails.

Runs of this Dagster instance wait for each other in its queue, so a tick only checks for other holders. A holder
that arrives between the tick and the run is found by the run's first step.
"""

from collections.abc import Callable

from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetExecutionContext,
    DagsterInstance,
    OpExecutionContext,
    SkipReason,
)

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import StoreBusyError
from memory_pipeline.night.context import Night
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
            run_id = tx.lease.run(settings.store.lease_expiry_s)
            holder = tx.lease.holder(settings.store.lease_expiry_s)
    except StoreBusyError as held:
        return SkipReason(str(held))
    if run_id is None or is_queued(run_id):
        return None
    return SkipReason(f"'{store.path}' is in use by {holder}")


def skipped_reason(instance: DagsterInstance, run_id: str) -> str | None:
    """Why a run was skipped, or None if it was not."""
    run = instance.get_run_by_id(run_id)
    return run.tags.get(SKIPPED_TAG) if run else None
