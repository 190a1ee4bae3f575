"""The interface of every embedding model, and the check of its vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.errors import EmbeddingError

Vectors = NDArray[np.float32]

#: Tolerance for the length of a float32 unit vector after rounding.
UNIT_TOLERANCE = 1e-4


class Embedder(Protocol):
    """Turns texts into unit vectors of one dimension. `name` is stored with every vector."""

    @property
    def name(self) -> str:
        """Model name; vectors of different names are never compared."""

    @property
    def dimension(self) -> int:
        """The dimension of its vectors."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts: float32 (n, dimension), unit length, in the order given.

        Raises EmbeddingError if the model is missing or does not answer.
        """

    def count_tokens(self, text: str) -> int:
        """Tokens of the text, untruncated, without special tokens; at least 1."""


def check_vectors(vectors: Vectors, ids: Sequence[str], dimension: int, model: str) -> None:
    """Refuse vectors that are zero, not finite, not of unit length, or of another dimension.

    `vectors`: float32 (n, dimension). Raises EmbeddingError that names the first such memory: such a vector would
    corrupt every similarity that it is used in.
    """
    if vectors.ndim != 2 or vectors.shape[0] != len(ids):
        raise EmbeddingError(f"model '{model}' returned shape {vectors.shape} for {len(ids)} texts")
    if len(ids) and vectors.shape[1] != dimension:
        raise EmbeddingError(
            f"memory '{ids[0]}' has a vector of {vectors.shape[1]} numbers, model '{model}' has {dimension}; "
            "import it without its vector, or set embedding.model to the model that made it"
        )
    lengths = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1))
    for index in np.flatnonzero(~(np.abs(lengths - 1.0) <= UNIT_TOLERANCE))[:1]:
        length = lengths[index]
        what = "zero" if length == 0 else f"{length:.4f}" if np.isfinite(length) else "not finite"
        raise EmbeddingError(f"memory '{ids[index]}' has a vector whose length is {what}, not 1 (model '{model}')")
