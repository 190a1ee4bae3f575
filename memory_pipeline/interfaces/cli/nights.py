"""Runs nights from the command line: the same Dagster jobs, in this process, on the store's own instance.

So every night is in the UI's history, whoever started it.
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from yaml import YAMLError

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import HistoryError, InputError, MemoryPipelineError, StoreBusyError
from memory_pipeline.files import cause_and_mend, real_path
from memory_pipeline.interfaces.cli.output import complain, say
from memory_pipeline.moments import latest_complete_day
from memory_pipeline.orchestration.home import (
    dagster_home,
    named_dagster_home,
    night_config,
    prepare_dagster_home,
    project_home,
)
from memory_pipeline.store import Store

if TYPE_CHECKING:
    from dagster import DagsterInstance, JobDefinition, TimeWindowPartitionsDefinition

    from memory_pipeline.night.knowledge_base_report import KnowledgeBaseReport
    from memory_pipeline.orchestration.job_documents import JobRecord
    from memory_pipeline.reporting.model import Report

_jobs: dict[str, JobDefinition] = {}
_OS_ERROR = re.compile(r"\[Errno (?P<number>\d+)\] (?P<words>[^:]*)(?:: (?P<file>'.*'))?")


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


@contextmanager
def _loading() -> Iterator[None]:
    """While large packages are imported: nothing of that is garbage, so that nobody looks for any, then or ever."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():
                gc.freeze()
                atexit.register(gc.unfreeze)  # extension modules complain of what they find in use at the end
            gc.enable()


def _job(name: str) -> JobDefinition:
    """A job of the code location, made for this process once.

    `execute_in_process` makes one of its own for every run, with a description that the history knows it by, which
    costs as much as two steps of a quiet night; from a job of this function it takes the same one each time.
    """
    if name not in _jobs:
        with _loading():
            from memory_pipeline.orchestration import home

            home.serves_any_store = True
            from memory_pipeline.definitions import defs

            job = defs.resolve_job_def(name)
        make, made = job.as_ephemeral_job, job.as_ephemeral_job(resource_defs={}, input_values={})
        job.as_ephemeral_job = (  # type: ignore[method-assign]
            lambda **given: make(**given) if any(given.values()) else made
        )
        _jobs[name] = job
    return _jobs[name]


@contextmanager
def instance_of(settings: Settings) -> Iterator[DagsterInstance]:
    """The Dagster instance of a store: that of `DAGSTER_HOME` if set to a home of its own, otherwise the one next to
    the store.

    Raises SettingError for an unusable `DAGSTER_HOME`, and HistoryError if the history cannot be opened, read or
    written, now or later.
    """
    store_path = Path(settings.store.path)
    given = os.environ.get("DAGSTER_HOME")
    if not given or real_path(given, "DAGSTER_HOME") in (project_home(), real_path(dagster_home(store_path))):
        home = prepare_dagster_home(store_path)
    else:
        home = named_dagster_home(given)
    # Not a setting of ours: the instance's own dagster.yaml gets its paths from this variable.
    os.environ["DAGSTER_HOME"] = str(home)
    with _loading():
        _quiet_dagster()
        from dagster import DagsterError, DagsterInstance
        from sqlalchemy.exc import SQLAlchemyError

        from memory_pipeline.orchestration import history  # noqa: F401  # the instance would load it
        from memory_pipeline.orchestration.dead_runs import end_dead_runs
        from memory_pipeline.orchestration.origin import own_runs

    with ExitStack() as stack:
        try:
            instance = stack.enter_context(DagsterInstance.get())
        except (DagsterError, SQLAlchemyError, YAMLError) as error:
            raise HistoryError(f"Dagster's history in '{home}' cannot be opened: {_history_words(error)}") from error
        try:
            end_dead_runs(instance)
            own_runs(instance)
            yield instance
        except SQLAlchemyError as error:
            raise HistoryError(f"Dagster's history in '{home}' cannot be written: {_history_words(error)}") from error


def _history_words(error: Exception) -> str:
    """The message of SQLite or Dagster, and how to fix it."""
    text = str(getattr(error, "orig", None) or error).strip()
    low = text.lower()
    if "full" in low or "disk i/o" in low:
        return f"the disk is full or broken ({text}); free some space and run again"
    if "readonly" in low or "unable to open" in low:
        return f"it is not writable ({text}); check the owner of the files there, or name another DAGSTER_HOME"
    if "not a database" in low or "malformed" in low:
        return f"it is damaged ({text}); move that directory away to begin a new history"
    return f"{' '.join(text.split())[:500]}; fix its dagster.yaml, or move that directory away"


