"""Sessions of agents, with what each last reported about its context window."""

from __future__ import annotations

from datetime import datetime

from memory_pipeline.records import SessionUsage
from memory_pipeline.store.rows import RowsOf, to_utc
from memory_pipeline.store.sql import Sql

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
