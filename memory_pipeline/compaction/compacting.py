"""Compacts a session: flushes it, keeps what is to be remembered in `MEMORY.md`, and summarises it into the daily log.

If a gate fails that may not, every file gets back the bytes that it had.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from memory_pipeline.compaction.documents import CompactedSession, FlushedFile, GateShown
from memory_pipeline.compaction.flush import Flush, flush_of, flush_text, with_missed
from memory_pipeline.compaction.gates import (
    Gate,
    curated_captured,
    enough_reduction,
    memory_parses,
    no_contradicting_facts,
    no_open_decisions,
)
from memory_pipeline.compaction.keeping import block_name, places_for, write_file
from memory_pipeline.compaction.promotion import BLOCK, Entry, block_of, entries_in, promoted_of, with_promoted
from memory_pipeline.compaction.summary import summary_of
from memory_pipeline.compaction.transcripts import Session
from memory_pipeline.compaction.usage import estimated_tokens
from memory_pipeline.config.settings import Settings
from memory_pipeline.conversations.places import Places
from memory_pipeline.errors import OutputError
from memory_pipeline.killpoints import reached
from memory_pipeline.markers import block_in, outside, with_block
from memory_pipeline.shared_files import change_text, remove_unless_changed

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
    whole = with_missed(flush_of(session, settings.conversations.chunk_tokens))
    flush = _without_details(whole, rules.confidence) if aggressive else whole
    places = places_for(settings, session.project)
    memory = _text_of(places.memory)
    new = promoted_of(flush, rules.confidence)
    known = entries_in(memory)
    gates = [curated_captured(flush), no_open_decisions(flush), no_contradicting_facts(new, known)]
    body = block_of(known, new, rules.memory_tokens, count)
    promote = partial(with_promoted, new=new, budget=rules.memory_tokens, count=count)
    logs = _logs(flush, places, rules.summary_tokens // (2 if aggressive else 1), count)
    files: list[FlushedFile] = []
    outcome = "previewed" if preview else "compacted" if session.turns else "nothing to keep"
    if preview:
        named = dict.fromkeys([*(block.file for block in logs), *([places.memory] if body else [])])
        files = [FlushedFile(file=str(file), outcome="previewed") for file in named]
    elif all(gate.passed or gate.severity == "warns" for gate in gates):
        gate, files = _write(logs, places.memory, promote)
        gates.append(gate)
    if any(not gate.passed and gate.severity == "rolls back" for gate in gates):
        outcome, files = "rolled back", []
    after = sum(estimated_tokens(block.body) for block in logs) + sum(estimated_tokens(one.line) for one in new)
    gates.append(enough_reduction(session.tokens, after, rules.least_reduction))
    return _told(session, flush, outcome, aggressive, body, new, logs, gates, files, after)


def _without_details(flush: Flush, confidence: float) -> Flush:
    kept = [
        one
        for one in flush.kept
        if one.priority != "LOW" and (one.kind != "fact" or one.is_curated or one.confidence >= confidence)
    ]
    return replace(flush, kept=tuple(kept))


def _logs(flush: Flush, places: Places, most_tokens: int, count: Count) -> list[_Block]:
    days = sorted({turn.day for turn in flush.session.turns})
    return [
        block
        for day in days
        for block in (
            _Block(places.daily_log(day), block_name(flush.session), flush_text(flush, day)),
            _Block(
                places.daily_log(day), block_name(flush.session, "summary"), summary_of(flush, day, most_tokens, count)
            ),
        )
        if block.body
    ]


def _text_of(file: Path) -> str:
    return (_bytes_of(file) or b"").decode("utf-8", "surrogateescape")


def _write(logs: list[_Block], memory: Path, promote: Callable[[str], str]) -> tuple[Gate, list[FlushedFile]]:
    """Write the blocks of the logs, and what is promoted; the gate after it, and the files. If it does not hold, or a
    file cannot be written, every file is as it was."""
    undo: list[tuple[_Block, bytes | None]] = []
    files: dict[str, str] = {}

    def write(block: _Block, change: Callable[[str], str]) -> None:
        undo.append((block, _bytes_of(block.file)))
        done = write_file(block.file, change)
        if files.get(str(block.file), "unchanged") == "unchanged":
            files[str(block.file)] = done
        reached("compaction.written")

    made = [""]

    def promoted(text: str) -> str:
        after = promote(text)
        made[0] = block_in(after, BLOCK) or ""
        return after

    try:
        for block in logs:
            write(block, partial(with_block, name=block.name, body=block.body))
        write(_Block(memory, BLOCK, ""), promoted)
        gate = memory_parses(_text_of(memory), made[0])
    except OutputError:
        _undo(undo)
        raise
    if not gate.passed:
        _undo(undo)
    return gate, [FlushedFile(file=file, outcome=outcome) for file, outcome in files.items()]


def _undo(written: list[tuple[_Block, bytes | None]]) -> None:
    """Give the files their bytes back, the last one first. Where somebody has written since, only our block is as it
    was."""
    for block, before in reversed(written):
        text = (before or b"").decode("utf-8", "surrogateescape")
        now = _bytes_of(block.file)
        if now is None or now == before:
            continue
        present = now.decode("utf-8", "surrogateescape")
        try:
            is_ours = outside(present, block.name).rstrip() == outside(text, block.name).rstrip()
            old = block_in(text, block.name) or ""
        except OutputError:
            continue  # it was never written
        if before is None and is_ours and remove_unless_changed(block.file, now):
            continue
        if block.file.exists():
            change_text(block.file, _back(block, text if is_ours else None, present, old))


def _back(block: _Block, before: str | None, after: str, old: str) -> Callable[[str], str]:
    return lambda now: before if before is not None and now == after else with_block(now, block.name, old)


def _bytes_of(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
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
