"""The exports that the settings name: whole as the last step of the newest night, and in part by what changed it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Literal, Self

from pydantic import Field

from memory_pipeline.config.broken_sources import BrokenSource
from memory_pipeline.config.exports import CONTENTS, ExportTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import MemoryPipelineError, in_words
from memory_pipeline.store import Store
from memory_pipeline.workspace.directory import FileChange
from memory_pipeline.workspace.exporting import Exported, export_to

_log = logging.getLogger(__name__)
Status = Literal["written", "unchanged", "skipped", "failed"]


class ExportResult(Document):
    """What became of one export in a night."""

    name: str = Field(description="The name of the export.")
    format: str = Field(description="Its format.")
    path: str = Field(description="The directory, or the file.")
    status: Status = Field(description="`skipped`: a later night has run, whose contents are newer.")
    problem: str | None = Field(description="Why it failed.")
    exported: int = Field(description="Memories in it.")
    files_written: int = Field(description="Files that were created or changed.")
    files_unchanged: int = Field(description="Files that were so already.")
    files_removed: int = Field(description="Files of an earlier export that no longer stand.")
    files_kept: int = Field(description="Files that a person has changed, which are left as they are.")
    tokens: int = Field(description="Tokens of what an agent loads at its start; 0 if that is not known.")
    changes: tuple[FileChange, ...] = Field(default=(), description="What happened to each file that is not as it was.")

    @classmethod
    def of(cls, table: ExportTable, status: Status, done: Exported | None = None, problem: str | None = None) -> Self:
        """The result of an export that was written, skipped, or failed."""
        return cls(
            name=table.name,
            format=table.format,
            path=table.path,
            status=status,
            problem=problem,
            exported=done.exported if done else 0,
            files_written=len(done.written) if done else 0,
            files_unchanged=done.unchanged if done else 0,
            files_removed=len(done.removed) if done else 0,
            files_kept=len(done.kept) if done else 0,
            tokens=done.tokens if done else 0,
            changes=done.changes if done else (),
        )

    @classmethod
    def of_broken(cls, broken: BrokenSource) -> Self:
        """A table of the settings that cannot be used."""
        format_, path = (str(broken.given.get(key) or "-") for key in ("format", "path"))
        table = ExportTable.model_construct(name=broken.name, format=format_, path=path)
        return cls.of(table, "failed", problem=broken.told[:1000])


def run_exports(store: Store, settings: Settings, night: date) -> list[ExportResult]:
    """Write every enabled export of the store, unless a later night has run; what became of each."""
    results = [ExportResult.of_broken(broken) for broken in settings.broken_exports]
    if not settings.exports_of_store:
        return results
    try:
        with store.reading() as tx:
            newest = tx.journal.newest_night()
    except MemoryPipelineError as error:
        why = in_words(error)[:1000]
        return [*results, *(ExportResult.of(one, "failed", problem=why) for one in settings.exports_of_store)]
    for table in settings.exports_of_store:
        if newest is not None and newest > night:
            results.append(ExportResult.of(table, "skipped"))
        else:
            results.append(_exported(store, settings, table))
    return results


def run_changed(store: Store, settings: Settings, project: str, contents: Sequence[str]) -> list[ExportResult]:
    """Write, of every enabled export of a project, those of these contents that it has; of all contents, exports of
    other formats too. What became of each that has any."""
    results: list[ExportResult] = []
    for table in settings.exports_of_store:
        concerned = [name for name in contents if name in table.chosen]
        if table.project not in ("", project):
            continue
        if table.format == "openclaw" and concerned:
            results += _exported_of(store, settings, table, project, concerned)
        elif table.format != "openclaw" and {*contents} == {*CONTENTS}:
            results.append(_exported(store, settings, table))
    return results


def problems_of(exports: Iterable[ExportResult]) -> list[str]:
    """Why exports failed, in words."""
    return [f"export '{one.name}': {one.problem}" for one in exports if one.problem]


def _exported_of(
    store: Store, settings: Settings, table: ExportTable, project: str, only: Sequence[str]
) -> list[ExportResult]:
    """What became of an export, if it is of a project; one without a project is of the only one of its store."""
    try:
        if not table.project and store.exists():
            with store.reading() as tx:
                if tx.memories.projects() not in ([], [project]):
                    return []
    except MemoryPipelineError as error:
        return [ExportResult.of(table, "failed", problem=in_words(error)[:1000])]
    return [_exported(store, settings, table.model_copy(update={"project": project}), only)]


def _exported(store: Store, settings: Settings, table: ExportTable, only: Sequence[str] = ()) -> ExportResult:
    try:
        done = export_to(
            store,
            settings,
            table.format,
            Path(table.path),
            project=table.project or None,
            budget=table.budget or None,
            contents=table.contents,
            only=only,
        )
    except Exception as error:  # one export never costs the others, or the night
        if not isinstance(error, MemoryPipelineError | OSError):
            _log.error("export %s", table.name, exc_info=error)
        return ExportResult.of(table, "failed", problem=in_words(error)[:1000])
    return ExportResult.of(table, "written" if done.written or done.removed else "unchanged", done)
