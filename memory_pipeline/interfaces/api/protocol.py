"""How the server reads HTTP: heads and bodies within bounds, and problems as documents."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from fastapi import Depends, Request
from pydantic import Field, ValidationError
from pydantic.json_schema import models_json_schema
from uvicorn.protocols.http.h11_impl import H11Protocol

from memory_pipeline.documents import Document
from memory_pipeline.errors import (
    EmbeddingError,
    HistoryError,
    InputError,
    MemoryPipelineError,
    ModelError,
    NoModelError,
    NotFoundError,
    StoreBusyError,
    StoreError,
)
from memory_pipeline.interfaces.api.access import ForbiddenError, ProjectNeededError
from memory_pipeline.orchestration.guard import Send
from memory_pipeline.recall.project import in_words

#: Bytes of a head; what arrives beyond them is refused with 400, and the connection closed.
MOST_HEAD_BYTES = 65_536
#: Seconds in which a head must be there, from the connection or the answer before it on.
HEAD_S = 20.0


class BoundedProtocol(H11Protocol):
    """uvicorn's own protocol, which gives up on a head that does not come. uvicorn's other one bounds no head."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first head."""
        super().connection_made(cast(Any, transport))
        self._wait()

    def handle_events(self) -> None:
        """Read what has arrived."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Begin to wait for the next head, which may be there already."""
        self._wait()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end of the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop_waiting()
        self._waiting = self.loop.call_later(HEAD_S, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


_log = logging.getLogger(__name__)
#: Seconds after which a client may ask again for what another process holds now.
_RETRY_AFTER_S = 2


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

    @classmethod
    def later(cls, status: int, error: str, message: str, seconds: float) -> Problem:
        """An answer that says when to ask again."""
        return cls(status, error, message, {"Retry-After": str(max(1, round(seconds)))})

    def body(self) -> bytes:
        """The JSON of the answer."""
        return json.dumps(ApiError(error=self.error, message=self.message).as_json()).encode()

    async def send(self, send: Send) -> None:
        """Answer an ASGI request with it."""
        headers = {"content-type": "application/json", "content-length": str(len(self.body())), **self.headers}
        raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": raw})
        await send({"type": "http.response.body", "body": self.body()})


#: Status and code of the errors that a client can do something about; the first kind that fits counts.
_KINDS: tuple[tuple[type[MemoryPipelineError], int, str], ...] = (
    (ForbiddenError, 403, "forbidden"),
    (NotFoundError, 404, "not_found"),
    (ProjectNeededError, 409, "project_needed"),
    (InputError, 422, "invalid_request"),
    (StoreBusyError, 503, "store_busy"),
    (StoreError, 503, "store_unavailable"),
    (EmbeddingError, 503, "model_unavailable"),
    (NoModelError, 409, "no_model"),
    (ModelError, 503, "model_unavailable"),
    (HistoryError, 503, "history_unavailable"),
)


def problem_of(error: Exception, store: Path) -> Problem:
    """The answer to an error. An unexpected one is logged with its traceback, and only named to the client. Nor is the
    client told where on the machine the store is."""
    for kind, status, code in _KINDS:
        if isinstance(error, kind):
            message = str(error).replace(str(store), store.name)
            if status == 503:
                return Problem.later(status, code, message, _RETRY_AFTER_S)
            return Problem(status, code, message)
    _log.error("an unexpected error", exc_info=error)
    return Problem(500, "internal", f"an unexpected {type(error).__name__}; the server's log has the particulars")


_JSON = "application/json"
_PLACE = "#/components/schemas/{model}"
_Body = TypeVar("_Body", bound=Document)


def body_of(model: type[_Body]) -> Any:
    """A dependency: the body as this document. A number in quotation marks is no number, and an unknown field an
    error."""

    async def read(request: Request) -> _Body:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != _JSON:
            raise Problem(415, "unsupported_media_type", f"the body is '{kind[:100]}'; send {_JSON}")
        try:
            return model.model_validate_json(await request.body(), strict=True)
        except ValidationError as error:
            raise _refusal(error) from None

    return Depends(read)


#: Every document that is a body of a request.
_bodies: dict[str, type[Document]] = {}


def takes(model: type[Document]) -> dict[str, Any]:
    """What OpenAPI says of a route with this body."""
    _bodies[model.__name__] = model
    schema = {"$ref": _PLACE.format(model=model.__name__)}
    return {"requestBody": {"required": True, "content": {_JSON: {"schema": schema}}}}


def schemas_of_bodies() -> dict[str, Any]:
    """The JSON schemas of all bodies and of the documents in them, by name."""
    _, whole = models_json_schema([(model, "validation") for model in _bodies.values()], ref_template=_PLACE)
    found: dict[str, Any] = whole.get("$defs", {})
    return found


def _refusal(error: ValidationError) -> Problem:
    problems = error.errors(include_url=False)
    if problems[0]["type"] == "json_invalid":
        return Problem(400, "invalid_json", f"the body is not JSON: {problems[0]['msg']}")
    if any(one["loc"][:1] == ("scope",) for one in problems):
        return Problem(400, "invalid_scope", in_words(error))
    return Problem(422, "invalid_request", in_words(error))
