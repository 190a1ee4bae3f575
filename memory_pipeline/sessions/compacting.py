"""Compacts a session: flushes it, keeps what is to be remembered in `MEMORY.md`, and summarises it into the daily log.

If a gate fails that may not, the run is taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import OutputError
from memory_pipeline.sessions.documents import CompactedSession, FlushedFile, GateShown
from memory_pipeline.sessions.flush import Flush, fitted_logs, flush_of, flush_text, summary_of, with_missed
from memory_pipeline.sessions.flushing import (
    SURE,
    block_name,
    flushed_files,
    page_of,
    promoted_of,
    promotion_of,
    read_session,
)
from memory_pipeline.sessions.gates import (
    SHORT,
    Gate,
    curated_captured,
    enough_reduction,
    memory_parses,
    no_contradicting_facts,
    no_open_decisions,
)
from memory_pipeline.sessions.transcripts import Session
from memory_pipeline.sessions.usage import estimated_tokens
from memory_pipeline.workspace.directory import MEMORY_FILE, daily_log, pages_of
from memory_pipeline.workspace.session_pages import (
    PROMOTIONS_TOKENS,
    Promotion,
    SessionRun,
    promotions_block,
    promotions_now,
    session_runs,
    standing_promotions,
    take_back_sessions,
    write_session,
)

Count = Callable[[str], int]
#: The most tokens of the summary of a session in the daily log.
_SUMMARY_TOKENS = 500


def compact_session(
    settings: Settings,
    session: Session,
    count: Count = estimated_tokens,
    *,
    aggressive: bool = False,
    preview: bool = False,
) -> CompactedSession:
    """Compact one session that was read. `count`: counts tokens.

    With `aggressive`, progress and facts that are not sure enough are left out, and the summary is half as long. With
    `preview`, nothing is written. Raises OutputError for a page that cannot be written; then the run is taken back.
    """
    read = read_session(settings, session)
    whole = with_missed(flush_of(session, read.found))
    flush = _without_details(whole) if aggressive else whole
    new = promoted_of(flush)
    known = standing_promotions(session_runs(Path(settings.store.path), session.project))
    gates = [curated_captured(flush), no_open_decisions(flush), no_contradicting_facts(new, known)]
    body = promotions_block([*known, *new], PROMOTIONS_TOKENS, estimated_tokens)
    logs = _logs(flush, _SUMMARY_TOKENS // (2 if aggressive else 1), new, count)
    run: SessionRun | None = None
    named = list(dict.fromkeys([*(file for file, _ in logs), *([MEMORY_FILE] if body else [])]))
    files: list[FlushedFile] = []
    outcome = "previewed" if preview else "compacted" if session.turns else "nothing to keep"
    if preview:
        files = [FlushedFile(file=page_of(settings, session, name), outcome="previewed") for name in named]
    elif all(gate.passed or gate.severity == "warns" for gate in gates):
        what, kept = f"the compaction of session {session.name}", tuple((*where, text) for where, text in logs.items())
        made = SessionRun(project=session.project, what=what, logs=kept, promoted=tuple(new))
        run, written = write_session(settings, made)
        memory = pages_of(Path(settings.store.path), session.project) / MEMORY_FILE
        gates.append(memory_parses(_text_of(memory), promotions_now(settings, session.project)))
        if gates[-1].passed:
            files = flushed_files(settings, session, named, written)
        elif run is not None:
            take_back_sessions(settings, [run])
    if any(not gate.passed and gate.severity == "rolls back" for gate in gates):
        outcome, files, run = "rolled back", [], None
    after = sum(map(estimated_tokens, logs.values())) + sum(estimated_tokens(one.line) for one in new)
    gates.append(enough_reduction(session.tokens, after))
    told = _told(session, flush, outcome, aggressive, body, new, logs, gates, files, after)
    told = told.model_copy(update={"model": read.told})
    return told.model_copy(update={"run_id": run.run_id}) if run else told


def _without_details(flush: Flush) -> Flush:
    kept = [
        one
        for one in flush.kept
        if one.priority != "LOW" and (one.kind != "fact" or one.is_curated or one.confidence >= SURE)
    ]
    return replace(flush, kept=tuple(kept))


def _logs(flush: Flush, most_tokens: int, promoted: Sequence[Promotion], count: Count) -> dict[tuple[str, str], str]:
    """By page and block, what goes into the daily logs. A summary repeats the flush, so it has only as much room as is
    left to what was said. `promoted`: what is kept in `MEMORY.md`."""
    blocks: dict[tuple[str, str], str] = {}
    days = sorted({turn.day for turn in flush.session.turns})
    left = flush.session.tokens - sum(estimated_tokens(one.line) for one in promoted)
    in_memory = {one.key for one in promoted}
    flushed = whole = {day: flush_text(flush, day) for day in days}
    if flush.session.tokens < SHORT:
        flushed = fitted_logs(flush, days, left, lambda one: promotion_of(one).key in in_memory, estimated_tokens)
    left -= sum(map(estimated_tokens, flushed.values()))
    left = left if flushed == whole else 0
    for day in days:
        summary = summary_of(flush, day, min(most_tokens, left), count)
        left -= estimated_tokens(summary)
        blocks[daily_log(day), block_name(flush.session)] = flushed[day]
        blocks[daily_log(day), block_name(flush.session, "summary")] = summary
    return {where: body for where, body in blocks.items() if body}


def _text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise OutputError(f"'{file}' cannot be read: {error.strerror or error}") from error


def _told(
    session: Session,
    flush: Flush,
    outcome: str,
    aggressive: bool,
    body: str,
    new: list[Promotion],
    logs: dict[tuple[str, str], str],
    gates: list[Gate],
    files: list[FlushedFile],
    after: int,
) -> CompactedSession:
    return CompactedSession(
        session=session.name,
        agent=session.agent,
        project=session.project,
        transcript=session.place,
        turns=len(session.turns),
        outcome=outcome,
        aggressive=aggressive,
        kept=len(flush.kept),
        promoted=tuple(dict.fromkeys(entry.line for entry in new if entry.line in body.split("\n"))),
        summary="\n\n".join(body for (_, name), body in logs.items() if name.startswith("summary-")),
        tokens_before=session.tokens,
        tokens_after=after,
        reduction=round(1 - after / session.tokens, 4) if session.tokens else 0.0,
        gates=tuple(map(shown, gates)),
        files=tuple(files),
    )


def shown(gate: Gate) -> GateShown:
    """A gate as a document."""
    return GateShown(name=gate.name, phase=gate.phase, passed=gate.passed, severity=gate.severity, found=gate.found)