def run_night_job(
    instance: DagsterInstance, settings: Settings, request: NightRequest, progress: Callable[[str, int, int], None]
) -> Report:
    """Run one night as a Dagster job and return its report.

    Raises StoreBusyError if another process holds the store. A run that fails for another reason is reported as
    FAIL, also in the store.
    """
    from memory_pipeline.orchestration import resources

    store = Store.of(settings)
    check_request(settings, request)
    resources.listeners[:] = [progress]
    options = {"threshold": request.threshold, "days": request.days, "cluster_id": request.cluster_id}
    config: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if request.no_cache:
        config["no_cache"] = True
    job = _job("night_preview" if request.dry_run else "night")
    started = datetime.now(UTC)
    level = "INFO" if request.verbose else "CRITICAL"
    result = job.execute_in_process(
        instance=instance,
        partition_key=request.partition.isoformat(),
        raise_on_error=False,
        tags={resources.HOLDER_TAG: "memory-pipeline night"},
        run_config=_run_config(settings, level, **config),
    )
    if not result.success:
        return _failed(result, store, settings, request, started)
    _raise_if_skipped(instance, result.run_id)
    if request.dry_run:
        return cast("Report", result.output_for_node("preview_night"))
    if settings.exports_of_store:
        _tell_of_exports(result)
    return cast("Report", result.output_for_node("reports"))


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


def run_ended_periods(instance: DagsterInstance, settings: Settings, day: date) -> dict[str, str]:
    """Run the weekly and monthly steps if the night of `day` was the last one of its period. Returns the outcome in
    words, by job and partition."""
    from memory_pipeline.orchestration.partitions import periods_ending_with

    return _run_periods(instance, settings, periods_ending_with(day))


def run_missing_periods(instance: DagsterInstance, settings: Settings, last_night: date) -> dict[str, str]:
    """Run the weekly or monthly step of the newest period, up to `last_night`, if it has never run for any. Returns
    the outcome in words, by job and partition."""
    from dagster import AssetKey

    from memory_pipeline.orchestration.jobs import PERIOD_ASSETS
    from memory_pipeline.orchestration.partitions import newest_period

    missing = {}
    for partitions, asset in PERIOD_ASSETS.items():
        key = newest_period(partitions, last_night, datetime.now(UTC))
        if key is not None and not instance.get_materialized_partitions(AssetKey(asset)):
            missing[partitions] = key
    return _run_periods(instance, settings, missing)


def _run_periods(
    instance: DagsterInstance, settings: Settings, periods: Mapping[TimeWindowPartitionsDefinition, str]
) -> dict[str, str]:
    from memory_pipeline.orchestration.jobs import PERIOD_JOBS

    jobs = ((PERIOD_JOBS[partitions].name, key) for partitions, key in periods.items())
    return {f"{name} {key}": _outcome(instance, settings, name, key, {}) for name, key in jobs}


def run_rollups(instance: DagsterInstance, settings: Settings, last_day: date) -> dict[str, str]:
    """Sum up every day from the first memory to `last_day`, and each week, month and year of them that has ended: a run
    for each level. Returns the outcome in words, by job and span."""
    from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

    from memory_pipeline.orchestration.jobs import ROLLUP_JOBS, daily_rollups_job
    from memory_pipeline.orchestration.partitions import EVERY_DAY, first_day_of, newest_period

    first_day = first_day_of(settings, of_demo=False) or last_day
    begin = datetime.combine(first_day, datetime.min.time(), UTC).timestamp()
    results = {}
    for partitions, job in {EVERY_DAY: daily_rollups_job, **ROLLUP_JOBS}.items():
        first = partitions.get_partition_key_for_timestamp(begin)
        newest = newest_period(partitions, last_day, datetime.now(UTC))
        if newest is not None and newest >= first:
            span = {ASSET_PARTITION_RANGE_START_TAG: first, ASSET_PARTITION_RANGE_END_TAG: newest}
            results[f"{job.name} {first} to {newest}"] = _outcome(instance, settings, job.name, None, span)
    return results


def _outcome(
    instance: DagsterInstance, settings: Settings, name: str, partition: str | None, tags: Mapping[str, str]
) -> str:
    """Run a job, and say what became of it."""
    from memory_pipeline.orchestration.resources import HOLDER_TAG

    result = _job(name).execute_in_process(
        instance=instance,
        partition_key=partition,
        raise_on_error=False,
        tags={HOLDER_TAG: "memory-pipeline backfill", **tags},
        run_config=_run_config(settings),
    )
    causes = [cause for event in result.all_events if event.is_step_failure for cause in _causes(event)]
    return "done" if result.success else f"FAILED: {_cause_to_tell(causes)}"


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
    from memory_pipeline.orchestration import resources

    resources.listeners[:] = [progress]
    result = _job("kb_compress").execute_in_process(
        instance=instance,
        raise_on_error=False,
        tags={resources.HOLDER_TAG: "memory-pipeline kb-compress"},
        run_config={
            **_run_config(settings),
            "ops": {"compress_entries": {"config": {k: v for k, v in options.items() if v is not None}}},
        },
    )
    if result.success:
        _raise_if_skipped(instance, result.run_id)
        report: KnowledgeBaseReport = result.output_for_node("compress_entries")
        return report
    causes = [cause for event in result.all_events if event.is_step_failure for cause in _causes(event)]
    busy = next((text for name, text in causes if name == "StoreBusyError"), None)
    if busy:
        raise StoreBusyError(busy)
    if _was_stopped(causes):
        raise KeyboardInterrupt
    raise MemoryPipelineError(_cause_to_tell(causes))


