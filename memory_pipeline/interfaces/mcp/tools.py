"""The eight tools of the MCP server: each takes fields of a request, asks the project's memory, and answers with what
an agent needs of the answer, so that answers and schemas stay small."""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal, get_type_hints
from urllib.parse import quote

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError
from pydantic.fields import FieldInfo

from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.interfaces import operations
from memory_pipeline.interfaces.api.access import Access
from memory_pipeline.interfaces.served import Caller, ServedMemories
from memory_pipeline.recall.documents import MOST_RESULTS, RecalledMemory
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


class OverviewRequest(operations.Request):
    """A view of a project."""

    view: Literal["status", "playbook", "atoms"]
    query: str | None = None
    limit: int = Field(default=20, ge=1, le=MOST_RESULTS)


class MemoryFeedback(operations.MemoryRequest, operations.FeedbackRequest):
    """Feedback on a memory, with its id."""


def search(caller: Caller, asked: operations.SearchRequest) -> dict[str, Any]:
    """Find memories by words and meaning."""
    results = asked.put_to(caller.memory("read", asked.project_id))
    mark = {"nothing_near": True} if results.nothing_near else {}
    return {"results": [as_hit(memory) for memory in results.results], "total_found": results.total_found, **mark}


def fetch(caller: Caller, asked: operations.MemoryRequest) -> dict[str, Any]:
    """A whole memory and what replaced it."""
    memory = caller.memory("read", asked.project_id).get(asked.id)
    beside = {**memory.as_json(), "source_memories": [source.id for source in memory.source_memories or ()]}
    fields = {name: value for name, value in beside.items() if name not in ("id", "content")}
    return {
        **_named(memory),
        "text": memory.words_in_place,
        "metadata": {name: value for name, value in fields.items() if value or type(value) is int},
    }


def context(caller: Caller, asked: operations.ContextRequest) -> dict[str, Any]:
    """Call first, before a task. Lines end with ^id."""
    made = caller.memory("read", asked.project_id).context(asked.task, asked.budget)
    items = [{"id": piece.id, "kind": piece.kind} for piece in made.items]
    return {"text": made.text or operations.NOTHING_KNOWN, "tokens": made.tokens, "items": items}


def ask(caller: Caller, asked: operations.Ask) -> dict[str, Any]:
    """A model's answer from the memory."""
    reply = caller.memory("read", asked.project_id).ask(asked.question)
    return {"answer": reply.answer, "memories": [memory.id for memory in reply.memories]}


def remember(caller: Caller, asked: operations.MemoryToWrite) -> dict[str, Any]:
    """Keep one lesson, decision, fact or preference for later."""
    remembered = caller.remember(asked)
    answer = {"id": remembered.id, "status": remembered.status, "memory": {"content": remembered.memory.content}}
    return {**answer, "masked": remembered.masked} if remembered.masked else answer


def feedback(caller: Caller, asked: MemoryFeedback) -> dict[str, Any]:
    """Say whether a memory helped."""
    memory = caller.memory("write", asked.project_id)
    return _pick_fields(memory.feedback(asked.id, asked.was_useful), "memory_id useful_count reuse_count note")


def lineage(caller: Caller, asked: operations.MemoryRequest) -> dict[str, Any]:
    """What a memory was made from, and what replaced it."""
    tree = caller.memory("read", asked.project_id).lineage(asked.id)
    relations = {edge.source_id: {"relation": edge.relation} for edge in tree.edges}
    nodes = [node.as_json() | relations.get(node.id, {}) for node in tree.nodes[:_MOST_NODES]]
    return {**_pick_fields(tree, "id replaced_by"), "raw_source_count": len(tree.raw_sources), "nodes": nodes}


def overview(caller: Caller, asked: OverviewRequest) -> dict[str, Any]:
    """A project's figures, guidance (playbook), or causes (atoms, by query)."""
    memory = caller.memory("read", asked.project_id)
    if asked.view == "status":
        return {"project_id": memory.project, "status": memory.metrics().as_json()}
    if asked.view == "playbook":
        surest = sorted(memory.playbook().entries, key=lambda entry: -entry.confidence)[: asked.limit]
        return {"project_id": memory.project, "entries": [entry.as_json() for entry in surest]}
    atoms = memory.atoms(asked.query, None, asked.limit).atoms
    return {"project_id": memory.project, "entries": [_pick_fields(atom, _OF_ATOM) for atom in atoms]}


