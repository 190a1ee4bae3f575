"""The routes about memories: search, context, write, read, lineage, feedback, playbook, atoms, session usage."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from memory_pipeline.ingest.values import MAX_ID
from memory_pipeline.interfaces.api.caller import CallerOf, errors
from memory_pipeline.interfaces.api.documents import (
    Ask,
    ContextRequest,
    FeedbackRequest,
    MemoryToWrite,
    OwnId,
    Project,
    SearchRequest,
    UsageReport,
)
from memory_pipeline.interfaces.api.figures import Figures
from memory_pipeline.interfaces.api.protocol import body_of, takes
from memory_pipeline.recall.asking import Reply
from memory_pipeline.recall.context import ConsolidatedContext
from memory_pipeline.recall.documents import (
    LONGEST_QUERY,
    MOST_RESULTS,
    AtomListing,
    Context,
    Feedback,
    MemoryLineage,
    PlaybookListing,
    RecalledMemory,
    Remembered,
    ReportedUsage,
    SearchResults,
)

router = APIRouter(tags=["memories"])
ProjectQuery = Annotated[
    Project | None,
    Query(description="The project; may be left out where the token is good for one alone, or the store has one."),
]
MemoryId = Annotated[
    str,
    Path(description="The memory's id, percent-encoded, or its handle in a context.", min_length=1, max_length=MAX_ID),
]
_MEMORIES = "/api/v1/consolidated-memories"
#: Less than a request may take.
_ANSWER_S = 25.0


@router.post(f"{_MEMORIES}/search", openapi_extra=takes(SearchRequest), responses=errors(404, body=True))
def search(request: Request, caller: CallerOf, body: Annotated[SearchRequest, body_of(SearchRequest)]) -> SearchResults:
    """Find memories by words and meaning, best first."""
    found = caller.memory("read", body.project_id).search(
        body.query,
        body.limit,
        filters=body.chosen,
        mode=body.mode,
        include_sources=body.include_sources,
        explain=body.explain,
    )
    figures: Figures = request.app.state.figures
    figures.count_search(found.search_time_ms / 1000)
    return found


@router.post("/api/v1/consolidated-context", openapi_extra=takes(ContextRequest), responses=errors(404, body=True))
def consolidated_context(
    caller: CallerOf, body: Annotated[ContextRequest, body_of(ContextRequest)]
) -> ConsolidatedContext:
    """What nights have made of the project's memories that is relevant for a task, with the advice in it."""
    return caller.memory("read", body.project_id).consolidated(body.task, body.budget)


@router.post("/api/v1/context", openapi_extra=takes(ContextRequest), responses=errors(404, body=True))
def context(caller: CallerOf, body: Annotated[ContextRequest, body_of(ContextRequest)]) -> Context:
    """What an agent should know for a task, as Markdown within a budget of tokens, and piece by piece."""
    return caller.memory("read", body.project_id).context(body.task, body.budget)


@router.post("/api/v1/ask", openapi_extra=takes(Ask), responses=errors(404, body=True))
def ask(caller: CallerOf, body: Annotated[Ask, body_of(Ask)]) -> Reply:
    """What the server's model answers from the memories nearest to a question, with those that it rests on; or that the
    memory does not hold it. Each question costs what the model costs."""
    return caller.memory("read", body.project_id).ask(body.question, within_s=_ANSWER_S)


@router.post(
    "/api/v1/memories",
    status_code=201,
    openapi_extra=takes(MemoryToWrite),
    responses={200: {"model": Remembered, "description": "It was there already."}, **errors(404, body=True)},
)
def remember(
    response: Response, caller: CallerOf, body: Annotated[MemoryToWrite, body_of(MemoryToWrite)]
) -> Remembered:
    """Write a memory. The next search finds it, and the next night takes it up; secrets in it are masked."""
    may_be_new = body.create_project or caller.access.may_begin(caller.memories.store)
    told = caller.memory("write", body.project_id, may_be_new=may_be_new).remember(body)
    if told.status == "unchanged":
        response.status_code = 200
    return told


@router.post(
    "/api/v1/memories/{memory_id:path}/feedback",
    openapi_extra=takes(FeedbackRequest),
    responses=errors(404, body=True),
)
def feedback(
    caller: CallerOf, memory_id: MemoryId, body: Annotated[FeedbackRequest, body_of(FeedbackRequest)]
) -> Feedback:
    """Say whether a memory helped: its rank rises a little if it did, and its importance never."""
    return caller.memory("write", body.project_id).feedback(memory_id, body.was_useful)


@router.get(f"{_MEMORIES}/{{memory_id:path}}/lineage", responses=errors(404))
def lineage(caller: CallerOf, memory_id: MemoryId, project_id: ProjectQuery = None) -> MemoryLineage:
    """Where a memory comes from, down to its raw sources, and what has replaced it."""
    return caller.memory("read", project_id).lineage(memory_id)


@router.get(f"{_MEMORIES}/{{memory_id:path}}", responses=errors(404))
def memory(caller: CallerOf, memory_id: MemoryId, project_id: ProjectQuery = None) -> RecalledMemory:
    """One memory with its direct sources, archived or not."""
    return caller.memory("read", project_id).get(memory_id)


@router.get("/api/v1/playbook", responses=errors(404))
def playbook(caller: CallerOf, project_id: ProjectQuery = None) -> PlaybookListing:
    """The guidance that the project's patterns and principles give."""
    return caller.memory("read", project_id).playbook()


@router.get("/api/v1/atoms", responses=errors(404))
def atoms(
    caller: CallerOf,
    query: Annotated[str | None, Query(description="What to search for.", max_length=LONGEST_QUERY)] = None,
    field: Annotated[
        Literal["subject", "action", "outcome"] | None, Query(description="Search in this part alone.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_RESULTS, description="How many results.")] = 10,
    project_id: ProjectQuery = None,
) -> AtomListing:
    """Causes and effects by meaning; without a query, the surest ones."""
    return caller.memory("read", project_id).atoms(query, field, limit)


@router.post("/api/v1/sessions/{session_id}/usage", openapi_extra=takes(UsageReport), responses=errors(404, body=True))
def session_usage(
    caller: CallerOf,
    session_id: Annotated[OwnId, Path(description="The session, as its agent calls it.")],
    body: Annotated[UsageReport, body_of(UsageReport)],
) -> ReportedUsage:
    """Report how much of its context window a session has used; the newest report replaces the one before."""
    memory = caller.memory("write", body.project_id, may_be_new=True)
    return memory.report_usage(session_id, body.tokens_used, body.window_tokens)
