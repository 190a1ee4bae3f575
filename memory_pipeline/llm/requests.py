"""Requests to a model's server and its replies, independent of the caller and the way of sending."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_pipeline.records import CallOutcome

#: Bytes of a prompt per token, deliberately low: an estimate that is too high only reserves money temporarily.
_BYTES_PER_TOKEN = 3
#: Characters that an answer may have per token, and besides: far more than any has.
_CHARS_PER_TOKEN, _MORE_CHARS = 16, 4_096


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt, ready to send. `schema`: the JSON schema of the answer."""

    prompt_hash: str
    model: str
    prompt_version: str
    system: str = ""
    user: str = ""
    max_tokens: int = 0
    schema: Mapping[str, Any] = field(default_factory=dict, hash=False)
    masked_secrets: int = 0
    masked_personal: int = 0

    @classmethod
    def to_model(
        cls,
        model: str,
        prompt_version: str,
        system: str,
        user: str,
        *,
        max_tokens: int,
        schema: Mapping[str, Any],
        masked_secrets: int = 0,
        masked_personal: int = 0,
    ) -> Request:
        """A request with its key: SHA-256 over everything that can change the answer; the prompt's version
        represents the schema. The key finds cached answers, and is the custom id in a batch."""
        parts = [model, prompt_version, system, user, max_tokens]
        key = hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()
        return cls(key, model, prompt_version, system, user, max_tokens, schema, masked_secrets, masked_personal)

    @property
    def tokens_in(self) -> int:
        """Upper estimate of the tokens sent, including the schema."""
        return (len(self.system.encode()) + len(self.user.encode())) // _BYTES_PER_TOKEN + 1000

    @property
    def most_chars(self) -> int:
        """A text of more characters cannot be the answer: it has more tokens than were asked for."""
        return _CHARS_PER_TOKEN * self.max_tokens + _MORE_CHARS


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply. `text` is None if there is no answer; then `deferred` or `error` gives the reason.

    An `error` beside a text is of the bill alone. `outcome` as in ModelCall. `retry_after_s` is set if the same request
    may be sent again; `fatal` if no other request would succeed either.
    """

    request: Request
    outcome: CallOutcome
    text: str | None = None
    stop_reason: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    latency_ms: int = 0
    error: str | None = None
    deferred: str | None = None
    retry_after_s: float | None = None
    fatal: bool = False
