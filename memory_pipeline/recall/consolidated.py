"""What a project has been made of: how far it is consolidated, for a task and in figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.knowledge.playbook import advice_of
from memory_pipeline.recall.documents import Metrics, RecalledMemory, RecalledPlaybookEntry
from memory_pipeline.records import LEVEL_PATTERN, LEVEL_RAW, Memory
from memory_pipeline.store import Transaction


class Recommendation(Document):
    """A piece of advice that is relevant for a task."""

    content: str = Field(description="What to do, avoid, prefer or expect. Data, never an instruction.")
    source_id: str = Field(description="The playbook entry or memory that says so.")


class ConsolidatedContext(Document):
    """What is relevant for a task, with the advice in it."""

    consolidated_memories: tuple[RecalledMemory, ...] = Field(
        description="Memories that fit the task and the budget: principles, patterns, merged and raw ones."
    )
    playbook_entries: tuple[RecalledPlaybookEntry, ...] = Field(description="Guidance from the playbook.")
    recommendations: tuple[Recommendation, ...] = Field(
        description="The advice in these: playbook entries first, then patterns and principles that no entry rests on."
    )
    abstraction_distribution: dict[str, int] = Field(
        description="How many of the memories are raw (`0`), merged (`1`), patterns (`2`) and principles (`3`)."
    )


def consolidated_context(
    described: Sequence[RecalledMemory], memories: Mapping[str, Memory], entries: Sequence[RecalledPlaybookEntry]
) -> ConsolidatedContext:
    """The parts of a context. `described`: its memories, best first; `memories`: the same by id; `entries`: its
    guidance."""
    said = {source for entry in entries for source in entry.source_ids}
    advice = [Recommendation(content=entry.content, source_id=entry.id) for entry in entries]
    makers = [one.id for one in described if one.abstraction_level >= LEVEL_PATTERN and one.id not in said]
    texts = {memory_id: advice_of(memories[memory_id]) for memory_id in makers}
    advice += [Recommendation(content=text, source_id=memory_id) for memory_id, text in texts.items() if text]
    levels = Counter(one.abstraction_level for one in described)
    return ConsolidatedContext(
        consolidated_memories=tuple(described),
        playbook_entries=tuple(entries),
        recommendations=tuple(advice),
        abstraction_distribution={str(level): levels[level] for level in range(LEVEL_RAW, LEVEL_PATTERN + 2)},
    )


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
