"""The one form of every error: a code for programs, a sentence for people, and the status that fits."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.errors import (
    EmbeddingError,
    HistoryError,
    InputError,
    MemoryPipelineError,
    NotFoundError,
    StoreBusyError,
    StoreError,
)
from memory_pipeline.interfaces.api.access import ForbiddenError, ProjectNeededError
from memory_pipeline.orchestration.guard import Send

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
