"""What a project's pages say, content by content: for the pages beside the store, and for a workspace."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from pathlib import Path

from memory_pipeline.config.exports import CONTENTS, DEFAULT_CONTENTS, LOGS, PROMOTIONS, ROLLUPS
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import EmbeddingError
from memory_pipeline.files.shared_blocks import Body
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.store import Store
from memory_pipeline.workspace.contents import contents_of
from memory_pipeline.workspace.conversation_pages import conversation_blocks
from memory_pipeline.workspace.directory import Outcome, write_pages
from memory_pipeline.workspace.openclaw import OpenClawExport
from memory_pipeline.workspace.places import pages_of
from memory_pipeline.workspace.playbook_pages import gone_rollups, rollup_blocks
from memory_pipeline.workspace.session_pages import session_logs, session_promotions, session_runs

_log = logging.getLogger(__name__)
#: The contents that are made of all active memories.
KNOWLEDGE = frozenset(DEFAULT_CONTENTS)


def knowledge_export(
    store: Store,
    settings: Settings,
    project: str,
    directory: Path,
    budget: int | None = None,
    contents: Collection[str] = DEFAULT_CONTENTS,
) -> OpenClawExport:
    """The memory, the playbook and the series of a project, as a directory is to hold them."""
    known = contents_of(store, project)
    return OpenClawExport(known, directory, budget or settings.export.budget_tokens, token_counter(settings), contents)


def workspace_blocks(
    store: Store,
    settings: Settings,
    project: str,
    directory: Path,
    contents: Collection[str],
    knowledge: OpenClawExport | None = None,
) -> dict[tuple[str, str], Body]:
    """By file and name of the block, what a directory is to say of these contents."""
    blocks: dict[tuple[str, str], Body] = {}
    if knowledge is not None:
        blocks.update({where: body for where, body in knowledge.blocks.items() if where[1] in contents})
    runs = list(session_runs(store.path, project)) if {LOGS, PROMOTIONS} & {*contents} else []
    blocks.update(session_promotions(runs) if PROMOTIONS in contents else {})
    blocks.update(session_logs(runs) if LOGS in contents else {})
    if {*CONTENTS} - KNOWLEDGE - {PROMOTIONS} & {*contents} and store.exists():
        with store.reading() as tx:
            blocks.update(conversation_blocks(tx, project, settings, contents))
            of_periods = rollup_blocks(tx.rollups.all(project)) if ROLLUPS in contents else None
        if of_periods is not None:
            blocks.update(of_periods)
            blocks.update(gone_rollups(directory, project, of_periods))
    return blocks


def write_memory(store: Store, settings: Settings, project: str) -> Outcome:
    """Make the pages again that say what is known now: `MEMORY.md`, the playbook and the series."""
    root = pages_of(store.path, project)
    return write_pages(root, knowledge_export(store, settings, project, root).blocks, store.path)


def token_counter(settings: Settings) -> Callable[[str], int]:
    """Counts tokens with the tokenizer at hand, else four characters as one."""
    try:
        embedder = choose_embedder(settings)
        embedder.count_tokens("a word")
    except EmbeddingError as error:
        _log.warning("tokens are counted as four characters each, because %s", error)
        return lambda text: max(1, len(text) // 4)
    return embedder.count_tokens
