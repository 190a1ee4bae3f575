"""Flushes sessions: reads each, keeps what must not be lost, and tells it in daily logs, pages and exports; what of it
is to be remembered goes into `MEMORY.md`."""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from memory_pipeline.config.exports import LOGS, PROMOTIONS
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import MemoryPipelineError, ModelError, StoreBusyError, in_words
from memory_pipeline.models import Declined, ModelClient, Question
from memory_pipeline.models import Session as ModelSession
from memory_pipeline.models.choose import model_reads
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.models.limits import Patience
from memory_pipeline.reading.answers import ReadingAnswer
from memory_pipeline.reading.check import Reading
from memory_pipeline.reading.conversation_day import ask_about, classifier_vectors
from memory_pipeline.reading.extraction import Found, found_by_classifier
from memory_pipeline.sessions.documents import FlushedFile, FlushedSession
from memory_pipeline.sessions.flush import Flush, Kept, flush_of, flush_text
from memory_pipeline.sessions.transcripts import Session
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many
from memory_pipeline.workspace.contents import BY_AGENT
from memory_pipeline.workspace.directory import Outcome, daily_log, pages_of
from memory_pipeline.workspace.exporting import run_changed
from memory_pipeline.workspace.session_pages import DECISIONS, FACTS, RULES, Promotion, SessionRun, write_session

_log = logging.getLogger(__name__)
_ATTEMPTS = 2
#: Seconds for which a model is asked: a host waits, and a hook of Claude Code is ended after a minute.
_MODEL_S = 20.0
IN_USE = "the store with the answers is in use"
NO_STORE = "there is no store beside which answers are kept"
#: Confidence from which a fact is kept in `MEMORY.md`.
SURE = 0.8


