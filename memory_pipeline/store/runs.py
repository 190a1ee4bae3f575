"""What one run did to the memories, read back from the rows that it wrote: the audit log, the lineage, the log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory_pipeline.store.connection import Transaction
from memory_pipeline.store.memories import from_utc


@dataclass(frozen=True, slots=True)
class ArchivedRow:
    """A memory that a run archived: where to, and as what it stands in that memory's lineage."""

    memory_id: str
    into: str
    relation: str


def archived_by_run(tx: Transaction, run_id: str) -> list[ArchivedRow]:
    """Every memory that a run archived, in the order in which it did; those that it made itself included."""
    rows = tx.execute(
        "select g.row_id, g.into_id, coalesce(l.relation, '') from (select sequence, row_id, "
        "after_state ->> 'consolidated_into_id' as into_id from audit_log where run_id = $1 "
        "and table_name = 'memories' and action = 'update' and (before_state ->> 'archived_at') is null "
        "and (after_state ->> 'archived_at') is not null) g "
        "left join lineage l on l.memory_id = g.into_id and l.source_id = g.row_id order by g.sequence, g.row_id",
        [run_id],
    ).fetchall()
    return [ArchivedRow(str(row[0]), str(row[1] or ""), str(row[2])) for row in rows]


def tokens_around_run(tx: Transaction, run_id: str) -> tuple[int, int]:
    """Tokens of the active memories of the store before and after a run, as the store is now.

    Before: what is active now, less what the run made, and what it archived again. What others write while it runs
    counts on both sides, for the run did not save or cost it.
    """
    row = tx.execute(
        "select coalesce(sum(m.token_count) filter (where m.archived_at is null), 0), "
        "coalesce(sum(m.token_count) filter (where g.was_active and not g.is_active), 0), "
        "coalesce(sum(m.token_count) filter (where g.is_active and not g.was_active "
        "and m.source_connector = 'night'), 0) "
        "from memories m left join (select row_id, "
        "min_by(action, sequence) <> 'insert' and (min_by(before_state, sequence) ->> 'archived_at') is null "
        "as was_active, (max_by(after_state, sequence) ->> 'archived_at') is null as is_active "
        "from audit_log where run_id = $1 and table_name = 'memories' and after_state is not null group by 1) g "
        "on g.row_id = m.id",
        [run_id],
    ).fetchone()
    assert row is not None
    now, gone, made = (int(value) for value in row)
    return now + gone - made, now


def rolled_back_at(tx: Transaction, run_id: str) -> datetime | None:
    """When a run was last rolled back; None when it never was."""
    row = tx.execute("select max(rolled_back_at) from rollbacks where list_contains(run_ids, $1)", [run_id]).fetchone()
    return from_utc(row[0]) if row and row[0] else None
