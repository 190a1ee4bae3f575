"""Settings of the models: the embedding model and the language model."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import field_validator

from memory_pipeline.config.section import Section, builtin_model, setting

_PRICE = re.compile(r"^[^=\s]+=\d+(?:\.\d+)?/\d+(?:\.\d+)?$")


ProviderName = Literal["auto", "none", "anthropic", "openai", "ollama", "claude-code", "codex", "recorded"]


class Embedding(Section):
    """`embedding`: how text becomes vectors."""

    model: str = setting(
        "minilm",
        "`minilm`, `lexical`, `sentence-transformers:NAME` or `openai:NAME` (any compatible endpoint).",
        safe=builtin_model,
    )


class AnthropicSection(Section):
    """`anthropic`: Anthropic's address, and the key that belongs to it."""

    api_key: str = setting(
        "",
        "API key for Claude; sent to Anthropic, or to the `base_url` that stands beside it.",
        "ANTHROPIC_API_KEY",
        secret=True,
        address="anthropic.base_url",
        aliases={"distillation.api_key": None},
    )
    base_url: str = setting(
        "https://api.anthropic.com",
        "Address of the Messages API, or of any server that implements it.",
        "ANTHROPIC_BASE_URL",
        aliases={"distillation.base_url": None},
    )


class OpenAISection(Section):
    """`openai`: OpenAI's address, and the key that belongs to it; for language models and for embedding."""

    api_key: str = setting(
        "",
        "API key for OpenAI; sent to OpenAI, or to the `base_url` that stands beside it.",
        "OPENAI_API_KEY",
        secret=True,
        address="openai.base_url",
        aliases={"embedding.api_key": None},
    )
    base_url: str = setting(
        "https://api.openai.com/v1",
        "Address of the API, or of any compatible server.",
        "OPENAI_BASE_URL",
        aliases={"embedding.base_url": None},
    )


class ModelSection(Section):
    """`model`: the language model that reads, how it is reached, and what it may cost."""

    provider: ProviderName = setting(
        "auto",
        "`none`; `anthropic` (the Messages API); `openai` (any `/v1/chat/completions`: OpenAI, vLLM, LM Studio, "
        "llama.cpp, OpenRouter); `ollama`; `claude-code` or `codex` (their command lines, with your login); `recorded` "
        "(answers from a file); or `auto`: `anthropic` if there is a key for it, else `none`.",
        aliases={"distillation.distiller": None},
    )
    name: str = setting(
        "", "The model; if empty, `claude-haiku-5-5` for `anthropic`, and the program's own choice for a command line.",
        aliases={"distillation.model": None},
    )  # fmt: skip
    base_url: str = setting("", "Address of its server, if it is not the provider's own.")
    api_key: str = setting("", "API key for `model.base_url`.", secret=True, address="model.base_url")
    context_tokens: int = setting(
        0,
        "Tokens that a question and its answer may have together; 0 for the provider's: 200,000 for `anthropic`, "
        "`claude-code` and `codex`, 128,000 for OpenAI, 16,384 for all others.",
        ge=0,
        le=10_000_000,
    )
    answers: str = setting("", "The file of answers of `recorded`: JSON lines with `question` and `answer`.")
    record: str = setting("", "The file to which `recorded` writes questions that have no answer.")
    prices: tuple[str, ...] = setting(
        (),
        "Prices in addition to the built-in ones, as `MODEL=IN/OUT` in USD per million tokens: `my-model=0.10/0.50`.",
        aliases={"distillation.prices": None},
    )
    cost_cap_usd: float = setting(
        0.25, "Maximum cost of a run in USD; with 0, nothing is asked that costs money.", ge=0, le=10_000,
        aliases={"distillation.cost_cap_usd": None},
    )  # fmt: skip
    most_calls: int = setting(
        1000, "Maximum number of calls of a run; a draft takes two, since it is read again.", ge=0, le=1_000_000
    )
    calling: Literal["live", "batch"] = setting(
        "live",
        "`live`: one call per question; `batch`: the questions of a step as one Message Batch, at half the price, "
        "where the provider has them.",
        aliases={"distillation.calling": None},
    )
    burst: int = setting(
        10, "Maximum number of consecutive calls before the rate limit applies.", ge=1, le=1000,
        aliases={"distillation.burst": None},
    )  # fmt: skip
    spacing_s: float = setting(
        0.1, "Minimum number of seconds between two calls.", ge=0, le=60, aliases={"distillation.spacing_s": None}
    )
    concurrency: int = setting(
        4, "Maximum number of calls in progress at the same time; 1 is best for a model on this machine.", ge=1, le=64,
        aliases={"distillation.concurrency": None},
    )  # fmt: skip
    timeout_s: float = setting(
        300.0, "Timeout of one call in seconds.", gt=0, le=3600, aliases={"distillation.timeout_s": None}
    )
    mask_personal: bool = setting(
        True, "Mask e-mail addresses and phone numbers before they are sent; secrets are always masked.",
        aliases={"distillation.mask_personal": None},
    )  # fmt: skip

    @field_validator("provider", mode="before")
    @classmethod
    def _earlier_names(cls, value: object) -> object:
        """The words of `distillation.distiller`, the earlier name of this setting."""
        names = {"": "auto", "extractive": "none", "claude": "anthropic"}
        return names.get(value, value) if isinstance(value, str) else value

    @field_validator("prices")
    @classmethod
    def _are_prices(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if not _PRICE.match(value):
                raise ValueError(f"{value!r} is not a price; write it as MODEL=IN/OUT, like my-model=0.10/0.50")
        return values


class DistillationSection(Section):
    """`distillation`: how a cluster becomes one memory."""

    strategies: tuple[str, ...] = setting(
        (), "Strategies to try first: `trading`, `causal`, or your own as `package.module:Class`."
    )
