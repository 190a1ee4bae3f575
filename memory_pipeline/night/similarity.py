"""Third step: every pair of eligible memories of one project whose cosine reaches the threshold.

Exact and incremental. A blocked float32 product proposes pairs a little below the threshold; a float64
dot product of the stored rows decides. So the result depends neither on blocks, order and threads, nor
on which pairs an earlier night had compared already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memory_pipeline.embedding.model import Vectors
from memory_pipeline.knowledge.entries import claim_of
from memory_pipeline.night.context import Night
from memory_pipeline.records import EligibleMemory
from memory_pipeline.store import EDGE_SCHEMA, cached_edges, compared_ids, keep_edges
from memory_pipeline.wording.conflicts import find_conflict

Pairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]

_DECIDE_AT_ONCE = 1 << 14


def proposal_margin(dimension: int) -> float:
    """How far a float32 dot product of unit vectors can lie from the exact one: 2 (d + 2) 2^-24.

    Twice the standard bound for a sum of d rounded products (Higham, Accuracy and Stability of
    Numerical Algorithms, section 3.1), which also covers the rounding of the vectors' lengths.
    """
    return 2.0 * (dimension + 2) * 2.0**-24


def similar_pairs(vectors: Vectors, threshold: float, *, known: int = 0, block_size: int = 2048) -> Pairs:
    """All pairs i < j with cosine >= `threshold`, but for those among the first `known` rows.

    `vectors`: float32 (n, d), unit length, rows 0..known-1 already compared with each other. Returns
    row numbers and float64 scores, ordered by (i, j). Memory: two blocks and the result.
    """
    n, dimension = vectors.shape
    lowest = np.float32(threshold - proposal_margin(dimension))
    parts: list[Pairs] = []
    buffer = np.empty((block_size, block_size), dtype=np.float32)
    for top in range(0, n, block_size):
        rows = vectors[top : top + block_size]
        # A pair is new when its later row is new, so columns start at the first new row or the diagonal.
        for left in range(max(top, known), n, block_size):
            columns = vectors[left : left + block_size]
            product = buffer[: len(rows), : len(columns)]
            np.matmul(rows, columns.T, out=product)
            flat = np.flatnonzero(product >= lowest) if product.flags.c_contiguous else None
            if flat is None:
                i, j = np.nonzero(product >= lowest)
            else:
                i, j = np.divmod(flat, len(columns))
            i, j = i + top, j + left
            upper = i < j
            parts.append(_decide(vectors, i[upper], j[upper], threshold))
    if not parts:
        empty = np.empty(0, dtype=np.int64)
        return empty, empty, np.empty(0)
    i, j, scores = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((j, i))
    return i[order], j[order], scores[order]


def _decide(vectors: Vectors, i: NDArray[np.int64], j: NDArray[np.int64], threshold: float) -> Pairs:
    """Keep the proposed pairs whose exact float64 dot product reaches the threshold."""
    scores = np.empty(len(i))
    for start in range(0, len(i), _DECIDE_AT_ONCE):
        part = slice(start, start + _DECIDE_AT_ONCE)
        scores[part] = exact_scores(vectors, i[part], j[part])
    kept = scores >= threshold
    return i[kept], j[kept], scores[kept]


def exact_scores(vectors: Vectors, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.float64]:
    """Float64 dot products of rows i and j, each the same wherever the pair stands."""
    products = vectors[i].astype(np.float64)
    products *= vectors[j]
    return np.asarray(products.sum(axis=1), dtype=np.float64)


def find_similar(night: Night, eligible: list[EligibleMemory]) -> pa.Table:
    """The edges among tonight's eligible memories at or above the lowest threshold of their project, by project
    and pair (EDGE_SCHEMA).

    Only pairs with a memory that no earlier night compared are computed; the conflict guard looks at
    each pair once, when it is new.
    """
    night.hold_lease()
    ids_of: dict[str, list[str]] = {}
    for memory in sorted(eligible, key=lambda memory: memory.id):
        ids_of.setdefault(memory.project_id, []).append(memory.id)
    if not ids_of:
        return EDGE_SCHEMA.empty_table()
    model, floors = night.embedder.name, {project: night.floor_of(project) for project in sorted(ids_of)}
    with night.store.reading() as tx:
        cache = {
            project: (compared_ids(tx, project, model, floor), cached_edges(tx, project, model, floor))
            for project, floor in floors.items()
        }
    tables = []
    for done, (project, (known, edges)) in enumerate(cache.items(), start=1):
        tables.append(_edges_of_project(night, project, ids_of[project], known, edges, floors[project]))
        night.progress("similarity", done, len(cache))
    return pa.concat_tables(tables)


def _edges_of_project(
    night: Night, project: str, ids: list[str], known: list[str], table: pa.Table, floor: float
) -> pa.Table:
    drafted = sorted(set(ids) & night.drafted_ids)
    fresh = sorted(set(ids) - set(known) - set(drafted))
    if fresh:
        new = _compare(night, project, known, fresh, floor)
        if not night.options.dry_run:
            with night.store.writing(night.holder, night.options.run_id) as tx:
                keep_edges(tx, project, night.embedder.name, floor, fresh, new)
        table = pa.concat_tables([table, new])
    if drafted:  # nothing is kept of what does not stand in the store
        table = pa.concat_tables([table, _compare(night, project, sorted({*known, *fresh}), drafted, floor)])
    return _among(table, ids)


def _compare(night: Night, project: str, known: Sequence[str], fresh: Sequence[str], floor: float) -> pa.Table:
    with night.store.reading():
        known_ids, known_vectors = night.vectors_of(known)
        fresh_ids, fresh_vectors = night.vectors_of(fresh)
    ids = known_ids + fresh_ids
    i, j, scores = similar_pairs(
        np.concatenate([known_vectors, fresh_vectors]),
        floor,
        known=len(known_ids),
        block_size=night.settings.block_size,
    )
    return guard_edges(night, project, [(ids[x], ids[y]) for x, y in zip(i, j, strict=True)], scores)


def guard_edges(night: Night, project: str, pairs: list[tuple[str, str]], scores: NDArray[np.float64]) -> pa.Table:
    """Edges with the conflict guard's finding on each: `a` < `b`, ordered by pair."""
    memories = night.memories({memory_id for pair in pairs for memory_id in pair})
    rows = []
    for (one, other), score in zip(pairs, scores, strict=True):
        a, b = min(one, other), max(one, other)
        finding = find_conflict(claim_of(memories[a].content), claim_of(memories[b].content))
        rows.append(
            (project, a, b, float(score), finding.kind if finding else None, finding.detail if finding else None)
        )
    rows.sort(key=lambda row: (row[1], row[2]))
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [[] for _ in EDGE_SCHEMA]
    return pa.table([pa.array(c, type=f.type) for c, f in zip(columns, EDGE_SCHEMA, strict=True)], schema=EDGE_SCHEMA)


def _among(table: pa.Table, ids: list[str]) -> pa.Table:
    import pyarrow.compute as pc

    wanted = pa.array(ids, type=pa.string())
    inside = pc.and_(pc.is_in(table["a"], value_set=wanted), pc.is_in(table["b"], value_set=wanted))
    return table.filter(inside).sort_by([("a", "ascending"), ("b", "ascending")]).cast(EDGE_SCHEMA)
