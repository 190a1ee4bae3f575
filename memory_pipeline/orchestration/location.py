"""The code location: its settings, its origin, and what its assets and sensors share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import dagster as dg
from dagster._core.definitions.repository_definition import SINGLETON_REPOSITORY_NAME
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from dagster._core.remote_origin import ManagedGrpcPythonEnvCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

from memory_pipeline.orchestration.home import DEFINITIONS, LOCATION_NAME, load_project_settings

LOCATION = load_project_settings().values
_REPOSITORY = RemoteRepositoryOrigin(
    ManagedGrpcPythonEnvCodeLocationOrigin(LoadableTargetOrigin(module_name=DEFINITIONS), LOCATION_NAME),
    SINGLETON_REPOSITORY_NAME,
)


def own_runs(instance: dg.DagsterInstance) -> None:
    """Let every run that this process makes in the instance belong to the code location's job of its name."""
    create = instance.create_run_for_job

    def create_run_for_job(*, job_def: Any, **given: Any) -> Any:
        return create(job_def=job_def, remote_job_origin=RemoteJobOrigin(_REPOSITORY, job_def.name), **given)

    instance.create_run_for_job = create_run_for_job  # type: ignore[method-assign, assignment]


#: The groups, in the order of the data.
SOURCES_GROUP, NIGHT_GROUP, KNOWLEDGE_GROUP, REPORTING_GROUP = "sources", "night", "knowledge", "reporting"
CONVERSATIONS_GROUP, ROLLUPS_GROUP = "conversations", "rollups"
OWNERS = ["team:memory"]
IO = "night_files"
ZONE = "America/New_York"
#: What the description of a schedule or sensor ends with that would change the store without having been asked.
STARTS_OFF = " It changes the store, and is off until you turn it on."
#: The job that only reads the sources.
SOURCES_JOB = "import_sources"
#: The job that only archives exact duplicates; its runs are reported under this kind.
DUPLICATES_JOB = "duplicates"


def _fresh_by(deadline: str) -> dg.FreshnessPolicy:
    """Fresh if materialized in the hour and a half before each deadline, New York time, and not before."""
    lower_bound = timedelta(hours=1, minutes=30)
    return dg.FreshnessPolicy.cron(deadline_cron=deadline, lower_bound_delta=lower_bound, timezone=ZONE)


#: The night of the last complete day should be done by 04:30, and the week and the month that end with it by 05:00.
NIGHTLY, WEEKLY_FRESH, MONTHLY_FRESH = _fresh_by("30 4 * * *"), _fresh_by("0 5 * * 0"), _fresh_by("0 5 1 * *")
#: The sources should have been looked at within a week.
OBSERVED = dg.FreshnessPolicy.time_window(fail_window=timedelta(days=7))
#: The summaries of a day, and of the year that ends with it, should be there half an hour after its night.
DAILY_SUMMED, YEARLY_SUMMED = _fresh_by("0 5 * * *"), _fresh_by("0 5 1 1 *")


def described(function: Callable[..., Any]) -> str:
    """The docstring of a function on one line."""
    return " ".join((function.__doc__ or "").split())


def documented(decorator: Callable[..., Any], *, more: str = "", **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declare a function by one of Dagster's decorators, with these options, and its docstring on one line, and more,
    as the description: of sensors Dagster takes none, and of what has several lines its graph shows the first alone."""

    def declare(function: Callable[..., Any]) -> Any:
        return decorator(description=described(function) + more, **options)(function)

    return declare


def job_of_assets(name: str, description: str, *assets: dg.AssetsDefinition) -> UnresolvedAssetJobDefinition:
    """A job that makes assets, in one process."""
    return dg.define_asset_job(
        name, selection=dg.AssetSelection.assets(*assets), executor_def=dg.in_process_executor, description=description
    )


def watches(
    sensor: Callable[..., Any] = dg.sensor, *, is_on: bool = True, **options: Any
) -> Callable[[Callable[..., Any]], Any]:
    """Declare a function as a sensor; one that changes the store by itself is not on from the start. `options`: as the
    decorator `sensor` takes them."""
    if is_on:
        return documented(sensor, default_status=dg.DefaultSensorStatus.RUNNING, **options)
    return documented(sensor, more=STARTS_OFF, **options)
