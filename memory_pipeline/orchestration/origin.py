"""The code location that runs belong to, also those that the command line executes in its own process.

Dagster lists a run under its job by the code location that asked for it. A run that a process executes by itself has
none, and would stand in the list of all runs alone.
"""

from typing import Any

from dagster import DagsterInstance
from dagster._core.definitions.repository_definition import SINGLETON_REPOSITORY_NAME
from dagster._core.remote_origin import ManagedGrpcPythonEnvCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

from memory_pipeline.orchestration.home import DEFINITIONS, LOCATION_NAME

_REPOSITORY = RemoteRepositoryOrigin(
    ManagedGrpcPythonEnvCodeLocationOrigin(LoadableTargetOrigin(module_name=DEFINITIONS), LOCATION_NAME),
    SINGLETON_REPOSITORY_NAME,
)


def own_runs(instance: DagsterInstance) -> None:
    """Let every run that this process makes in the instance belong to the code location's job of its name."""
    create = instance.create_run_for_job

    def create_run_for_job(*, job_def: Any, **given: Any) -> Any:
        return create(job_def=job_def, remote_job_origin=RemoteJobOrigin(_REPOSITORY, job_def.name), **given)

    instance.create_run_for_job = create_run_for_job  # type: ignore[method-assign, assignment]
