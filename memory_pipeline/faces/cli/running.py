"""Running nights from the command line: the same Dagster jobs, in this process, on the store's own instance.

So every night stands in the UI's history, whoever started it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_pipeline.errors import InputError, MemoryPipelineError, StoreBusyError
from memory_pipeline.orchestration.home import prepare_dagster_home, project_home
from memory_pipeline.settings import Settings
from memory_pipeline.store import Store, lease_holder

if TYPE_CHECKING:
    from dagster import DagsterInstance

Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NightRequest:
    """A night as the command line asks for it."""

    partition: date
    dry_run: bool = False
    threshold: float | None = None
    days: int | None = None
    cluster_id: str | None = None
    no_cache: bool = False
    verbose: bool = False


@contextmanager
def instance_of(settings: Settings) -> Iterator[DagsterInstance]:
    """The Dagster instance of a store: `DAGSTER_HOME` when that is set to a home of its own, else beside the store."""
    store_path = Path(settings.store_path)
    os.environ["MEMORY_PIPELINE_STORE_PATH"] = str(store_path)
    given = os.environ.get("DAGSTER_HOME")
    if not given or Path(given).resolve() == project_home():
        os.environ["DAGSTER_HOME"] = str(prepare_dagster_home(store_path))
    _quiet_dagster()
    from dagster import DagsterInstance

    from memory_pipeline.orchestration.dead_runs import end_dead_runs

    with DagsterInstance.get() as instance:
        end_dead_runs(instance, Store.of(settings), settings.lease_expiry_s)
        yield instance


def run_night_job(
    instance: DagsterInstance, settings: Settings, request: NightRequest, progress: Callable[[str, int, int], None]
) -> Report:
    """Run one night as a Dagster job and return its report.

    Raises StoreBusyError when another night holds the store. A run that fails for another reason is
    reported as FAIL, in the store too.
    """
    from memory_pipeline.definitions import defs
    from memory_pipeline.night.context import NightOptions
    from memory_pipeline.orchestration import resources

    store = Store.of(settings)
    _check_request(store, settings, request)
    NightOptions(request.partition, "check", threshold=request.threshold, days=request.days)
    resources.listeners[:] = [progress]
    options = {"threshold": request.threshold, "days": request.days, "cluster_id": request.cluster_id}
    config: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if request.no_cache:
        config["no_cache"] = True
    job = defs.resolve_job_def("night_preview" if request.dry_run else "night")
    started = datetime.now(UTC)
    level = "INFO" if request.verbose else "CRITICAL"
    result = job.execute_in_process(
        instance=instance,
        partition_key=request.partition.isoformat(),
        raise_on_error=False,
        run_config={
            "loggers": {"console": {"config": {"log_level": level}}},
            "resources": {"night": {"config": {**config, "holder": "memory-pipeline night"}}},
        },
    )
    if not result.success:
        return _failed(result, store, settings, request, started)
    if request.dry_run:
        return dict(result.output_for_node("preview_night"))
    return dict(result.output_for_node("reports"))


def run_ended_periods(instance: DagsterInstance, day: date) -> dict[str, str]:
    """Make what is due when the night of `day` was the last one of a week or a month; by job and partition, in words,
    what came of it."""
    from memory_pipeline.definitions import defs
    from memory_pipeline.orchestration.jobs import PERIOD_JOBS
    from memory_pipeline.orchestration.partitions import periods_ending_with

    results = {}
    for partitions, key in periods_ending_with(day).items():
        name = PERIOD_JOBS[partitions].name
        result = defs.resolve_job_def(name).execute_in_process(
            instance=instance,
            partition_key=key,
            raise_on_error=False,
            run_config={
                "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                "resources": {"night": {"config": {"holder": "memory-pipeline backfill"}}},
            },
        )
        causes = [text for event in result.all_events if event.is_step_failure for _, text in _causes(event)]
        results[f"{name} {key}"] = "done" if result.success else f"FAILED: {causes[-1] if causes else 'not started'}"
    return results


def run_kb_job(
    instance: DagsterInstance,
    settings: Settings,
    options: Mapping[str, Any],
    progress: Callable[[str, int, int], None],
) -> Report:
    """Make the knowledge base canonical as a Dagster job and return its report.

    `options`: threshold, days and dry_run, as far as they were given. Raises StoreBusyError when a night holds
    the store, and MemoryPipelineError for what a person can mend.
    """
    from memory_pipeline.definitions import defs
    from memory_pipeline.orchestration import resources

    resources.listeners[:] = [progress]
    result = defs.resolve_job_def("kb_compress").execute_in_process(
        instance=instance,
        raise_on_error=False,
        run_config={
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
            "resources": {"night": {"config": {"holder": "memory-pipeline kb-compress"}}},
            "ops": {"compress_entries": {"config": {k: v for k, v in options.items() if v is not None}}},
        },
    )
    if result.success:
        return dict(result.output_for_node("compress_entries"))
    causes = [cause for event in result.all_events if event.is_step_failure for cause in _causes(event)]
    busy = next((text for name, text in causes if name == "StoreBusyError"), None)
    if busy:
        raise StoreBusyError(busy)
    raise MemoryPipelineError(causes[-1][1] if causes else "the run failed before its first step")


def run_consolidation(
    instance: DagsterInstance,
    settings: Settings,
    scope: Mapping[str, Any],
    by: str,
    progress: Callable[[str, int, int], None],
) -> Report:
    """Run a consolidation job in this process and return its record, however it ended.

    `scope`: fields of the night resource, as far as they were given. Raises InputError for days that are none, and
    StoreBusyError when a night holds the store.
    """
    from memory_pipeline.definitions import defs
    from memory_pipeline.orchestration import resources
    from memory_pipeline.orchestration.consolidation import BY_TAG, JOB_NAME, TRIGGER_TAG
    from memory_pipeline.orchestration.job_records import find_job, job_record

    for name in ("first_day", "last_day", "day"):
        resources.as_day(scope.get(name), name)
    store = Store.of(settings)
    with store.reading() as tx:
        holder = lease_holder(tx, settings.lease_expiry_s)
    if holder and not scope.get("dry_run"):
        raise StoreBusyError(f"another night is running on '{store.path}': {holder}")
    resources.listeners[:] = [progress]
    config = {name: value for name, value in scope.items() if value}
    result = defs.resolve_job_def(JOB_NAME).execute_in_process(
        instance=instance,
        raise_on_error=False,
        tags={TRIGGER_TAG: "manual", BY_TAG: by},
        run_config={
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
            "resources": {"night": {"config": {**config, "holder": "memory-pipeline jobs"}}},
        },
    )
    return job_record(instance, find_job(instance, result.run_id))


def _check_request(store: Store, settings: Settings, request: NightRequest) -> None:
    first = date.fromisoformat(settings.first_partition)
    today = datetime.now(UTC).date()
    if not first <= request.partition < today:
        raise InputError(
            f"there is no night of {request.partition}: nights run from {first} (setting night.first_partition) "
            f"to {date.fromordinal(today.toordinal() - 1)}, the last day that has ended (UTC)"
        )
    with store.reading() as tx:
        holder = lease_holder(tx, settings.lease_expiry_s)
    if holder and not request.dry_run:
        raise StoreBusyError(f"another night is running on '{store.path}': {holder}")


def _failed(result: Any, store: Store, settings: Settings, request: NightRequest, started: datetime) -> Report:
    from memory_pipeline.night.context import Night, NightOptions
    from memory_pipeline.night.report import failed_night

    causes = [cause for event in result.all_events if event.is_step_failure for cause in _causes(event)]
    busy = next((text for name, text in causes if name == "StoreBusyError"), None)
    if busy:
        raise StoreBusyError(busy)
    text = causes[-1][1] if causes else "the run failed before its first step"
    options = NightOptions(request.partition, result.run_id, dry_run=request.dry_run)
    return failed_night(Night(store, settings, options, holder="memory-pipeline night"), text, started)


def _causes(event: Any) -> Iterator[tuple[str, str]]:
    error = event.step_failure_data.error
    while error is not None:
        yield error.cls_name or "", error.message.strip().partition(": ")[2] or error.message.strip()
        error = error.cause


def _quiet_dagster() -> None:
    """Dagster warns of its own beta interfaces at every start; a user can do nothing about that."""
    warnings.filterwarnings("ignore", module=r"dagster\..*")
    from dagster import BetaWarning, PreviewWarning

    for category in (BetaWarning, PreviewWarning):
        warnings.filterwarnings("ignore", category=category)
