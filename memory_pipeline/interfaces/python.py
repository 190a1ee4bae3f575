"""The Python interface: open a store, and use the memory of one project."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memory_pipeline.interfaces.cli.base import choose_project, current_user, settings_of
from memory_pipeline.store import Store

if TYPE_CHECKING:
    from memory_pipeline.recall.project import ProjectMemory


def open_memory(store: str | os.PathLike[str] | None = None, project: str | None = None) -> ProjectMemory:
    """The memory of one project in a store (default: the configured one). `project` may be left out if the store has
    only one. Raises StoreError if there is no store, and InputError for a project that it does not have."""
    from memory_pipeline.recall.project import ProjectMemory

    settings = settings_of(Path(store) if store is not None else None)
    opened = Store.of(settings)
    return ProjectMemory(opened, settings, choose_project(opened, project), actor=current_user())
