"""Tells what is kept of a session in its project's pages, and in the exports that have them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from memory_pipeline.compaction.documents import FlushedFile
from memory_pipeline.compaction.transcripts import Session
from memory_pipeline.config.exports import LOGS, PROMOTIONS
from memory_pipeline.config.settings import Settings
from memory_pipeline.store import Store
from memory_pipeline.workspace.directory import Outcome
from memory_pipeline.workspace.nightly import run_changed
from memory_pipeline.workspace.places import pages_of


def block_name(session: Session, what: str = "flush") -> str:
    """The block of a session up to its next compaction: what is flushed again replaces it."""
    digest = hashlib.sha256(f"{session.agent}:{session.name}".encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{what}-{digest}-{session.compactions}"


def page_of(settings: Settings, session: Session, file: str) -> str:
    """The path of a page of a session's project."""
    return str(pages_of(Path(settings.store.path), session.project) / file)


def flushed_files(settings: Settings, session: Session, files: Iterable[str], done: Outcome) -> list[FlushedFile]:
    """What became of the pages of a run, and of the files of exports that have the same contents."""
    outcomes = {one.file: one.outcome for one in done.changes}
    shown = [
        FlushedFile(
            file=page_of(settings, session, file),
            outcome=outcomes.get(file, "unchanged"),
            told=done.moved.get(file, ""),
        )
        for file in files
    ]
    for export in run_changed(Store.of(settings), settings, session.project, (LOGS, PROMOTIONS)):
        if export.problem:
            shown.append(FlushedFile(file=export.path, outcome="failed", told=export.problem))
        shown += [FlushedFile(file=str(Path(export.path) / one.file), outcome=one.outcome) for one in export.changes]
    return shown
