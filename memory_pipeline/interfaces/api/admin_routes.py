"""The routes of administrators: start a consolidation, ask how it goes, ask how far a project is."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request

from memory_pipeline.interfaces.api.caller import CallerOf, errors
from memory_pipeline.interfaces.api.consolidations import Consolidations
from memory_pipeline.interfaces.api.documents import ConsolidationRequest, Project, StartedConsolidation
from memory_pipeline.interfaces.api.protocol import body_of, takes
from memory_pipeline.orchestration.job_records import JudgedJob
from memory_pipeline.recall.documents import Metrics

router = APIRouter(prefix="/api/v1/admin", tags=["administration"])


@router.post(
    "/consolidate-memories",
    status_code=202,
    openapi_extra=takes(ConsolidationRequest),
    responses=errors(404, body=True),
)
def consolidate_memories(
    request: Request, caller: CallerOf, body: Annotated[ConsolidationRequest, body_of(ConsolidationRequest)]
) -> StartedConsolidation:
    """Start a consolidation: a Dagster run, which goes on if this server stops."""
    caller.access.require("admin")
    consolidations: Consolidations = request.app.state.consolidations
    return consolidations.start(body, caller.access)


@router.get("/consolidation-status/{job_id}", responses=errors(404))
def consolidation_status(
    request: Request, caller: CallerOf, job_id: Annotated[str, Path(description="The job's id.", max_length=100)]
) -> JudgedJob:
    """How a consolidation goes, as Dagster says."""
    caller.access.require("admin")
    consolidations: Consolidations = request.app.state.consolidations
    return consolidations.status(job_id, caller.access)


@router.get("/consolidation-metrics/{project_id}", responses=errors(404))
def consolidation_metrics(
    caller: CallerOf, project_id: Annotated[Project, Path(description="The project.")]
) -> Metrics:
    """How far the memories of a project are consolidated."""
    return caller.memory("admin", project_id).metrics()
