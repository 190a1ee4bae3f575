"""Starts consolidations as Dagster runs in processes of their own, and asks Dagster how they go."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from datetime import date
from statistics import median
from typing import IO, Any, Literal

from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError, NotFoundError
from memory_pipeline.interfaces.api.access import Access
from memory_pipeline.interfaces.api.gate import Problem
from memory_pipeline.interfaces.cli.instances import instance_of
from memory_pipeline.interfaces.operations import Project, Request
from memory_pipeline.orchestration.consolidation import JobRecord, check_scope, job_of_run, list_jobs, with_verdicts
from memory_pipeline.recall.documents import MemoryType
from memory_pipeline.store import Store

#: What the process of a consolidation runs.
_PROGRAM = "from memory_pipeline.interfaces.cli import jobs, main; main(jobs.consolidate_as_asked)"
#: Seconds between two looks whether a run has begun.
_LOOK_EVERY_S = 0.1
_JOBS_LOOKED_AT = 10
#: Seconds after which the answer is that the run has not begun yet.
_LONGEST_START_S = 24.0
#: Without an earlier job: seconds that any takes, and memories that one takes in a second.
_LEAST_S, _MEMORIES_PER_S = 5.0, 100


class ConsolidationScope(Document):
    """The limits of a consolidation."""

    date_range: tuple[date | None, date | None] | None = Field(
        default=None, description="First and last day on which the memories were created; null for no limit."
    )
    memory_types: tuple[MemoryType, ...] = Field(default=(), description="Only memories of these types.")
    unconsolidated_only: bool = Field(default=False, description="Only raw memories, no merged ones.")


class ConsolidationRequest(Request):
    """A consolidation to be started."""

    project_id: Project | None = Field(
        default=None, description="The project; null for all that the token is good for."
    )
    scope: ConsolidationScope = Field(default=ConsolidationScope(), description="What it is limited to.")
    dry_run: bool = Field(default=False, description="Write nothing.")
    trigger_type: Literal["manual", "scheduled", "threshold"] = Field(
        default="manual", description="What makes the client ask: shown as the job's `trigger`."
    )


class StartedConsolidation(Document):
    """A consolidation that was started."""

    job_id: str = Field(description="The job, which is a Dagster run with this id.")
    status: str = Field(description="`pending` or `running`.")
    message: str = Field(description="Where to ask how it goes.")
    estimated_duration_seconds: float = Field(
        description="How long earlier jobs took (the median of the last ten); without any, an estimate from the "
        "number of memories."
    )


class Consolidations:
    """The consolidations of one store."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings, self._store = settings, store
        self._running: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def start(self, request: ConsolidationRequest, access: Access) -> StartedConsolidation:
        """Start a consolidation; returns when Dagster has its run.

        Raises Problem: 400 for an invalid scope, 409 while another run works on the store. Raises ForbiddenError and
        NotFoundError for a project that the token is not good for, or that does not exist.
        """
        scope = self._checked_scope(request, access)
        with self._lock:
            self._check_nothing_runs(dry_run=request.dry_run)
            run_id = str(uuid.uuid4())
            with tempfile.TemporaryFile() as errors:
                self._running = self._launch(run_id, scope, access.actor, request.trigger_type, errors)
                status = self._wait_for(run_id, self._running, errors)
        return StartedConsolidation(
            job_id=run_id,
            status=status,
            message=f"Consolidation started; GET /api/v1/admin/consolidation-status/{run_id} says how it goes.",
            estimated_duration_seconds=self._estimate(),
        )

    def status(self, job_id: str, access: Access) -> JobRecord:
        """The status of a job. Raises NotFoundError if there is none, or none in projects that the token may see."""
        with instance_of(self._settings) as instance:
            job = job_of_run(instance, job_id)
        projects = job.scope.get("projects") if job else None
        if job is None or not (access.projects is None or (projects and all(map(access.allows, projects)))):
            raise NotFoundError(f"there is no consolidation '{job_id}'")
        return with_verdicts(self._settings, [job])[0]

    def _checked_scope(self, request: ConsolidationRequest, access: Access) -> dict[str, Any]:
        if request.project_id is not None:
            projects = [access.choose_project(self._store, request.project_id)]
        else:
            projects = sorted(access.projects or ())
        limits = request.scope.as_json()
        first, last = limits.pop("date_range") or (None, None)
        scope = {**limits, "projects": projects, "first_day": first, "last_day": last, "dry_run": request.dry_run}
        try:
            check_scope(self._settings, scope)
        except InputError as error:
            raise Problem(400, "invalid_scope", str(error)) from None
        return scope

    def _check_nothing_runs(self, *, dry_run: bool) -> None:
        if self._running is not None and self._running.poll() is None:
            raise Problem(409, "conflict", "a consolidation that this server started is still running")
        with self._store.reading() as tx:
            holder = tx.lease.holder()
        if holder and not dry_run:
            raise Problem(409, "conflict", f"the store is in use by {holder}; try again when it has ended")

    def _launch(
        self, run_id: str, scope: dict[str, Any], actor: str, trigger: str, errors: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        """Start the process of a run. It belongs to no terminal and to no server: it ends when the run does."""
        request = {"store": str(self._store.path), "run_id": run_id, "scope": scope, "by": actor, "trigger": trigger}
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(request).encode())
        process.stdin.close()
        threading.Thread(target=process.wait, name="consolidation", daemon=True).start()
        return process

    def _wait_for(self, run_id: str, process: subprocess.Popen[bytes], errors: IO[bytes]) -> str:
        """The status of a run as soon as Dagster has it. Raises Problem if its process ends before."""
        deadline = time.monotonic() + _LONGEST_START_S
        with instance_of(self._settings) as instance:
            while time.monotonic() < deadline:
                has_ended = process.poll() is not None
                if (job := job_of_run(instance, run_id)) is not None:
                    return job.status
                if has_ended:
                    errors.seek(0)
                    words = errors.read().decode("utf-8", "replace").strip().splitlines()
                    why = words[-1].removeprefix("Error: ") if words else f"exit code {process.returncode}"
                    raise Problem(409, "conflict", f"the consolidation did not start: {why}")
                time.sleep(_LOOK_EVERY_S)
        return "pending"

    def _estimate(self) -> float:
        with instance_of(self._settings) as instance:
            jobs: list[JobRecord] = list_jobs(instance, _JOBS_LOOKED_AT)
        took = [job.duration_seconds for job in jobs if job.status == "completed" and job.duration_seconds]
        if took:
            return round(median(took), 1)
        with self._store.reading() as tx:
            return round(_LEAST_S + tx.contents.facts()["active"] / _MEMORIES_PER_S, 1)
