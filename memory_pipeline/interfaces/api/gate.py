"""What every request passes before the application sees it: host and origin, token, rate, size and time."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_pipeline.config.settings import Api
from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.interfaces.api.access import ACCESS, Access, Tokens
from memory_pipeline.interfaces.api.protocol import Problem, problem_of
from memory_pipeline.interfaces.mcp.server import PATH as MCP_PATH
from memory_pipeline.orchestration.guard import App, Receive, Scope, Send, why_refused

_log = logging.getLogger(__name__)
#: What anyone may ask who reaches the server: none of it says anything about a memory.
OPEN_PATHS = ("/health", "/ready", "/openapi.json")
#: The most bytes of a body; requests of a token in a minute; seconds after which a request is given up, and for which a
#: stop waits for those under way.
MAX_BODY_BYTES, REQUESTS_PER_MIN, REQUEST_TIMEOUT_S = 1_000_000, 1200, 30.0
#: The most bytes of a body that is read to its end although it is too large: a client that still sends would find its
#: connection reset instead of the answer.
_MOST_READ_BYTES = 32_000_000
_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")
_METHODS = (*_WITHOUT_BODY, "POST", "PUT", "PATCH", "DELETE", "TRACE")


_WINDOW_S = 60.0


class RateLimit:
    """At most so many requests of each client in any minute."""

    def __init__(self, per_minute: int) -> None:
        self._most = per_minute
        self._made: defaultdict[str, deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()

    def wait_for(self, client: str, now: float) -> float:
        """Count a request at a time (in seconds): 0 if it may be made, otherwise the seconds until the next one may;
        a request that may not be made does not count."""
        with self._lock:
            made = self._made[client]
            while made and now - made[0] >= _WINDOW_S:
                made.popleft()
            if len(made) >= self._most:
                return made[0] + _WINDOW_S - now
            made.append(now)
            return 0.0


@dataclass(eq=False)
class Gate:
    """ASGI middleware around the application and that of MCP, which gets the requests at `/mcp` and below, and may take
    as long as it needs to answer."""

    app: App
    mcp: App
    tokens: Tokens
    settings: Api
    store: Path
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._hosts = frozenset(host.lower() for host in self.settings.allowed_hosts)
        self._rate = RateLimit(REQUESTS_PER_MIN)
        self._under_way: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": "there are no web sockets here"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, answer = self.clock(), _Answer(send)
        is_mcp = scope["path"] == MCP_PATH or scope["path"].startswith(f"{MCP_PATH}/")
        try:
            self._admit(scope)
            receive = await self._with_body(scope, receive)
            if is_mcp:
                await self.mcp(scope, receive, answer.send)
            else:
                await self._in_time(scope, receive, answer)
        except Problem as problem:
            await answer.refuse(problem)
        except Exception as error:
            if not answer.status:
                await answer.refuse(problem_of(error, self.store))
        finally:
            route = MCP_PATH if is_mcp else getattr(scope.get("route"), "path_format", "none")
            seconds = self.clock() - began
            who = scope[ACCESS].actor if ACCESS in scope else "no token"
            _log.info("%s %s %d in %.0f ms, %s", _method(scope), route, answer.status, 1000 * seconds, who)

    def _admit(self, scope: Scope) -> None:
        """Check where the request comes from, and its token. Raises Problem."""
        if (why := why_refused(scope, self._hosts, "api.allowed_hosts")) is not None:
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
        wait = self._rate.wait_for(access.actor, self.clock())
        if wait:
            told = f"a token may make {REQUESTS_PER_MIN} requests in a minute"
            raise Problem.later(429, "too_many_requests", told, wait)
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

    async def _with_body(self, scope: Scope, receive: Receive) -> Receive:
        """Read the body whole, so that neither a large nor a slow one reaches the application. Raises Problem."""
        if _method(scope) in _WITHOUT_BODY:
            return receive
        parts, size = [], 0
        told = [value for name, value in scope["headers"] if name == b"content-length"]
        too_large = Problem(413, "too_large", f"the body is larger than {MAX_BODY_BYTES} bytes", _CLOSED)
        if told and told[0].isdigit() and int(told[0]) > MAX_BODY_BYTES:
            raise too_large
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Problem(408, "timeout", "the request ended before its body did", _CLOSED)
                    part = message.get("body", b"")
                    size += len(part)
                    if size <= MAX_BODY_BYTES:
                        parts.append(part)
                    if not message.get("more_body") or size > _MOST_READ_BYTES:
                        break
        except TimeoutError:
            late = f"the body did not arrive within {REQUEST_TIMEOUT_S:g} s"
            raise Problem(408, "timeout", late, _CLOSED) from None
        if size > MAX_BODY_BYTES:
            raise too_large
        whole = [{"type": "http.request", "body": b"".join(parts), "more_body": False}]

        async def again() -> Any:
            return whole.pop() if whole else await receive()

        return again

    async def _in_time(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        """Let the application answer. What takes too long is told so; it ends by itself, as a thread cannot be
        ended."""
        task = asyncio.ensure_future(_done(self.app, scope, receive, answer))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        done, _ = await asyncio.wait({task}, timeout=REQUEST_TIMEOUT_S)
        if done:
            task.result()
            return
        raise Problem.later(503, "timeout", f"this took longer than {REQUEST_TIMEOUT_S:g} s", REQUEST_TIMEOUT_S)


class _Answer:
    """The answer to one request: begun once, by whoever is first."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0
        self._is_refused = False

    async def send(self, message: Any) -> None:
        """Pass on a part of the answer, unless the request was refused meanwhile."""
        if self._is_refused:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *_HEADERS]
        await self._send(message)

    async def refuse(self, problem: Problem) -> None:
        """Answer with an error, unless the answer has begun."""
        if self.status:
            return
        await problem.send(self.send)
        self._is_refused = True


#: A connection on which an unread body is still coming is not used again.
_CLOSED = {"Connection": "close"}
#: No answer is kept by a proxy or guessed to be anything but what it says.
_HEADERS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]


async def _done(app: App, scope: Scope, receive: Receive, answer: _Answer) -> None:
    await app(scope, receive, answer.send)


def _method(scope: Scope) -> str:
    method = str(scope["method"])
    return method if method in _METHODS else "other"
