"""What started flushes and compactions of live sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memory_pipeline.records import TriggerEvent
from memory_pipeline.records.trigger import TriggerOutcome
from memory_pipeline.store.rows import RowsOf, to_utc
from memory_pipeline.store.sql import Sql

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
