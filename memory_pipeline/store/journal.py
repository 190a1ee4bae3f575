"""The written record of the nights: compression log, reports, notices, quarantine, and the store's hash."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa

from memory_pipeline.records import DEFERRED_REASONS, LogRow, NightError
from memory_pipeline.store.connection import Transaction
from memory_pipeline.store.memories import from_utc, to_utc
from memory_pipeline.store.rows import RowsOf
from memory_pipeline.store.runs import rolled_back_at

_LOG = RowsOf(LogRow)


def insert_log(tx: Transaction, row: LogRow) -> None:
    """Add one decision to the compression log; the same decision twice is kept once, and one that was
    rolled back counts again when it is taken again."""
    tx.execute(
        "update compression_log set rolled_back_at = null, compressed_memory_id = $2, reason = $3, "
        "member_count = $4, compression_ratio = $5, run_id = $6 where id = $1 and rolled_back_at is not null",
        [row.id, row.compressed_memory_id, row.reason, row.member_count, row.compression_ratio, row.run_id],
    )
    tx.execute(
        f"insert into compression_log ({_LOG.columns}) values ({_LOG.parameters}) on conflict do nothing",
        _LOG.values(row),
    )


def settled_fingerprints(tx: Transaction, as_of: datetime, ttl_days: int) -> dict[tuple[str, str], str]:
    """Policies and fingerprints decided in the `ttl_days` up to and including `as_of`, with their status.

    A `failed` or deferred row does not settle anything: the next night tries again.
    """
    rows = tx.execute(
        "select policy, cluster_fingerprint, max_by(status, created_at) from compression_log "
        "where created_at <= $1 and created_at > $2 and status <> 'failed' and rolled_back_at is null "
        "and not list_contains($3::text[], coalesce(reason, '')) group by 1, 2",
        [to_utc(as_of), to_utc(as_of - timedelta(days=ttl_days)), list(DEFERRED_REASONS)],
    ).fetchall()
    return {(str(row[0]), str(row[1])): str(row[2]) for row in rows}


def log_of_run(tx: Transaction, run_id: str) -> list[LogRow]:
    """What one run decided, by status and fingerprint."""
    rows = tx.execute(
        f"select {_LOG.columns} from compression_log where run_id = $1 order by status, cluster_fingerprint",
        [run_id],
    ).fetchall()
    return [_LOG.read(row) for row in rows]


def keep_error(tx: Transaction, run_id: str, error: NightError) -> None:
    """Keep what went wrong with one cluster of a run, for the report at its end."""
    tx.execute(
        "insert into night_errors values ($1, $2, $3, $4, $5)",
        [run_id, error.cluster_id, error.stage, error.error, to_utc(error.timestamp)],
    )


def errors_of_run(tx: Transaction, run_id: str) -> list[NightError]:
    """What went wrong in a run, in order."""
    rows = tx.execute(
        "select cluster_id, stage, error, happened_at from night_errors where run_id = $1 order by "
        "happened_at, cluster_id",
        [run_id],
    ).fetchall()
    return [NightError(row[0], row[1], row[2], from_utc(row[3])) for row in rows]


def keep_report(
    tx: Transaction, run_id: str, partition: date, verdict: str, report: dict[str, Any], written_at: datetime
) -> None:
    """Keep a night's report; the same run reporting again replaces its own."""
    values = [run_id, partition, verdict, json.dumps(report, sort_keys=True), to_utc(written_at)]
    tx.execute(
        "update night_reports set partition_date = $2, verdict = $3, report = $4, written_at = $5 where run_id = $1",
        values,
    )
    tx.execute("insert into night_reports values ($1, $2, $3, $4, $5) on conflict do nothing", values)


def read_report(tx: Transaction, run_id: str | None = None, kind: str | None = "night") -> dict[str, Any] | None:
    """The report of a run of whatever kind, or the latest one of a kind (of any with None); None when there is none.

    Reports of before there were kinds are those of nights. `rolled_back_at` is what the store knows by now.
    """
    row = tx.execute(
        "select report, run_id from night_reports where case when $1 is not null then run_id = $1 "
        "else $2 is null or coalesce(report ->> 'kind', 'night') = $2 end order by written_at desc, run_id limit 1",
        [run_id, kind],
    ).fetchone()
    if row is None:
        return None
    undone = rolled_back_at(tx, row[1])
    return {**json.loads(row[0]), "rolled_back_at": undone.isoformat() if undone else None}


def verdicts_of(tx: Transaction, run_ids: Sequence[str]) -> dict[str, str]:
    """The verdicts of those of these runs that have a report."""
    rows = tx.execute(
        "select run_id, verdict from night_reports where run_id in (select unnest($1::text[]))", [list(run_ids)]
    ).fetchall()
    return {str(run_id): str(verdict) for run_id, verdict in rows}


def newest_reported_day(tx: Transaction) -> date | None:
    """The newest partition of which there is a report of a night."""
    row = tx.execute("select max(partition_date) from night_reports").fetchone()
    return row[0] if row else None


