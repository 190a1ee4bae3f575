"""The night shift for an AI agent's memory: distil, verify, archive, and never lose a thing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_pipeline.recall.project import ProjectMemory

__version__ = "0.1.0"
__all__ = ["open"]


def open(store: str | os.PathLike[str] | None = None, project: str | None = None) -> ProjectMemory:
    """The memory of one project in a store: `open("data/store.duckdb", project="webshop").search("deploy")`.

    `store`: the file, by default the configured one. `project` may be left out if the store has only one.
    Raises StoreError if there is no store, and InputError for a project that it does not have.
    """
    from memory_pipeline.interfaces.python import open_memory

    return open_memory(store, project)
