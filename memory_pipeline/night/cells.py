"""Assigns the memories of a crowd to cells; its pairs are compared only within a cell.

A crowd is what the shapes of lines (series.py) do not show: memories that are each similar to hundreds of the others.
All pairs would otherwise be compared. A cell is permanent, so whether two memories are compared does not depend on a
third one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_pipeline.night.pairs import Separation
from memory_pipeline.store import Cell, Transaction

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
