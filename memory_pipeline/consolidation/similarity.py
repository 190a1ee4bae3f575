"""Similarity: every pair of eligible memories of one project whose cosine reaches the threshold, with the guard's
finding.

Exact and incremental: only pairs with a memory that no earlier night has compared are computed, and the result
equals a full recomputation. Crowds are compared within their cells (`store/vectors.py`), so that time and
memory grow with the number of memories, not with its square.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.contradictions import link_contradictions
from memory_pipeline.consolidation.merging import says_again
from memory_pipeline.models.conflicts import WORDING, are_of_another, find_conflict
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.models.relations import judge_all
from memory_pipeline.records import EligibleMemory, Memory
from memory_pipeline.store import EDGE_SCHEMA, SAID_AGAIN, Cell
from memory_pipeline.text.entries import claim_of

Rows = NDArray[np.int64]
Pairs = tuple[Rows, Rows, NDArray[np.float64]]

#: Pairs decided at once, and proposals unpacked at once: this bounds the memory of a block, however crowded it is.
_DECIDE_AT_ONCE = 1 << 14
_UNPACK_AT_ONCE = 1 << 18
_BY_PAIR: Final = [("a", "ascending"), ("b", "ascending")]
#: Pairs that are judged before the run may end.
_GUARD_AT_ONCE = 1 << 8
#: In a crowd, each memory is similar to more than this many others of it. Of 38,000 entries of a real log, none was
#: similar to 200.
CROWD_LEAST = 256
#: Memories of a crowd that are compared with each other.
CROWD_AT_ONCE = 128


def find_similar(night: Night, eligible: list[EligibleMemory]) -> pa.Table:
    """The edges among tonight's eligible memories at or above the lowest threshold of their project, by project and
    pair (EDGE_SCHEMA).

    Only pairs with a memory that no earlier night has compared are computed; the guard checks each pair once.
    """
    night.hold_lease()
    ids_of: dict[str, list[str]] = {}
    for memory in sorted(eligible, key=lambda memory: memory.id):
        ids_of.setdefault(memory.project_id, []).append(memory.id)
    tables = [EDGE_SCHEMA.empty_table()]
    for done, project in enumerate(sorted(ids_of), start=1):
        tables.append(_find_project_edges(night, project, ids_of[project], night.floor_of(project)))
        night.progress("similarity", done, len(ids_of))
    return pa.concat_tables(tables)


def _find_project_edges(night: Night, project: str, ids: list[str], floor: float) -> pa.Table:
    model = night.embedder.name
    with night.store.reading() as tx:
        stored = sorted(tx.memories.existing(ids))
        proposed = sorted(set(ids) - set(stored))
        known = tx.vectors.compared(project, model, floor)
        cells = tx.vectors.cells(project, model)
        table = tx.vectors.edges(project, model, floor, cells)
    fresh = sorted(set(stored) - set(known))
    link_contradictions(night, project, stored, fresh)
    if fresh:
        crowd, table, new = _compare(night, project, known, fresh, floor, cells, table)
        with night.writing() as tx:
            tx.vectors.keep_cells(model, crowd)
            tx.vectors.keep_edges(project, model, floor, fresh, new)
        table, cells = pa.concat_tables([table, new]), [*cells, *crowd]
    if proposed:  # nothing is stored for memories that are not in the store
        _, table, new = _compare(night, project, sorted({*known, *fresh}), proposed, floor, cells, table)
        table = pa.concat_tables([table, new])
    return edges_among(table, ids)


def _compare(
    night: Night,
    project: str,
    known: Sequence[str],
    fresh: Sequence[str],
    floor: float,
    cells: Sequence[Cell],
    table: pa.Table,
) -> tuple[list[Cell], pa.Table, pa.Table]:
    """The cells of memories that have joined the crowd; the earlier edges, without those that these remove; and the
    new edges."""
    known_ids, known_vectors = night.vectors_of(known)
    fresh_ids, fresh_vectors = night.vectors_of(fresh)
    ids, vectors = known_ids + fresh_ids, np.concatenate([known_vectors, fresh_vectors])
    number, block = len(known_ids), night.settings.compression.block_size
    cell_of = {cell.memory_id: cell.cell for cell in cells}
    of_rows = np.array([cell_of.get(i, -1) for i in ids], dtype=np.int64)
    compare = partial(similar_pairs, vectors, floor, known=number, block_size=block)
    new: list[Cell] = []
    try:
        pairs = compare(cells=of_rows, most=CROWD_LEAST * len(ids))
        is_crowded = _is_crowded(ids, pairs, table, of_rows)
    except TooManyPairsError:
        is_crowded = True
    if is_crowded:
        crowd = find_crowd(vectors, floor, CROWD_LEAST, members=of_rows >= 0, block_size=block)
        joined = [ids[row] for row in np.flatnonzero(crowd & (of_rows < 0)).tolist()]
        if joined:
            night.log.warning(
                "%d memories of project '%s' are each similar to more than %d others; they are compared in parts",
                len(joined),
                project,
                CROWD_LEAST,
            )
            with night.store.reading() as tx:
                for place, i in enumerate(tx.vectors.in_filling_order(joined), start=len(cell_of)):
                    cell_of[i] = place // CROWD_AT_ONCE
                    new.append(Cell(project, i, "crowd", project, cell_of[i]))
                table = tx.vectors.edges(project, night.embedder.name, floor, [*cells, *new])
            of_rows = np.array([cell_of.get(i, -1) for i in ids], dtype=np.int64)
        pairs = compare(cells=of_rows)
    return new, table, guard_edges(night, project, ids, pairs)


def _is_crowded(ids: Sequence[str], pairs: Pairs, table: pa.Table, cells: Rows) -> bool:
    """True if a memory outside the crowd is similar to so many others that the crowd may grow."""
    row = {memory_id: place for place, memory_id in enumerate(ids)}
    before = [row[i] for column in ("a", "b") for i in table[column].to_pylist() if i in row]
    degrees = np.bincount(np.concatenate([pairs[0], pairs[1], np.array(before, dtype=np.int64)]), minlength=len(ids))
    return bool(np.any((degrees > CROWD_LEAST) & (cells < 0)))


def edges_between(night: Night, project: str, ids: Sequence[str], threshold: float) -> pa.Table:
    """The edges among some memories of a project, whatever is known of them; nothing is stored."""
    embedded_ids, vectors = night.vectors_of(ids)
    pairs = similar_pairs(vectors, threshold, block_size=night.settings.compression.block_size)
    return guard_edges(night, project, embedded_ids, pairs)


def guard_edges(night: Night, project: str, ids: Sequence[str], pairs: Pairs) -> pa.Table:
    """Edges with the conflict guard's finding on each: `a` < `b`, ordered by pair.

    Of the pairs that are not kept apart, those that say one thing have the detail SAID_AGAIN.

    `pairs`: rows of `ids`, and scores.
    """
    i, j, scores = pairs
    memories = night.memories(ids[row] for row in np.unique(np.concatenate([i, j])).tolist())
    claims = {memory_id: claim_of(memory.content) for memory_id, memory in memories.items()}
    tables = [EDGE_SCHEMA.empty_table()]
    for start in range(0, len(i), _GUARD_AT_ONCE):
        part = slice(start, start + _GUARD_AT_ONCE)
        named = [sorted((ids[one], ids[other])) for one, other in zip(i[part].tolist(), j[part].tolist(), strict=True)]
        findings = judge_all(lambda pair: _finding(memories[pair[0]], memories[pair[1]], claims), named)
        rows = [
            (project, a, b, score, kind, detail)
            for (a, b), score, (kind, detail) in zip(named, scores[part].tolist(), findings, strict=True)
        ]
        columns = zip(EDGE_SCHEMA.names, zip(*rows, strict=True), strict=True)
        tables.append(pa.table(dict(columns), schema=EDGE_SCHEMA))
        night.keep_going()
    return pa.concat_tables(tables).sort_by(_BY_PAIR)


def _finding(a: Memory, b: Memory, claims: Mapping[str, str]) -> tuple[str | None, str | None]:
    finding = find_conflict(claims[a.id], claims[b.id])
    if finding is None:
        if are_of_another(a, b):
            return WORDING, None
        return None, SAID_AGAIN if says_again(claims[a.id], claims[b.id]) else None
    return finding.kind, None


def edges_among(table: pa.Table, ids: Sequence[str]) -> pa.Table:
    """The edges between two of these memories, by pair."""
    wanted = pa.array(ids, type=pa.string())
    inside = pc.and_(pc.is_in(table["a"], value_set=wanted), pc.is_in(table["b"], value_set=wanted))
    return table.filter(inside).sort_by(_BY_PAIR).cast(EDGE_SCHEMA)


def proposal_margin(dimension: int) -> float:
    """Maximum error of a float32 dot product of unit vectors: 2 (d + 2) 2^-24.

    Twice the standard bound for a sum of d rounded products (Higham, Accuracy and Stability of Numerical Algorithms,
    section 3.1), which also covers the rounding of the vectors' lengths.
    """
    return 2.0 * (dimension + 2) * 2.0**-24


class TooManyPairsError(Exception):
    """There are more similar pairs than fit in memory."""


def similar_pairs(
    vectors: Vectors,
    threshold: float,
    *,
    known: int = 0,
    block_size: int = 2048,
    cells: Rows | None = None,
    most: float = inf,
) -> Pairs:
    """All pairs i < j with cosine >= `threshold`, except among the first `known` rows and between different cells.

    `vectors`: float32 (n, d), unit length, rows 0..known-1 already compared with each other. `cells`: int64 (n,), the
    cell of each row; a row of none (-1) is compared with all. Returns row numbers and float64 scores, ordered by
    (i, j). Memory: two blocks and the result. Raises TooManyPairsError as soon as there are more than `most`.
    """
    parts: list[Pairs] = []
    total = 0
    for i, j in _proposed(vectors, threshold, known, block_size, cells):
        for start in range(0, len(i), _DECIDE_AT_ONCE):
            part = slice(start, start + _DECIDE_AT_ONCE)
            scores = exact_scores(vectors, i[part], j[part])
            is_near = scores >= threshold
            parts.append((i[part][is_near], j[part][is_near], scores[is_near]))
            total += len(parts[-1][0])
            if total > most:
                raise TooManyPairsError
    if not parts:
        empty = np.empty(0, dtype=np.int64)
        return empty, empty, np.empty(0)
    i, j, scores = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((j, i))
    return i[order], j[order], scores[order]


def _proposed(
    vectors: Vectors, threshold: float, known: int, block_size: int, cells: Rows | None
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
                if cells is not None:
                    wanted &= (cells[i] == cells[j]) | (cells[i] < 0) | (cells[j] < 0)
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
        degrees = _degrees(vectors, chosen, threshold, block_size)
        stays = members[chosen] | (degrees > least)
        if stays.all():
            return inside
        inside[chosen[~stays]] = False


def _degrees(vectors: Vectors, chosen: Rows, threshold: float, block_size: int) -> NDArray[np.int64]:
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
            if left == top:
                like = np.triu(like, 1)
            degrees[top : top + len(rows)] += like.sum(axis=1)
            degrees[left : left + len(columns)] += like.sum(axis=0)
    return degrees
