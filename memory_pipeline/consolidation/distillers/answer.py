"""What a model must answer about a cluster: one schema, checked word for word before anything else is believed."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


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
