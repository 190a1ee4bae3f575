"""The seven tools of the MCP server. Each asks the project's memory, and answers with a small typed document."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from memory_pipeline.errors import InputError, NotFoundError
from memory_pipeline.interfaces.api.access import Access, Scope
from memory_pipeline.interfaces.mcp.documents import (
    Answer,
    ContextAnswer,
    FeedbackAnswer,
    Fetched,
    Hits,
    LineageAnswer,
    Overview,
    RememberAnswer,
)
from memory_pipeline.interfaces.served import ServedMemories
from memory_pipeline.recall.documents import DEFAULT_BUDGET, MOST_RESULTS
from memory_pipeline.recall.project import ProjectMemory

#: Who asks in a request, and what they may do.
AccessOf = Callable[[Context[Any, Any]], Access]

_NOTHING = "it begins with the first memory that is remembered"
Asked = Context[Any, Any]
Project = str | None

_READ = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
_WRITE = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_COUNT = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)


def add_tools(server: MCPServer[Any], memories: ServedMemories, access_of: AccessOf) -> None:
    """Give a server its tools."""

    def memory(ctx: Asked, project: str | None, scope: Scope) -> ProjectMemory:
        return memory_for(memories, access_of(ctx), project, scope)

    def search(
        query: str,
        ctx: Asked,
        limit: int = 10,
        levels: Annotated[tuple[int, ...], Field(description="0 raw to 3 principle.")] = (),
        pattern_types: Annotated[tuple[str, ...], Field(description="E.g. gotcha.")] = (),
        since: date | None = None,
        until: date | None = None,
        project: Project = None,
    ) -> Annotated[CallToolResult, Hits]:
        found = memory(ctx, project, "read").search(
            query, limit, levels=levels, pattern_types=pattern_types, since=since, until=until
        )
        return _answer(Hits.of(found))

    def fetch(id: str, ctx: Asked, project: Project = None) -> Annotated[CallToolResult, Fetched]:
        return _answer(Fetched.of(memory(ctx, project, "read").get(id)))

    def context(
        task: str, ctx: Asked, budget: Annotated[int, Field(description="Tokens.")] = DEFAULT_BUDGET,
        project: Project = None,
    ) -> Annotated[CallToolResult, ContextAnswer]:  # fmt: skip
        made = memory(ctx, project, "read").context(task, budget)
        return _answer(ContextAnswer.of(made), text=made.text or "Nothing that the project knows belongs to this task.")

    def remember(
        content: str,
        ctx: Asked,
        type: Annotated[str | None, Field(description="lesson, decision, fact, ...")] = None,
        categories: tuple[str, ...] = (),
        learned_at: datetime | None = None,
        id: Annotated[str | None, Field(description="Your own id.")] = None,
        project: Project = None,
    ) -> Annotated[CallToolResult, RememberAnswer]:
        told = memory(ctx, project, "write").remember(
            content,
            memory_type=type,
            categories=categories,
            created_at=learned_at,
            id=id,
        )
        return _answer(RememberAnswer.of(told))

    def feedback(
        id: str, useful: bool, ctx: Asked, project: Project = None
    ) -> Annotated[CallToolResult, FeedbackAnswer]:
        return _answer(FeedbackAnswer.of(memory(ctx, project, "write").feedback(id, useful)))

    def lineage(id: str, ctx: Asked, project: Project = None) -> Annotated[CallToolResult, LineageAnswer]:
        return _answer(LineageAnswer.of(memory(ctx, project, "read").lineage(id)))

    def overview(
        view: Literal["status", "playbook", "atoms"],
        ctx: Asked,
        query: str | None = None,
        limit: int = 20,
        project: Project = None,
    ) -> Annotated[CallToolResult, Overview]:
        asked = memory(ctx, project, "read")
        if not 1 <= limit <= MOST_RESULTS:
            raise InputError(f"the limit is {limit}; use 1 to {MOST_RESULTS}")
        if view == "status":
            return _answer(Overview.of_status(asked.metrics()))
        if view == "playbook":
            return _answer(Overview.of_playbook(asked.project, asked.playbook(), limit))
        return _answer(Overview.of_atoms(asked.project, asked.atoms(query, None, limit)))

    for function, told, hints in (
        (search, "Find memories by words and meaning.", _READ),
        (fetch, "A whole memory and what replaced it.", _READ),
        (context, "Call first, before a task. Lines end with ^id.", _READ),
        (remember, "Keep one lesson, decision, fact or preference for later.", _WRITE),
        (feedback, "Say whether a memory helped.", _COUNT),
        (lineage, "What a memory was made from, and what replaced it.", _READ),
        (overview, "A project's figures, guidance (playbook), or causes (atoms, by query).", _READ),
    ):
        server.add_tool(function, description=told, annotations=hints)


def memory_for(memories: ServedMemories, access: Access, project: str | None, scope: Scope) -> ProjectMemory:
    """The memory of the project that is asked for; one that the store does not have begins where `Access` allows it.

    Raises ForbiddenError and InputError as `Access` does.
    """
    access.require(scope)
    may_be_new = scope == "write" and access.may_begin(memories.store)
    try:
        chosen = access.choose_project(memories.store, project, may_be_new=may_be_new)
    except NotFoundError:
        known = ", ".join(filter(access.allows, _projects(memories)))
        raise NotFoundError(f"there is no project '{project}'; {f'use {known}' if known else _NOTHING}") from None
    return memories.of(chosen, access.actor)


def _projects(memories: ServedMemories) -> list[str]:
    if not memories.store.exists():
        return []
    with memories.store.reading() as tx:
        return tx.memories.projects()


def _answer(answer: Answer, text: str | None = None) -> CallToolResult:
    """An answer as a structured result, and the same (or `text`) for clients that read text."""
    structured = answer.compact()
    written = text if text is not None else json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=written)], structured_content=structured)
