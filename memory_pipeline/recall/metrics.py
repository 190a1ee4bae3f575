"""How far the memories of a project are consolidated, and when the last and the next night are."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from memory_pipeline.recall.documents import Metrics
from memory_pipeline.store import Transaction

#: When nights are due, by the clock of New York (requirement 4.1).
_NIGHT, _ZONE = time(3, 30), ZoneInfo("America/New_York")


def metrics_of(tx: Transaction, project_id: str, now: datetime) -> Metrics:
    """The figures of a project."""
    counts = tx.contents.of_project(project_id)
    last = tx.journal.report()
    raw = counts.raw_tokens
    return Metrics(
        project_id=project_id,
        total_memories=counts.active + counts.archived,
        active_memories=counts.active,
        consolidated_memories=counts.made,
        raw_memories=counts.active - counts.made,
        archived_memories=counts.archived,
        active_tokens=counts.active_tokens,
        archived_tokens=counts.archived_tokens,
        reduction_percentage=round(100 * (raw - counts.active_tokens) / raw, 2) if raw else 0.0,
        last_run_at=datetime.fromisoformat(last["finished_at"]) if last else None,
        last_run_id=last["run_id"] if last else None,
        last_verdict=last["verdict"] if last else None,
        last_night=date.fromisoformat(last["partition"]) if last else None,
        next_run_at=next_night(now),
        memories_by_type=counts.by_type,
        memories_by_level={str(level): count for level, count in counts.by_level.items()},
    )


def next_night(now: datetime) -> datetime:
    """When the next scheduled night begins."""
    there = now.astimezone(_ZONE)
    due = datetime.combine(there.date(), _NIGHT, _ZONE)
    if due <= there:
        due = datetime.combine(there.date() + timedelta(days=1), _NIGHT, _ZONE)
    return due.astimezone(UTC)
