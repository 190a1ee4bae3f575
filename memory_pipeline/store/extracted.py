"""The memories that were made of what was extracted from conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import pyarrow as pa

from memory_pipeline.store.memories import Memories
from memory_pipeline.store.rows import to_utc
from memory_pipeline.store.sql import Sql


class ExtractedMemories:
    """Which of them are in use, and what they stand for."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def put_in_use(self, turns: Mapping[str, str]) -> None:
        """Let memories that were taken out of use be in use again, by id each with its turn, unchanged."""
        if not turns:
            return
        Memories(self._sql).revive(list(turns))
        with self._sql.given(links=pa.table({"memory_id": list(turns), "source_id": list(turns.values())})):
            self._sql.run(
                """
                insert into lineage by name
                select memory_id, source_id, 'extracted' as relation, 1.0 as similarity
                from links l
                where (memory_id, source_id) not in (select (memory_id, source_id) from lineage)
                """
            )

    def retire(self, memory_ids: Sequence[str], at: datetime, by: str) -> None:
        """Take memories out of use of which nothing stands any more; one that a night has archived stays archived."""
        retired = self._sql.strings(
            """
            update memories
            set importance_before = importance, importance = 0.5, archived_by = $2, archived_at = $3,
                consolidated_into_id = null, rolled_back_at = $3, updated_at = $3
            where id in (select unnest($1::text[])) and archived_at is null and source_connector = 'conversations'
            returning id
            """,
            [list(memory_ids), by, to_utc(at)],
        )
        self._sql.run("delete from lineage where memory_id in (select unnest($1::text[]))", [retired])

    def superseded_by(self, memory_ids: Sequence[str]) -> list[str]:
        """The memories that were archived into these because what they say was withdrawn."""
        return self._sql.strings(
            """
            select m.id
            from memories m
            join lineage l on l.memory_id = m.consolidated_into_id and l.source_id = m.id
            where l.relation = 'superseded' and m.source_connector = 'conversations'
              and m.consolidated_into_id in (select unnest($1::text[]))
            order by 1
            """,
            [list(memory_ids)],
        )

    def turns_kept_elsewhere(self, as_of: datetime) -> set[str]:
        """The turns of which memories say what is worth keeping, as of a time: these are compared in their place."""
        return set(
            self._sql.strings(
                """
                select distinct l.source_id
                from lineage l
                join memories m on m.id = l.memory_id
                where l.relation = 'extracted' and m.rolled_back_at is null and m.created_at <= $1
                """,
                [to_utc(as_of)],
            )
        )

    def said_by_agent(self, project_id: str) -> set[str]:
        """The memories that were made of words of an agent."""
        return set(
            self._sql.strings(
                "select distinct memory_id from extractions "
                "where project_id = $1 and speaker = 'agent' and memory_id is not null",
                [project_id],
            )
        )