def report_history(tx: Transaction, limit: int = 60) -> list[dict[str, Any]]:
    """The newest report of a night for each of the last `limit` partitions, oldest first."""
    rows = tx.execute(
        "select report from (select report, partition_date, row_number() over "
        "(partition by partition_date order by written_at desc, run_id) as nth from night_reports "
        "where coalesce(report ->> 'kind', 'night') = 'night') "
        "where nth = 1 order by partition_date desc limit $1",
        [limit],
    ).fetchall()
    return [json.loads(row[0]) for row in reversed(rows)]


def keep_notice(tx: Transaction, notice: dict[str, Any]) -> bool:
    """Put a notice in the outbox; False when it is there already."""
    found = tx.execute("select 1 from notices where id = $1", [notice["id"]]).fetchone()
    if found:
        return False
    tx.execute(
        "insert into notices values ($id, $run_id, $recipient, $priority, $subject, $body, $created_at, null, null)",
        {**notice, "created_at": to_utc(notice["created_at"])},
    )
    return True


def note_delivery(tx: Transaction, notice_id: str, at: datetime, error: str | None) -> None:
    """Record that a notice went out, or why it did not."""
    tx.execute(
        "update notices set delivered_at = case when $3 is null then $2 end, delivery_error = $3 where id = $1",
        [notice_id, to_utc(at), error],
    )


def keep_quarantine(tx: Transaction, rows: Sequence[tuple[str, int, str, str]], seen_at: datetime) -> None:
    """Keep rejected rows: file, line, reason, excerpt. The same rejection again changes nothing."""
    if not rows:
        return
    columns = dict(zip(("file", "line", "reason", "excerpt"), zip(*rows, strict=True), strict=True))
    tx.register("incoming_quarantine", pa.table({name: list(values) for name, values in columns.items()}))
    tx.execute(
        "insert into quarantine select distinct on (file, line, reason) file, line, reason, excerpt, $1 "
        "from incoming_quarantine on conflict do nothing",
        [to_utc(seen_at)],
    )
    tx.unregister("incoming_quarantine")


def read_quarantine(tx: Transaction) -> list[tuple[str, int, str, str]]:
    """File, line, reason and excerpt of every rejected row, by file and line."""
    return tx.execute("select file, line, reason, excerpt from quarantine order by file, line, reason").fetchall()


def store_hash(tx: Transaction, *, active_only: bool = False, with_log: bool = False, playbook: bool = True) -> str:
    """SHA-256 over all memories and their lineage, in id order; of the active ones only, if asked.

    It does not depend on row order, on when a run happened, or on its id. `with_log` adds the
    compression log, the conflicts and, where there are any, the atoms and the playbook
    (without `playbook`: as it was before that counted).
    """
    parts = [
        "select sha256(coalesce(string_agg(sha256(to_json(m)::text), '' order by id), '')) from "
        "(select * exclude (updated_at) from memories where not $1 or archived_at is null) "
        "m",
        "select sha256(coalesce(string_agg(sha256(to_json(l)::text), '' order by memory_id, source_id), '')) "
        "from lineage l "
        "where not $1 or memory_id in (select id from memories where archived_at is null)",
    ]
    if with_log:
        parts += [
            "select sha256(coalesce(string_agg(sha256(to_json(g)::text), '' order by id), '')) from "
            "(select * exclude (run_id) from compression_log where not $1 or true) g",
            "select sha256(coalesce(string_agg(sha256(to_json(c)::text), '' order by a, b), '')) from "
            "(select * from conflicts where not $1 or true) c",
        ]
        if tx.execute("select 1 from atoms where retracted_at is null limit 1").fetchone():
            parts.append(
                "select sha256(string_agg(sha256(to_json(a)::text), '' order by id)) from (select * from atoms "
                "where retracted_at is null and (not $1 or true)) a"
            )
        if playbook and tx.execute("select 1 from playbook_entries where retracted_at is null limit 1").fetchone():
            parts.append(
                "select sha256(string_agg(sha256(to_json(p)::text), '' order by id)) from (select * from "
                "playbook_entries where retracted_at is null and (not $1 or true)) p"
            )
    digests = [tx.execute(part, [active_only]).fetchone() for part in parts]
    combined = tx.execute("select sha256($1)", ["".join(str(d[0]) for d in digests if d)]).fetchone()
    assert combined is not None
    return str(combined[0])


def store_facts(tx: Transaction) -> dict[str, int]:
    """Row counts that a person wants to see: active, archived, abstractions, conflicts, quarantine, tokens."""
    row = tx.execute(
        "select count(*) filter (where archived_at is null), "
        "count(*) filter (where archived_at is not null and rolled_back_at is null), "
        "count(*) filter (where source_connector = 'night' and rolled_back_at is null), "
        "coalesce(sum(token_count) filter (where archived_at is null), 0), "
        "(select count(*) from conflicts where resolution is null), (select count(*) from quarantine) from memories"
    ).fetchone()
    assert row is not None
    names = ("active", "archived", "abstractions", "active_tokens", "conflicts", "quarantined")
    return dict(zip(names, (int(value) for value in row), strict=True))
