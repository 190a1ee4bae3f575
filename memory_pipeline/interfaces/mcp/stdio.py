"""The MCP server of one person on this machine, over standard input and output."""

from __future__ import annotations

import logging
import os
import signal
import sys
from contextlib import suppress

import anyio
import anyio.to_thread

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.interfaces.api.access import Access
from memory_pipeline.interfaces.mcp.server import make_server
from memory_pipeline.interfaces.served import ServedMemories
from memory_pipeline.store import Store, settle_stores

#: Seconds between two writings of the counts of use: a client may end the process at any time.
_WRITE_EVERY_S = 30.0


def serve_stdio(settings: Settings, store: Store, user: str, project: str | None) -> None:
    """Serve until the client closes standard input, or a signal ends the process. With `project`, no other one is
    served, and a memory may be its first."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")  # to standard error
    actor = f"{user} over MCP"
    access = Access(actor, frozenset({"read", "write"}), None if project is None else frozenset({project}))
    memories = ServedMemories(store, settings, actor=actor)
    try:
        anyio.run(_serve, memories, access)
    finally:
        memories.close()


async def _serve(memories: ServedMemories, access: Access) -> None:
    async with anyio.create_task_group() as beside:
        beside.start_soon(_keep_writing, memories)
        beside.start_soon(anyio.to_thread.run_sync, _make_ready, memories, access)
        if sys.platform != "win32":
            beside.start_soon(_end_on_signal, memories)
        await make_server(memories, lambda _: access).run_stdio_async()
        beside.cancel_scope.cancel()


def _make_ready(memories: ServedMemories, access: Access) -> None:
    """Load the model and the index while the client still introduces itself; what fails here fails again in words when
    a tool needs it."""
    with suppress(MemoryPipelineError):
        if access.projects is None:
            memories.prepare()
        else:
            for project in access.projects:
                memories.of(project, access.actor).prepare()


async def _keep_writing(memories: ServedMemories) -> None:
    while True:
        await anyio.sleep(_WRITE_EVERY_S)
        await anyio.to_thread.run_sync(memories.close)


async def _end_on_signal(memories: ServedMemories) -> None:
    """End the process on SIGINT or SIGTERM. Nothing else would: the thread that reads standard input cannot be
    stopped, and Python would wait for it."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            await anyio.to_thread.run_sync(memories.close)
            settle_stores(quietly=True)
            os._exit(0)