def run_consolidation(
    instance: DagsterInstance,
    settings: Settings,
    scope: Mapping[str, Any],
    by: str,
    progress: Callable[[str, int, int], None],
    run_id: str | None = None,
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
        holder = tx.lease.holder(settings.store.lease_expiry_s)
    if holder and not scope.get("dry_run"):
        raise store.in_use_by(holder)
    resources.listeners[:] = [progress]
    config = {name: value for name, value in scope.items() if value}
    result = _job(JOB_NAME).execute_in_process(
        instance=instance,
        raise_on_error=False,
        run_id=run_id,
        tags={TRIGGER_TAG: "manual", BY_TAG: by, resources.HOLDER_TAG: "memory-pipeline jobs"},
        run_config=_run_config(settings, **config),
    )
    if _was_stopped([cause for event in result.all_events if event.is_step_failure for cause in _causes(event)]):
        raise KeyboardInterrupt
    _raise_if_skipped(instance, result.run_id)
    return job_record(instance, find_job(instance, result.run_id))


def _run_config(settings: Settings, level: str = "CRITICAL", **options: object) -> dict[str, Any]:
    """The settings, the options of the night, and how much of Dagster's log is shown."""
    return {"loggers": {"console": {"config": {"log_level": level}}}, **night_config(settings, **options)}


def _raise_if_skipped(instance: DagsterInstance, run_id: str) -> None:
    """Raises StoreBusyError with the name of the holder if the run found the store held after the first check."""
    from memory_pipeline.orchestration.held import skipped_reason

    reason = skipped_reason(instance, run_id)
    if reason:
        raise StoreBusyError(reason)


def check_request(settings: Settings, request: NightRequest) -> None:
    """Raises InputError for an impossible night and StoreBusyError while another one runs, before any work is done."""
    from memory_pipeline.night.plan import NightOptions

    store = Store.of(settings)
    check_days(settings, request.partition, request.partition)
    NightOptions(request.partition, "check", threshold=request.threshold, days=request.days)
    if not store.exists() and settings.sources_of_store and not request.dry_run:
        with store.writing("memory-pipeline night"):
            pass  # the night's first step fills it
    with store.reading() as tx:
        holder = tx.lease.holder(settings.store.lease_expiry_s)
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


def _failed(result: Any, store: Store, settings: Settings, request: NightRequest, started: datetime) -> Report:
    from memory_pipeline.night.context import Night
    from memory_pipeline.night.plan import NightOptions
    from memory_pipeline.reporting.report import Report, failed_night

    causes = [cause for event in result.all_events if event.is_step_failure for cause in _causes(event)]
    busy = next((text for name, text in causes if name == "StoreBusyError"), None)
    if busy:
        raise StoreBusyError(busy)
    text = _cause_to_tell(causes)
    if request.dry_run:  # nothing is stored of it, also no report
        if _was_stopped(causes):
            raise KeyboardInterrupt
        raise MemoryPipelineError(text)
    with store.reading() as tx:
        reported = tx.journal.report(result.run_id)
    if reported is not None and not _was_stopped(causes):
        return Report.read_kept(reported)
    night = Night(store, settings, NightOptions(request.partition, result.run_id))
    if _was_stopped(causes):
        failed_night(night, "stopped by Ctrl-C", started)
        raise KeyboardInterrupt
    return failed_night(night, text, started)


def _was_stopped(causes: Sequence[tuple[str, str]]) -> bool:
    """Whether a person ended the run. Dagster turns this into a failed step, and would then begin the next run."""
    return any(name in ("DagsterExecutionInterruptedError", "KeyboardInterrupt") for name, _ in causes)


def _cause_to_tell(causes: Sequence[tuple[str, str]]) -> str:
    """The first cause that says how to fix it; without one, the cause of all the others."""
    fixable = {kind.__name__ for kind in _kinds_of(MemoryPipelineError)}
    told = [text for name, text in causes if name in fixable] or [text for _, text in causes[-1:]]
    return " ".join(told[0].split()) if told else "the run failed before its first step"


def _kinds_of(error: type[Exception]) -> Iterator[type[Exception]]:
    yield error
    for kind in error.__subclasses__():
        yield from _kinds_of(kind)


def _causes(event: Any) -> Iterator[tuple[str, str]]:
    error = event.step_failure_data.error
    while error is not None:
        yield error.cls_name or "", _in_words(error.message.strip().partition(": ")[2] or error.message.strip())
        error = error.cause


def _in_words(text: str) -> str:
    """The meaning and fix of an operating system error that Dagster passes on as text."""
    found = _OS_ERROR.match(text)
    if not found:
        return text
    where = f"{found['file']}: " if found["file"] else ""
    return f"{where}{cause_and_mend(OSError(int(found['number']), found['words']))}"


def _quiet_dagster() -> None:
    """Suppresses Dagster's warnings about its own beta interfaces, which a user cannot do anything about."""
    warnings.filterwarnings("ignore", module=r"dagster\..*")
    from dagster import BetaWarning, PreviewWarning

    for category in (BetaWarning, PreviewWarning):
        warnings.filterwarnings("ignore", category=category)
