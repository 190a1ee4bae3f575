"""The Python interface: open a store, choose a project, and use its memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memory_pipeline.errors import InputError
from memory_pipeline.interfaces.cli.base import current_user, settings_of
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


def choose_project(store: Store, named: str | None, mend: str = "project=...", *, create: bool = False) -> str:
    """The given project, or the only one; with `create` also a new one of that name.

    Raises InputError if there are several and none is named, or none of this name.
    """
    if create and named is not None and not store.exists():
        return named
    with store.reading() as tx:
        known = tx.memories.projects()
    if named in known:
        return str(named)
    if named is not None and create:
        return named
    if named is None and len(known) == 1:
        return known[0]
    if not known:
        raise InputError("the store is empty; import something")
    which = f"there is no project '{named}'" if named is not None else "the store has several projects"
    raise InputError(f"{which}; name one with {mend}: {', '.join(known)}")
