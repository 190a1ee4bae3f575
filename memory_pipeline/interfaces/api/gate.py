"""The gate that every request passes before the application: host and origin, token, and size; how bodies are read, and
problems answered."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import Field, ValidationError
from starlette.types import ASGIApp, Receive, Scope, Send

from memory_pipeline import errors
from memory_pipeline.documents import Document
from memory_pipeline.interfaces.api.access import ACCESS, ForbiddenError, ProjectNeededError, Tokens
from memory_pipeline.interfaces.mcp.server import PATH as MCP_PATH
from memory_pipeline.orchestration.guard import why_refused
from memory_pipeline.recall.project import in_words

_log = logging.getLogger(__name__)
_JSON = "application/json"
#: Seconds after which a client may ask again for what another process holds now.
_RETRY_AFTER_S = "2"


class ApiError(Document):
    """An error."""

    error: str = Field(description="A code for programs, such as `not_found`.")
    message: str = Field(description="What is wrong, and how to fix it.")


@dataclass(eq=False)
class Problem(Exception):
    """An answer that is an error."""

    status: int
    error: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> Response:
        text = json.dumps(ApiError(error=self.error, message=self.message).as_json())
        return Response(text, self.status, dict(self.headers), _JSON)


#: Status and code of the errors that a client can do something about; the first kind that fits counts.
_KINDS: tuple[tuple[type[errors.MemoryPipelineError], int, str], ...] = (
    (ForbiddenError, 403, "forbidden"),
    (errors.NotFoundError, 404, "not_found"),
    (ProjectNeededError, 409, "project_needed"),
    (errors.InputError, 422, "invalid_request"),
    (errors.StoreBusyError, 503, "store_busy"),
    (errors.StoreError, 503, "store_unavailable"),
    (errors.EmbeddingError, 503, "model_unavailable"),
    (errors.NoModelError, 409, "no_model"),
    (errors.ModelError, 503, "model_unavailable"),
    (errors.HistoryError, 503, "history_unavailable"),
)


def as_problem(error: Exception, store: Path) -> Problem:
    """The answer to an error. An unexpected one is logged with its traceback, and only named to the client. Nor is the
    client told where on the machine the store is."""
    for kind, status, code in _KINDS:
        if isinstance(error, kind):
            message = str(error).replace(str(store), store.name)
            return Problem(status, code, message, {"Retry-After": _RETRY_AFTER_S} if status == 503 else {})
    _log.error("an unexpected error", exc_info=error)
    return Problem(500, "internal", f"an unexpected {type(error).__name__}; the server's log has the particulars")


class StrictRoute(APIRoute):
    """A route that reads a body strictly: a number in quotation marks is no number, and an unknown field an error."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, behind the check of the body."""
        handle = super().get_route_handler()
        model: Any = self.body_field.field_info.annotation if self.body_field else None

        async def checked(request: Request) -> Response:
            if model is not None:
                kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
                if kind != _JSON:
                    raise Problem(415, "unsupported_media_type", f"the body is '{kind[:100]}'; send {_JSON}")
                try:
                    model.model_validate_json(await request.body(), strict=True)
                except ValidationError as error:
                    raise _refusal(error) from None
            return await handle(request)

        return checked


def _refusal(error: ValidationError) -> Problem:
    problems = error.errors(include_url=False)
    if problems[0]["type"] == "json_invalid":
        return Problem(400, "invalid_json", f"the body is not JSON: {problems[0]['msg']}")
    if any(problem["loc"][:1] == ("scope",) for problem in problems):
        return Problem(400, "invalid_scope", in_words(error))
    return Problem(422, "invalid_request", in_words(error))


#: What anyone may ask who reaches the server: none of it says anything about a memory.
OPEN_PATHS = ("/health", "/ready", "/openapi.json")
#: The most bytes of a body, and the seconds within which it has to arrive.
MAX_BODY_BYTES, _BODY_S = 1_000_000, 30.0
#: The most bytes of a body that is read to its end although it is too large: a client that still sends would find its
#: connection reset instead of the answer.
_MOST_READ_BYTES = 32_000_000
#: A connection on which an unread body is still coming is not used again.
_CLOSED = {"Connection": "close"}
#: No answer is kept by a proxy or guessed to be anything but what it says.
_HEADERS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")
_METHODS = (*_WITHOUT_BODY, "POST", "PUT", "PATCH", "DELETE", "TRACE")


@dataclass(eq=False)
class Gate:
    """ASGI middleware around the application and that of MCP, which gets the requests at `/mcp` and below."""

    app: ASGIApp
    mcp: ASGIApp
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
            if status:  # the answer has begun, and cannot become another one
                _log.exception("%s %s broke off", _method(scope), scope["path"])
            else:
                problem = error if isinstance(error, Problem) else as_problem(error, self.store)
                await problem.response()(scope, receive, answer)
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
        named = [value for name, value in scope["headers"] if name == b"authorization"]
        kind, _, secret = named[0].decode("latin-1").partition(" ") if len(named) == 1 else ("", "", "")
        try:
            access = self.tokens.access(secret.strip(), datetime.now(UTC)) if kind.lower() == "bearer" else None
        except errors.MemoryPipelineError as error:
            _log.error("%s", error)
            raise Problem(503, "tokens_unavailable", "the tokens cannot be read; the server's log says why") from None
        if access is None:
            raise Problem(
                401,
                "unauthorized",
                "this needs the header 'Authorization: Bearer TOKEN' with a token that is neither revoked nor expired; "
                "'memory-pipeline token create' makes one",
                {"WWW-Authenticate": "Bearer"},
            )
        scope[ACCESS] = access


async def _with_body(scope: Scope, receive: Receive) -> Receive:
    """Read the body whole, so that neither a large, a slow nor half a one reaches the application. Raises Problem."""
    if _method(scope) in _WITHOUT_BODY:
        return receive
    too_large = Problem(413, "too_large", f"the body is larger than {MAX_BODY_BYTES} bytes", _CLOSED)
    length = dict(scope["headers"]).get(b"content-length", b"")
    if length.isdigit() and int(length) > MAX_BODY_BYTES:
        raise too_large
    parts, size = [], 0
    try:
        async with asyncio.timeout(_BODY_S):
            while size <= _MOST_READ_BYTES:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Problem(408, "timeout", "the request ended before its body did", _CLOSED)
                part = message.get("body", b"")
                size += len(part)
                if size <= MAX_BODY_BYTES:
                    parts.append(part)
                if not message.get("more_body"):
                    break
    except TimeoutError:
        raise Problem(408, "timeout", f"the body did not arrive within {_BODY_S:g} s", _CLOSED) from None
    if size > MAX_BODY_BYTES:
        raise too_large
    messages = [{"type": "http.request", "body": b"".join(parts), "more_body": False}]

    async def again() -> Any:
        return messages.pop() if messages else await receive()

    return again


def _method(scope: Scope) -> str:
    method = str(scope["method"])
    return method if method in _METHODS else "other"
