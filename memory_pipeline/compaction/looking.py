"""What would fire now for live sessions, and what has fired, as documents."""

from __future__ import annotations

from datetime import datetime, timedelta

from memory_pipeline.compaction.documents import EventShown, TriggerShown
from memory_pipeline.compaction.sessions import find_sessions
from memory_pipeline.compaction.triggers import judge
from memory_pipeline.config.settings import Settings
from memory_pipeline.records import SessionUsage, TriggerEvent
from memory_pipeline.store import Store


def look_at_sessions(settings: Settings, store: Store, now: datetime) -> tuple[list[TriggerShown], list[str]]:
    """What would fire now for each live session, and what could not be read. The time of a session that was never
    compacted is counted from when a sensor first sees it, so it fires nothing here."""
    reported: list[SessionUsage] = []
    if store.exists():
        with store.reading() as tx:
            reported = tx.sessions.reported_since(now - timedelta(hours=settings.compaction.active_hours))
    watched = find_sessions(settings, now, reported)
    events: list[TriggerEvent] = []
    if store.exists():
        with store.reading() as tx:
            events = tx.triggers.of_sessions([usage.session for usage in watched.usages])
    shown = []
    for usage in watched.usages:
        verdict = judge(usage, settings, events, now)
        shown.append(
            TriggerShown(
                session=usage.session,
                agent=usage.agent,
                project=usage.project,
                tokens=usage.tokens,
                estimated=usage.estimated,
                window=usage.window,
                share=round(usage.share, 4),
                compactions=usage.compactions,
                at=usage.at,
                level=verdict.level,
                fires=verdict.fires,
                action=verdict.action,
                why=verdict.why,
            )
        )
    return shown, watched.problems


def events_shown(store: Store, most: int) -> list[EventShown]:
    """What has fired, the newest first; nothing without a store."""
    if not store.exists():
        return []
    with store.reading() as tx:
        events = tx.triggers.newest(most)
    return [
        EventShown(
            id=event.id,
            session=event.session_id,
            agent=event.agent,
            project=event.project_id,
            kind=event.kind,
            action=event.action,
            share=round(event.share, 4),
            compactions=event.compactions,
            fired_at=event.fired_at,
            fired_by=event.fired_by,
            reason=event.reason,
            outcome=event.outcome,
            done_at=event.done_at,
        )
        for event in events
    ]
