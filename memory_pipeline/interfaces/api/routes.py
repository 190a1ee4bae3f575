"""The routes: about memories, for administrators, and about the server itself."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response, Security
from fastapi.security import HTTPBearer
from pydantic import Field, StringConstraints

from memory_pipeline.documents import Document
from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.interfaces import operations
from memory_pipeline.interfaces.api.access import ACCESS
from memory_pipeline.interfaces.api.consolidations import ConsolidationRequest, Consolidations, StartedConsolidation
from memory_pipeline.interfaces.api.gate import ApiError, StrictRoute
from memory_pipeline.interfaces.served import Caller, ServedMemories
from memory_pipeline.orchestration.consolidation import JobRecord
from memory_pipeline.recall import documents
from memory_pipeline.recall.asking import Reply
from memory_pipeline.recall.context import ConsolidatedContext
from memory_pipeline.records import MAX_ID, MOST_TOKENS

ProjectQuery = Annotated[
    operations.Project | None,
    Query(description="The project; may be left out where the token is good for one alone, or the store has one."),
]
MemoryId = Annotated[
    str,
    Path(description="The memory's id, percent-encoded, or its handle in a context.", min_length=1, max_length=MAX_ID),
]
#: An id that an agent makes up: printable ASCII, without spaces at its ends.
SessionId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID, pattern=r"^[!-~]([ -~]*[!-~])?$")]
_MEMORIES = "/api/v1/consolidated-memories"
#: Seconds in which a model has to answer.
_ANSWER_S = 25.0
#: Says in OpenAPI that a token is needed; the gate has checked it before.
_BEARER = HTTPBearer(auto_error=False, description="A token of `memory-pipeline token create`.")


def _caller(request: Request, _: Annotated[Any, Security(_BEARER)]) -> Caller:
    return Caller(request.app.state.memories, request.scope[ACCESS])


CallerOf = Annotated[Caller, Depends(_caller)]

_MEANINGS = {
    400: "The scope, or the JSON of the body, is wrong.",
    401: "There is no token, or it is unknown, revoked or expired.",
    403: "The token is not good for this, or the request comes from a page of another origin.",
    404: "There is no such memory, project or job.",
    409: "The store is in another state than this needs: several projects could be meant, another run works on "
    "it, or no model is chosen.",
    413: "The body is too large.",
    415: "The body is not `application/json`.",
    422: "A field is missing, unknown, of the wrong type or out of range.",
    503: "The store is held by another process or cannot be read, or no model answers; `Retry-After` says when "
    "to ask again.",
}
#: The errors for OpenAPI: of a route with a body, of every one with a token, and of one that needs none.
_Errors = dict[int | str, dict[str, Any]]
_ERRORS: _Errors = {status: {"model": ApiError, "description": meaning} for status, meaning in _MEANINGS.items()}
_OF_BODY: _Errors = {status: error for status, error in _ERRORS.items() if status in (400, 413, 415)}
_OF_TOKEN: _Errors = {status: error for status, error in _ERRORS.items() if status not in _OF_BODY}
_REFUSED: _Errors = {403: _ERRORS[403]}

_memories = APIRouter(tags=["memories"], route_class=StrictRoute, responses=_OF_TOKEN)
_administration = APIRouter(
    prefix="/api/v1/admin", tags=["administration"], route_class=StrictRoute, responses=_OF_TOKEN
)
_service = APIRouter(tags=["service"])
ROUTERS = (_memories, _administration, _service)


class UsageReport(operations.Request):
    """The share of its context window that a session has used."""

    tokens_used: documents.Whole = Field(ge=0, le=MOST_TOKENS, description="Tokens in the context now.")
    window_tokens: documents.Whole = Field(
        default=200_000, ge=1, le=MOST_TOKENS, description="Tokens that the context can hold."
    )


class Alive(Document):
    """The server answers."""

    status: Literal["ok"] = Field(default="ok", description="Always `ok`.")


class Readiness(Document):
    """The server's readiness to answer questions about memories."""

    status: Literal["ready", "not_ready"] = Field(description="Whether the store can be read.")


@_memories.post(f"{_MEMORIES}/search", responses=_OF_BODY)
def search(caller: CallerOf, body: operations.SearchRequest) -> documents.SearchResults:
    """Find memories by words and meaning, best first."""
    return body.put_to(caller.memory("read", body.project_id))


@_memories.post("/api/v1/consolidated-context", responses=_OF_BODY)
def consolidated_context(caller: CallerOf, body: operations.ContextRequest) -> ConsolidatedContext:
    """Return what nights have made of the project's memories that is relevant for a task, with the advice in it."""
    return caller.memory("read", body.project_id).consolidated(body.task, body.budget)


@_memories.post("/api/v1/context", responses=_OF_BODY)
def context(caller: CallerOf, body: operations.ContextRequest) -> documents.Context:
    """Return what an agent should know for a task, as Markdown within a budget of tokens, and piece by piece."""
    return caller.memory("read", body.project_id).context(body.task, body.budget)


