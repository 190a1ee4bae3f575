"""Sessions of agents, and what has started their flushes and compactions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memory_pipeline.records import SessionUsage, TriggerEvent
from memory_pipeline.records.conversation import TriggerOutcome
from memory_pipeline.store.rows import RowsOf, Sql, to_utc

_USAGE = RowsOf(SessionUsage, "session_usage")


class Sessions:
    """The usage that sessions have reported."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def keep(self, usage: SessionUsage) -> None:
        """Record what a session reports; it replaces what the session reported before."""
        _USAGE.put(self._sql, [usage])

    def usage(self, project_id: str, session_id: str) -> SessionUsage | None:
        """What a session last reported; None if it never did."""
        return _USAGE.first(self._sql, "where project_id = $1 and session_id = $2", [project_id, session_id])

    def reported_since(self, moment: datetime) -> list[SessionUsage]:
        """What sessions have reported since a moment, by project and session."""
        return _USAGE.select(self._sql, "where reported_at >= $1 order by project_id, session_id", [to_utc(moment)])


_EVENTS = RowsOf(TriggerEvent, "trigger_events")


class Triggers:
    """The times that triggers fired."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def keep(self, event: TriggerEvent) -> None:
        """Record that a trigger fired, or fired again."""
        _EVENTS.put(self._sql, [event])

    def end(self, event_id: str, outcome: TriggerOutcome, now: datetime) -> None:
        """Record what became of an event."""
        self._sql.run(
            "update trigger_events set outcome = $2, done_at = $3 where id = $1", [event_id, outcome, to_utc(now)]
        )

    def read(self, ids: Sequence[str]) -> list[TriggerEvent]:
        """The events with these ids, in the order in which they fired."""
        return _EVENTS.select(self._sql, "where list_contains($1, id) order by fired_at, id", [[*ids]])

    def of_sessions(self, sessions: Sequence[str]) -> list[TriggerEvent]:
        """Every event of some sessions, in the order in which they fired."""
        return _EVENTS.select(self._sql, "where list_contains($1, session_id) order by fired_at, id", [[*sessions]])

    def newest(self, most: int) -> list[TriggerEvent]:
        """The last events, the newest first."""
        return _EVENTS.select(self._sql, "order by fired_at desc, id limit $1", [most])
