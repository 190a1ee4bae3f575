"""Models that are on this machine: keys, programs with a login of their own, and servers on their usual ports.

Looking sends nothing but a request for the list of models to loopback. Nothing that is found is chosen by it.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.models.choose import DEFAULT_CLAUDE, OLLAMA_ADDRESS, choose_provider, endpoint_of, model_name
from memory_pipeline.models.http import send_json
from memory_pipeline.models.provider import CallError

_LOOK_S, _LISTING_BYTES = 1.0, 10_000_000
_SHOWN = 6


class FoundModel(Document):
    """A model that can be chosen on this machine."""

    provider: str = Field(description="The value for `model.provider`.")
    what: str = Field(description="What was found.")
    models: tuple[str, ...] = Field(description="The models that it has, if it says.")
    choose: str = Field(description="The command that chooses it.")
    chosen: bool = Field(description="Whether it is the one that reads now.")


@dataclass(frozen=True, slots=True)
class _Server:
    provider: str
    title: str
    address: str
    path: str


_SERVERS = (
    _Server("ollama", "Ollama", OLLAMA_ADDRESS, "/api/tags"),
    _Server("openai", "LM Studio", "http://127.0.0.1:1234/v1", "/models"),
    _Server("openai", "llama.cpp", "http://127.0.0.1:8080/v1", "/models"),
    _Server("openai", "vLLM", "http://127.0.0.1:8000/v1", "/models"),
)
_PROGRAMS = (("claude-code", "claude", "Claude Code"), ("codex", "codex", "Codex"))


def find_models(settings: Settings) -> list[FoundModel]:
    """Every model that is here, in a fixed order: keys, servers, programs."""
    chosen = choose_provider(settings)
    found = []
    if settings.anthropic.api_key:
        found.append(
            _found("anthropic", "an API key for Claude", (DEFAULT_CLAUDE,), "anthropic", chosen == "anthropic")
        )
    if settings.openai.api_key:
        found.append(_found("openai", "an API key for OpenAI", (), "openai MODEL", chosen == "openai"))
    with ThreadPoolExecutor(len(_SERVERS)) as pool:
        listings = list(pool.map(_models_at, _SERVERS))
    for server, models in zip(_SERVERS, listings, strict=True):
        if models is None:
            continue
        name = models[0] if models else "MODEL"
        address = "" if server.provider == "ollama" else f" --base-url {server.address}"
        is_here = endpoint_of(settings).address.rstrip("/") == server.address
        is_chosen = chosen == server.provider and is_here and model_name(settings) in models
        what = f"{server.title} at {server.address}"
        found.append(_found(server.provider, what, models[:_SHOWN], f"{server.provider} {name}{address}", is_chosen))
    for provider, command, title in _PROGRAMS:
        if shutil.which(command):
            what = f"{title}, the command '{command}', with its own login"
            found.append(_found(provider, what, (), provider, chosen == provider))
    return found


def _found(provider: str, what: str, models: tuple[str, ...], arguments: str, chosen: bool) -> FoundModel:
    return FoundModel(
        provider=provider,
        what=what,
        models=models,
        choose=f"memory-pipeline model use {arguments}",
        chosen=chosen,
    )


def _models_at(server: _Server) -> tuple[str, ...] | None:
    """The models of a server; None if nothing of its kind answers there."""
    try:
        listing = send_json("GET", f"{server.address}{server.path}", timeout_s=_LOOK_S, most_bytes=_LISTING_BYTES)
    except CallError:
        return None
    rows = listing.get("models" if server.provider == "ollama" else "data")
    if not isinstance(rows, list):
        return None
    names = [row.get("name" if server.provider == "ollama" else "id") for row in rows if isinstance(row, dict)]
    return tuple(str(name) for name in names if name)
