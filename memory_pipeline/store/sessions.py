"""Sessions of agents, and what has started their flushes and compactions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memory_pipeline.records import SessionUsage, TriggerEvent
from memory_pipeline.records.conversation import TriggerOutcome
from memory_pipeline.store.rows import RowsOf, Sql, to_utc

_USAGE = RowsOf(SessionUsage)


class Sessions:
    """The usage that sessions have reported."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def keep(self, usage: SessionUsage) -> None:
        """Record what a session reports; it replaces what the session reported before."""
        with self._sql.given(incoming=_USAGE.table([usage])):
            changed = self._sql.rows(
                """
                update session_usage s
                set tokens_used = i.tokens_used, window_tokens = i.window_tokens, reported_at = i.reported_at,
                    reported_by = i.reported_by
                from incoming i
                where s.project_id = i.project_id and s.session_id = i.session_id
                returning s.session_id
                """
            )
            if not changed:
                self._sql.run("insert into session_usage by name select * from incoming")

    def usage(self, project_id: str, session_id: str) -> SessionUsage | None:
        """What a session last reported; None if it never did."""
        row = self._sql.row(
            f"select {_USAGE.columns} from session_usage where project_id = $1 and session_id = $2",
            [project_id, session_id],
        )
        return _USAGE.read(row) if row else None

    def reported_since(self, moment: datetime) -> list[SessionUsage]:
        """What sessions have reported since a moment, by project and session."""
        rows = self._sql.rows(
            f"select {_USAGE.columns} from session_usage where reported_at >= $1 order by project_id, session_id",
            [to_utc(moment)],
        )
        return [_USAGE.read(row) for row in rows]


_EVENTS = RowsOf(TriggerEvent)


class Triggers:
    """The times that triggers fired."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def keep(self, event: TriggerEvent) -> None:
        """Record that a trigger fired, or fired again."""
        with self._sql.given(incoming=_EVENTS.table([event])):
            changed = self._sql.rows(
                """
                update trigger_events t
                set tokens_used = i.tokens_used, window_tokens = i.window_tokens, fired_at = i.fired_at,
                    fired_by = i.fired_by, reason = i.reason, outcome = i.outcome, done_at = i.done_at
                from incoming i
                where t.id = i.id
                returning t.id
                """
            )
            if not changed:
                self._sql.run("insert into trigger_events by name select * from incoming")

    def end(self, event_id: str, outcome: TriggerOutcome, now: datetime) -> None:
        """Record what became of an event."""
        self._sql.run(
            "update trigger_events set outcome = $2, done_at = $3 where id = $1", [event_id, outcome, to_utc(now)]
        )

    def read(self, ids: Sequence[str]) -> list[TriggerEvent]:
        """The events with these ids, in the order in which they fired."""
        rows = self._sql.rows(
            f"select {_EVENTS.columns} from trigger_events where list_contains($1, id) order by fired_at, id", [[*ids]]
        )
        return [_EVENTS.read(row) for row in rows]

    def of_sessions(self, sessions: Sequence[str]) -> list[TriggerEvent]:
        """Every event of some sessions, in the order in which they fired."""
        rows = self._sql.rows(
            f"""
            select {_EVENTS.columns}
            from trigger_events
            where list_contains($1, session_id)
            order by fired_at, id
            """,
            [[*sessions]],
        )
        return [_EVENTS.read(row) for row in rows]

    def newest(self, most: int) -> list[TriggerEvent]:
        """The last events, the newest first."""
        rows = self._sql.rows(
            f"select {_EVENTS.columns} from trigger_events order by fired_at desc, id limit $1", [most]
        )
        return [_EVENTS.read(row) for row in rows]
