"""Exports memories: what a directory is to say, content by content; one export, to a directory or to a file, by the
name of its format; and the exports that the settings name: whole as the last step of the newest night, and in part by
what changed it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field

from memory_pipeline.config import exports
from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import EmbeddingError, InputError, MemoryPipelineError, OutputError, in_words
from memory_pipeline.files.shared_blocks import Body
from memory_pipeline.files.writing import real_path
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.store import Store
from memory_pipeline.workspace.contents import contents_of, project_named
from memory_pipeline.workspace.conversation_pages import conversation_blocks
from memory_pipeline.workspace.directory import FileChange, Outcome, Plan, pages_of, write_directory, write_pages
from memory_pipeline.workspace.memory_pages import CLAUDE_CODE_INDEX, ClaudeCodeExport, ObsidianExport
from memory_pipeline.workspace.openclaw import OpenClawExport
from memory_pipeline.workspace.playbook_pages import gone_rollups, rollup_blocks
from memory_pipeline.workspace.session_pages import session_logs, session_promotions, session_runs

_log = logging.getLogger(__name__)
#: The contents that are made of all active memories.
KNOWLEDGE = frozenset(exports.DEFAULT_CONTENTS)


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
    runs = list(session_runs(store.path, project)) if {exports.LOGS, exports.PROMOTIONS} & {*contents} else []
    blocks.update(session_promotions(runs) if exports.PROMOTIONS in contents else {})
    blocks.update(session_logs(runs) if exports.LOGS in contents else {})
    if {*exports.CONTENTS} - KNOWLEDGE - {exports.PROMOTIONS} & {*contents} and store.exists():
        with store.reading() as tx:
            blocks.update(conversation_blocks(tx, project, settings, contents))
            if exports.ROLLUPS in contents:
                of_periods = rollup_blocks(tx.rollups.all(project))
                blocks |= of_periods | gone_rollups(directory, project, of_periods)
    return blocks


def write_memory(store: Store, settings: Settings, project: str) -> Outcome:
    """Make the pages again that say what is known now: `MEMORY.md`, the playbook and the series."""
    root = pages_of(store.path, project)
    known = contents_of(store, project)
    knowledge = OpenClawExport(known, root, exports.BUDGET_TOKENS, token_counter(settings))
    return write_pages(root, knowledge.blocks, store.path)


def token_counter(settings: Settings) -> Callable[[str], int]:
    """Counts tokens with the tokenizer at hand, else four characters as one."""
    try:
        embedder = choose_embedder(settings)
        embedder.count_tokens("a word")
    except EmbeddingError as error:
        _log.warning("tokens are counted as four characters each, because %s", error)
        return lambda text: max(1, len(text) // 4)
    return embedder.count_tokens


#: The formats that are directories, with what each is, in the order in which they are shown.
DIRECTORY_FORMATS = {
    "openclaw": "an OpenClaw workspace",
    "claude-code": "a memory directory of Claude Code",
    "obsidian": "a vault of Obsidian",
}
EXPORT_NAMES = (*exports.EXPORT_FORMATS, *DIRECTORY_FORMATS)


def export_to(
    store: Store,
    settings: Settings,
    name: str,
    path: Path,
    *,
    everything: bool = False,
    project: str | None = None,
    budget: int | None = None,
    contents: Sequence[str] = (),
    only: Sequence[str] = (),
    force: bool = False,
    preview: bool = False,
    with_diff: bool = False,
) -> Exported:
    """Export the active memories of one project to a directory, or to a file, where no project means all of them, and
    `everything` what else the store has, too.

    `budget`: the most tokens that an agent is to load at its start; `contents`: what goes into a workspace, and `only`
    what of it is written now, by default all. With `preview`, nothing is written. Raises InputError for an unknown
    format, project or content, and OutputError if something cannot or must not be written.
    """
    if name in exports.EXPORT_FORMATS:
        return _export_rows(store, name, path, project, force=force, everything=everything)
    if name not in DIRECTORY_FORMATS:
        raise InputError(f"no export format is called '{name}'; use one of {', '.join(EXPORT_NAMES)}")
    directory = real_path(path)
    if directory.exists() and not directory.is_dir():
        raise OutputError(f"'{path}' is a file; format {name} writes {DIRECTORY_FORMATS[name]}, so name a directory")
    try:
        chosen = exports.check_contents(contents) or exports.DEFAULT_CONTENTS
    except ValueError as error:
        raise InputError(str(error)) from None
    is_known = project is not None and only and not {*only} & KNOWLEDGE  # what sessions keep may come first
    of_project = project if is_known and project else project_named(store, project)
    write = partial(write_directory, directory, store=store.path, force=force, preview=preview, with_diff=with_diff)

    def summarize(
        outcome: Outcome, exported: int = 0, left_out: Mapping[str, int] | None = None, **more: Any
    ) -> Exported:
        return Exported(
            format=name,
            path=str(path),
            project=of_project,
            dry_run=preview,
            exported=exported,
            written=tuple(outcome.names("created", "changed")),
            unchanged=outcome.unchanged,
            removed=tuple(outcome.names("removed")),
            kept=tuple(outcome.names("kept")),
            moved=tuple(outcome.told),
            changes=tuple(outcome.changes),
            left_out=dict(sorted((left_out or {}).items())),
            **more,
        )

    if name == "openclaw":
        now = [content for content in chosen if content in only] if only else chosen
        knowledge = None
        if {*now} & KNOWLEDGE:
            known = contents_of(store, of_project)
            most = budget or exports.BUDGET_TOKENS
            knowledge = OpenClawExport(known, directory, most, token_counter(settings), chosen)
        blocks = workspace_blocks(store, settings, of_project, directory, now, knowledge)
        outcome = write(plan=Plan("openclaw", blocks=blocks))
        if knowledge is None:
            return summarize(outcome, contents=chosen)
        left_out = knowledge.contents.left_out + knowledge.left_out
        return summarize(outcome, len(knowledge.chosen), left_out, tokens=knowledge.tokens, contents=chosen)
    known = contents_of(store, of_project, with_sources=name == "obsidian")
    if name == "obsidian":
        return summarize(write(plan=ObsidianExport(known).plan), len(known.memories), known.left_out)
    claude, index = ClaudeCodeExport(known, directory), directory / CLAUDE_CODE_INDEX
    outcome = write(plan=claude.plan)
    text = index.read_text(encoding="utf-8", errors="replace") if index.is_file() else ""
    tokens = token_counter(settings)(text) if text else 0
    return summarize(outcome, len(claude.chosen), known.left_out + claude.left_out, tokens=tokens)


def _export_rows(
    store: Store, name: str, path: Path, project: str | None, *, force: bool, everything: bool
) -> Exported:
    from memory_pipeline.ingest.exporting import check_export, export_memories  # the importers, for rows alone

    check_export(store, name, path, everything=everything, force=force)
    of_project = project_named(store, project) if project is not None and not everything else None
    before = path.stat().st_mtime_ns if path.exists() else None
    exported = export_memories(store, name, path, everything=everything, project=of_project, force=force)
    is_new = path.stat().st_mtime_ns != before
    return Exported(
        format=name,
        path=str(path),
        project=of_project,
        exported=exported,
        written=(path.name,) if is_new else (),
        unchanged=int(not is_new),
    )


class Exported(Document):
    """The files and counts of an export."""

    format: str = Field(description="The format.")
    path: str = Field(description="The file, or the directory.")
    contents: tuple[str, ...] = Field(default=(), description="What goes into a workspace, by name.")
    dry_run: bool = Field(default=False, description="Whether nothing was written.")
    project: str | None = Field(default=None, description="The project; null if the file holds all of them.")
    exported: int = Field(description="The number of memories in it.")
    written: tuple[str, ...] = Field(default=(), description="The files that were created or changed.")
    unchanged: int = Field(default=0, description="The number of files that were so already.")
    removed: tuple[str, ...] = Field(default=(), description="Files of an earlier export that no longer stand.")
    kept: tuple[str, ...] = Field(
        default=(), description="Files of an earlier export that a person has changed; they are left as they are."
    )
    moved: tuple[str, ...] = Field(
        default=(), description="What a person wrote between our marks, and where it stands now, in sentences."
    )
    changes: tuple[FileChange, ...] = Field(
        default=(), description="What happened to each file that is not as it was, or would."
    )
    left_out: dict[str, int] = Field(default={}, description="Memories that are not in it, by the reason.")
    tokens: int = Field(default=0, description="Tokens of what an agent loads at its start; 0 if that is not known.")


Status = Literal["written", "unchanged", "skipped", "failed"]


class ExportResult(Document):
    """The outcome of one export in a night."""

    name: str = Field(description="The name of the export.")
    format: str = Field(description="Its format.")
    path: str = Field(description="The directory, or the file.")
    status: Status = Field(description="`skipped`: a later night has run, whose contents are newer.")
    problem: str | None = Field(description="Why it failed.")
    exported: int = Field(default=0, description="Memories in it.")
    files_written: int = Field(default=0, description="Files that were created or changed.")
    files_unchanged: int = Field(default=0, description="Files that were so already.")
    files_removed: int = Field(default=0, description="Files of an earlier export that no longer stand.")
    files_kept: int = Field(default=0, description="Files that a person has changed, which are left as they are.")
    tokens: int = Field(default=0, description="Tokens of what an agent loads at its start; 0 if that is not known.")
    changes: tuple[FileChange, ...] = Field(default=(), description="What happened to each file that is not as it was.")

    @classmethod
    def of(
        cls, table: exports.ExportTable, status: Status, done: Exported | None = None, problem: str | None = None
    ) -> Self:
        """The result of an export that was written, skipped, or failed."""
        made = cls(name=table.name, format=table.format, path=table.path, status=status, problem=problem)
        if done is None:
            return made
        counts = {f"files_{name}": len(getattr(done, name)) for name in ("written", "removed", "kept")}
        same = {name: getattr(done, name) for name in ("exported", "tokens", "changes")}
        return made.model_copy(update={**counts, **same, "files_unchanged": done.unchanged})

    @classmethod
    def of_broken(cls, broken: exports.BrokenSource) -> Self:
        """A table of the settings that cannot be used."""
        format_, path = (str(broken.given.get(key) or "-") for key in ("format", "path"))
        table = exports.ExportTable.model_construct(name=broken.name, format=format_, path=path)
        return cls.of(table, "failed", problem=broken.told[:1000])


def run_exports(store: Store, settings: Settings, night: date) -> list[ExportResult]:
    """Write every enabled export of the store, unless a later night has run; what became of each."""
    broken = [ExportResult.of_broken(table) for table in settings.broken("exports")]
    return [*broken, *(_run_export(store, settings, table, night=night) for table in settings.exports_of_store)]


def run_changed(store: Store, settings: Settings, project: str, contents: Sequence[str]) -> list[ExportResult]:
    """Write, of every enabled export of a project, those of these contents that it has; of all contents, exports of
    other formats too. What became of each that has any."""
    results: list[ExportResult] = []
    for table in settings.exports_of_store:
        if table.project not in ("", project):
            continue
        if table.format != "openclaw" and {*contents} == {*exports.CONTENTS}:
            results.append(_run_export(store, settings, table))
        elif table.format == "openclaw" and (concerned := [name for name in contents if name in table.chosen]):
            results.append(_run_export(store, settings, table, project, concerned))
    return [result for result in results if result.status != "skipped"]


def problems_of(results: Iterable[ExportResult]) -> list[str]:
    """Why exports failed, in words."""
    return [f"export '{result.name}': {result.problem}" for result in results if result.problem]


def _run_export(
    store: Store,
    settings: Settings,
    table: exports.ExportTable,
    project: str = "",
    only: Sequence[str] = (),
    night: date | None = None,
) -> ExportResult:
    """The outcome of an export. Skipped is one of another project, as one without a project is of the only one of its
    store, and one after whose `night` a later one has run."""
    try:
        if night is not None:
            with store.reading() as tx:
                newest = tx.journal.reported_nights()[1]
            if newest is not None and newest > night:
                return ExportResult.of(table, "skipped")
        if project and not table.project and store.exists():
            with store.reading() as tx:
                if tx.memories.projects() not in ([], [project]):
                    return ExportResult.of(table, "skipped")
        done = export_to(
            store,
            settings,
            table.format,
            Path(table.path),
            project=project or table.project or None,
            budget=table.budget or None,
            contents=table.contents,
            only=only,
        )
    except Exception as error:  # one export never costs the others, or the night
        if not isinstance(error, MemoryPipelineError | OSError):
            _log.error("export %s", table.name, exc_info=error)
        return ExportResult.of(table, "failed", problem=in_words(error)[:1000])
    return ExportResult.of(table, "written" if done.written or done.removed else "unchanged", done)
