"""What models were asked, what they answered, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from memory_pipeline.records.columns import Column

CallMode = Literal["live", "batch", "cache"]
CallOutcome = Literal["answered", "failed", "unknown"]
BatchStatus = Literal["sending", "sent", "collected", "lost"]


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model answered to one prompt, word for word; the prompt's hash finds it again."""

    prompt_hash: Annotated[str, Column("What finds the answer again.")]
    model: Annotated[str, Column("The model that was asked.")]
    prompt_version: Annotated[str, Column("The version of the prompt that asked.")]
    answer: Annotated[str, Column("What it answered, word for word.")]
    stop_reason: Annotated[str | None, Column("Why it ended there.")]
    answered_at: Annotated[datetime, Column("When it answered.")]
    run_id: Annotated[str, Column("The run that asked.")]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One question to a model and its bill."""

    id: Annotated[str, Column("The call's own.")]
    run_id: Annotated[str, Column("The run that asked.")]
    prompt_hash: Annotated[str, Column("Of the prompt, as in its answer.")]
    model: Annotated[str, Column("The model that was asked.")]
    mode: Annotated[CallMode, Column("`live`, `batch`, or `cache`: an earlier answer was used, at no cost.")]
    outcome: Annotated[
        CallOutcome,
        Column("`answered`, `failed` (the server said no: nothing is billed) or `unknown` (the connection broke: "
               "billed at what was reserved, since the server may have charged it)."),
    ]  # fmt: skip
    input_tokens: Annotated[int, Column("Tokens of the prompt.")]
    output_tokens: Annotated[int, Column("Tokens of the answer.")]
    cost_usd: Annotated[float, Column("What it cost, in US dollars.")]
    latency_ms: Annotated[int, Column("How long it took, in milliseconds.")]
    masked_secrets: Annotated[int, Column("Secrets that were masked in the prompt.")]
    masked_personal: Annotated[int, Column("Personal data that were masked in it.")]
    error: Annotated[str | None, Column("What went wrong.")]
    called_at: Annotated[datetime, Column("When it was asked.")]


@dataclass(frozen=True, slots=True)
class ModelBatch:
    """A Message Batch."""

    id: Annotated[str, Column("This program's own id of it.")]
    batch_id: Annotated[str | None, Column("Its id at the server.")]
    server: Annotated[str, Column("Where it was sent.")]
    model: Annotated[str, Column("The model that was asked.")]
    status: Annotated[
        BatchStatus, Column("`sending` (its id at the server is not known yet), `sent`, `collected` or `lost`.")
    ]
    prompt_hashes: Annotated[tuple[str, ...], Column("The prompts in it.")]
    run_id: Annotated[str, Column("The run that sent it.")]
    created_at: Annotated[datetime, Column("When it was sent.")]
    settled_at: Annotated[datetime | None, Column("When it was collected or given up.")] = None
