"""What a model must answer: one schema, checked word for word before anything else is believed."""

from __future__ import annotations

import json
import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

_FENCE = re.compile(r"^\s*```(?:json)?\s*\n(?P<body>.*?)\n?\s*```\s*$", re.DOTALL)


class Claim(BaseModel):
    """One statement of the abstraction, and the numbers of the members that support it."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=4000)
    members: list[int]


class Contradiction(BaseModel):
    """Two members that cannot both be true, and about what."""

    model_config = ConfigDict(extra="forbid")

    members: list[int]
    about: str = Field(max_length=1000)


class Answer(BaseModel):
    """A model's proposal for one cluster. `confidence` and `compression_ratio` are its word, and prove nothing."""

    model_config = ConfigDict(extra="forbid")

    abstraction: str
    claims: list[Claim]
    contradictions: list[Contradiction]
    suspicious: list[int]
    is_causal: bool
    subject: str
    action: str
    outcome: str
    consequences: str
    pattern_type: Literal["success", "failure", "decision", "workflow", "gotcha"] | None
    confidence: float = Field(ge=0, le=1)
    compression_ratio: float


class MalformedAnswerError(ValueError):
    """The answer is no JSON, or does not follow the schema."""


def parse_answer(text: str) -> Answer:
    """The answer in a model's text; one Markdown fence around it is forgiven, nothing else.

    Raises MalformedAnswerError with the first thing that is wrong.
    """
    fenced = _FENCE.match(text)
    try:
        return Answer.model_validate(json.loads(fenced["body"] if fenced else text), strict=False)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the answer"
        raise MalformedAnswerError(f"{where}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise MalformedAnswerError("no JSON object") from error


def answer_schema() -> dict[str, object]:
    """The JSON schema as structured output wants it: every field required, nothing else allowed."""
    from anthropic import transform_schema

    return dict(transform_schema(Answer))
