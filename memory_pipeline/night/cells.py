"""Assigns readings of one shape and crowds to cells before pairs are computed; pairs are compared only within a
cell.

Lines of one shape are found by the hash of their shape, in linear time. A crowd is what hashes cannot find: memories
that are each similar to hundreds of the others. In both groups, all pairs would otherwise be compared. A cell is
permanent, so whether two memories are compared does not depend on a third one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from memory_pipeline.night.pairs import Separation
from memory_pipeline.store import Cell, Transaction

#: This many memories of one shape, nearly all with different figures, are readings; over several days, a series.
SERIES_LEAST = 5
#: Readings that are compared with each other: a month of daily ones.
READINGS_AT_ONCE = 32
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
        return {cell.memory_id for cell in self.all if cell.kind == "crowd"}

    def separation(self, ids: Sequence[str], *, within_crowd: bool = True) -> Separation | None:
        """The rows of these memories that are not compared with each other; without `within_crowd`, cells of the
        crowd are ignored."""
        row = {memory_id: place for place, memory_id in enumerate(ids)}
        mine = [c for c in self.all if c.memory_id in row and (within_crowd or c.kind != "crowd")]
        if not mine:
            return None
        number = {name: place for place, name in enumerate(dict.fromkeys(c.member_of for c in mine))}
        groups = np.full((2, len(row)), -1, dtype=np.int64)
        cells = np.zeros((2, len(row)), dtype=np.int64)
        for cell in mine:
            kind = int(cell.kind == "crowd")
            groups[kind, row[cell.memory_id]] = number[cell.member_of]
            cells[kind, row[cell.memory_id]] = cell.cell
        return Separation(groups, cells)


def cells_tonight(
    model: str, tx: Transaction, project: str, ids: Sequence[str], readings: Collection[tuple[str, str]]
) -> Cells:
    """The project's cells, with a cell for each of these memories whose shape is that of readings.

    `readings`: project and shape of all readings (`reading_shapes`).
    """
    kept = tx.cells.of_project(project, model)
    shapes = {shape for owner, shape in readings if owner == project}
    placed = {cell.memory_id for cell in kept if cell.kind == "shape"}
    filled = Counter(cell.member_of for cell in kept if cell.kind == "shape")
    new = []
    for lined in tx.cells.in_filling_order([i for i in ids if i not in placed]) if shapes else []:
        if lined.shape_hash in shapes:
            cell = filled[lined.shape_hash] // READINGS_AT_ONCE
            filled[lined.shape_hash] += 1
            new.append(Cell(project, lined.memory_id, "shape", lined.shape_hash, cell))
    return Cells(tuple(kept), tuple(new))


def with_crowd(tx: Transaction, project: str, cells: Cells, members: Sequence[str]) -> Cells:
    """The cells with a cell for each new member of the crowd."""
    filled = len(cells.crowd())
    ordered = tx.cells.in_filling_order(members)
    new = (
        Cell(project, lined.memory_id, "crowd", project, (filled + place) // CROWD_AT_ONCE)
        for place, lined in enumerate(ordered)
    )
    return Cells(cells.kept, (*cells.new, *new))
