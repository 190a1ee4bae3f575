"""Settings of the models: the one that embeds, and the one that distils."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import field_validator

from memory_pipeline.config.section import Section, setting

_PRICE = re.compile(r"^[^=\s]+=\d+(?:\.\d+)?/\d+(?:\.\d+)?$")


class Embedding(Section):
    """`embedding`: text to vectors."""

    model: str = setting(
        "minilm", "`minilm`, `lexical`, `sentence-transformers:NAME` or `openai:NAME` (any compatible endpoint)."
    )
    base_url: str = setting("https://api.openai.com/v1", "Endpoint of an `openai:` model.")
    api_key: str = setting("", "Key for the endpoint.", "OPENAI_API_KEY", secret=True)
    threads: int = setting(2, "Threads of the built-in model.", ge=1, le=64)


class DistillationSection(Section):
    """`distillation`: how a cluster becomes one memory, and what a model may cost."""

    distiller: Literal["auto", "extractive", "claude"] = setting(
        "auto", "`extractive`, `claude`, or `auto`: Claude when there is a key for it."
    )
    api_key: str = setting("", "Key for Claude.", "ANTHROPIC_API_KEY", secret=True)
    model: str = setting("claude-haiku-5-5", "Model that distils when a model does.")
    base_url: str = setting(
        "https://api.anthropic.com", "Server of the model; any that speaks the Messages API.", "ANTHROPIC_BASE_URL"
    )
    calling: Literal["live", "batch"] = setting(
        "live", "`live`: one call a cluster; `batch`: one Message Batch a night, at half the price."
    )
    cost_cap_usd: float = setting(0.25, "What a run may spend, in USD, at most; 0 calls no model.", ge=0, le=10_000)
    prices: tuple[str, ...] = setting(
        (), "Prices beside the built-in ones, as `MODEL=IN/OUT` in USD per million tokens: `my-model=0.10/0.50`."
    )
    burst: int = setting(10, "Model calls in a row before the rate limit holds.", ge=1, le=1000)
    spacing_s: float = setting(0.1, "Seconds between two model calls.", ge=0, le=60)
    concurrency: int = setting(4, "Model calls under way at one time.", ge=1, le=64)
    attempts: int = setting(5, "How often one call is tried.", ge=1, le=20)
    timeout_s: float = setting(120.0, "Seconds that one call may take.", gt=0, le=3600)
    longest_wait_s: float = setting(120.0, "Longest wait that a busy server may ask for.", ge=0, le=3600)
    time_limit_s: float = setting(
        7200.0,
        "Seconds that a night calls models or waits for a batch; what is left waits for the next night.",
        gt=0,
        le=86_400,
    )
    batch_poll_s: float = setting(30.0, "Seconds between two looks at a batch.", gt=0, le=3600)
    cache: bool = setting(True, "Use the answers that are kept, instead of asking again.")
    max_prompt_tokens: int = setting(
        60_000, "Largest cluster, in tokens, that is sent to a model.", ge=1000, le=900_000
    )
    mask_personal: bool = setting(True, "Mask addresses and phone numbers before they are sent; secrets always are.")
    strategies: tuple[str, ...] = setting(
        (), "Strategies that are tried first: `trading`, `causal`, or your own as `package.module:Class`."
    )

    @field_validator("prices")
    @classmethod
    def _are_prices(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if not _PRICE.match(value):
                raise ValueError(f"{value!r} is not a price; write it as MODEL=IN/OUT, like my-model=0.10/0.50")
        return values
