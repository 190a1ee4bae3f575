"""Vectors and the similarity cache: what has been embedded, what has been compared, and which pairs came out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memory_pipeline.store.connection import Transaction

#: Columns of an edge table: `a` < `b` are memory ids, `score` their cosine, and the guard's finding if any.
EDGE_SCHEMA = pa.schema(
    [
        ("project_id", pa.string()),
        ("a", pa.string()),
        ("b", pa.string()),
        ("score", pa.float64()),
        ("conflict_kind", pa.string()),
        ("conflict_detail", pa.string()),
    ]
)


def insert_vectors(tx: Transaction, ids: Sequence[str], vectors: NDArray[np.float32], model: str) -> None:
    """Keep the vectors of these memories; one that is there already for this model stays.

    `vectors`: float32 (len(ids), dimension), unit length.
    """
    if not len(ids):
        return
    dimension = int(vectors.shape[1])
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
    incoming = pa.table(
        {"memory_id": pa.array(list(ids)), "vector": pa.FixedSizeListArray.from_arrays(flat, dimension)}
    )
    tx.register("incoming_vectors", incoming)
    tx.execute(
        "insert into embeddings select memory_id, $1, $2, vector::float[] from incoming_vectors on conflict do nothing",
        [model, dimension],
    )
    tx.unregister("incoming_vectors")


def read_vectors(
    tx: Transaction, ids: Sequence[str], model: str, dimension: int
) -> tuple[list[str], NDArray[np.float32]]:
    """Ids (sorted) and vectors, float32 (n, dimension), of those memories that have one of this model."""
    if not ids:
        return [], np.empty((0, dimension), dtype=np.float32)
    tx.register("wanted_ids", pa.table({"id": pa.array(list(ids))}))
    table = tx.sql(
        "select e.memory_id, e.vector from embeddings e join wanted_ids w on e.memory_id = w.id "
        "where e.model = $model and e.dimension = $dimension order by e.memory_id",
        params={"model": model, "dimension": dimension},
    ).to_arrow_table()
    tx.unregister("wanted_ids")
    found = table.column("memory_id").to_pylist()
    flat = table.column("vector").combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return found, np.asarray(flat, dtype=np.float32).reshape(len(found), dimension)


def embedded_ids(tx: Transaction, ids: Sequence[str], model: str, dimension: int) -> set[str]:
    """Those of these memories that have a vector of this model and dimension."""
    rows = tx.execute(
        "select memory_id from embeddings where model = $1 and dimension = $2 "
        "and memory_id in (select unnest($3::text[]))",
        [model, dimension, list(ids)],
    ).fetchall()
    return {str(row[0]) for row in rows}


def missing_vectors(tx: Transaction, model: str, after: str, limit: int) -> list[tuple[str, str]]:
    """Id and content of memories without a vector of this model: the first `limit` by id beyond `after`."""
    return tx.execute(
        "select m.id, m.content from memories m anti join (select memory_id from embeddings where model = $1) e "
        "on e.memory_id = m.id where m.id > $2 order by m.id limit $3",
        [model, after, limit],
    ).fetchall()


def count_missing_vectors(tx: Transaction, model: str) -> int:
    """How many memories have no vector of this model."""
    row = tx.execute(
        "select count(*) from memories m anti join (select memory_id from embeddings where model = $1) e "
        "on e.memory_id = m.id",
        [model],
    ).fetchone()
    assert row is not None
    return int(row[0])


def compared_ids(tx: Transaction, project_id: str, model: str, floor: float) -> list[str]:
    """Active memories of a project whose pairs at or above `floor` are all in the cache."""
    rows = tx.execute(
        "select c.memory_id from compared c join memories m on m.id = c.memory_id "
        "where c.project_id = $1 and c.model = $2 and c.floor <= $3 and m.archived_at is null order by 1",
        [project_id, model, floor],
    ).fetchall()
    return [str(row[0]) for row in rows]


def cached_edges(tx: Transaction, project_id: str, model: str, floor: float, cells: pa.Table) -> pa.Table:
    """Cached pairs of active, compared memories with a score of at least `floor`, by pair.

    `cells` (cells.cell_table): pairs of one group that lie in different cells of it are left out.
    """
    tx.register("these_cells", cells)
    table = tx.sql(
        "with usable as (select c.memory_id from compared c join memories m on m.id = c.memory_id "
        "where c.project_id = $project and c.model = $model and c.floor <= $floor and m.archived_at is null), "
        "shape as (from these_cells where kind = 'shape'), crowd as (from these_cells where kind = 'crowd') "
        "select e.project_id, a, b, score, conflict_kind, conflict_detail from similarity_edges e "
        "left join shape sa on sa.memory_id = a left join shape sb on sb.memory_id = b "
        "left join crowd ca on ca.memory_id = a left join crowd cb on cb.memory_id = b "
        "where e.project_id = $project and model = $model and score >= $floor "
        "and a in (from usable) and b in (from usable) "
        "and not coalesce(sa.member_of = sb.member_of and sa.cell <> sb.cell, false) "
        "and not coalesce(ca.member_of = cb.member_of and ca.cell <> cb.cell, false) order by a, b",
        params={"project": project_id, "model": model, "floor": floor},
    ).to_arrow_table()
    tx.unregister("these_cells")
    return table


def keep_edges(
    tx: Transaction, project_id: str, model: str, floor: float, newly_compared: Sequence[str], edges: pa.Table
) -> None:
    """Add pairs to the cache and mark their memories as compared, together.

    Whatever the cache held for these memories before (from an undone archive, or another floor) goes
    first, so that no pair is ever kept twice. Archived memories drop out of the cache.
    """
    ids = list(newly_compared)
    for table, column in (("similarity_edges", "a"), ("similarity_edges", "b"), ("compared", "memory_id")):
        tx.execute(
            f"delete from {table} where model = $1 and ({column} in (select unnest($2::text[])) "
            f"or {column} in (select id from memories where project_id = $3 and archived_at is not null))",
            [model, ids, project_id],
        )
    tx.register("incoming_edges", edges)
    tx.execute(
        "insert into similarity_edges select $1, project_id, a, b, score, conflict_kind, conflict_detail "
        "from incoming_edges",
        [model],
    )
    tx.unregister("incoming_edges")
    tx.execute("insert into compared select $1, $2, unnest($3::text[]), $4", [model, project_id, ids, floor])
