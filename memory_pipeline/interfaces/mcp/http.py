"""The MCP server over streamable HTTP, mounted in the server of the HTTP API, which has checked the token before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.transport_security import TransportSecuritySettings

from memory_pipeline.interfaces.api.access import ACCESS, Access
from memory_pipeline.interfaces.api.app import Mounted
from memory_pipeline.interfaces.mcp.server import make_server
from memory_pipeline.interfaces.served import ServedMemories

#: Where clients reach it.
PATH = "/mcp"


def mounted(memories: ServedMemories) -> Sequence[Mounted]:
    """The application at `/mcp`. It keeps no sessions: every request carries its token, and any server may answer it.

    Hosts and origins are checked by the server of the HTTP API.
    """
    server = make_server(memories, _access_of)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return (Mounted(PATH, app, server.session_manager.run),)


def _access_of(ctx: Context[Any, Any]) -> Access:
    """Who asks, as the server of the HTTP API has found out."""
    request = ctx.request_context.request
    access = request.scope[ACCESS] if request is not None else None
    if not isinstance(access, Access):
        raise RuntimeError("a request without access reached the MCP server")
    return access
