"""The MCP server of one person on this machine, over standard input and output."""

from __future__ import annotations

import logging

import anyio

from memory_pipeline.config.settings import Settings
from memory_pipeline.interfaces.api.access import Access
from memory_pipeline.interfaces.mcp.server import make_server
from memory_pipeline.interfaces.served import ServedMemories
from memory_pipeline.store import Store


def serve_stdio(settings: Settings, store: Store, user: str, project: str | None) -> None:
    """Serve until the client closes standard input. With `project`, no other one is served, and a memory may be its
    first."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")  # standard error
    actor = f"{user} over MCP"
    access = Access(actor, frozenset({"read", "write"}), None if project is None else frozenset({project}))
    memories = ServedMemories(store, settings, actor=actor)
    try:
        anyio.run(make_server(memories, lambda _: access).run_stdio_async)
    finally:
        memories.close()
