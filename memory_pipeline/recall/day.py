"""What an agent should know as a day begins, within a token budget: guidance, what nights made, the latest notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from memory_pipeline.distillers import guiding_entries, may_guide
from memory_pipeline.recall.context import short_day
from memory_pipeline.recall.documents import DayContext, DayItem
from memory_pipeline.recall.results import source_of
from memory_pipeline.records import LEVEL_PATTERN, LEVEL_RAW, PlaybookEntry
from memory_pipeline.records.cluster import only_counts
from memory_pipeline.store import Transaction
from memory_pipeline.wording.subject import with_subject

#: Memories of a kind that are considered at most.
_MOST = 60


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading, its pieces with the best first, and the share of the budget that is full when it ends."""

    title: str
    items: Sequence[DayItem]
    until: float


def day_context(
    tx: Transaction,
    project: str,
    day: date,
    budget: int,
    count_tokens: Callable[[str], int],
    handle_of: Callable[[str], str],
) -> DayContext:
    """The context of a day. What a section leaves of its third is free for the next one."""
    sections = (
        _Section(
            "Guidance", [_guidance(entry) for entry in _surest(guiding_entries(tx.playbook.read(project)))], 1 / 3
        ),
        _Section("Patterns and principles", list(_memories(tx, project, made=True)), 2 / 3),
        _Section("Latest notes", list(_memories(tx, project, made=False)), 1.0),
    )
    lines, items = [f"# {project}, {day}"], list[DayItem]()
    for section in sections:
        opened = False
        for item in section.items:
            more = [] if opened else ["", f"## {section.title}", ""]
            handle = f" ^{handle_of(item.id)}" if item.kind == "memory" else ""
            more.append(f"- {' '.join(item.content.split())} ({short_day(item.day, day.year)}){handle}")
            if count_tokens("\n".join([*lines, *more])) > budget * section.until:
                continue
            lines, opened = [*lines, *more], True
            items.append(item)
    text = "\n".join(lines) if items else ""
    return DayContext(
        project=project, day=day, budget=budget, tokens=count_tokens(text) if text else 0, items=tuple(items), text=text
    )


def _surest(entries: Sequence[PlaybookEntry]) -> list[PlaybookEntry]:
    return sorted(guiding_entries(entries), key=lambda entry: (-entry.confidence, entry.id))[:_MOST]


def _guidance(entry: PlaybookEntry) -> DayItem:
    return DayItem(
        kind="playbook",
        id=entry.id,
        content=entry.content,
        day=entry.updated_at.date(),
        source=f"playbook, {entry.category}",
    )


def _memories(tx: Transaction, project: str, *, made: bool) -> Iterator[DayItem]:
    """The newest active memories: patterns and principles, or those below them without what was withdrawn."""
    least, most = (LEVEL_PATTERN, 9) if made else (LEVEL_RAW, LEVEL_PATTERN - 1)
    withdrawn = {} if made else tx.recallable.withdrawn(project)
    for memory in tx.memories.newest(project, _MOST, least=least, most=most):
        if memory.id in withdrawn or only_counts(memory) or not may_guide(memory):
            continue
        yield DayItem(
            kind="memory", id=memory.id, content=with_subject(memory), day=memory.day, source=source_of(memory)
        )
