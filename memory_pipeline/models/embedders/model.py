"""The interface of every embedding model, and the check of its vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.errors import EmbeddingError, OtherModelError

Vectors = NDArray[np.float32]

#: Tolerance for the length of a float32 unit vector after rounding.
UNIT_TOLERANCE = 1e-4
#: A larger share of the memories that have a vector, but none of the current model, means that the model was changed.
#: Fewer are those that were written while the others were embedded.
MOST_OF_ANOTHER_MODEL = 0.1


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


def estimated_tokens(text: str) -> int:
    """Characters divided by four, rounded up; at least 1."""
    return max(1, -(-len(text) // 4))


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


def check_model(model: str, memories: int, others: Mapping[str, int]) -> None:
    """Refuse to work with a model if more than MOST_OF_ANOTHER_MODEL of the memories lack a vector of it and have one
    of another. `others`: how many, by that model. Raises OtherModelError."""
    if sum(others.values()) <= MOST_OF_ANOTHER_MODEL * memories:
        return
    other_model, count = max(others.items(), key=lambda item: (item[1], item[0]))
    raise OtherModelError(
        f"{count:,} of {memories:,} memories have vectors of '{other_model}' and none of '{model}', the model that is "
        f"set now; vectors of two models are never compared. Run 'memory-pipeline embed', which embeds them with "
        f"'{model}', or set embedding.model back"
    )
