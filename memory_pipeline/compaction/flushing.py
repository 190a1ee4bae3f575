"""Flushes sessions: reads each, keeps what must not be lost, and writes it into the daily logs among its project's
pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memory_pipeline.compaction.asking import read_session
from memory_pipeline.compaction.documents import FlushedFile, FlushedSession
from memory_pipeline.compaction.flush import Flush, flush_of, flush_text
from memory_pipeline.compaction.keeping import block_name, flushed_files, page_of
from memory_pipeline.compaction.transcripts import Session, read_session_file
from memory_pipeline.config.settings import Settings
from memory_pipeline.workspace.places import daily_log
from memory_pipeline.workspace.session_pages import write_session
from memory_pipeline.workspace.session_runs import SessionRun


def flush_sessions(
    settings: Settings, transcripts: Iterable[str], project: str | None = None, *, preview: bool = False
) -> Iterator[FlushedSession]:
    """Flush the sessions in these transcripts, one after the other. With `preview`, nothing is written.

    `project`: the project of what is kept, in the place of the session's own. Raises InputError for what is no
    transcript, and OutputError for a log that cannot be written.
    """
    for transcript in transcripts:
        yield flush_session(settings, read_session_file(transcript, settings, project), preview=preview)


def flush_session(settings: Settings, session: Session, *, preview: bool = False) -> FlushedSession:
    """Flush one session that was read."""
    read = read_session(settings, session)
    flush, told = flush_of(session, read.found), read.told
    name = block_name(session)
    logs = {(daily_log(day), name): flush_text(flush, day) for day in flush.days}
    if preview:
        files = [FlushedFile(file=page_of(settings, session, file), outcome="previewed") for file, _ in logs]
        return flushed(flush, files).model_copy(update={"model": told})
    run, written = write_session(settings, SessionRun(session.project, f"the flush of session {session.name}", logs))
    files = flushed_files(settings, session, [file for file, _ in logs], written)
    return flushed(flush, files, run.run_id if run else None).model_copy(update={"model": told})


def flushed(flush: Flush, files: Iterable[FlushedFile], run_id: str | None = None) -> FlushedSession:
    """A flush as a document. `run_id`: what takes it back."""
    session, counts = flush.session, flush.counts()
    return FlushedSession(
        session=session.name,
        agent=session.agent,
        project=session.project,
        transcript=session.place,
        turns=len(session.turns),
        decisions=counts["decision"],
        rules=counts["rule"],
        dead_ends=counts["dead_end"],
        facts=counts["fact"],
        configurations=counts["config"],
        progress=counts["done"] + counts["open"],
        temporary=flush.temporary,
        files=tuple(files),
        run_id=run_id,
        text="\n\n".join(flush_text(flush, day) for day in flush.days),
    )
