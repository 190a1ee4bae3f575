"""The records of the nights: compression log, errors, reports, notices and quarantine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa

from memory_pipeline.records import DEFERRED_REASONS, MOVED, LogRow, NightError, Notice
from memory_pipeline.store.forgotten import Forgotten
from memory_pipeline.store.rows import RowsOf, Statements, only_one, put_values
from memory_pipeline.store.runs import Runs

_LOG = RowsOf(LogRow, "compression_log")
_OF_NIGHT = "report ->> 'kind' = 'night'"


class Journal(Statements):
    """Decisions, errors, reports and notices of nights, and rejected rows."""

    def log(self, rows: Sequence[LogRow]) -> None:
        """Add decisions to the compression log; the same decision is stored once, and a rolled-back one counts again
        when it is made again."""
        if not rows:
            return
        given = self._sql(incoming=_LOG.table(rows))
        if given.count("insert into compression_log by name from incoming on conflict do nothing") == len(rows):
            return
        given.run("""
            update compression_log l
            set rolled_back_at = null, compressed_memory_id = i.compressed_memory_id, reason = i.reason,
                member_count = i.member_count, compression_ratio = i.compression_ratio, run_id = i.run_id
            from incoming i
            where l.id = i.id and l.rolled_back_at is not null
            """)

    def log_of(self, run_id: str) -> list[LogRow]:
        """The decisions of one run, by status and fingerprint."""
        return _LOG(self._sql(run_id)).select("where run_id = $1 order by status, cluster_fingerprint")

    def log_of_memories(self, memory_ids: Sequence[str]) -> list[LogRow]:
        """The decisions by which these memories were written, by time and fingerprint; not those rolled back."""
        return _LOG(self._sql(memory_ids)).select("""
            where compressed_memory_id in (select unnest($1::text[])) and status = 'compressed'
              and rolled_back_at is null
            order by created_at, cluster_fingerprint
            """)

    def settled_fingerprints(self, as_of: datetime, ttl_days: int) -> dict[tuple[str, str], str]:
        """Policies and fingerprints decided in the `ttl_days` up to and including `as_of`, with their status.

        A `failed` or deferred row decides nothing: the next night tries again.
        """
        rows = self._sql(as_of, as_of - timedelta(days=ttl_days), DEFERRED_REASONS).rows("""
            select policy, cluster_fingerprint, max_by(status, created_at)
            from compression_log
            where created_at <= $1 and created_at > $2
              and status <> 'failed' and rolled_back_at is null
              and not list_contains($3::text[], coalesce(reason, ''))
            group by 1, 2
            """)
        return {(str(row[0]), str(row[1])): str(row[2]) for row in rows}

    def keep_error(self, run_id: str, error: NightError) -> None:
        """Store an error in one cluster of a run, for the report at its end."""
        self._sql(run_id, error.cluster_id, error.stage, error.error, error.timestamp).run(
            "insert into night_errors values ($1, $2, $3, $4, $5)"
        )

    def errors_of(self, run_id: str) -> list[NightError]:
        """The errors of a run, in order."""
        rows = self._sql(run_id, MOVED).rows("""
            select cluster_id, stage, error, happened_at
            from night_errors
            where run_id = $1 and stage <> $2
            order by happened_at, cluster_id
            """)
        return [NightError(*row) for row in rows]

    def moved_by(self, run_id: str) -> list[str]:
        """Sentences that say where the lines of a person that a run moved stand now."""
        return self._sql(run_id, MOVED).strings(
            "select distinct error from night_errors where run_id = $1 and stage = $2 order by 1"
        )

    def keep_report(
        self, run_id: str, partition: date, verdict: str, report: dict[str, Any], written_at: datetime
    ) -> None:
        """Store a night's report; if the same run reports again, it replaces its own."""
        row = {"run_id": run_id, "partition_date": partition, "verdict": verdict, "written_at": written_at}
        put_values(self._sql, "night_reports", [{**row, "report": json.dumps(report, sort_keys=True)}])

    def report(self, run_id: str | None = None, kind: str | None = "night") -> dict[str, Any] | None:
        """The report of a run of any kind, or the latest one of a kind (or any, with None); None if there is none.

        `rolled_back_at` is the current value.
        """
        row = self._sql(run_id, kind).row("""
            select report, run_id
            from night_reports
            where case when $1 is not null then run_id = $1
                  else $2 is null or report ->> 'kind' = $2 end
            order by written_at desc, run_id
            limit 1
            """)
        if row is None:
            return None
        undone = Runs(self._sql).rolled_back_at(row[1])
        return {**json.loads(row[0]), "rolled_back_at": undone.isoformat() if undone else None}

    def reported_run(self, beginning: str) -> str:
        """The reported run with an id, or the only one whose id starts with it; of a day as YYYY-MM-DD, the newest run
        of its night that found something to do, else the newest. Raises InputError if there is none or several."""
        of_day = self._sql(beginning).strings(f"""
            select run_id
            from night_reports
            where cast(partition_date as text) = $1 and {_OF_NIGHT}
            order by coalesce(report ->> 'verdict' = 'IDLE', false), written_at desc, run_id
            limit 1
            """)
        if of_day:
            return of_day[0]
        known = self._sql(beginning).strings(
            "select run_id from night_reports where starts_with(run_id, $1) order by written_at desc, run_id"
        )
        mend = "'memory-pipeline report' names the latest night, and 'memory-pipeline report --kind any' the latest run"
        return only_one({run_id: run_id for run_id in known}, beginning, "reported run", mend)

    def reports(self) -> list[dict[str, Any]]:
        """The newest report of a night for each of the last 60 partitions, oldest first."""
        rows = self._sql.strings(f"""
            select report
            from night_reports
            where {_OF_NIGHT}
            qualify row_number() over (partition by partition_date order by written_at desc, run_id) = 1
            order by partition_date desc
            limit 60
            """)
        return [json.loads(report) for report in reversed(rows)]

    def verdicts_of(self, run_ids: Sequence[str]) -> dict[str, str]:
        """The verdicts of those of these runs that have a report."""
        return self._sql(run_ids).mapping("""
            select run_id, verdict
            from night_reports
            where run_id in (select unnest($1::text[]))
            """)

    def reported_nights(self) -> tuple[date | None, date | None]:
        """The oldest and the newest partition whose night was reported."""
        row = self._sql.row(f"select min(partition_date), max(partition_date) from night_reports where {_OF_NIGHT}")
        return row or (None, None)

    def newest_reported_day(self) -> date | None:
        """The newest partition with a report of any kind."""
        newest: date | None = self._sql.value("select max(partition_date) from night_reports")
        return newest

    def keep_notice(self, notice: Notice) -> bool:
        """Put a notice into the outbox; False if it is already there."""
        rows = self._sql(**asdict(notice)).rows("""
            insert into notices
            values ($id, $run_id, $recipient, $priority, $subject, $body, $created_at, null, null)
            on conflict do nothing
            returning id
            """)
        return bool(rows)

    def note_delivery(self, notice_id: str, at: datetime, error: str | None) -> None:
        """Record that a notice was delivered, or why it was not."""
        self._sql(notice_id, at, error).run("""
            update notices
            set delivered_at = case when $3 is null then $2 end, delivery_error = $3
            where id = $1
            """)

    def keep_quarantine(self, rows: Sequence[tuple[str, int, str, str]], seen_at: datetime) -> None:
        """Store rejected rows: file, line, reason, excerpt. The same rejection again changes nothing."""
        rows = Forgotten(self._sql).not_forgotten(rows)
        if not rows:
            return
        columns = dict(zip(("file", "line", "reason", "excerpt"), map(list, zip(*rows, strict=True)), strict=True))
        self._sql(seen_at, incoming=pa.table(columns)).run("""
            insert into quarantine
            select distinct on (file, line, reason) file, line, reason, excerpt, $1
            from incoming
            on conflict do nothing
            """)

    def rejected(self, file: str | None = None) -> list[tuple[str, int, str, str, datetime]]:
        """File, line, reason, excerpt and first time of every rejected row, or of those of a file; the same words with
        the same fault count once, wherever they stand in their file."""
        return self._sql(file).rows("""
            select file, max_by(line, first_seen_at), reason, excerpt, min(first_seen_at)
            from quarantine
            where $1::text is null or contains(file, $1)
            group by file, reason, excerpt, case when excerpt = '' then line end
            order by file, 2, reason
            """)

    def quarantine(self) -> list[tuple[str, int, str, str]]:
        """File, line, reason and excerpt of every rejected row, by file and line."""
        return self._sql.rows("select file, line, reason, excerpt from quarantine order by file, line, reason")
