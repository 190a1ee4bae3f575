"""What people said of what was extracted from conversations: decisions, and feedback on its use."""

from __future__ import annotations

from datetime import datetime

from memory_pipeline.records import ExtractionFeedback, PatternDecision
from memory_pipeline.store.rows import RowsOf, to_utc
from memory_pipeline.store.sql import Sql

_DECISIONS = RowsOf(PatternDecision)
_FEEDBACK = RowsOf(ExtractionFeedback)
#: So many voices for and against count as none: few say little about the use of a kind.
_VOICES = 4


class Opinions:
    """Decisions about patterns and extractions, and how useful each kind was called."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def decisions(self, project_id: str) -> dict[str, PatternDecision]:
        """What people decided about the patterns of a project, by pattern."""
        rows = self._sql.rows(
            f"select {_DECISIONS.columns} from relationship_patterns where project_id = $1 order by id", [project_id]
        )
        return {one.id: one for one in map(_DECISIONS.read, rows)}

    def decide(self, decision: PatternDecision) -> None:
        """Keep what a person decided about a pattern, in place of what was decided before."""
        known = self._sql.rows("select 1 from relationship_patterns where id = $1", [decision.id])
        values = _DECISIONS.values(decision)
        if known:
            self._sql.run(f"update relationship_patterns set {_DECISIONS.assignments} where id = $1", values)
        else:
            self._sql.run(
                f"insert into relationship_patterns ({_DECISIONS.columns}) values ({_DECISIONS.parameters})", values
            )

    def add_feedback(self, feedback: ExtractionFeedback) -> None:
        """Keep what was said about the use of something that was extracted."""
        with self._sql.given(incoming=_FEEDBACK.table([feedback])):
            self._sql.run("insert into extraction_feedback by name select * from incoming")

    def utility(self, project_id: str, before: datetime) -> dict[str, float]:
        """By kind, how useful extractions were called before a time, from -1 to 1."""
        rows = self._sql.rows(
            f"""
            select kind, round(sum(case when was_useful then 1 else -1 end) / (count(*) + {_VOICES}), 3)::double
            from extraction_feedback
            where project_id = $1 and said_at < $2
            group by 1
            """,
            [project_id, to_utc(before)],
        )
        return {str(kind): float(value) for kind, value in rows}
