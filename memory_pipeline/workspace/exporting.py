"""One export, to a directory or to a file, by the name of its format."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from memory_pipeline.config.exports import EXPORT_FORMATS
from memory_pipeline.config.settings import Settings
from memory_pipeline.embedding import choose_embedder
from memory_pipeline.errors import EmbeddingError, InputError, OutputError
from memory_pipeline.files import real_path
from memory_pipeline.store import Store
from memory_pipeline.workspace.claude_code import INDEX_FILE, ClaudeCodeExport
from memory_pipeline.workspace.contents import contents_of, project_named
from memory_pipeline.workspace.directory import Outcome, write_directory
from memory_pipeline.workspace.documents import Exported
from memory_pipeline.workspace.obsidian import ObsidianExport
from memory_pipeline.workspace.openclaw import OpenClawExport

#: The formats that are directories, with what each is, in the order in which they are shown.
DIRECTORY_FORMATS = {
    "openclaw": "an OpenClaw workspace",
    "claude-code": "a memory directory of Claude Code",
    "obsidian": "a vault of Obsidian",
}
EXPORT_NAMES = (*EXPORT_FORMATS, *DIRECTORY_FORMATS)
_log = logging.getLogger(__name__)


def export_to(
    store: Store,
    settings: Settings,
    name: str,
    path: Path,
    *,
    project: str | None = None,
    budget: int | None = None,
    force: bool = False,
) -> Exported:
    """Export the active memories of one project to a directory, or to a file, where no project means all of them.

    `budget`: the most tokens that an agent is to load at its start. Raises InputError for an unknown format or project,
    and OutputError if something cannot or must not be written.
    """
    if name in EXPORT_FORMATS:
        return _rows(store, name, path, project, force=force)
    if name not in DIRECTORY_FORMATS:
        raise InputError(f"no export format is called '{name}'; use one of {', '.join(EXPORT_NAMES)}")
    directory = real_path(path)
    if directory.exists() and not directory.is_dir():
        raise OutputError(f"'{path}' is a file; format {name} writes {DIRECTORY_FORMATS[name]}, so name a directory")
    chosen = project_named(store, project)
    contents = contents_of(store, chosen, with_sources=name == "obsidian")
    count = token_counter(settings)
    left_out = Counter(contents.left_out)
    if name == "openclaw":
        openclaw = OpenClawExport(contents, directory, budget or settings.export.budget_tokens, count)
        outcome = write_directory(directory, openclaw.plan, store.path, force=force)
        return _told(name, path, chosen, openclaw.chosen, outcome, left_out + openclaw.left_out, openclaw.tokens)
    if name == "claude-code":
        claude = ClaudeCodeExport(contents, directory)
        outcome = write_directory(directory, claude.plan, store.path, force=force)
        index = directory / INDEX_FILE
        tokens = count(index.read_text(encoding="utf-8", errors="replace")) if index.is_file() else 0
        return _told(name, path, chosen, claude.chosen, outcome, left_out + claude.left_out, tokens)
    obsidian = ObsidianExport(contents)
    outcome = write_directory(directory, obsidian.plan, store.path, force=force)
    return _told(name, path, chosen, obsidian.chosen, outcome, left_out, 0)


def _told(
    name: str, path: Path, project: str, chosen: list[str], outcome: Outcome, left_out: Counter[str], tokens: int
) -> Exported:
    return Exported(
        format=name,
        path=str(path),
        project=project,
        exported=len(chosen),
        written=tuple(outcome.written),
        unchanged=outcome.unchanged,
        removed=tuple(outcome.removed),
        kept=tuple(outcome.kept),
        moved=tuple(outcome.moved),
        left_out=dict(sorted(left_out.items())),
        tokens=tokens,
    )


def _rows(store: Store, name: str, path: Path, project: str | None, *, force: bool) -> Exported:
    from memory_pipeline.ingest import check_export, write_rows  # the importers, which no other export needs

    check_export(store, name, path, force=force)
    if project is not None:
        project_named(store, project)
    with store.reading() as tx:
        memories = (
            tx.memories.all(include_archived=False)
            if project is None
            else tx.memories.of_project(project, include_archived=False)
        )
        links = tx.lineage.of([memory.id for memory in memories])
    before = path.stat().st_mtime_ns if path.exists() else None
    exported = write_rows(store, name, path, memories, links, force=force)
    return Exported.of_file(name, path, project, exported, is_new=path.stat().st_mtime_ns != before)


def token_counter(settings: Settings) -> Callable[[str], int]:
    """Counts tokens with the tokenizer at hand, else four characters as one."""
    try:
        embedder = choose_embedder(settings)
        embedder.count_tokens("a word")
    except EmbeddingError as error:
        _log.warning("tokens are counted as four characters each, because %s", error)
        return lambda text: max(1, len(text) // 4)
    return embedder.count_tokens
