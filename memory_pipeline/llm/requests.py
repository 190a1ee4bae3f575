"""What goes to a model's server, and what comes back, whoever asks and however it is sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_pipeline.records import CallOutcome

#: Bytes of a prompt by tokens, low on purpose: an estimate that is too high only keeps money back for a while.
_BYTES_PER_TOKEN = 3


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
        """A request with its key: SHA-256 over everything that could change the answer, for which the prompt's
        version stands as far as the schema goes. The key finds kept answers, and is the custom id in a batch."""
        parts = [model, prompt_version, system, user, max_tokens]
        key = hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()
        return cls(key, model, prompt_version, system, user, max_tokens, schema, masked_secrets, masked_personal)

    @property
    def tokens_in(self) -> int:
        """At most about so many tokens go out, the schema included."""
        return (len(self.system.encode()) + len(self.user.encode())) // _BYTES_PER_TOKEN + 1000


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `text` is None when there is no answer; then `deferred` or `error` says why.

    `outcome` as in ModelCall. `retry_after_s` is set when the same request may be sent again; `fatal` when
    no other request would fare better.
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
