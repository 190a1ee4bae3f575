"""Similarity: every pair of eligible memories of one project whose cosine reaches the threshold, with the guard's
finding.

Exact and incremental: only pairs with a memory that no earlier night has compared are computed, and the result
equals a full recomputation. Crowds are compared within their cells (cells.py), so that time and memory grow with the
number of memories, not with its square.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memory_pipeline.knowledge.contradictions import contradiction_of
from memory_pipeline.knowledge.entries import claim_of
from memory_pipeline.knowledge.merging import says_again
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.night.clustering import link_alike
from memory_pipeline.night.context import Night
from memory_pipeline.night.pairs import (
    CROWD_LEAST,
    Cells,
    Pairs,
    Rows,
    find_crowd,
    pairs_up_to,
    similar_pairs,
    with_crowd,
)
from memory_pipeline.records import EligibleMemory, Memory
from memory_pipeline.store import EDGE_SCHEMA, SAID_AGAIN
from memory_pipeline.wording.conflicts import WORDING, ConflictFinding, find_conflict
from memory_pipeline.wording.subject import states_of_another

#: Pairs whose findings are packed into columns at once.
_GUARD_AT_ONCE = 1 << 14


def find_similar(night: Night, eligible: list[EligibleMemory]) -> pa.Table:
    """The edges among tonight's eligible memories at or above the lowest threshold of their project, by project and
    pair (EDGE_SCHEMA).

    Only pairs with a memory that no earlier night has compared are computed; the conflict guard checks each pair
    once, when it is new.
    """
    night.hold_lease()
    ids_of: dict[str, list[str]] = {}
    for memory in sorted(eligible, key=lambda memory: memory.id):
        ids_of.setdefault(memory.project_id, []).append(memory.id)
    tables = [EDGE_SCHEMA.empty_table()]
    for done, project in enumerate(sorted(ids_of), start=1):
        tables.append(_edges_of_project(night, project, ids_of[project], night.plan.floor_of(project)))
        night.progress("similarity", done, len(ids_of))
    return pa.concat_tables(tables)


def _edges_of_project(night: Night, project: str, ids: list[str], floor: float) -> pa.Table:
    model = night.embedder.name
    with night.store.reading() as tx:
        stored = sorted(tx.memories.existing(ids))
        proposed = sorted(set(ids) - set(stored))
        known = tx.vectors.compared(project, model, floor)
        cells = Cells(tuple(tx.cells.of_project(project, model)))
        table = tx.vectors.edges(project, model, floor, cells.all)
    fresh = sorted(set(stored) - set(known))
    new = EDGE_SCHEMA.empty_table()
    if fresh:
        cells, table, new = _compare(night, project, known, fresh, floor, cells, table)
        link_alike(night, stored, fresh)
    if fresh or cells.new:
        with night.writing() as tx:
            tx.cells.keep(model, cells.new)
            if fresh:
                tx.vectors.keep_edges(project, model, floor, fresh, new)
    table = pa.concat_tables([table, new])
    if proposed:  # nothing is stored for memories that are not in the store
        _, table, new = _compare(night, project, sorted({*known, *fresh}), proposed, floor, cells, table)
        table = pa.concat_tables([table, new])
    return edges_among(table, ids)


def _compare(
    night: Night, project: str, known: Sequence[str], fresh: Sequence[str], floor: float, cells: Cells, table: pa.Table
) -> tuple[Cells, pa.Table, pa.Table]:
    """The cells and the earlier edges, without those that a new crowd removes, and the new edges."""
    known_ids, known_vectors = night.reader.vectors_of(known)
    fresh_ids, fresh_vectors = night.reader.vectors_of(fresh)
    ids, vectors = known_ids + fresh_ids, np.concatenate([known_vectors, fresh_vectors])
    block = night.settings.compression.block_size
    pairs = pairs_up_to(
        CROWD_LEAST * len(ids),
        vectors,
        floor,
        known=len(known_ids),
        block_size=block,
        separation=cells.separation(ids),
    )
    if pairs is None or _is_crowded(ids, pairs, table, cells.crowd()):
        crowd = _crowd_of(ids, vectors, floor, cells, block)
        if crowd:
            night.log.warning(
                "%d memories of project '%s' are each similar to more than %d others; they are compared in parts",
                len(crowd),
                project,
                CROWD_LEAST,
            )
            with night.store.reading() as tx:
                cells = with_crowd(tx, project, cells, crowd)
                table = tx.vectors.edges(project, night.embedder.name, floor, cells.all)
            pairs = similar_pairs(
                vectors, floor, known=len(known_ids), block_size=block, separation=cells.separation(ids)
            )
    assert pairs is not None
    return cells, table, guard_edges(night, project, ids, pairs)


def _is_crowded(ids: Sequence[str], pairs: Pairs, table: pa.Table, crowd: set[str]) -> bool:
    """Whether a memory outside the crowd is similar to so many others that the crowd may grow."""
    row = {memory_id: place for place, memory_id in enumerate(ids)}
    before = [row[i] for column in ("a", "b") for i in table[column].to_pylist() if i in row]
    degrees = np.bincount(np.concatenate([pairs[0], pairs[1], np.array(before, dtype=np.int64)]), minlength=len(ids))
    return any(ids[place] not in crowd for place in np.flatnonzero(degrees > CROWD_LEAST).tolist())


def _crowd_of(ids: Sequence[str], vectors: Vectors, floor: float, cells: Cells, block_size: int) -> list[str]:
    """The new members of the crowd."""
    before = cells.crowd()
    members = np.array([memory_id in before for memory_id in ids], dtype=bool)
    found = find_crowd(vectors, floor, CROWD_LEAST, members=members, block_size=block_size)
    return [ids[place] for place in np.flatnonzero(found & ~members).tolist()]


def guard_edges(night: Night, project: str, ids: Sequence[str], pairs: Pairs) -> pa.Table:
    """Edges with the conflict guard's finding on each: `a` < `b`, ordered by pair.

    Of the pairs kept apart, only a contradiction has a detail, because no person needs to see the others. Of the
    rest, those that say one thing have the detail SAID_AGAIN.

    `pairs`: rows of `ids`, and scores.
    """
    i, j, scores = _by_id(ids, pairs)
    memories = night.reader.memories(ids[row] for row in np.unique(np.concatenate([i, j])).tolist())
    claims = {memory_id: claim_of(memory.content) for memory_id, memory in memories.items()}
    tables = [EDGE_SCHEMA.empty_table()]
    for start in range(0, len(i), _GUARD_AT_ONCE):
        part = slice(start, start + _GUARD_AT_ONCE)
        a, b = [ids[row] for row in i[part].tolist()], [ids[row] for row in j[part].tolist()]
        found = [
            ConflictFinding(WORDING, "of different things")
            if states_of_another(memories[one], memories[other])
            else find_conflict(claims[one], claims[other])
            for one, other in zip(a, b, strict=True)
        ]
        details = [
            _detail_of(finding, memories[one], memories[other]) for one, other, finding in zip(a, b, found, strict=True)
        ]
        columns: list[Any] = [
            [project] * len(a),
            a,
            b,
            scores[part],
            [finding.kind if finding else None for finding in found],
            details,
        ]
        tables.append(
            pa.table([pa.array(c, type=f.type) for c, f in zip(columns, EDGE_SCHEMA, strict=True)], schema=EDGE_SCHEMA)
        )
        night.keep_going()
    return pa.concat_tables(tables)


def _detail_of(finding: ConflictFinding | None, a: Memory, b: Memory) -> str | None:
    if finding is None:
        return SAID_AGAIN if says_again(claim_of(a.content), claim_of(b.content)) else None
    contradiction = contradiction_of(a, b) if finding.kind != WORDING else None
    return contradiction.detail if contradiction else None


def _by_id(ids: Sequence[str], pairs: Pairs) -> tuple[Rows, Rows, NDArray[np.float64]]:
    """The pairs with the smaller id first, ordered by ids."""
    place = np.empty(len(ids), dtype=np.int64)
    place[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    i, j, scores = pairs
    turned = place[i] > place[j]
    i, j = np.where(turned, j, i), np.where(turned, i, j)
    order = np.lexsort((place[j], place[i]))
    return i[order], j[order], scores[order]


def edges_among(table: pa.Table, ids: Sequence[str]) -> pa.Table:
    """The edges between two of these memories, by pair."""
    wanted = pa.array(ids, type=pa.string())
    inside = pc.and_(pc.is_in(table["a"], value_set=wanted), pc.is_in(table["b"], value_set=wanted))
    return table.filter(inside).sort_by([("a", "ascending"), ("b", "ascending")]).cast(EDGE_SCHEMA)
