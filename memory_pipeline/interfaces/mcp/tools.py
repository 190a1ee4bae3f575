"""The eight tools of the MCP server: each takes fields of a request, asks the project's memory, and answers with what
an agent needs of the answer, so that answers and schemas stay small."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal, Self, get_type_hints
from urllib.parse import quote

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.api.access import Access
from memory_pipeline.interfaces.operations import (
    NOTHING_KNOWN,
    Ask,
    ContextRequest,
    FeedbackRequest,
    MemoryRequest,
    MemoryToWrite,
    Request,
    SearchRequest,
)
from memory_pipeline.interfaces.served import Caller, ServedMemories
from memory_pipeline.recall import documents as recall
from memory_pipeline.recall.asking import Reply
from memory_pipeline.recall.documents import MOST_RESULTS
from memory_pipeline.recall.project import in_words
from memory_pipeline.text.quoting import clipped

Ctx = Context[Any, Any]
#: Who asks in a request, and what they may do.
AccessOf = Callable[[Ctx], Access]
#: Characters of a title, and of a memory in a list; `fetch` gives the whole.
_TITLE, _EXCERPT = 80, 600
#: Memories of a lineage that are listed.
_MOST_NODES = 50

_READ = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITE = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_COUNT = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)


class Answer(BaseModel):
    """An answer of a tool: those fields of recall's answer that it names. Fields that say nothing (null, false, empty)
    are left out of it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def of(cls, whole: Any) -> Self:
        """What recall answered, cut to the fields of this."""
        return cls.model_validate(whole, from_attributes=True)

    @property
    def as_text(self) -> str:
        """The answer for clients that read text."""
        return json.dumps(self.compact(), ensure_ascii=False, separators=(",", ":"))

    def compact(self) -> dict[str, Any]:
        """The answer as JSON, without what says nothing."""
        return self.model_dump(mode="json", exclude_defaults=True)


class Hit(Answer):
    """A memory that was found, with the beginning of what it says, and the archived one by whose words it was found."""

    id: str
    title: str
    url: str
    text: str
    day: date
    abstraction_level: int
    memory_type: str
    relevance_score: float
    archived: bool = False
    steers: bool = False
    superseded_by: str | None = None

    @classmethod
    def of(cls, whole: recall.RecalledMemory) -> Self:
        """A memory in a list."""
        text, source = clipped(whole.words_in_place, _EXCERPT), whole.found_through
        return cls(
            title=clipped(whole.words_in_place, _TITLE),
            url=address(whole.project_id, whole.id),
            text=text if source is None else f"{text} (archived {source.day} [{source.id}]: {source.content})",
            **whole.model_dump(include=set(cls.model_fields)),
        )


class Hits(Answer):
    """What `search` found."""

    results: list[Hit]
    total_found: int

    @classmethod
    def of(cls, whole: recall.SearchResults) -> Self:
        """The memories of a search."""
        return cls(results=[Hit.of(memory) for memory in whole.results], total_found=whole.total_found)


class Fetched(Answer):
    """A whole memory."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, Any]

    @classmethod
    def of(cls, whole: recall.RecalledMemory) -> Self:
        """A memory with what is known beside it."""
        beside = {**whole.as_json(), "source_memories": [source.id for source in whole.source_memories or ()]}
        return cls(
            id=whole.id,
            title=clipped(whole.words_in_place, _TITLE),
            text=whole.words_in_place,
            url=address(whole.project_id, whole.id),
            metadata={
                name: value
                for name, value in beside.items()
                if name not in ("id", "content") and (value or type(value) is int)
            },
        )


class Piece(Answer):
    """One piece of a context."""

    id: str
    kind: str


class TaskContext(Answer):
    """What is known for a task."""

    text: str
    tokens: int
    items: list[Piece]

    @property
    def as_text(self) -> str:
        """The context itself."""
        return self.text or NOTHING_KNOWN


class Replied(Answer):
    """An answer with the ids of what it rests on; empty if the memory does not hold it."""

    answer: str
    memories: list[str]

    @classmethod
    def of(cls, whole: Reply) -> Self:
        """What a model answered."""
        return cls(answer=whole.answer, memories=[memory.id for memory in whole.memories])


class Words(Answer):
    """What a memory says."""

    content: str


class Remembered(Answer):
    """What became of a memory that was told, with the number of secrets that were masked, by kind."""

    id: str
    status: str
    memory: Words
    masked: dict[str, int] = {}


class Feedback(Answer):
    """How a memory stands after feedback, and whether it is in use no more."""

    memory_id: str
    useful_count: int
    reuse_count: int
    note: str | None = None


class Lineage(Answer):
    """Where a memory comes from (`depth` from 1 on), and what replaced it (from -1 down)."""

    id: str
    replaced_by: str | None = None
    raw_source_count: int
    nodes: list[dict[str, Any]]

    @classmethod
    def of(cls, whole: recall.MemoryLineage) -> Self:
        """The nearest memories of a lineage, each with how it belongs to it."""
        relations = {edge.source_id: {"relation": edge.relation} for edge in whole.edges}
        nodes = [node.as_json() | relations.get(node.id, {}) for node in whole.nodes[:_MOST_NODES]]
        return cls(id=whole.id, replaced_by=whole.replaced_by, raw_source_count=len(whole.raw_sources), nodes=nodes)


class Overview(Answer):
    """One view of a project: its figures, its guidance, or what causes what."""

    project_id: str
    status: dict[str, Any] | None = None
    entries: list[dict[str, Any]] | None = None


class OverviewRequest(Request):
    """A view of a project."""

    view: Literal["status", "playbook", "atoms"]
    query: str | None = None
    limit: int = Field(default=20, ge=1, le=MOST_RESULTS)


class MemoryFeedback(MemoryRequest, FeedbackRequest):
    """Whether a memory helped, with its id."""


def search(caller: Caller, asked: SearchRequest) -> Hits:
    """Find memories by words and meaning."""
    return Hits.of(asked.put_to(caller.memory("read", asked.project_id)))


def fetch(caller: Caller, asked: MemoryRequest) -> Fetched:
    """A whole memory and what replaced it."""
    return Fetched.of(caller.memory("read", asked.project_id).get(asked.id))


def context(caller: Caller, asked: ContextRequest) -> TaskContext:
    """Call first, before a task. Lines end with ^id."""
    return TaskContext.of(caller.memory("read", asked.project_id).context(asked.task, asked.budget))


def ask(caller: Caller, asked: Ask) -> Replied:
    """A model's answer from the memory."""
    return Replied.of(caller.memory("read", asked.project_id).ask(asked.question))


