"""Which project a caller means."""

from __future__ import annotations

from memory_pipeline.errors import InputError
from memory_pipeline.store import Store


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
