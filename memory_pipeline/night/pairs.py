"""Edges from vectors: crowds in cells, pairs within a cell, exact scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.store import Cell, Transaction

Rows = NDArray[np.int64]
Pairs = tuple[Rows, Rows, NDArray[np.float64]]

#: Pairs decided at once, and proposals unpacked at once: this bounds the memory of a block, however crowded it is.
_DECIDE_AT_ONCE = 1 << 14
_UNPACK_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True)
class Separation:
    """Rows that are not compared with each other: those of one group in different cells of it.

    `groups`, `cells`: int64 (kinds, n), one row per kind of group; group -1 means none.
    """

    groups: Rows
    cells: Rows

    def keeps_apart(self, i: Rows, j: Rows) -> NDArray[np.bool_]:
        """For pairs of rows (broadcastable arrays), whether they are not compared."""
        apart = np.zeros(np.broadcast_shapes(i.shape, j.shape), dtype=bool)
        for groups, cells in zip(self.groups, self.cells, strict=True):
            one, other = groups[i], groups[j]
            apart |= (one == other) & (one >= 0) & (cells[i] != cells[j])
        return apart


def proposal_margin(dimension: int) -> float:
    """Maximum error of a float32 dot product of unit vectors: 2 (d + 2) 2^-24.

    Twice the standard bound for a sum of d rounded products (Higham, Accuracy and Stability of Numerical Algorithms,
    section 3.1), which also covers the rounding of the vectors' lengths.
    """
    return 2.0 * (dimension + 2) * 2.0**-24


def similar_pairs(
    vectors: Vectors,
    threshold: float,
    *,
    known: int = 0,
    block_size: int = 2048,
    separation: Separation | None = None,
) -> Pairs:
    """All pairs i < j with cosine >= `threshold`, except those among the first `known` rows and those kept apart.

    `vectors`: float32 (n, d), unit length, rows 0..known-1 already compared with each other. Returns row numbers and
    float64 scores, ordered by (i, j). Memory: two blocks and the result.
    """
    every = len(vectors) ** 2
    found = pairs_up_to(every, vectors, threshold, known=known, block_size=block_size, separation=separation)
    assert found is not None
    return found


def pairs_up_to(
    most: int,
    vectors: Vectors,
    threshold: float,
    *,
    known: int = 0,
    block_size: int = 2048,
    separation: Separation | None = None,
) -> Pairs | None:
    """Like `similar_pairs`, but None as soon as there are more than `most`, which would not fit in memory."""
    parts: list[Pairs] = []
    total = 0
    for i, j in _proposed(vectors, threshold, known, block_size, separation):
        for start in range(0, len(i), _DECIDE_AT_ONCE):
            part = slice(start, start + _DECIDE_AT_ONCE)
            scores = exact_scores(vectors, i[part], j[part])
            kept = scores >= threshold
            parts.append((i[part][kept], j[part][kept], scores[kept]))
            total += len(parts[-1][0])
            if total > most:
                return None
    if not parts:
        empty = np.empty(0, dtype=np.int64)
        return empty, empty, np.empty(0)
    i, j, scores = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((j, i))
    return i[order], j[order], scores[order]


def _proposed(
    vectors: Vectors, threshold: float, known: int, block_size: int, separation: Separation | None
) -> Iterator[tuple[Rows, Rows]]:
    """Pairs of rows that may reach the threshold, in batches."""
    n, dimension = vectors.shape
    lowest = np.float32(threshold - proposal_margin(dimension))
    buffer = np.empty((block_size, block_size), dtype=np.float32)
    for top in range(0, n, block_size):
        rows = vectors[top : top + block_size]
        # A pair is new if its later row is new, so columns start at the first new row or the diagonal.
        for left in range(max(top, known), n, block_size):
            columns = vectors[left : left + block_size]
            product = buffer[: len(rows), : len(columns)]
            np.matmul(rows, columns.T, out=product)
            flat = np.flatnonzero(product >= lowest)
            for start in range(0, len(flat), _UNPACK_AT_ONCE):
                i, j = np.divmod(flat[start : start + _UNPACK_AT_ONCE], len(columns))
                i, j = i + top, j + left
                wanted = i < j
                if separation is not None:
                    wanted &= ~separation.keeps_apart(i, j)
                yield i[wanted], j[wanted]


def exact_scores(vectors: Vectors, i: Rows, j: Rows) -> NDArray[np.float64]:
    """Float64 dot products of rows i and j, identical wherever the pair is."""
    products = vectors[i].astype(np.float64)
    products *= vectors[j]
    return np.asarray(products.sum(axis=1), dtype=np.float64)


def find_crowd(
    vectors: Vectors,
    threshold: float,
    least: int,
    *,
    members: NDArray[np.bool_],
    separation: Separation | None = None,
    block_size: int = 2048,
) -> NDArray[np.bool_]:
    """The rows that are each similar to more than `least` others of them: the core of the graph of similar pairs.

    `members`: bool (n,), rows that already belong to the crowd, whatever they are similar to. Without a crowd, n
    rows have at most n times `least` similar pairs (a graph without such a core can be taken apart row by row, each
    with at most `least` pairs). Memory: two blocks.
    """
    inside = np.ones(len(vectors), dtype=bool)
    while True:
        chosen = np.flatnonzero(inside)
        degrees = _degrees(vectors, chosen, threshold, separation, block_size)
        stays = members[chosen] | (degrees > least)
        if stays.all():
            return inside
        inside[chosen[~stays]] = False


def _degrees(
    vectors: Vectors, chosen: Rows, threshold: float, separation: Separation | None, block_size: int
) -> NDArray[np.int64]:
    """The number of other chosen rows that each chosen row is similar to."""
    margin = proposal_margin(vectors.shape[1])
    degrees = np.zeros(len(chosen), dtype=np.int64)
    for top in range(0, len(chosen), block_size):
        rows = chosen[top : top + block_size]
        for left in range(top, len(chosen), block_size):
            columns = chosen[left : left + block_size]
            product = vectors[rows] @ vectors[columns].T
            like = product >= np.float32(threshold - margin)
            unsure = np.argwhere(like & (product < np.float32(threshold + margin)))
            for start in range(0, len(unsure), _DECIDE_AT_ONCE):
                i, j = unsure[start : start + _DECIDE_AT_ONCE].T
                like[i, j] = exact_scores(vectors, rows[i], columns[j]) >= threshold
            if separation is not None:
                like &= ~separation.keeps_apart(rows[:, None], columns[None, :])
            if left == top:
                like = np.triu(like, 1)
            degrees[top : top + len(rows)] += like.sum(axis=1)
            degrees[left : left + len(columns)] += like.sum(axis=0)
    return degrees


#: In a crowd, each memory is similar to more than this many others of it. Of 38,000 entries of a real log, none was
#: similar to 200.
CROWD_LEAST = 256
#: Memories of a crowd that are compared with each other.
CROWD_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a project: those in the store, and the new ones of this night."""

    kept: tuple[Cell, ...]
    new: tuple[Cell, ...] = ()

    @property
    def all(self) -> tuple[Cell, ...]:
        """Every cell."""
        return (*self.kept, *self.new)

    def crowd(self) -> set[str]:
        """The memories of the crowd."""
        return {cell.memory_id for cell in self.all}

    def separation(self, ids: Sequence[str]) -> Separation | None:
        """The rows of these memories that are not compared with each other."""
        cell_of = {cell.memory_id: cell.cell for cell in self.all}
        if cell_of.keys().isdisjoint(ids):
            return None
        groups = np.array([[0 if memory_id in cell_of else -1 for memory_id in ids]], dtype=np.int64)
        cells = np.array([[cell_of.get(memory_id, 0) for memory_id in ids]], dtype=np.int64)
        return Separation(groups, cells)


def with_crowd(tx: Transaction, project: str, cells: Cells, members: Sequence[str]) -> Cells:
    """The cells with a cell for each new member of the crowd."""
    filled = len(cells.crowd())
    ordered = tx.cells.in_filling_order(members)
    new = (
        Cell(project, memory_id, "crowd", project, (filled + place) // CROWD_AT_ONCE)
        for place, memory_id in enumerate(ordered)
    )
    return Cells(cells.kept, (*cells.new, *new))
