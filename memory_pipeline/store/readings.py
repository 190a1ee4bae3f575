"""What a reader has read of the notes, and what stands: the statements that notes may repeat or replace."""

from __future__ import annotations

from datetime import date, datetime

from memory_pipeline.records import DIGEST, MADE, READ, ROUTINE, Memory
from memory_pipeline.store.memories import MEMORIES, RIPE
from memory_pipeline.store.rows import to_utc
from memory_pipeline.store.sql import Sql

_UNREAD = f"""archived_at is null and rolled_back_at is null and abstraction_level = 0
    and memory_type <> 'conversation' and source_connector not in ('night', 'conversations') and {RIPE}
    and not exists (
        select 1
        from compression_log l
        where l.policy = $read and l.rolled_back_at is null and l.cluster_fingerprint = sha256(m.id))"""


class Readings:
    """Notes that are to be read, statements that stand, and digests of days."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def unread(self, *, created_before: datetime, as_of: datetime) -> list[Memory]:
        """The active raw notes that are old enough to be touched and that no reader has read, by project, day, file and
        line. A note is known by its fingerprint in the log; turns of conversations are read with their day."""
        rows = self._sql.rows(
            f"""
            select {MEMORIES.columns}
            from memories m
            where {_UNREAD}
            order by project_id, effective_date::date, source_file, source_line, effective_date, id
            """,
            {"created_before": to_utc(created_before), "as_of": to_utc(as_of), "read": READ},
        )
        return [MEMORIES.read(row) for row in rows]

    def count_unread(self, *, created_before: datetime, as_of: datetime) -> tuple[int, int]:
        """How many notes no reader has read, and their tokens."""
        row = self._sql.row(
            f"select count(*), coalesce(sum(token_count), 0) from memories m where {_UNREAD}",
            {"created_before": to_utc(created_before), "as_of": to_utc(as_of), "read": READ},
        )
        assert row is not None
        return int(row[0]), int(row[1])

    def standing(self, project_id: str, as_of: datetime) -> list[Memory]:
        """The active statements of a project that were known by a time, by id: what readers found, what conversations
        gave, and what nights merged and distilled; no readings of series and no digests."""
        rows = self._sql.rows(
            f"""
            select {MEMORIES.columns}
            from memories
            where project_id = $1 and archived_at is null and created_at <= $2 and abstraction_level <= 2
              and (source_connector = 'conversations'
                   or (source_connector = 'night' and source_file not in ('series', $3)))
            order by id
            """,
            [project_id, to_utc(as_of), DIGEST],
        )
        return [MEMORIES.read(row) for row in rows]

    def count_routine(self, digest_id: str) -> int:
        """The notes for which a digest stands, with those of the digests that it replaced."""
        return int(
            self._sql.value(
                """
                with recursive digests(id) as (
                    select $1
                    union
                    select l.source_id
                    from lineage l
                    join digests d on l.memory_id = d.id and l.relation = 'replaced'
                )
                select count(distinct l.source_id)
                from lineage l
                join digests d on l.memory_id = d.id and l.relation = $2
                join memories m on m.id = l.source_id and m.consolidated_into_id in (select id from digests)
                """,
                [digest_id, ROUTINE],
            )
        )

    def digest_of(self, project_id: str, day: date) -> Memory | None:
        """The active digest of a project's day."""
        row = self._sql.row(
            f"""
            select {MEMORIES.columns}
            from memories
            where project_id = $1 and archived_at is null and source_connector = $2 and source_file = $3
              and (effective_date + to_minutes(utc_offset))::date = $4
            order by created_at desc, id
            limit 1
            """,
            [project_id, MADE, DIGEST, day],
        )
        return MEMORIES.read(row) if row else None
