"""Bodies of requests: JSON that is read strictly as one of the project's documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from fastapi import Depends, Request
from pydantic import ValidationError
from pydantic.json_schema import models_json_schema

from memory_pipeline.documents import Document
from memory_pipeline.interfaces.api.problems import Problem
from memory_pipeline.recall.project import in_words

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


def takes(model: type[Document]) -> dict[str, Any]:
    """What OpenAPI says of a route with this body."""
    schema = {"$ref": _PLACE.format(model=model.__name__)}
    return {"requestBody": {"required": True, "content": {_JSON: {"schema": schema}}}}


def schemas_of(models: Sequence[type[Document]]) -> dict[str, Any]:
    """The JSON schemas of these documents and of those in them, by name."""
    _, whole = models_json_schema([(model, "validation") for model in models], ref_template=_PLACE)
    found: dict[str, Any] = whole.get("$defs", {})
    return found


def _refusal(error: ValidationError) -> Problem:
    problems = error.errors(include_url=False)
    if problems[0]["type"] == "json_invalid":
        return Problem(400, "invalid_json", f"the body is not JSON: {problems[0]['msg']}")
    if any(one["loc"][:1] == ("scope",) for one in problems):
        return Problem(400, "invalid_scope", in_words(error))
    return Problem(422, "invalid_request", in_words(error))
