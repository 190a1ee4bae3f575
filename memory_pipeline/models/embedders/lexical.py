"""An embedder without a model: hashed words and character trigrams. It detects shared words, not meaning."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from memory_pipeline.models.embedders.model import Vectors

_WORD = re.compile(r"\w+", re.UNICODE)


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
        """Characters divided by four, rounded up."""
        return max(1, -(-len(text) // 4))


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
