"""Writes what is kept of sessions into the pages of its project, and takes it back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import OutputError
from memory_pipeline.killpoints import reached
from memory_pipeline.shared_blocks import Body
from memory_pipeline.workspace.directory import Outcome, write_pages
from memory_pipeline.workspace.places import MEMORY_FILE, pages_of
from memory_pipeline.workspace.session_runs import (
    SessionRun,
    keep_run,
    session_logs,
    session_promotions,
    session_runs,
)


class TakenBackFile(Document):
    """What became of a page when a flush or a compaction was taken back."""

    file: str = Field(description="The page.")
    outcome: str = Field(description="`changed`, `removed`, or `as it was`.")
    why: str = Field(default="", description="Why it could not be written.")


def write_session(settings: Settings, run: SessionRun) -> tuple[SessionRun | None, Outcome]:
    """Keep a run and write its pages; None for the run if earlier ones keep all of it. Raises OutputError if a page
    cannot be written; then the run is taken back."""
    store = Path(settings.store.path)
    before = list(session_runs(store, run.project))
    is_new = _blocks(settings, before) != _blocks(settings, [*before, run])
    if is_new:
        keep_run(store, run)
        reached("session.kept")
    done = _write(settings, run.project, _files([run]))
    if done.problems:
        if is_new:
            take_back_sessions(settings, [run])
        raise OutputError(next(iter(done.problems.values())))
    reached("session.written")
    if is_new:
        run = replace(run, is_written=True)
        keep_run(store, run)
    return run if is_new else None, done


def take_back_sessions(settings: Settings, runs: Sequence[SessionRun], *, preview: bool = False) -> list[TakenBackFile]:
    """Let runs leave nothing in the pages. With `preview`, nothing is written."""
    store, found = Path(settings.store.path), list[TakenBackFile]()
    gone = [run.taken_back() for run in runs]
    if not preview:
        for run in gone:
            keep_run(store, run)
        reached("session.taken_back")
    for project in dict.fromkeys(run.project for run in gone):
        mine = [run for run in gone if run.project == project]
        done = _write(settings, project, _files(mine), as_if=mine if preview else (), preview=preview)
        outcomes = {one.file: one.outcome for one in done.changes}
        for file in _files(mine):
            path = str(pages_of(store, project) / file)
            outcome, why = outcomes.get(file, "as it was"), done.problems.get(file, "")
            found.append(TakenBackFile(file=path, outcome=outcome, why=why))
        if not preview and not done.problems:
            for run in mine:
                keep_run(store, replace(run, is_written=True))
    return found


def mend_session_pages(settings: Settings) -> list[str]:
    """Write the pages of runs that were killed before theirs were; returns what could not be written."""
    store, problems = Path(settings.store.path), list[str]()
    for run in session_runs(store):
        if not run.is_written:
            done = _write(settings, run.project, _files([run]))
            problems += done.problems.values()
            if not done.problems:
                keep_run(store, replace(run, is_written=True))
    return problems


def promotions_now(settings: Settings, project: str) -> str:
    """The block of what is promoted, as the pages are to have it."""
    blocks = session_promotions(session_runs(Path(settings.store.path), project), settings.compaction.memory_tokens)
    return next(iter(blocks.values()), "")


def _blocks(settings: Settings, runs: Sequence[SessionRun]) -> dict[tuple[str, str], str]:
    return {**session_promotions(runs, settings.compaction.memory_tokens), **session_logs(runs)}


def _files(runs: Iterable[SessionRun]) -> list[str]:
    """The pages that runs may change."""
    known = list(runs)
    logs = [file for run in known for file, _ in run.logs]
    return list(dict.fromkeys([*logs, *([MEMORY_FILE] if any(run.promoted for run in known) else [])]))


def _write(
    settings: Settings,
    project: str,
    files: Collection[str],
    *,
    as_if: Sequence[SessionRun] = (),
    preview: bool = False,
) -> Outcome:
    """Write some pages of a project as the records tell at that moment, for another flush may end meanwhile. `as_if`:
    runs in the place of their records."""
    store = Path(settings.store.path)
    others = {run.run_id: run for run in as_if}

    def now() -> dict[tuple[str, str], str]:
        return _blocks(settings, [others.get(run.run_id, run) for run in session_runs(store, project)])

    blocks: dict[tuple[str, str], Body] = {
        where: lambda text, where=where: now().get(where, "")  # type: ignore[misc]
        for where in now()
        if where[0] in files
    }
    return write_pages(pages_of(store, project), blocks, store, preview=preview)
