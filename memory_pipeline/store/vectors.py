"""Vectors of memories, and the cache of similar pairs, which saves a night from comparing them again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memory_pipeline.records.columns import Column
from memory_pipeline.store.rows import RowsOf, Sql, Statements

#: Columns of an edge table: `a` < `b` are memory ids, `score` is their cosine, plus the guard's finding, if any. A
#: pair without a conflict that says one thing has SAID_AGAIN as its detail.
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
SAID_AGAIN = "said again"


@dataclass(frozen=True, slots=True)
class Cell:
    """The cell in which a memory is compared: within the group `member_of` (the project's crowd), only with memories of
    the same `cell`."""

    project_id: Annotated[str, Column("The project.")]
    memory_id: Annotated[str, Column("The memory.")]
    kind: Annotated[Literal["crowd"], Column("What kind of group it is.")]
    member_of: Annotated[str, Column("The group.")]
    cell: Annotated[int, Column("Its cell in the group.")]


_CELLS = RowsOf(Cell, "comparison_cells")


class Vectors(Statements):
    """The vectors by model, which memories were compared with them and in which cells, and the resulting pairs."""

    def add(self, ids: Sequence[str], vectors: NDArray[np.float32], model: str) -> None:
        """Store the vectors of these memories; existing ones of this model stay.

        `vectors`: float32 (len(ids), dimension), unit length.
        """
        keep_vectors(self._sql, "embeddings", {"memory_id": ids}, vectors, model)

    def read(self, ids: Sequence[str], model: str, dimension: int) -> tuple[list[str], NDArray[np.float32]]:
        """Ids (sorted) and vectors, float32 (n, dimension), of those memories that have one of this model."""
        table = self._sql(model, dimension, wanted=pa.table({"id": pa.array(list(ids), pa.string())})).table("""
            select e.memory_id, e.vector
            from embeddings e
            join wanted w on e.memory_id = w.id
            where e.model = $1 and e.dimension = $2
            order by e.memory_id
            """)
        known_ids = table.column("memory_id").to_pylist()
        flat = table.column("vector").combine_chunks().flatten().to_numpy(zero_copy_only=False)
        return known_ids, np.asarray(flat, dtype=np.float32).reshape(len(known_ids), dimension)

    def embedded(self, ids: Sequence[str], model: str, dimension: int) -> set[str]:
        """Those of these memories that have a vector of this model and dimension."""
        return self._sql(model, dimension, ids).string_set("""
            select memory_id
            from embeddings
            where model = $1 and dimension = $2 and memory_id in (select unnest($3::text[]))
            """)

    def missing(self, model: str, after: str, limit: int) -> list[tuple[str, str, str]]:
        """Id, content and lead-in of memories without a vector of this model: the first `limit` by id after `after`."""
        ids = self._sql(model, after, limit).strings("""
            select m.id
            from memories m
            anti join (select memory_id from embeddings where model = $1) e on e.memory_id = m.id
            where m.id > $2
            order by m.id
            limit $3
            """)
        # Of long contents, a sort would read and carry those of the whole table.
        return self._sql(ids).rows(
            "select id, content, lead_in from memories where id in (select unnest($1::text[])) order by id"
        )

    def count_missing(self, model: str) -> int:
        """The number of memories without a vector of this model."""
        return self._sql(model).count("""
            select count(*)
            from memories m
            anti join (select memory_id from embeddings where model = $1) e on e.memory_id = m.id
            """)

    def count_by_model(self) -> dict[str, int]:
        """The number of memories that have a vector, by model."""
        return self._sql.mapping("select model, count(*) from embeddings group by 1 order by 1")

    def of_another_model(self, model: str, project_id: str | None = None) -> dict[str, int]:
        """The number of memories, of a project or of all, that have a vector but none of this model, by the model of
        theirs."""
        return self._sql(model, project_id).mapping("""
            select e.model, count(*)
            from embeddings e
            join memories m on m.id = e.memory_id
            anti join (select memory_id from embeddings where model = $1) own on own.memory_id = e.memory_id
            where $2 is null or m.project_id = $2
            group by 1
            order by 1
            """)

    def compared(self, project_id: str, model: str, floor: float) -> list[str]:
        """Active memories of a project whose pairs at or above `floor` are all in the cache."""
        return self._sql(project_id, model, floor).strings("""
            select c.memory_id
            from compared c
            join memories m on m.id = c.memory_id
            where c.project_id = $1 and c.model = $2 and c.floor <= $3 and m.archived_at is null
            order by 1
            """)

    def edges(self, project_id: str, model: str, floor: float, cells: Iterable[Cell]) -> pa.Table:
        """Cached pairs of active, compared memories with a score of at least `floor`, by pair (EDGE_SCHEMA).

        Pairs of one group in different cells of it are omitted.
        """
        return self._sql(project=project_id, model=model, floor=floor, cells=_CELLS.table(list(cells))).table("""
            with usable as (
                select c.memory_id
                from compared c
                join memories m on m.id = c.memory_id
                where c.project_id = $project and c.model = $model and c.floor <= $floor
                  and m.archived_at is null
            )
            select e.project_id, a, b, score, conflict_kind, conflict_detail
            from similarity_edges e
            left join cells ca on ca.memory_id = a
            left join cells cb on cb.memory_id = b
            where e.project_id = $project and model = $model and score >= $floor
              and a in (from usable) and b in (from usable)
              and not coalesce(ca.member_of = cb.member_of and ca.cell <> cb.cell, false)
            order by a, b
            """)

    def keep_edges(
        self, project_id: str, model: str, floor: float, newly_compared: Sequence[str], edges: pa.Table
    ) -> None:
        """Add pairs to the cache and mark their memories as compared, together.

        Earlier pairs of these memories in the cache (from an undone archive, or another floor) are removed first, so
        that no pair is stored twice. Archived memories are removed from the cache.
        """
        ids = list(newly_compared)
        gone = """
            with gone as (
                select unnest($2::text[]) as id
                union
                select id from memories where project_id = $3 and archived_at is not null
            )
            """
        self._sql(model, ids, project_id).run(
            f"{gone} delete from similarity_edges where model = $1 and (a in (from gone) or b in (from gone))"
        )
        self._sql(model, ids, project_id).run(
            f"{gone} delete from compared where model = $1 and memory_id in (from gone)"
        )
        self._sql(model, incoming=edges).run("""
            insert into similarity_edges
            select $1, project_id, a, b, score, conflict_kind, conflict_detail
            from incoming
            """)
        self._sql(model, project_id, ids, floor).run("insert into compared select $1, $2, unnest($3::text[]), $4")

    def in_filling_order(self, ids: Sequence[str]) -> list[str]:
        """These memories by creation and id."""
        return self._sql(ids).strings(
            "select id from memories where id in (select unnest($1::text[])) order by created_at, id"
        )

    def cells(self, project_id: str, model: str) -> list[Cell]:
        """Every cell of a project, including those of archived memories."""
        return _CELLS(self._sql(project_id, model)).select(
            "where project_id = $1 and model = $2 order by kind, memory_id"
        )

    def keep_cells(self, model: str, cells: Iterable[Cell]) -> None:
        """Store new cells; a memory that already has one of the kind keeps it."""
        _CELLS(self._sql).insert(list(cells), "on conflict do nothing", model=model)


def keep_vectors(
    sql: Sql, table: str, keys: Mapping[str, Sequence[str]], vectors: NDArray[np.float32], model: str
) -> None:
    """Store vectors, float32 (n, dimension), in a table whose key columns, each of length n, come first; existing ones
    of this model stay."""
    if not len(vectors):
        return
    flat, dimension = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel()), int(vectors.shape[1])
    columns = {name: pa.array(list(values), type=pa.string()) for name, values in keys.items()}
    incoming = pa.table({**columns, "vector": pa.FixedSizeListArray.from_arrays(flat, dimension)})
    sql(model, dimension, incoming=incoming).run(f"""
        insert into {table}
        select {", ".join(keys)}, $1, $2, vector::float[]
        from incoming
        on conflict do nothing
        """)