def block_name(session: Session, what: str = "flush") -> str:
    """The block of a session up to its next compaction: what is flushed again replaces it."""
    digest = hashlib.sha256(f"{session.agent}:{session.name}".encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{what}-{digest}-{session.compactions}"


def page_of(settings: Settings, session: Session, file: str) -> str:
    """The path of a page of a session's project."""
    return str(pages_of(Path(settings.store.path), session.project) / file)


def flushed_files(settings: Settings, session: Session, files: Iterable[str], done: Outcome) -> list[FlushedFile]:
    """The outcomes for the pages of a run, and of the files of exports that have the same contents."""
    outcomes = {change.file: change.outcome for change in done.changes}
    flushed = [
        FlushedFile(
            file=page_of(settings, session, file),
            outcome=outcomes.get(file, "unchanged"),
            told=done.moved.get(file, ""),
        )
        for file in files
    ]
    for export in run_changed(Store.of(settings), settings, session.project, (LOGS, PROMOTIONS)):
        if export.problem:
            flushed.append(FlushedFile(file=export.path, outcome="failed", told=export.problem))
        flushed += [
            FlushedFile(file=str(Path(export.path) / change.file), outcome=change.outcome) for change in export.changes
        ]
    return flushed


def describe_session(session: Session) -> dict[str, Any]:
    """The fields of a session in what is told of its flush or its compaction."""
    return {
        "session": session.name,
        "agent": session.agent,
        "project": session.project,
        "transcript": session.place,
        "turns": len(session.turns),
    }


def flush_session(settings: Settings, session: Session, *, preview: bool = False) -> FlushedSession:
    findings, model_note = read_session(settings, session)
    flush = flush_of(session, findings)
    counts, name = Counter(entry.kind for entry in flush.kept), block_name(session)
    logs = {(daily_log(day), name): flush_text(flush, day) for day in flush.days}
    named = [file for file, _ in logs]
    run: SessionRun | None = None
    if preview:
        files = [FlushedFile(file=page_of(settings, session, file), outcome="previewed") for file in named]
    else:
        log_rows = tuple((*where, text) for where, text in logs.items())
        made = SessionRun(project=session.project, what=f"the flush of session {session.name}", logs=log_rows)
        run, written = write_session(settings, made)
        files = flushed_files(settings, session, named, written)
    return FlushedSession(
        **describe_session(session),
        decisions=counts["decision"],
        rules=counts["rule"],
        dead_ends=counts["dead_end"],
        facts=counts["fact"],
        configurations=counts["config"],
        progress=counts["done"] + counts["open"],
        temporary=session.temporary,
        model=model_note,
        files=tuple(files),
        run_id=run.run_id if run else None,
        text="\n\n".join(logs.values()),
    )


def list_promotions(flush: Flush) -> list[Promotion]:
    """The promotions of a flush, which are to be remembered: standing rules, what has the tag `[CURATE]`, decisions
    with their reasons (a reader says the reason in the statement), and facts that are sure enough."""
    return [
        promotion_of(entry)
        for entry in flush.kept
        if entry.kind == "rule"
        or entry.is_curated
        or (entry.kind == "decision" and (entry.rationale or entry.is_proposed))
        or (entry.kind == "fact" and entry.confidence >= SURE)
    ]


def promotion_of(entry: Kept) -> Promotion:
    """Something that is kept as it stands in the block."""
    section = {"rule": RULES, "decision": DECISIONS}.get(entry.kind, FACTS)
    why = f" ({entry.rationale})" if entry.rationale and entry.rationale not in entry.text else ""
    by = f" ({BY_AGENT})" if entry.speaker == "agent" else ""
    return Promotion.of(section, entry.day, f"{entry.text}{why}{by}", entry.confidence, is_curated=entry.is_curated)


class ReadSession(NamedTuple):
    """The findings in a session, and what is to be told of a model: None if none is asked."""

    found: Found
    told: str | None = None


def read_session(settings: Settings, session: Session) -> ReadSession:
    """Finds what is worth keeping of a session. Nothing is raised: what goes wrong with a model is told."""
    if not session.turns or not model_reads(settings):
        return ReadSession(found_by_classifier(session.turns, classifier_vectors()))
    try:
        return _asked(settings, session)
    except Exception as error:  # a host waits, and the classifier reads the session
        if not isinstance(error, MemoryPipelineError):
            _log.warning("asking a model about session '%s'", session.name, exc_info=error)
        findings = found_by_classifier(session.turns, classifier_vectors())
        return ReadSession(findings, f"the classifier alone: {in_words(error)[:300]}")


def _asked(settings: Settings, session: Session) -> ReadSession:
    store = Store.of(settings)
    if not store.exists():
        raise ModelError(NO_STORE)
    talking = ModelSession(store, str(uuid.uuid4()), "flush", preview=True)
    try:
        talking.find(["-"])
    except StoreBusyError as error:
        raise ModelError(IN_USE) from error
    deadline = monotonic() + _MODEL_S
    problems: list[str] = []

    def ask(question: Question[ReadingAnswer, Reading]) -> Reading | Declined | Exception | None:
        left = deadline - monotonic()
        cached_only = bool(problems) or left <= 0
        try:
            client = _client(settings, max(left, 0.1))
            results = client.ask({"": question}, talking, "sessions", cached_only=cached_only)
            return next((result for _, result in results), None)
        except ModelError as error:
            problems.append(in_words(error)[:300])
            return None

    asked = ask_about("session", session.turns, (), ask, settings, choose_embedder(settings))
    if asked.problem:
        problems.append(in_words(asked.problem)[:300])
    sent = [call for call in talking.calls() if call.mode != "cache"]
    statements = sum(bool(extraction.proposed_by) for extraction in asked.found.extractions)
    summary = (
        f"{how_many(asked.found.questions, 'question')}, {how_many(len(sent), 'call')}, "
        f"{sum(call.cost_usd for call in sent):.4f} USD; the model found {how_many(statements, 'statement')}"
    )
    if asked.left:
        summary += f"; {how_many(len(asked.left), 'turn')} left to the classifier"
    return ReadSession(asked.found, "; ".join([summary, *problems[:1]]))


def _client(settings: Settings, seconds: float) -> ModelClient:
    """A client that asks for so many seconds at most."""
    hurried = settings.with_values({"model.timeout_s": min(settings.model.timeout_s, seconds)})
    return ModelClient(hurried, Patience(_ATTEMPTS, longest_wait_s=seconds, time_limit_s=seconds))
