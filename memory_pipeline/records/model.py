"""Requests to models, their answers, and their cost."""

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
    """A model's answer to one prompt, word for word, stored by the hash of the prompt."""

    prompt_hash: Annotated[str, Column("Hash of model, prompt version and prompt.")]
    model: Annotated[str, Column("The model that was asked.")]
    prompt_version: Annotated[str, Column("The version of the prompt.")]
    answer: Annotated[str, Column("The answer, word for word.")]
    stop_reason: Annotated[str | None, Column("Why the answer ended.")]
    answered_at: Annotated[datetime, Column("When the model answered.")]
    run_id: Annotated[str, Column("The run that asked.")]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a model, with its cost."""

    id: Annotated[str, Column("The id of this request.")]
    run_id: Annotated[str, Column("The run that asked.")]
    prompt_hash: Annotated[str, Column("Hash of the prompt, as in its answer.")]
    model: Annotated[str, Column("The model that was asked.")]
    mode: Annotated[CallMode, Column("`live`, `batch`, or `cache`: an earlier answer was reused at no cost.")]
    outcome: Annotated[
        CallOutcome,
        Column("`answered`, `failed` (the server returned an error: nothing is billed) or `unknown` (the connection "
               "broke: billed at the reserved amount, because the server may have charged it)."),
    ]  # fmt: skip
    input_tokens: Annotated[int, Column("Tokens of the prompt.")]
    output_tokens: Annotated[int, Column("Tokens of the answer.")]
    cost_usd: Annotated[float, Column("Cost in US dollars.")]
    latency_ms: Annotated[int, Column("Duration in milliseconds.")]
    masked_secrets: Annotated[int, Column("Number of secrets masked in the prompt.")]
    masked_personal: Annotated[int, Column("Number of personal data items masked in the prompt.")]
    error: Annotated[str | None, Column("What went wrong.")]
    called_at: Annotated[datetime, Column("When the request was made.")]
    asked_again: Annotated[
        bool, Column("Whether it is a question once more, with what was wrong with the first answer.")
    ] = False


@dataclass(frozen=True, slots=True)
class ModelBatch:
    """A Message Batch."""

    id: Annotated[str, Column("This program's own id of the batch.")]
    batch_id: Annotated[str | None, Column("The server's id of the batch.")]
    server: Annotated[str, Column("The server that it was sent to.")]
    model: Annotated[str, Column("The model that was asked.")]
    status: Annotated[
        BatchStatus, Column("`sending` (the server's id is not known yet), `sent`, `collected` or `lost`.")
    ]
    prompt_hashes: Annotated[tuple[str, ...], Column("The prompts in it.")]
    run_id: Annotated[str, Column("The run that sent it.")]
    created_at: Annotated[datetime, Column("When it was sent.")]
    settled_at: Annotated[datetime | None, Column("When it was collected or given up.")] = None
