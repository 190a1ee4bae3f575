"""Who asks: tokens, their projects and how many requests each may make."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from typing import Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer

from memory_pipeline.interfaces.api.access import ACCESS, Access, Scope
from memory_pipeline.interfaces.api.protocol import ApiError
from memory_pipeline.interfaces.served import ServedMemories
from memory_pipeline.recall.project import ProjectMemory

#: Says in OpenAPI that a token is needed; the gate has checked it before.
_BEARER = HTTPBearer(auto_error=False, description="A token of `memory-pipeline token create`.")


class Caller:
    """A request, what it may do, and the memories that it asks about."""

    def __init__(self, request: Request) -> None:
        self.memories: ServedMemories = request.app.state.memories
        self.access: Access = request.scope[ACCESS]

    def memory(self, scope: Scope, project: str | None, *, may_be_new: bool = False) -> ProjectMemory:
        """The memory of the project that is meant. Raises errors as `ServedMemories.asked_by` does."""
        return self.memories.asked_by(self.access, scope, project, may_be_new=may_be_new)


def _caller(request: Request, _: Annotated[Any, Security(_BEARER)]) -> Caller:
    return Caller(request)


CallerOf = Annotated[Caller, Depends(_caller)]

_MEANINGS = {
    400: "The scope, or the JSON of the body, is wrong.",
    401: "There is no token, or it is unknown, revoked or expired.",
    403: "The token is not good for this, or the request comes from a page of another origin.",
    404: "There is no such memory, project or job.",
    408: "The body did not arrive in time.",
    409: "The store is in another state than this needs: several projects could be meant, another run works on "
    "it, or no model is chosen.",
    413: "The body is too large.",
    415: "The body is not `application/json`.",
    422: "A field is missing, unknown, of the wrong type or out of range.",
    429: "The token has made too many requests; `Retry-After` says when to ask again.",
    503: "The store is held by another process or cannot be read, or no model answers; `Retry-After` says when "
    "to ask again.",
}
_ALWAYS = (401, 403, 409, 422, 429, 503)
_WITH_BODY = (400, 408, 413, 415)


def errors(*statuses: int, body: bool = False) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of a route's errors: these, those of every route, and those of every route with a body."""
    all_of_them = sorted({*statuses, *_ALWAYS, *(_WITH_BODY if body else ())})
    return {status: {"model": ApiError, "description": _MEANINGS[status]} for status in all_of_them}


def errors_beside_text() -> dict[int | str, dict[str, Any]]:
    """The same for a route that answers with text: its errors are JSON nevertheless."""
    schema = {"$ref": f"#/components/schemas/{ApiError.__name__}"}
    return {
        status: {"description": _MEANINGS[status], "content": {"application/json": {"schema": schema}}}
        for status in _ALWAYS
    }


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
