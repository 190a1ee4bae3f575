"""What every request passes before the application sees it: host and origin, token, and size."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.interfaces.api.access import ACCESS, Access, Tokens
from memory_pipeline.interfaces.api.protocol import Problem, problem_of
from memory_pipeline.interfaces.mcp.server import PATH as MCP_PATH
from memory_pipeline.orchestration.guard import App, Receive, Scope, Send, why_refused

_log = logging.getLogger(__name__)
#: What anyone may ask who reaches the server: none of it says anything about a memory.
OPEN_PATHS = ("/health", "/ready", "/openapi.json")
#: The most bytes of a body.
MAX_BODY_BYTES = 1_000_000
#: A connection on which an unread body is still coming is not used again.
_CLOSED = {"Connection": "close"}
#: No answer is kept by a proxy or guessed to be anything but what it says.
_HEADERS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")
_METHODS = (*_WITHOUT_BODY, "POST", "PUT", "PATCH", "DELETE", "TRACE")


@dataclass(eq=False)
class Gate:
    """ASGI middleware around the application and that of MCP, which gets the requests at `/mcp` and below."""

    app: App
    mcp: App
    tokens: Tokens
    hosts: Collection[str]
    store: Path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": "there are no web sockets here"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, status = time.monotonic(), 0
        is_mcp = scope["path"] == MCP_PATH or scope["path"].startswith(f"{MCP_PATH}/")

        async def answer(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        try:
            self._admit(scope)
            await (self.mcp if is_mcp else self.app)(scope, await _with_body(scope, receive), answer)
        except Exception as error:
            if not status:
                await (error if isinstance(error, Problem) else problem_of(error, self.store)).send(answer)
        finally:
            route = MCP_PATH if is_mcp else getattr(scope.get("route"), "path_format", "none")
            who = scope[ACCESS].actor if ACCESS in scope else "no token"
            spent_ms = 1000 * (time.monotonic() - began)
            _log.info("%s %s %d in %.0f ms, %s", _method(scope), route, status, spent_ms, who)

    def _admit(self, scope: Scope) -> None:
        """Check where the request comes from, and its token. Raises Problem."""
        if (why := why_refused(scope, self.hosts)) is not None:
            raise Problem(403, "forbidden", f"refused: {why}")
        if scope["path"] in OPEN_PATHS:
            return
        access = self._access(scope)
        if access is None:
            raise Problem(
                401,
                "unauthorized",
                "this needs the header 'Authorization: Bearer TOKEN' with a token that is neither revoked nor expired; "
                "'memory-pipeline token create' makes one",
                {"WWW-Authenticate": "Bearer"},
            )
        scope[ACCESS] = access

    def _access(self, scope: Scope) -> Access | None:
        named = [value for name, value in scope["headers"] if name == b"authorization"]
        kind, _, secret = named[0].decode("latin-1").partition(" ") if len(named) == 1 else ("", "", "")
        if kind.lower() != "bearer" or not secret:
            return None
        try:
            return self.tokens.access(secret.strip(), datetime.now(UTC))
        except MemoryPipelineError as error:
            _log.error("%s", error)
            raise Problem(503, "tokens_unavailable", "the tokens cannot be read; the server's log says why") from None


async def _with_body(scope: Scope, receive: Receive) -> Receive:
    """Read the body whole, so that no large one reaches the application. Raises Problem."""
    if _method(scope) in _WITHOUT_BODY:
        return receive
    body, message = b"", dict[str, Any](more_body=True)
    while message.get("more_body"):
        message = dict(await receive())
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise Problem(413, "too_large", f"the body is larger than {MAX_BODY_BYTES} bytes", _CLOSED)
    whole = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Any:
        return whole.pop() if whole else await receive()

    return again


def _method(scope: Scope) -> str:
    method = str(scope["method"])
    return method if method in _METHODS else "other"