def as_hit(memory: RecalledMemory) -> dict[str, Any]:
    """A memory in a list: the beginning of its words, its notes, and the archived one by which it was found."""
    text, source = clipped(memory.words, _EXCERPT) + memory.notes, memory.found_through
    if source is not None:
        text = f"{text} (archived {source.day_text} [{source.id}]: {source.content})"
    return {**_named(memory), "text": text, **_pick_fields(memory, _OF_HIT)}


def _named(memory: RecalledMemory) -> dict[str, Any]:
    """The id, title and address of a memory, as ChatGPT expects them."""
    title = clipped(memory.words_in_place, _TITLE)
    url = f"memory://{quote(memory.project_id, safe='')}/memories/{quote(memory.id, safe='')}"
    return {"id": memory.id, "title": title, "url": url}


def _pick_fields(document: Document, names: str) -> dict[str, Any]:
    """Fields of a document as JSON, without those that are null or false."""
    fields = document.model_dump(mode="json", include=set(names.split()))
    return {name: value for name, value in fields.items() if value is not None and value is not False}


_OF_HIT = (
    "day undated abstraction_level memory_type relevance_score newer archived gone steers superseded_by "
    "contradicted_by contradicted_on"
)
_OF_ATOM = "id subject action outcome consequences confidence source_ids score"
#: The tools, with the arguments that each takes of its request, and the fields of its answer with their types.
_TOOLS: tuple[tuple[Callable[[Caller, Any], dict[str, Any]], ToolAnnotations, str, str], ...] = (
    (
        search, _READ, "query limit levels pattern_types since until project_id",
        "results:array total_found:integer",
    ),
    (fetch, _READ, "id project_id", "id:string title:string text:string url:string metadata:object"),
    (context, _READ, "task budget project_id", "text:string tokens:integer items:array"),
    (ask, _READ, "question project_id", "answer:string memories:array"),
    (
        remember, _WRITE, "content memory_type categories created_at id project_id",
        "id:string status:string memory:object masked:object",
    ),
    (
        feedback, _COUNT, "id was_useful project_id",
        "memory_id:string useful_count:integer reuse_count:integer note:string",
    ),
    (lineage, _READ, "id project_id", "id:string replaced_by:string raw_source_count:integer nodes:array"),
    (overview, _READ, "view query limit project_id", "project_id:string status:object entries:array"),
)  # fmt: skip


def output_schemas() -> dict[str, dict[str, Any]]:
    """The JSON schema of each tool's answer: the names and types of its fields, but not what stands in them."""
    fields = {tool.__name__: [field.split(":") for field in answer.split()] for tool, _, _, answer in _TOOLS}
    return {
        tool: {"type": "object", "properties": {name: {"type": kind} for name, kind in pairs}}
        for tool, pairs in fields.items()
    }


def add_tools(server: MCPServer[Any], memories: ServedMemories, access_of: AccessOf) -> None:
    for function, hints, arguments, _ in _TOOLS:
        tool = _with_arguments(function, arguments.split(), lambda ctx: Caller(memories, access_of(ctx)))
        server.add_tool(tool, function.__name__, description=function.__doc__, annotations=hints)


def _with_arguments(
    function: Callable[[Caller, Any], dict[str, Any]], names: list[str], caller_of: Callable[[Ctx], Caller]
) -> Callable[..., CallToolResult]:
    """The function as MCP calls it, with fields of its request as arguments; its text is JSON, but of a context."""
    request = get_type_hints(function)["asked"]

    def call(ctx: Ctx, **given: Any) -> CallToolResult:
        try:
            asked = request(**given)
        except ValidationError as error:
            raise InputError(in_words(error)) from None
        answer = function(caller_of(ctx), asked)
        is_text = function is context
        text = answer["text"] if is_text else json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=answer)

    call.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=Ctx),
            *(_parameter(name, request.model_fields[name]) for name in names),
        ],
        return_annotation=CallToolResult,
    )
    return call


def _parameter(name: str, field: FieldInfo) -> Parameter:
    default = Parameter.empty if field.is_required() else field.default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[field.annotation, field])
