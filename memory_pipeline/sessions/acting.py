"""Does what triggers started, and records what became of it. A session that was compacted meanwhile is left alone."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.records import TriggerAction, TriggerEvent, TriggerKind, TriggerOutcome
from memory_pipeline.sessions.compacting import compact_session
from memory_pipeline.sessions.documents import CompactedSession, FlushedSession, Gate
from memory_pipeline.sessions.flushing import flush_session
from memory_pipeline.sessions.transcripts import Session, read_session_file, source_of
from memory_pipeline.sessions.triggers import find_sessions, make_event
from memory_pipeline.sessions.usage import ContextUsage, read_claude, read_openclaw
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many

_log = logging.getLogger(__name__)
_LATE = "the session was compacted before this could begin"


@dataclass(frozen=True, slots=True)
class Acted:
    """The outcome of an event: what was written, or why nothing was."""

    event: TriggerEvent
    outcome: TriggerOutcome
    done: CompactedSession | FlushedSession | None
    problem: str = ""


def act_on(settings: Settings, store: Store, ids: Sequence[str]) -> Iterator[Acted]:
    """Flush or compact the sessions of some events, each once: one that has ended is not done again."""
    with store.reading() as tx:
        events = tx.triggers.read(ids)
    live = {usage.session: usage for usage in find_sessions(settings, datetime.now(UTC)).usages}
    for event in events:
        if event.outcome in ("done", "late"):
            continue
        usage = live.get(event.session_id)
        if usage is not None and usage.compactions > event.compactions:
            acted = Acted(event, "late", None, _LATE)
        else:
            acted = _act(settings, event)
        with store.writing(event.fired_by) as tx:
            tx.triggers.end(event.id, acted.outcome, datetime.now(UTC))
        yield acted


def _act(settings: Settings, event: TriggerEvent) -> Acted:
    try:
        session = read_session_file(event.transcript, settings, event.project_id or None)
        if event.agent == "claude-code" and session.compactions > event.compactions:
            return Acted(event, "late", None, _LATE)
        if event.action == "flush":
            done: CompactedSession | FlushedSession = flush_session(settings, session)
        else:
            done = compact_and_index(settings, session, event.fired_by)
    except MemoryPipelineError as error:
        return Acted(event, "failed", None, str(error))
    outcome: TriggerOutcome = "failed" if getattr(done, "outcome", "") == "rolled back" else "done"
    return Acted(event, outcome, done, "a gate failed that may not" if outcome == "failed" else "")


def compact_live(settings: Settings, by: str) -> Iterator[Acted]:
    """Compact every live session of which the words are known, whatever its level."""
    now = datetime.now(UTC)
    for usage in find_sessions(settings, now).usages:
        if not usage.transcript:
            continue
        event = make_event(usage, "command", "compact", now, by, "started by hand")
        acted = _act(settings, event)
        store = Store.of(settings)
        if store.exists():
            with store.writing(by) as tx:
                tx.triggers.keep(event)
                tx.triggers.end(event.id, acted.outcome, datetime.now(UTC))
        yield acted


def compact_and_index(settings: Settings, session: Session, by: str, *, aggressive: bool = False) -> CompactedSession:
    """Compact a session that was read, and see to it that its turns can be searched."""
    done = compact_session(settings, session, aggressive=aggressive)
    if done.outcome != "compacted":
        return done
    gate = index_refreshed(settings, Store.of(settings), session, by)
    return done.model_copy(update={"gates": (*done.gates, gate)})


def note(
    settings: Settings, session: Session, kind: TriggerKind, action: TriggerAction, by: str, reason: str, *, ok: bool
) -> None:
    """Record what a hook or a command did, so that no sensor does it again, unless the store is missing or held."""
    store = Store.of(settings)
    if not store.exists():
        return
    now = datetime.now(UTC)
    usage = replace(_read_usage(settings, session, now), project=session.project)
    event = make_event(usage, kind, action, now, by, reason)
    try:
        with store.writing(by) as tx:
            tx.triggers.keep(event)
            tx.triggers.end(event.id, "done" if ok else "failed", now)
    except MemoryPipelineError as error:
        _log.warning("what was done to session '%s' could not be recorded: %s", session.name, error)


def _read_usage(settings: Settings, session: Session, now: datetime) -> ContextUsage:
    """The context usage of a session, as its agent's files tell it; by its words alone if they do not."""
    file = Path(session.place.partition("#")[0])
    usage: ContextUsage | None = None
    try:
        if session.agent == "claude-code":
            usage = read_claude(file, settings.compaction)
        else:
            usages = read_openclaw(file.parent.parent, settings.compaction)
            usage = next((usage for usage in usages if usage.session == session.name), None)
    except (MemoryPipelineError, OSError) as error:
        _log.warning("how full the context of session '%s' is could not be read: %s", session.name, error)
    if usage is not None:
        return replace(usage, transcript=session.place)
    return ContextUsage(
        session=session.name,
        agent="openclaw" if session.agent == "openclaw" else "claude-code",
        tokens=session.tokens,
        window=max(settings.compaction.window_tokens, session.tokens),
        at=now,
        compactions=session.compactions,
        transcript=session.place,
    )


def index_refreshed(settings: Settings, store: Store, session: Session, actor: str) -> Gate:
    """Every turn of the session is in the store; else they are imported, as the next reading of their source would."""
    source = source_of(settings, session.agent, session.place)
    if source is None or not store.exists():
        why = "no source of the store has this session" if source is None else "there is no store yet"
        return Gate.of("index_refreshed", "after", True, "warns", f"{why}; nothing is indexed")
    try:
        missing = _missing(store, session)
        if missing:
            import_memories(
                store,
                _set_files(source, session),
                project=source.project or session.project,
                embedder=choose_embedder(settings),
                now=datetime.now(UTC),
                mask=settings.import_.redact,
                actor=actor,
            )
            missing = _missing(store, session)
    except MemoryPipelineError as error:
        return Gate.of(
            "index_refreshed", "after", False, "warns", f"{error}; the next reading of '{source.name}' does it"
        )
    finding = (
        f"{how_many(len(missing), 'turn')} could not be imported"
        if missing
        else f"{how_many(len(session.turns), 'turn')} can be searched"
    )
    return Gate.of("index_refreshed", "after", not missing, "warns", finding)


def _missing(store: Store, session: Session) -> list[str]:
    ids = [candidate.native_id for candidate in session.said if candidate.native_id]
    with store.reading() as tx:
        known = tx.memories.existing(ids)
    return [native_id for native_id in ids if native_id not in known]


def _set_files(source: SourceTable, session: Session) -> Iterator[Candidate]:
    """The turns with the file that they would name if their source were read."""
    path, _, part = session.place.partition("#")
    file = Path(path)
    name = file.name if file == Path(source.path) else file.relative_to(source.path).as_posix()
    for candidate in session.said:
        yield replace(candidate, source=replace(candidate.source, file=f"{name}#{part}" if part else name))
