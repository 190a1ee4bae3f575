"""What people said is not so, of what was extracted from conversations: it is kept, and goes nowhere."""

from __future__ import annotations

from collections.abc import Collection

from memory_pipeline.records import KeptExtraction, PatternDecision
from memory_pipeline.store.extracted import ExtractedMemories
from memory_pipeline.store.opinions import Opinions
from memory_pipeline.store.rows import RowsOf
from memory_pipeline.store.sql import Sql

_EXTRACTIONS = RowsOf(KeptExtraction)


class Refusals:
    """What was extracted and refused by a person; kept beside what people decided about patterns."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def known(self) -> list[KeptExtraction]:
        """All that stands and was kept somewhere, refused or not, in the order in which it was said."""
        rows = self._sql.rows(
            f"""
            select {_EXTRACTIONS.columns}
            from extractions
            where gone_at is null and destination <> 'drop'
            order by night, day, conversation, line, id
            """
        )
        return [_EXTRACTIONS.read(row) for row in rows]

    def of(self, project_id: str) -> set[str]:
        """The ids of what a person refused of a project."""
        return set(
            self._sql.strings(
                """
                select d.id
                from relationship_patterns d
                join extractions e on e.id = d.id
                where d.project_id = $1 and d.decision = 'rejected'
                """,
                [project_id],
            )
        )

    def decide(self, one: KeptExtraction, decision: PatternDecision) -> None:
        """Keep what a person decided about an extraction, and take its memory out of use, or let it be used again; the
        files of its day are to be written."""
        Opinions(self._sql).decide(decision)
        extracted = ExtractedMemories(self._sql)
        if one.memory_id and decision.decision == "rejected":
            extracted.retire([one.memory_id], decision.decided_at, f"refused:{decision.decided_by}")
        elif one.memory_id and self._is_out_of_use(one.memory_id):
            extracted.put_in_use({one.memory_id: one.turn_id})
        self._sql.run(
            """
            update conversation_days
            set is_written = false
            where project_id = $1 and night = $2 and gone_at is null and is_written
            """,
            [one.project_id, one.night],
        )

    def active(self, memory_ids: Collection[str]) -> list[str]:
        """Those of some memories that are in use, or say what a memory in use was made of."""
        return self._sql.strings(
            "select id from memories where id in (select unnest($1::text[])) and rolled_back_at is null order by 1",
            [list(memory_ids)],
        )

    def _is_out_of_use(self, memory_id: str) -> bool:
        return bool(self._sql.rows("select 1 from memories where id = $1 and rolled_back_at is not null", [memory_id]))
