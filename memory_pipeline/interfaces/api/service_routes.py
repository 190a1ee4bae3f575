"""The routes about the server itself: alive, ready, and its figures."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.interfaces.api.caller import CallerOf, errors, errors_beside_text
from memory_pipeline.interfaces.api.documents import Alive, Readiness
from memory_pipeline.interfaces.api.figures import Figures
from memory_pipeline.interfaces.served import ServedMemories

router = APIRouter(tags=["service"])
_REFUSED: dict[int | str, dict[str, Any]] = {403: errors()[403]}


@router.get("/health", responses=_REFUSED)
async def health() -> Alive:
    """Whether the server answers at all. Needs no token."""
    return Alive()


@router.get("/ready", responses={503: {"model": Readiness, "description": "Not now."}, **_REFUSED})
def ready(request: Request, response: Response) -> Readiness:
    """Whether the store can be read now. Needs no token."""
    memories: ServedMemories = request.app.state.memories
    try:
        with memories.store.reading() as tx:
            tx.memories.count()
    except MemoryPipelineError:
        response.status_code = 503
        return Readiness(status="not_ready", index=memories.index_state())
    return Readiness(status="ready", index=memories.index_state())


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={**errors_beside_text(), 200: {"description": "Prometheus' text format.", "content": {"text/plain": {}}}},
)
def metrics(request: Request, caller: CallerOf) -> Response:
    """The server's figures for Prometheus. Needs a token with `read` for all projects."""
    caller.access.require("read")
    caller.access.require_all_projects()
    figures: Figures = request.app.state.figures
    return Response(figures.text(), media_type=CONTENT_TYPE_LATEST)