@_memories.post("/api/v1/ask", responses=_OF_BODY)
def ask(caller: CallerOf, body: operations.Ask) -> Reply:
    """Ask the server's model to answer a question from the memories nearest to it. Returns its answer with those that
    it rests on, or that the memory does not hold it. Each question costs what the model costs."""
    return caller.memory("read", body.project_id).ask(body.question, within_s=_ANSWER_S)


@_memories.post(
    "/api/v1/memories",
    status_code=201,
    responses={200: {"model": documents.Remembered, "description": "It was there already."}, **_OF_BODY},
)
def remember(response: Response, caller: CallerOf, body: operations.MemoryToWrite) -> documents.Remembered:
    """Write a memory. The next search finds it, and the next night takes it up; secrets in it are masked."""
    remembered = caller.remember(body)
    if remembered.status == "unchanged":
        response.status_code = 200
    return remembered


@_memories.post("/api/v1/memories/{id:path}/feedback", responses=_OF_BODY)
def feedback(caller: CallerOf, id: MemoryId, body: operations.FeedbackRequest) -> documents.Feedback:
    """Say whether a memory helped: its rank rises a little if it did, and its importance never."""
    return caller.memory("write", body.project_id).feedback(id, body.was_useful)


@_memories.get(f"{_MEMORIES}/{{id:path}}/lineage")
def lineage(caller: CallerOf, id: MemoryId, project_id: ProjectQuery = None) -> documents.MemoryLineage:
    """Show where a memory comes from, down to its raw sources, and what has replaced it."""
    return caller.memory("read", project_id).lineage(id)


@_memories.get(f"{_MEMORIES}/{{id:path}}")
def memory(caller: CallerOf, id: MemoryId, project_id: ProjectQuery = None) -> documents.RecalledMemory:
    """One memory with its direct sources, archived or not."""
    return caller.memory("read", project_id).get(id)


@_memories.get("/api/v1/playbook")
def playbook(caller: CallerOf, project_id: ProjectQuery = None) -> documents.PlaybookListing:
    """The guidance that the project's patterns and principles give."""
    return caller.memory("read", project_id).playbook()


@_memories.get("/api/v1/atoms")
def atoms(
    caller: CallerOf,
    query: Annotated[str | None, Query(description="What to search for.", max_length=documents.LONGEST_QUERY)] = None,
    field: Annotated[
        Literal["subject", "action", "outcome"] | None, Query(description="Search in this part alone.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=documents.MOST_RESULTS, description="How many results.")] = 10,
    project_id: ProjectQuery = None,
) -> documents.AtomListing:
    """Causes and effects by meaning; without a query, the surest ones."""
    return caller.memory("read", project_id).atoms(query, field, limit)


@_memories.post("/api/v1/sessions/{session_id}/usage", responses=_OF_BODY)
def session_usage(
    caller: CallerOf,
    session_id: Annotated[SessionId, Path(description="The session, as its agent calls it.")],
    body: UsageReport,
) -> documents.ReportedUsage:
    """Report how much of its context window a session has used; the newest report replaces the one before."""
    memory = caller.memory("write", body.project_id, may_be_new=True)
    return memory.report_usage(session_id, body.tokens_used, body.window_tokens)


@_administration.post("/consolidate-memories", status_code=202, responses=_OF_BODY)
def consolidate_memories(request: Request, caller: CallerOf, body: ConsolidationRequest) -> StartedConsolidation:
    """Start a consolidation: a Dagster run, which goes on if this server stops."""
    caller.access.require("admin")
    consolidations: Consolidations = request.app.state.consolidations
    return consolidations.start(body, caller.access)


@_administration.get("/consolidation-status/{job_id}")
def consolidation_status(
    request: Request, caller: CallerOf, job_id: Annotated[str, Path(description="The job's id.", max_length=100)]
) -> JobRecord:
    """Show how a consolidation goes, as Dagster says."""
    caller.access.require("admin")
    consolidations: Consolidations = request.app.state.consolidations
    return consolidations.status(job_id, caller.access)


@_administration.get("/consolidation-metrics/{project_id}")
def consolidation_metrics(
    caller: CallerOf, project_id: Annotated[operations.Project, Path(description="The project.")]
) -> documents.Metrics:
    """Show how far the memories of a project are consolidated."""
    return caller.memory("admin", project_id).metrics()


@_service.get("/health", responses=_REFUSED)
async def health() -> Alive:
    """Answer as long as the server runs. Needs no token."""
    return Alive()


@_service.get("/ready", responses={503: {"model": Readiness, "description": "Not now."}, **_REFUSED})
def ready(request: Request, response: Response) -> Readiness:
    """Say whether the store can be read now. Needs no token."""
    memories: ServedMemories = request.app.state.memories
    try:
        with memories.store.reading() as tx:
            tx.memories.count()
    except MemoryPipelineError:
        response.status_code = 503
        return Readiness(status="not_ready")
    return Readiness(status="ready")
