"""Whose names stand before the turns of a project's conversations, as its settings and its workspace tell now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from memory_pipeline.config.settings import Settings
from memory_pipeline.conversations.names import FILES_WITH_NAMES, speakers_named
from memory_pipeline.conversations.turns import needs_names
from memory_pipeline.records import Memory, Speaker
from memory_pipeline.store import Store

#: The connector of workspaces that were imported once, and are no source.
_WORKSPACE = "openclaw"


def names_of(
    store: Store, settings: Settings, project_id: str, memories: Iterable[Memory]
) -> Mapping[str, Speaker] | None:
    """By name in lower case, whose it is; None if each of these memories tells by itself who speaks."""
    return names_in(store, settings)(project_id) if needs_names(memories) else None


def names_in(store: Store, settings: Settings) -> Callable[[str], Mapping[str, Speaker]]:
    """The names of each project's human and agent, read once when they are asked for: from the files of its workspace,
    or, if it has none, from what was imported of such files."""

    @cache
    def of(project_id: str) -> Mapping[str, Speaker]:
        return _names_now(store, settings, project_id)

    return of


def _names_now(store: Store, settings: Settings, project_id: str) -> Mapping[str, Speaker]:
    from memory_pipeline.ingest.sources import with_known_projects, workspace_of  # which most nights never need

    workspace = workspace_of(with_known_projects(settings, store), project_id)
    rules = settings.conversations
    if workspace is not None:
        return speakers_named(rules.human_names, rules.agent_names, workspace)
    imported: list[tuple[str, str]] = []
    if store.exists():
        with store.reading() as tx:
            imported = tx.sources.contents_of(project_id, _WORKSPACE, FILES_WITH_NAMES)
    return speakers_named(rules.human_names, rules.agent_names, imported=imported)
