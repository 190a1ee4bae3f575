"""Runs nights from the command line: the same Dagster jobs, in this process, on the store's own instance.

So every night is in the UI's history, whoever started it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, cast

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError, MemoryPipelineError, StoreBusyError
from memory_pipeline.interfaces.cli.failures import cause_to_tell, causes_of, was_stopped
from memory_pipeline.interfaces.cli.instances import job_of, run_config
from memory_pipeline.interfaces.cli.output import complain, say
from memory_pipeline.models.choose import model_reads
from memory_pipeline.moments import latest_complete_day
from memory_pipeline.store import Store

if TYPE_CHECKING:
    from dagster import DagsterInstance, ExecuteInProcessResult

    from memory_pipeline.consolidation.knowledge_base import KnowledgeBaseReport
    from memory_pipeline.orchestration.job_records import JobRecord
    from memory_pipeline.reporting.model import Report


@dataclass(frozen=True, slots=True)
class NightRequest:
    """A night as requested on the command line."""

    partition: date
    dry_run: bool = False
    threshold: float | None = None
    days: int | None = None
    cluster_id: str | None = None
    no_cache: bool = False
    verbose: bool = False


def run_night_job(
    instance: DagsterInstance, settings: Settings, request: NightRequest, progress: Callable[[str, int, int], None]
) -> Report:
    """Run one night as a Dagster job and return its report.

    Raises StoreBusyError if another process holds the store. A run that fails for another reason is reported as
    FAIL, also in the store.
    """
    check_request(settings, request)
    options = {"threshold": request.threshold, "days": request.days, "cluster_id": request.cluster_id}
    config: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if request.no_cache:
        config["no_cache"] = True
    started = datetime.now(UTC)
    result = run_job(
        instance,
        "night_preview" if request.dry_run else "night",
        "memory-pipeline night",
        run_config(settings, "INFO" if request.verbose else "CRITICAL", **config),
        progress,
        partition_key=request.partition.isoformat(),
    )
    if not result.success:
        return _failed(result, settings, request, started)
    if request.dry_run:
        return cast("Report", result.output_for_node("preview_night"))
    if settings.exports_of_store:
        _tell_of_exports(result)
    return cast("Report", result.output_for_node("reports"))


def reader_of_all(settings: Settings, reports: Sequence[Report]) -> str:
    """Who read in some nights together, and what waits after the last of them."""
    from memory_pipeline.models.choose import Waiting, describe_reader

    last = reports[-1]
    if not model_reads(settings):
        return last.read_by
    with Store.of(settings).reading() as tx:
        calls = [call for report in reports for call in tx.models.calls_of(report.run_id)]
    return describe_reader(settings, calls, Waiting(notes=last.notes_waiting, turns=last.turns_waiting))


def _tell_of_exports(result: Any) -> None:
    """Print what became of the exports of a night, which its report does not know."""
    for event in result.get_asset_materialization_events():
        if event.asset_key is not None and event.asset_key.path == ["exports"]:
            written = event.materialization.metadata["written"].value
            if written != "none":
                say(f"Exports written: {written}.")
    for check in result.get_asset_check_evaluations():
        if check.asset_key.path == ["exports"] and not check.passed:
            complain(f"Warning: not every export was written: {check.metadata['first'].value}.")


def observe_store(instance: DagsterInstance, store: Store) -> None:
    """Tell the instance what the store holds, as its asset in the UI would when someone observes it."""
    from dagster import AssetObservation

    from memory_pipeline.orchestration.assets.sources import describe_store

    version, metadata = describe_store(store)
    tags = {"dagster/data_version": version.value}
    instance.report_runless_asset_event(AssetObservation("memory_store", metadata=metadata, tags=tags))


def run_kb_job(
    instance: DagsterInstance,
    settings: Settings,
    options: Mapping[str, Any],
    progress: Callable[[str, int, int], None],
) -> KnowledgeBaseReport:
    """Make the knowledge base canonical as a Dagster job and return its report.

    `options`: threshold, days and dry_run, if given. Raises StoreBusyError if a night holds the store, and
    MemoryPipelineError for errors that a person can fix.
    """
    op = {"config": {name: value for name, value in options.items() if value is not None}}
    config = {**run_config(settings), "ops": {"compress_entries": op}}
    result = run_job(instance, "kb_compress", "memory-pipeline kb-compress", config, progress)
    if not result.success:
        raise _error_of(causes_of(result))
    report: KnowledgeBaseReport = result.output_for_node("compress_entries")
    return report


def run_consolidation(
    instance: DagsterInstance,
    settings: Settings,
    scope: Mapping[str, Any],
    by: str,
    progress: Callable[[str, int, int], None],
    run_id: str | None = None,
    *,
    trigger: str = "manual",
) -> JobRecord:
    """Run a consolidation job in this process and return its record, however it ended.

    `scope`: the given fields of the night resource; `run_id`: the id of its run, if it has to have one. Raises
    InputError for invalid days, and StoreBusyError if a night holds the store.
    """
    from memory_pipeline.orchestration import resources
    from memory_pipeline.orchestration.consolidation import BY_TAG, JOB_NAME, TRIGGER_TAG
    from memory_pipeline.orchestration.job_records import find_job, job_record

    for name in ("first_day", "last_day", "day"):
        resources.as_day(scope.get(name), name)
    store = Store.of(settings)
    with store.reading() as tx:
        holder = tx.lease.holder()
    if holder and not scope.get("dry_run"):
        raise store.in_use_by(holder)
    config = run_config(settings, **{name: value for name, value in scope.items() if value})
    tags = {TRIGGER_TAG: trigger, BY_TAG: by}
    result = run_job(instance, JOB_NAME, "memory-pipeline jobs", config, progress, run_id=run_id, tags=tags)
    if was_stopped(causes_of(result)):
        raise KeyboardInterrupt
    return job_record(instance, find_job(instance, result.run_id))


def run_job(
    instance: DagsterInstance,
    name: str,
    holder: str,
    config: Mapping[str, Any],
    progress: Callable[[str, int, int], None],
    *,
    tags: Mapping[str, str] | None = None,
    **given: Any,
) -> ExecuteInProcessResult:
    """Run a Dagster job in this process and return its result, also if it failed. `holder`: who holds the store
    meanwhile, for others that want it. Raises StoreBusyError if the run was skipped because others hold it."""
    from memory_pipeline.orchestration import resources
    from memory_pipeline.orchestration.held import skipped_reason

    resources.listeners[:] = [progress]
    result = job_of(name).execute_in_process(
        instance=instance,
        raise_on_error=False,
        tags={resources.HOLDER_TAG: holder, **(tags or {})},
        run_config=dict(config),
        **given,
    )
    if result.success and (reason := skipped_reason(instance, result.run_id)):
        raise StoreBusyError(reason)
    return result


def _error_of(causes: Sequence[tuple[str, str]]) -> BaseException:
    """What a run that failed raises in this process."""
    busy = next((text for name, text in causes if name == "StoreBusyError"), None)
    if busy:
        return StoreBusyError(busy)
    return KeyboardInterrupt() if was_stopped(causes) else MemoryPipelineError(cause_to_tell(causes))


def check_request(settings: Settings, request: NightRequest) -> None:
    """Raises InputError for an impossible night and StoreBusyError while another one runs, before any work is done."""
    from memory_pipeline.consolidation.plan import NightOptions

    store = Store.of(settings)
    check_days(settings, request.partition, request.partition)
    NightOptions(request.partition, "check", threshold=request.threshold, days=request.days)
    if not store.exists() and settings.sources_of_store and not request.dry_run:
        with store.writing("memory-pipeline night"):
            pass  # the night's first step fills it
    with store.reading() as tx:
        holder = tx.lease.holder()
    if holder and not request.dry_run:
        raise store.in_use_by(holder)


def check_days(settings: Settings, first: date, last: date) -> None:
    """Raises InputError for days that cannot have a night."""
    earliest = settings.night.earliest
    latest = latest_complete_day(datetime.now(UTC))
    for day in (first, last):
        if not earliest <= day <= latest:
            raise InputError(
                f"there is no night of {day}: nights run from {earliest} (setting night.first_partition) to {latest}, "
                "the last day that has ended (UTC)"
            )


def _failed(result: Any, settings: Settings, request: NightRequest, started: datetime) -> Report:
    from memory_pipeline.consolidation.context import Night
    from memory_pipeline.consolidation.plan import NightOptions
    from memory_pipeline.consolidation.report import Report, failed_night

    causes, store = causes_of(result), Store.of(settings)
    error = _error_of(causes)
    if request.dry_run or isinstance(error, StoreBusyError):  # nothing is stored of it, also no report
        raise error
    with store.reading() as tx:
        reported = tx.journal.report(result.run_id)
    stopped = isinstance(error, KeyboardInterrupt)
    if reported is not None and not stopped:
        return Report.read_kept(reported)
    night = Night(store, settings, NightOptions(request.partition, result.run_id))
    report = failed_night(night, "stopped by Ctrl-C" if stopped else str(error), started)
    if stopped:
        raise error
    return report
