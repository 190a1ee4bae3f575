"""How the server reads bodies, and answers problems, as documents."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from fastapi import Depends, Request
from pydantic import Field, ValidationError
from pydantic.json_schema import models_json_schema

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

_log = logging.getLogger(__name__)
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
            return Problem(status, code, message, {"Retry-After": _RETRY_AFTER_S} if status == 503 else {})
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
