"""Comparison cells, which avoid comparing all pairs in large groups of similar memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from memory_pipeline.store.sql import Sql

CellKind = Literal["crowd"]
_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("project_id", "memory_id", "kind", "member_of")] + [("cell", pa.int32())]
)


@dataclass(frozen=True, slots=True)
class Cell:
    """The cell in which a memory is compared: within the group `member_of` (the project's crowd), only with memories of
    the same `cell`."""

    project_id: str
    memory_id: str
    kind: CellKind
    member_of: str
    cell: int


class Cells:
    """The stored cells, and the data from which they are assigned."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def in_filling_order(self, ids: Sequence[str]) -> list[str]:
        """These memories by creation and id."""
        return self._sql.strings(
            "select id from memories where id in (select unnest($1::text[])) order by created_at, id", [list(ids)]
        )

    def of_project(self, project_id: str, model: str) -> list[Cell]:
        """Every cell of a project, including those of archived memories."""
        rows = self._sql.rows(
            """
            select project_id, memory_id, kind, member_of, cell
            from comparison_cells
            where project_id = $1 and model = $2
            order by kind, memory_id
            """,
            [project_id, model],
        )
        return [Cell(*row) for row in rows]

    def keep(self, model: str, cells: Iterable[Cell]) -> None:
        """Store new cells; a memory that already has one of the kind keeps it."""
        table = cell_table(cells)
        if not table.num_rows:
            return
        with self._sql.given(incoming=table):
            self._sql.run(
                """
                insert into comparison_cells
                select $1, project_id, memory_id, kind, member_of, cell
                from incoming
                on conflict do nothing
                """,
                [model],
            )


def cell_table(cells: Iterable[Cell]) -> pa.Table:
    """Cells as a table with one column per field."""
    every = list(cells)
    return pa.table({name: [getattr(cell, name) for cell in every] for name in _SCHEMA.names}, schema=_SCHEMA)