def remember(caller: Caller, asked: MemoryToWrite) -> Remembered:
    """Keep one lesson, decision, fact or preference for later."""
    return Remembered.of(caller.remember(asked))


def feedback(caller: Caller, asked: MemoryFeedback) -> Feedback:
    """Say whether a memory helped."""
    memory = caller.memory("write", asked.project_id)
    return Feedback.of(memory.feedback(asked.id, asked.was_useful))


def lineage(caller: Caller, asked: MemoryRequest) -> Lineage:
    """What a memory was made from, and what replaced it."""
    return Lineage.of(caller.memory("read", asked.project_id).lineage(asked.id))


def overview(caller: Caller, asked: OverviewRequest) -> Overview:
    """A project's figures, guidance (playbook), or causes (atoms, by query)."""
    memory = caller.memory("read", asked.project_id)
    if asked.view == "status":
        return Overview(project_id=memory.project, status=memory.metrics().as_json())
    if asked.view == "playbook":
        surest = sorted(memory.playbook().entries, key=lambda entry: -entry.confidence)[: asked.limit]
        return Overview(project_id=memory.project, entries=[entry.as_json() for entry in surest])
    atoms = memory.atoms(asked.query, None, asked.limit).atoms
    return Overview(
        project_id=memory.project, entries=[atom.model_dump(mode="json", include=_OF_ATOM) for atom in atoms]
    )


_OF_ATOM = {"id", "subject", "action", "outcome", "consequences", "confidence", "source_ids", "score"}
#: The tools, with the arguments that each takes of its request.
_TOOLS: tuple[tuple[Callable[[Caller, Any], Answer], ToolAnnotations, str], ...] = (
    (search, _READ, "query limit levels pattern_types since until project_id"),
    (fetch, _READ, "id project_id"),
    (context, _READ, "task budget project_id"),
    (ask, _READ, "question project_id"),
    (remember, _WRITE, "content memory_type categories created_at id project_id"),
    (feedback, _COUNT, "id was_useful project_id"),
    (lineage, _READ, "id project_id"),
    (overview, _READ, "view query limit project_id"),
)


def add_tools(server: MCPServer[Any], memories: ServedMemories, access_of: AccessOf) -> None:
    """Give a server its tools."""
    for function, hints, arguments in _TOOLS:
        tool = _with_arguments(function, arguments.split(), lambda ctx: Caller(memories, access_of(ctx)))
        server.add_tool(tool, function.__name__, description=function.__doc__, annotations=hints)


def _with_arguments(
    function: Callable[[Caller, Any], Answer], names: list[str], caller_of: Callable[[Ctx], Caller]
) -> Callable[..., CallToolResult]:
    """The function as MCP calls it: with these fields of its request as arguments."""
    types = get_type_hints(function)

    def call(ctx: Ctx, **given: Any) -> CallToolResult:
        try:
            asked = types["asked"](**given)
        except ValidationError as error:
            raise InputError(in_words(error)) from None
        answer = function(caller_of(ctx), asked)
        return CallToolResult(
            content=[TextContent(type="text", text=answer.as_text)], structured_content=answer.compact()
        )

    fields = types["asked"].model_fields
    call.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=Ctx),
            *(_parameter(name, fields[name]) for name in names),
        ],
        return_annotation=Annotated[CallToolResult, types["return"]],
    )
    return call


def _parameter(name: str, field: FieldInfo) -> Parameter:
    default = Parameter.empty if field.is_required() else field.default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[field.annotation, field])


def address(project: str, memory_id: str) -> str:
    """The address under which this server gives a memory as a resource."""
    return f"memory://{quote(project, safe='')}/memories/{quote(memory_id, safe='')}"
