"""Compacts a session: flushes it, keeps what is to be remembered in `MEMORY.md`, and summarises it into the daily log.

Gates say what must hold before anything is written, and after. If one fails that may not, the run is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import OutputError
from memory_pipeline.files.markers import block_in
from memory_pipeline.files.shared_files import bytes_of
from memory_pipeline.models.relations import is_contradiction
from memory_pipeline.reading.marks import own_sentences
from memory_pipeline.sessions.documents import CompactedSession, FlushedFile, Gate
from memory_pipeline.sessions.flush import Flush, fitted_logs, flush_of, flush_text, summary_of, with_missed
from memory_pipeline.sessions.flushing import (
    SURE,
    block_name,
    describe_session,
    flushed_files,
    list_promotions,
    page_of,
    promotion_of,
    read_session,
)
from memory_pipeline.sessions.transcripts import Session
from memory_pipeline.text.counts import estimated_tokens
from memory_pipeline.text.facts import content_words
from memory_pipeline.workspace.directory import MEMORY_FILE, daily_log, pages_of
from memory_pipeline.workspace.exporting import token_counter
from memory_pipeline.workspace.session_pages import (
    BLOCK,
    Promotion,
    SessionRun,
    promotions_block,
    session_promotions,
    session_runs,
    standing_promotions,
    take_back_sessions,
    write_session,
)

#: The most tokens of the summary of a session in the daily log.
_SUMMARY_TOKENS = 500


def compact_session(
    settings: Settings, session: Session, *, aggressive: bool = False, preview: bool = False
) -> CompactedSession:
    """Compact one session that was read.

    With `aggressive`, progress and facts that are not sure enough are left out, and the summary is half as long. With
    `preview`, nothing is written. Raises OutputError for a page that cannot be written; then the run is taken back.
    """
    read = read_session(settings, session)
    whole = with_missed(flush_of(session, read.found))
    flush = _without_details(whole) if aggressive else whole
    new = list_promotions(flush)
    known = standing_promotions(session_runs(Path(settings.store.path), session.project))
    gates = [curated_captured(flush), no_open_decisions(flush), no_contradicting_facts(new, known)]
    body = promotions_block([*known, *new])
    logs = _logs(flush, _SUMMARY_TOKENS // (2 if aggressive else 1), new, token_counter(settings))
    run: SessionRun | None = None
    named = list(dict.fromkeys([*(file for file, _ in logs), *([MEMORY_FILE] if body else [])]))
    files: list[FlushedFile] = []
    outcome = "previewed" if preview else "compacted" if session.turns else "nothing to keep"
    if preview:
        files = [FlushedFile(file=page_of(settings, session, name), outcome="previewed") for name in named]
    elif all(gate.passed or gate.severity == "warns" for gate in gates):
        what = f"the compaction of session {session.name}"
        log_rows = tuple((*where, text) for where, text in logs.items())
        made = SessionRun(project=session.project, what=what, logs=log_rows, promoted=tuple(new))
        run, written = write_session(settings, made)
        memory = pages_of(Path(settings.store.path), session.project) / MEMORY_FILE
        text = (bytes_of(memory, memory) or b"").decode("utf-8", "surrogateescape")
        kept = session_promotions(session_runs(Path(settings.store.path), session.project))
        gates.append(memory_parses(text, kept.get((MEMORY_FILE, BLOCK), "")))
        if gates[-1].passed:
            files = flushed_files(settings, session, named, written)
        elif run is not None:
            take_back_sessions(settings, [run])
    if any(not gate.passed and gate.severity == "rolls back" for gate in gates):
        outcome, files, run = "rolled back", [], None
    after = sum(map(estimated_tokens, logs.values())) + sum(estimated_tokens(promotion.line) for promotion in new)
    gates.append(enough_reduction(session.tokens, after))
    return CompactedSession(
        **describe_session(session),
        outcome=outcome,
        aggressive=aggressive,
        kept=len(flush.kept),
        promoted=tuple(dict.fromkeys(entry.line for entry in new if entry.line in body.split("\n"))),
        summary="\n\n".join(body for (_, name), body in logs.items() if name.startswith("summary-")),
        tokens_before=session.tokens,
        tokens_after=after,
        reduction=round(1 - after / session.tokens, 4) if session.tokens else 0.0,
        model=read.told,
        gates=tuple(gates),
        files=tuple(files),
        run_id=run.run_id if run else None,
    )


def _without_details(flush: Flush) -> Flush:
    entries = [
        entry
        for entry in flush.kept
        if entry.is_curated
        or (entry.kind not in ("done", "open") and (entry.kind != "fact" or entry.confidence >= SURE))
    ]
    return replace(flush, kept=tuple(entries))


def _logs(
    flush: Flush, most_tokens: int, promoted: Sequence[Promotion], count: Callable[[str], int]
) -> dict[tuple[str, str], str]:
    """By page and block, what goes into the daily logs. A summary repeats the flush, so it has only as much room as is
    left to what was said. `promoted`: what is kept in `MEMORY.md`."""
    blocks: dict[tuple[str, str], str] = {}
    days = sorted({turn.day for turn in flush.session.turns})
    left = flush.session.tokens - sum(estimated_tokens(promotion.line) for promotion in promoted)
    in_memory = {promotion.key for promotion in promoted}
    flushed = whole = {day: flush_text(flush, day) for day in days}
    if flush.session.tokens < SHORT:
        flushed = fitted_logs(flush, days, left, lambda entry: promotion_of(entry).key in in_memory)
    left -= sum(map(estimated_tokens, flushed.values()))
    left = left if flushed == whole else 0
    for day in days:
        summary = summary_of(flush, day, min(most_tokens, left), count)
        left -= estimated_tokens(summary)
        blocks[daily_log(day), block_name(flush.session)] = flushed[day]
        blocks[daily_log(day), block_name(flush.session, "summary")] = summary
    return {where: body for where, body in blocks.items() if body}


_QUESTION_MARKS = ("?", "？")
_FIGURE = re.compile(r"\d[\w.,:/-]*")
_LEAST_SHARED, _MOST_COMPARED = 2, 5_000
#: A warning names so many pairs, and counts the others.
_MOST_NAMED = 5
#: Of a session of fewer tokens, most may be worth keeping.
SHORT = 1_000
#: What is kept of a longer one should be shorter by this share.
_LEAST_REDUCTION = 0.3


def curated_captured(flush: Flush) -> Gate:
    """Every note with `[CURATE]` is among what is kept."""
    missed = "; ".join(entry.text for entry in flush.missed)
    finding = f"not captured: {missed}" if missed else "every note with [CURATE] is captured"
    return Gate.of("curated_captured", "before", not missed, "rolls back", finding)


def no_open_decisions(flush: Flush) -> Gate:
    """No question is open: none is among what is kept as open, and the last thing that was said is none."""
    open_ = [entry.text for entry in flush.of("open") if entry.text.rstrip().endswith(_QUESTION_MARKS)]
    last = [sentence.quote for turn in flush.session.turns[-1:] for sentence in own_sentences(turn.words)[-1:]]
    open_ += [" ".join(quote.split()) for quote in last if quote.rstrip().endswith(_QUESTION_MARKS)]
    finding = f"open: {'; '.join(dict.fromkeys(open_))}" if open_ else "no decision is open"
    return Gate.of("no_open_decisions", "before", not open_, "warns", finding)


def no_contradicting_facts(new: Sequence[Promotion], before: Sequence[Promotion]) -> Gate:
    """The promoted facts contradict neither each other nor what stands in the file."""
    words = {promotion.key: frozenset(content_words(promotion.text)) for promotion in (*new, *before)}
    again = {promotion.key for promotion in new}
    pairs = [*combinations(new, 2), *((one, other) for one in new for other in before if other.key not in again)]
    likely = [(one, other) for one, other in pairs if _may_contradict(words[one.key], words[other.key])]
    contradictions = [
        f"'{one.text}' and '{other.text}'"
        for one, other in likely[:_MOST_COMPARED]
        if _gives_another_value(one.text, other.text) or is_contradiction(one.text, other.text)
    ]
    named = "; ".join(contradictions[:_MOST_NAMED]) + (
        f"; and {len(contradictions) - _MOST_NAMED:,} more" * (len(contradictions) > _MOST_NAMED)
    )
    finding = f"contradictions, all of which are kept: {named}" if contradictions else "no fact contradicts another"
    return Gate.of("no_contradicting_facts", "before", not contradictions, "warns", finding)


def _gives_another_value(one: str, other: str) -> bool:
    """True if two statements are the same but for one figure, time or day."""
    figures, others = _FIGURE.findall(one), _FIGURE.findall(other)
    unlike = sum(a != b for a, b in zip(figures, others, strict=False))
    same_words = _FIGURE.sub("0", one).casefold() == _FIGURE.sub("0", other).casefold()
    return same_words and len(figures) == len(others) and unlike == 1


def _may_contradict(one: frozenset[str], other: frozenset[str]) -> bool:
    """True if two statements are about the same: they share half of the words of the shorter one."""
    shared = len(one & other)
    return shared >= _LEAST_SHARED and 2 * shared >= min(len(one), len(other))


def memory_parses(text: str, body: str) -> Gate:
    """`MEMORY.md` has the block as it was written, once. What others write beside it meanwhile is theirs."""
    problem = ""
    try:
        if (block_in(text, BLOCK) or "") != body.strip("\n"):
            problem = "its block is not what was written"
        elif "\0" in text:
            problem = "it holds a NUL"
    except OutputError as error:
        problem = str(error)
    return Gate.of("memory_parses", "after", not problem, "rolls back", problem or "MEMORY.md is whole")


def enough_reduction(before: int, after: int) -> Gate:
    """The kept words are fewer than those of the session by so much, if there was enough to be shortened."""
    share = 1 - after / before if before else 0.0
    finding = f"{before} tokens became {after} ({abs(share):.0%} {'fewer' if share >= 0 else 'more'})"
    is_short = before < SHORT
    finding += f"; of less than {SHORT:,}, nothing is expected" if is_short else ""
    return Gate.of("reduction", "after", share >= _LEAST_REDUCTION or is_short, "warns", finding)
