"""What models were asked, what they answered, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model answered to one prompt, word for word; the prompt's hash finds it again."""

    prompt_hash: str
    model: str
    prompt_version: str
    answer: str
    stop_reason: str | None
    answered_at: datetime
    run_id: str


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One question to a model and its bill.

    `mode`: `live`, `batch`, or `cache` (an earlier answer was used, at no cost). `outcome`: `answered`,
    `failed` (the server said no: nothing is billed) or `unknown` (the connection broke: billed at what was
    reserved, since the server may have charged it).
    """

    id: str
    run_id: str
    prompt_hash: str
    model: str
    mode: str
    outcome: str
    input_tokens: int
    output_tokens: int
    cost_usd: float
    latency_ms: int
    masked_secrets: int
    masked_personal: int
    error: str | None
    called_at: datetime


@dataclass(frozen=True, slots=True)
class ModelBatch:
    """A Message Batch: `sending` (its id at the server is not known yet), `sent`, `collected` or `lost`."""

    id: str
    batch_id: str | None
    server: str
    model: str
    status: str
    prompt_hashes: tuple[str, ...]
    run_id: str
    created_at: datetime
    settled_at: datetime | None = None
