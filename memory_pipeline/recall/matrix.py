"""The vectors of one project: which rows are nearest to a query, exactly, or from many vectors on by their signs first.

The signs of a unit vector's numbers, one bit each, estimate a cosine well enough to choose candidates; the exact
product orders these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.models.embedders.model import Vectors

#: From so many vectors on, signs choose the candidates (measured: DESIGN 8; recall@10 of 1.000 with 4,000).
SIGNS_FROM = 20_000
_CANDIDATES = 4_000

Bits = NDArray[np.uint64]


def signs_of(vectors: Vectors) -> Bits:
    """The signs of vectors, uint64 (n, words): `vectors` is float32 (n, dimension)."""
    packed = np.packbits(vectors > 0, axis=1)
    padding = -packed.shape[1] % 8
    if padding:
        packed = np.pad(packed, ((0, 0), (0, padding)))
    return np.ascontiguousarray(packed).view(np.uint64)


class Matrix:
    """Vectors by row, float32 (n, dimension), unit length, zero for a row without a vector; and their signs, for many
    of them."""

    def __init__(self, vectors: Vectors, signs: Bits | None = None) -> None:
        self._vectors = vectors
        #: One row a word: 100,000 short rows cost numpy six times as much as six long ones.
        self._signs = None if signs is None else np.ascontiguousarray(signs.T)

    def __len__(self) -> int:
        return len(self._vectors)

    def nearest(self, vector: Vectors, depth: int, admitted: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """The rows nearest to a unit vector, at most `depth` or, by signs, 4,000; unordered. `admitted`: whether each
        row may be among them."""
        count = len(self._vectors)
        if self._signs is None or count < SIGNS_FROM:
            scores = _products(self._vectors, vector)
            if admitted is not None:
                scores = np.where(admitted, scores, -2.0)
            return _largest(scores, depth)
        asked = signs_of(vector[None, :])[0]
        same = np.full(count, -(64 * len(asked)), dtype=np.int16)
        for word, bits in zip(asked, self._signs, strict=True):
            same += 64 - np.bitwise_count(bits ^ word).astype(np.int16)
        if admitted is not None:
            same[~admitted] = np.iinfo(np.int16).min
        candidates = _largest(same, max(_CANDIDATES, depth))
        candidates.sort()
        scores = _products(np.take(self._vectors, candidates, axis=0), vector)
        nearest: NDArray[np.int64] = candidates[_largest(scores, depth)]
        return nearest

    def rows(self, rows: NDArray[np.int64]) -> Vectors:
        """The vectors of some rows."""
        return np.take(self._vectors, rows, axis=0)

    def cosines(self, rows: NDArray[np.int64], vector: Vectors) -> NDArray[np.float64]:
        """The cosines of some rows to a unit vector."""
        return _products(np.take(self._vectors, rows, axis=0), vector).astype(np.float64)


def _products(vectors: Vectors, vector: Vectors) -> Vectors:
    """Dot products on this thread alone: beside other work, BLAS's threads wait for each other fifty times longer than
    the product takes."""
    products: Vectors = np.einsum("ij,j->i", vectors, vector)
    return products


def _largest(scores: NDArray[np.generic], depth: int) -> NDArray[np.int64]:
    if len(scores) <= depth:
        return np.arange(len(scores), dtype=np.int64)
    return np.argpartition(scores, -depth)[-depth:].astype(np.int64)
