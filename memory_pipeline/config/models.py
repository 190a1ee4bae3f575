"""Settings of the models: the embedding model and the language model."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import field_validator

from memory_pipeline.config.section import Section, builtin_model, setting

_PRICE = re.compile(r"^[^=\s]+=\d+(?:\.\d+)?/\d+(?:\.\d+)?$")


class Embedding(Section):
    """`embedding`: how text becomes vectors."""

    model: str = setting(
        "minilm",
        "`minilm`, `lexical`, `sentence-transformers:NAME` or `openai:NAME` (any compatible endpoint).",
        safe=builtin_model,
    )
    base_url: str = setting("https://api.openai.com/v1", "Endpoint of an `openai:` model.", "OPENAI_BASE_URL")
    api_key: str = setting(
        "",
        "API key for the endpoint; sent to OpenAI, or to the `base_url` that stands beside it.",
        "OPENAI_API_KEY",
        secret=True,
        address="embedding.base_url",
    )
    threads: int = setting(2, "Threads of the built-in model.", ge=1, le=64)


class DistillationSection(Section):
    """`distillation`: how a cluster becomes one memory, and what a model may cost."""

    distiller: Literal["auto", "extractive", "claude"] = setting(
        "auto", "`extractive`, `claude`, or `auto`: Claude if there is an API key for it."
    )
    api_key: str = setting(
        "",
        "API key for Claude; sent to Anthropic, or to the `base_url` that stands beside it.",
        "ANTHROPIC_API_KEY",
        secret=True,
        address="distillation.base_url",
    )
    model: str = setting("claude-haiku-5-5", "Language model for distillation.")
    base_url: str = setting(
        "https://api.anthropic.com",
        "Server of the model; any server that implements the Messages API.",
        "ANTHROPIC_BASE_URL",
    )
    calling: Literal["live", "batch"] = setting(
        "live",
        "`live`: one call per question; `batch`: the questions of a step as one Message Batch, at half the price.",
    )
    cost_cap_usd: float = setting(0.25, "Maximum cost of a run in USD; with 0, no model is called.", ge=0, le=10_000)
    prices: tuple[str, ...] = setting(
        (),
        "Prices in addition to the built-in ones, as `MODEL=IN/OUT` in USD per million tokens: `my-model=0.10/0.50`.",
    )
    burst: int = setting(10, "Maximum number of consecutive model calls before the rate limit applies.", ge=1, le=1000)
    spacing_s: float = setting(0.1, "Minimum number of seconds between two model calls.", ge=0, le=60)
    concurrency: int = setting(4, "Maximum number of model calls in progress at the same time.", ge=1, le=64)
    attempts: int = setting(5, "Maximum number of attempts for one call.", ge=1, le=20)
    timeout_s: float = setting(120.0, "Timeout of one call in seconds.", gt=0, le=3600)
    longest_wait_s: float = setting(120.0, "Maximum delay in seconds that a busy server may ask for.", ge=0, le=3600)
    time_limit_s: float = setting(
        7200.0,
        "Seconds for which a step of a night calls models or waits for a batch; the rest waits for the next night.",
        gt=0,
        le=86_400,
    )
    batch_poll_s: float = setting(30.0, "Seconds between two checks of a batch.", gt=0, le=3600)
    cache: bool = setting(True, "Reuse cached answers instead of asking again.")
    max_prompt_tokens: int = setting(
        60_000, "Maximum size of a cluster that is sent to a model, in tokens.", ge=1000, le=900_000
    )
    mask_personal: bool = setting(
        True, "Mask e-mail addresses and phone numbers before they are sent; secrets are always masked."
    )
    strategies: tuple[str, ...] = setting(
        (), "Strategies to try first: `trading`, `causal`, or your own as `package.module:Class`."
    )

    @field_validator("prices")
    @classmethod
    def _are_prices(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if not _PRICE.match(value):
                raise ValueError(f"{value!r} is not a price; write it as MODEL=IN/OUT, like my-model=0.10/0.50")
        return values
