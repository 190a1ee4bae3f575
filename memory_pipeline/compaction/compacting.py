"""Compacts a session: flushes it, keeps what is to be remembered in `MEMORY.md`, and summarises it into the daily log.

If a gate fails that may not, every file gets back the bytes that it had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memory_pipeline.compaction.asking import ask_about
from memory_pipeline.compaction.documents import CompactedSession, FlushedFile, GateShown
from memory_pipeline.compaction.file_runs import FileRun
from memory_pipeline.compaction.fitting import fitted_logs
from memory_pipeline.compaction.flush import Flush, flush_of, flush_text, with_missed
from memory_pipeline.compaction.gates import (
    SHORT,
    Gate,
    curated_captured,
    enough_reduction,
    memory_parses,
    no_contradicting_facts,
    no_open_decisions,
)
from memory_pipeline.compaction.keeping import block_name, places_for
from memory_pipeline.compaction.promotion import BLOCK, Entry, block_of, entries_in, entry_of, promoted_of
from memory_pipeline.compaction.summary import summary_of
from memory_pipeline.compaction.transcripts import Session
from memory_pipeline.compaction.usage import estimated_tokens
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import OutputError
from memory_pipeline.killpoints import reached
from memory_pipeline.store import Store
from memory_pipeline.workspace.places import Places

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class _Block:
    """A block that is to stand in a file."""

    file: Path
    name: str
    body: str


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
    `preview`, nothing is written. Raises OutputError for a file that cannot be written; then every other one is as it
    was, too.
    """
    rules = settings.compaction
    of_model = ask_about(settings, session)
    proposed = of_model.proposals if of_model else None
    whole = with_missed(flush_of(session, settings.conversations.chunk_tokens, proposed))
    flush = _without_details(whole, rules.confidence) if aggressive else whole
    places = places_for(settings, session.project)
    memory = _text_of(places.memory)
    new = promoted_of(flush, rules.confidence)
    known = entries_in(memory)
    gates = [curated_captured(flush), no_open_decisions(flush), no_contradicting_facts(new, known)]
    body = block_of(known, new, rules.memory_tokens, count)
    run = FileRun(Store.of(settings).path, f"the compaction of session {session.name}")

    def promote(text: str) -> str:
        return block_of(entries_in(text), new, rules.memory_tokens, count)

    most = rules.summary_tokens // (2 if aggressive else 1)
    logs = _logs(flush, places, most, new, count)
    files: list[FlushedFile] = []
    outcome = "previewed" if preview else "compacted" if session.turns else "nothing to keep"
    if preview:
        named = dict.fromkeys([*(block.file for block in logs), *([places.memory] if body else [])])
        files = [FlushedFile(file=str(file), outcome="previewed") for file in named]
    elif all(gate.passed or gate.severity == "warns" for gate in gates):
        gate, files = _write(run, logs, places.memory, promote)
        gates.append(gate)
    if any(not gate.passed and gate.severity == "rolls back" for gate in gates):
        outcome, files = "rolled back", []
    after = sum(estimated_tokens(block.body) for block in logs) + sum(estimated_tokens(one.line) for one in new)
    gates.append(enough_reduction(session.tokens, after, rules.least_reduction))
    told = _told(session, flush, outcome, aggressive, body, new, logs, gates, files, after)
    told = told.model_copy(update={"model": of_model.told(flush.proposed) if of_model else None})
    return told.model_copy(update={"run_id": run.run_id}) if run.has_changed and not run.undone_at else told


def _without_details(flush: Flush, confidence: float) -> Flush:
    kept = [
        one
        for one in flush.kept
        if one.priority != "LOW" and (one.kind != "fact" or one.is_curated or one.confidence >= confidence)
    ]
    return replace(flush, kept=tuple(kept))


def _logs(flush: Flush, places: Places, most_tokens: int, promoted: Sequence[Entry], count: Count) -> list[_Block]:
    """The blocks of the daily logs. A summary repeats the flush, so it has only as much room as is left to what was
    said. `promoted`: what is kept in `MEMORY.md`."""
    blocks = []
    days = sorted({turn.day for turn in flush.session.turns})
    left = flush.session.tokens - sum(estimated_tokens(one.line) for one in promoted)
    in_memory = {one.key for one in promoted}
    flushed = whole = {day: flush_text(flush, day) for day in days}
    if flush.session.tokens < SHORT:
        flushed = fitted_logs(flush, days, left, lambda one: entry_of(one).key in in_memory, estimated_tokens)
    left -= sum(map(estimated_tokens, flushed.values()))
    left = left if flushed == whole else 0
    for day in days:
        summary = summary_of(flush, day, min(most_tokens, left), count)
        left -= estimated_tokens(summary)
        blocks += [
            _Block(places.daily_log(day), block_name(flush.session), flushed[day]),
            _Block(places.daily_log(day), block_name(flush.session, "summary"), summary),
        ]
    return [block for block in blocks if block.body]


def _write(
    run: FileRun, logs: list[_Block], memory: Path, promote: Callable[[str], str]
) -> tuple[Gate, list[FlushedFile]]:
    """Write the blocks of the logs, and what is promoted; the gate after it, and the files. If it does not hold, or a
    file cannot be written, every file is as it was."""
    files: dict[str, FlushedFile] = {}

    def write(file: Path, name: str, body: str | Callable[[str], str]) -> None:
        done = run.write(file, name, body)
        before = files.get(str(file))
        outcome = done.outcome if before is None or before.outcome == "unchanged" else before.outcome
        told = "; ".join(filter(None, (before.told if before else "", done.told(file))))
        files[str(file)] = FlushedFile(file=str(file), outcome=outcome, told=told)
        reached("compaction.written")

    made = [""]

    def promoted(text: str) -> str:
        made[0] = promote(text)
        return made[0]

    try:
        for block in logs:
            write(block.file, block.name, block.body)
        write(memory, BLOCK, promoted)
        gate = memory_parses(_text_of(memory), made[0])
    except OutputError:
        run.take_back()
        raise
    if not gate.passed:
        run.take_back()
    return gate, list(files.values())


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
    new: list[Entry],
    logs: list[_Block],
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
        summary="\n\n".join(block.body for block in logs if block.name.startswith("summary-")),
        tokens_before=session.tokens,
        tokens_after=after,
        reduction=round(1 - after / session.tokens, 4) if session.tokens else 0.0,
        gates=tuple(map(shown, gates)),
        files=tuple(files),
    )


def shown(gate: Gate) -> GateShown:
    """A gate as a document."""
    return GateShown(name=gate.name, phase=gate.phase, passed=gate.passed, severity=gate.severity, found=gate.found)
