"""The commands about consolidation jobs: list, show, start, cancel. A job is also a run in Dagster."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import MemoryPipelineError, StoreBusyError
from memory_pipeline.interfaces.cli.base import Answer, current_user, group, settings_of
from memory_pipeline.interfaces.cli.instances import instance_of, run_config, run_job
from memory_pipeline.interfaces.cli.output import progress_printer, table
from memory_pipeline.store import Store
from memory_pipeline.store.runs import JOB_ACTOR

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from memory_pipeline.orchestration.consolidation import JobRecord

jobs_app = group("jobs", "Consolidation jobs: list, show, start with a scope, cancel.")

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The job's id, or the start of it.")]


@jobs_app.command("list", epilog="Example: memory-pipeline jobs list")
def jobs_list(
    settings: Settings, limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of jobs.")] = 20
) -> Answer:
    """Show the jobs, newest first."""
    from memory_pipeline.orchestration.consolidation import list_jobs, status_text, with_verdicts

    with instance_of(settings) as instance:
        jobs = with_verdicts(settings, list_jobs(instance, limit))
    rows = [
        {
            **job.as_json(),
            "id": job.job_id[:8],
            "status": status_text(job),
            "started": f"{job.started_at:%Y-%m-%dT%H:%M:%S}" if job.started_at else "",
            "seconds": job.duration_seconds if job.duration_seconds is not None else "",
            "phases": len(job.phases_completed),
        }
        for job in jobs
    ]
    columns = ["id", "status", "trigger", "triggered_by", "started", "seconds", "phases"]
    return Answer(jobs, table(rows, columns, "No job was ever started."))


@jobs_app.command("show", epilog="Example: memory-pipeline jobs show 3f0c")
def jobs_show(settings: Settings, job_id: IdArgument) -> Answer:
    """Show a job's scope, phases, figures and error."""
    from memory_pipeline.orchestration.consolidation import find_job, job_record, job_text, with_verdicts

    with instance_of(settings) as instance:
        (job,) = with_verdicts(settings, [job_record(instance, find_job(instance, job_id))])
    return Answer(job, job_text(job))


@jobs_app.command(
    "start",
    epilog="Examples: memory-pipeline jobs start --project webshop; memory-pipeline jobs start --type lesson "
    "--from 2026-02-01 --to 2026-02-28 --unconsolidated-only",
)
def jobs_start(
    settings: Settings,
    project: Annotated[list[str] | None, typer.Option("--project", help="Only this project; may be repeated.")] = None,
    type_: Annotated[list[str] | None, typer.Option("--type", help="Only this memory type; may be repeated.")] = None,
    from_: Annotated[str | None, typer.Option("--from", metavar="DATE", help="Created on this day or later.")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="DATE", help="Created on this day or earlier.")] = None,
    unconsolidated_only: Annotated[
        bool, typer.Option("--unconsolidated-only", help="Only raw memories, no merged ones.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would happen; write nothing.")] = False,
) -> Answer:
    """Consolidate a scope now: duplicates, merges, canonical entries, patterns, principles, playbook."""
    from memory_pipeline.orchestration.consolidation import check_scope, job_text, with_verdicts

    scope = {
        "projects": project or [],
        "memory_types": type_ or [],
        "first_day": from_,
        "last_day": to,
        "unconsolidated_only": unconsolidated_only,
        "dry_run": dry_run,
    }
    check_scope(settings, scope)
    with instance_of(settings) as instance:
        (job,) = with_verdicts(
            settings, [run_consolidation(instance, settings, scope, current_user(), progress_printer())]
        )
    return Answer(job, job_text(job), failed=job.status != "completed")


@jobs_app.command("cancel", epilog="Example: memory-pipeline jobs cancel 3f0c")
def jobs_cancel(settings: Settings, job_id: IdArgument) -> Answer:
    """Cancel a waiting or running job. What it has committed stays, and can be rolled back by its id."""
    from memory_pipeline.orchestration.consolidation import cancel_job, job_text

    with instance_of(settings) as instance:
        job = cancel_job(instance, job_id)
    return Answer(job, job_text(job))


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

    `scope`: the given fields of the night resource, which `check_scope` has found right; `run_id`: the id of its run,
    if it has to have one. Raises StoreBusyError if a night holds the store.
    """
    from memory_pipeline.orchestration.consolidation import BY_TAG, JOB_NAME, TRIGGER_TAG, find_job, job_record

    store = Store.of(settings)
    with store.reading() as tx:
        holder = tx.lease.holder()
    if holder and not scope.get("dry_run"):
        raise store.in_use_by(holder)
    config = run_config(settings, **{name: value for name, value in scope.items() if value})
    tags = {TRIGGER_TAG: trigger, BY_TAG: by}
    run_id = run_id or str(uuid.uuid4())
    try:
        run_job(instance, JOB_NAME, JOB_ACTOR, config, progress, run_id=run_id, tags=tags)
    except StoreBusyError:
        raise
    except MemoryPipelineError:  # its record says it
        pass
    return job_record(instance, find_job(instance, run_id))


def consolidate_as_asked() -> None:
    """The process of a consolidation that the API starts, and describes on standard input."""
    asked = json.load(sys.stdin)
    settings = settings_of(Path(asked["store"]))
    with instance_of(settings) as instance:
        run_consolidation(
            instance, settings, asked["scope"], asked["by"], lambda *_: None, asked["run_id"], trigger=asked["trigger"]
        )
