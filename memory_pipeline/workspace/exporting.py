"""One export, to a directory or to a file, by the name of its format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Self

from pydantic import Field

from memory_pipeline.config.exports import DEFAULT_CONTENTS, EXPORT_FORMATS, check_contents
from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError, OutputError
from memory_pipeline.files.writing import real_path
from memory_pipeline.store import Store
from memory_pipeline.workspace.claude_code import INDEX_FILE, ClaudeCodeExport
from memory_pipeline.workspace.contents import contents_of, project_named
from memory_pipeline.workspace.directory import FileChange, Outcome, Plan, write_directory
from memory_pipeline.workspace.obsidian import ObsidianExport
from memory_pipeline.workspace.pages import KNOWLEDGE, knowledge_export, token_counter, workspace_blocks

#: The formats that are directories, with what each is, in the order in which they are shown.
DIRECTORY_FORMATS = {
    "openclaw": "an OpenClaw workspace",
    "claude-code": "a memory directory of Claude Code",
    "obsidian": "a vault of Obsidian",
}
EXPORT_NAMES = (*EXPORT_FORMATS, *DIRECTORY_FORMATS)


def export_to(
    store: Store,
    settings: Settings,
    name: str,
    path: Path,
    *,
    project: str | None = None,
    budget: int | None = None,
    contents: Sequence[str] = (),
    only: Sequence[str] = (),
    force: bool = False,
    preview: bool = False,
    with_diff: bool = False,
) -> Exported:
    """Export the active memories of one project to a directory, or to a file, where no project means all of them.

    `budget`: the most tokens that an agent is to load at its start; `contents`: what goes into a workspace, and `only`
    what of it is written now, by default all. With `preview`, nothing is written. Raises InputError for an unknown
    format, project or content, and OutputError if something cannot or must not be written.
    """
    if name in EXPORT_FORMATS:
        return _rows(store, name, path, project, force=force)
    if name not in DIRECTORY_FORMATS:
        raise InputError(f"no export format is called '{name}'; use one of {', '.join(EXPORT_NAMES)}")
    directory = real_path(path)
    if directory.exists() and not directory.is_dir():
        raise OutputError(f"'{path}' is a file; format {name} writes {DIRECTORY_FORMATS[name]}, so name a directory")
    try:
        chosen = check_contents(contents) or DEFAULT_CONTENTS
    except ValueError as error:
        raise InputError(str(error)) from None
    is_known = project is not None and only and not {*only} & KNOWLEDGE  # what sessions keep may come first
    of_project = project if is_known and project else project_named(store, project)
    write = partial(write_directory, directory, store=store.path, force=force, preview=preview, with_diff=with_diff)
    told = partial(Exported.of_directory, name, path, of_project)
    if name == "openclaw":
        now = [one for one in chosen if one in only] if only else chosen
        knowledge = (
            knowledge_export(store, settings, of_project, directory, budget, chosen) if {*now} & KNOWLEDGE else None
        )
        blocks = workspace_blocks(store, settings, of_project, directory, now, knowledge)
        outcome = write(plan=Plan("openclaw", blocks=blocks))
        done = knowledge.chosen if knowledge else []
        left_out = knowledge.contents.left_out + knowledge.left_out if knowledge else Counter()
        shown = told(outcome, len(done), left_out, knowledge.tokens if knowledge else 0)
        return shown.model_copy(update={"contents": chosen, "dry_run": preview})
    known = contents_of(store, of_project, with_sources=name == "obsidian")
    if name == "claude-code":
        claude = ClaudeCodeExport(known, directory)
        outcome = write(plan=claude.plan)
        index = directory / INDEX_FILE
        count = token_counter(settings)
        tokens = count(index.read_text(encoding="utf-8", errors="replace")) if index.is_file() else 0
        shown = told(outcome, len(claude.chosen), known.left_out + claude.left_out, tokens)
    else:
        obsidian = ObsidianExport(known)
        shown = told(write(plan=obsidian.plan), len(obsidian.chosen), known.left_out, 0)
    return shown.model_copy(update={"dry_run": preview})


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


class Exported(Document):
    """What an export wrote."""

    format: str = Field(description="The format.")
    path: str = Field(description="The file, or the directory.")
    contents: tuple[str, ...] = Field(default=(), description="What goes into a workspace, by name.")
    dry_run: bool = Field(default=False, description="Whether nothing was written.")
    project: str | None = Field(description="The project; null if the file holds all of them.")
    exported: int = Field(description="The number of memories in it.")
    written: tuple[str, ...] = Field(description="The files that were created or changed.")
    unchanged: int = Field(description="The number of files that were so already.")
    removed: tuple[str, ...] = Field(description="Files of an earlier export that no longer stand.")
    kept: tuple[str, ...] = Field(
        description="Files of an earlier export that a person has changed; they are left as they are."
    )
    moved: tuple[str, ...] = Field(
        default=(), description="What a person wrote between our marks, and where it stands now, in sentences."
    )
    changes: tuple[FileChange, ...] = Field(
        default=(), description="What happened to each file that is not as it was, or would."
    )
    left_out: dict[str, int] = Field(description="Memories that are not in it, by the reason.")
    tokens: int = Field(description="Tokens of what an agent loads at its start; 0 if that is not known.")

    @classmethod
    def of_directory(
        cls,
        name: str,
        path: Path,
        project: str,
        outcome: Outcome,
        exported: int,
        left_out: Mapping[str, int],
        tokens: int,
    ) -> Self:
        """An export that is a directory."""
        return cls(
            format=name,
            path=str(path),
            project=project,
            exported=exported,
            written=tuple(outcome.names("created", "changed")),
            unchanged=outcome.unchanged,
            removed=tuple(outcome.names("removed")),
            kept=tuple(outcome.names("kept")),
            moved=tuple(outcome.told),
            changes=tuple(outcome.changes),
            left_out=dict(sorted(left_out.items())),
            tokens=tokens,
        )

    @classmethod
    def of_file(cls, name: str, path: Path, project: str | None, exported: int, *, is_new: bool = True) -> Self:
        """An export that is one file of rows."""
        return cls(
            format=name,
            path=str(path),
            project=project,
            exported=exported,
            written=(path.name,) if is_new else (),
            unchanged=int(not is_new),
            removed=(),
            kept=(),
            left_out={},
            tokens=0,
        )
