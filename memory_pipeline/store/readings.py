"""The notes that a reader has read, and the statements that stand: those that notes may repeat or replace; and the
answers of models, with what each call cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from memory_pipeline.records import DIGEST, MADE, READ, READING, ROUTINE, Memory, ModelAnswer, ModelBatch, ModelCall
from memory_pipeline.store.lineage import Lineage
from memory_pipeline.store.memories import MEMORIES, RIPE
from memory_pipeline.store.rows import RowsOf, Statements

_ANSWERS, _CALLS = RowsOf(ModelAnswer, "model_answers"), RowsOf(ModelCall, "model_calls")
_BATCHES = RowsOf(ModelBatch, "model_batches")
_UNREAD = f"""archived_at is null and rolled_back_at is null and abstraction_level = 0
    and memory_type <> 'conversation' and source_connector not in ('night', 'conversations') and {RIPE}
    and not exists (
        select 1
        from compression_log l
        where l.policy = $read and l.rolled_back_at is null and l.cluster_fingerprint = sha256(m.id))"""


class Readings(Statements):
    """Notes that are to be read, statements that stand, and digests of days."""

    def unread(self, *, created_before: datetime, as_of: datetime) -> list[Memory]:
        """The active raw notes that are old enough to be touched and that no reader has read, by project, day, file and
        line. A note is known by its fingerprint in the log; turns of conversations are read with their day."""
        return MEMORIES(self._sql(created_before=created_before, as_of=as_of, read=READ)).select(f"""
            m where {_UNREAD}
            order by project_id, effective_date::date, source_file, source_line, effective_date, id
            """)

    def count_unread(self, *, created_before: datetime, as_of: datetime) -> tuple[int, int]:
        """Counts the notes that no reader has read, and their tokens."""
        return self._sql(created_before=created_before, as_of=as_of, read=READ).counts(
            f"select count(*), coalesce(sum(token_count), 0) from memories m where {_UNREAD}"
        )

    def left_by_readers(self, project_id: str) -> set[str]:
        """The active notes of a project that a reader read and left as they are."""
        return self._sql(project_id, READ).string_set("""
            select m.id
            from memories m
            join compression_log l on l.cluster_fingerprint = sha256(m.id)
            where m.project_id = $1 and m.archived_at is null and l.policy = $2 and l.rolled_back_at is null
            """)

    def standing(self, project_id: str, as_of: datetime) -> list[Memory]:
        """The active statements of a project that were known by a time, by id: what readers found, what conversations
        gave, and what nights merged and distilled; no readings of series and no digests."""
        return MEMORIES(self._sql(project_id, as_of, DIGEST)).select("""
            where project_id = $1 and archived_at is null and created_at <= $2 and abstraction_level <= 2
              and (source_connector = 'conversations'
                   or (source_connector = 'night' and source_file not in ('series', $3)))
            order by id
            """)

    def often_told(self, least_days: int) -> set[str]:
        """The active statements, also merged ones, behind which stand notes of so many days, also by way of those that
        they replaced."""
        return self._sql(MADE, READING, least_days).string_set("""
            with recursive walk(top, id) as (
                select id, id
                from memories
                where source_connector = $1 and abstraction_level = 1 and archived_at is null
                  and (source_file = $2 or id in (
                      select l.memory_id
                      from lineage l
                      join memories s on s.id = l.source_id
                      where s.source_connector = $1 and s.source_file = $2 and l.relation = 'merged'))
                union
                select w.top, l.source_id
                from walk w
                join lineage l on l.memory_id = w.id and l.relation not in ('duplicate', 'superseded', 'extracted')
            )
            select top
            from walk
            join memories m on m.id = walk.id
            where m.source_connector <> $1
            group by top
            having count(distinct (m.effective_date + to_minutes(m.utc_offset))::date) >= $3
            """)

    def count_routine(self, digest_id: str) -> int:
        """The notes for which a digest stands, with those of the digests that it replaced."""
        digests = [digest_id, *Lineage(self._sql).replaced_by([digest_id])[digest_id]]
        return self._sql(digests, ROUTINE).count("""
            select count(distinct l.source_id)
            from lineage l
            join memories m on m.id = l.source_id and m.consolidated_into_id in (select unnest($1::text[]))
            where l.memory_id in (select unnest($1::text[])) and l.relation = $2
            """)

    def digest_of(self, project_id: str, day: date) -> Memory | None:
        """The active digest of a project's day."""
        return MEMORIES(self._sql(project_id, MADE, DIGEST, day)).first("""
            where project_id = $1 and archived_at is null and source_connector = $2 and source_file = $3
              and (effective_date + to_minutes(utc_offset))::date = $4
            order by created_at desc, id
            limit 1
            """)


class Models(Statements):
    """The cached answers, the calls with their costs, and the batches."""

    def answers(self, prompt_hashes: Sequence[str]) -> dict[str, ModelAnswer]:
        """The cached answers to these prompts."""
        answers = _ANSWERS(self._sql(prompt_hashes)).select("where prompt_hash in (select unnest($1::text[]))")
        return {answer.prompt_hash: answer for answer in answers}

    def keep_answers(self, answers: Sequence[ModelAnswer]) -> None:
        """Store answers; a newer one to the same prompt replaces the old one."""
        _ANSWERS(self._sql).put(list({answer.prompt_hash: answer for answer in answers}.values()))

    def keep_calls(self, calls: Sequence[ModelCall]) -> None:
        """Record calls; the same call (by id) is recorded once."""
        _CALLS(self._sql).insert(calls, "on conflict do nothing")

    def calls_of(self, run_id: str) -> list[ModelCall]:
        """Every call that a run made or collected, in order."""
        return _CALLS(self._sql(run_id)).select("where run_id = $1 order by called_at, id")

    def keep_batch(self, batch: ModelBatch) -> None:
        """Record a batch, or its new status."""
        _BATCHES(self._sql).put([batch])

    def open_batches(self) -> list[ModelBatch]:
        """Batches that were sent, or may have been, and are not collected; oldest first."""
        return _BATCHES(self._sql).select("where status in ('sending', 'sent') order by created_at, id")
