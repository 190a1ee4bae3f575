"""Open threads: what a reader found to be open, and what somebody marked as a task; and when it was done.

No sentence is understood here: a statement of the kind `thread` is open until another one replaces it, and a box is
open until it is ticked in a later note of the same words; after that, one of the same words is open anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from memory_pipeline.records import DIGEST, MADE, READING, Memory
from memory_pipeline.text.normalise import normalise, without_time

#: The tag of statements that say what is open.
THREAD_TAG = "kind:thread"
_OPEN = re.compile(r"\s*(?:[-*+]\s+)?(?:\[ \]|(?:TODO|FIXME)\b\W{0,3})\s*")
_BOX = re.compile(r"\s*(?:[-*+]\s+)?(\[[ xX]\] )")
_DONE = re.compile(r"\s*(?:[-*+]\s+)?(?:\[[xX]\]|✅|✔|☑|DONE\b\W{0,3})\s*")


@dataclass(frozen=True, slots=True)
class Thread:
    """Something open, the memory that opened it, and when and by which memory it was closed."""

    memory: Memory
    closed_at: datetime | None = None
    closed_by: Memory | None = None

    @property
    def opened_on(self) -> date:
        """The day on which it was opened."""
        return _noted_on(self.memory)

    @property
    def closed_on(self) -> date | None:
        """The day on which it was closed; None while it is open."""
        if self.closed_by is not None:
            return self.closed_by.day
        return (self.closed_at - timedelta(microseconds=1)).date() if self.closed_at else None

    def is_closed(self, day: date, ends_at: datetime) -> bool:
        """True if it was closed by the end of a day, which is given too: what a note closes is closed on its day, what
        a night finds gone or replaced as of the end of the night's."""
        if self.closed_by is not None and self.closed_by.source.connector != MADE:
            return _noted_on(self.closed_by) <= day
        return self.closed_at is not None and self.closed_at <= ends_at


def find_threads(memories: Sequence[Memory], gone: Mapping[str, datetime]) -> list[Thread]:
    """The threads of a project, by the creation of what opened them.

    `memories`: all of a project, with archived ones; `gone`: when the words of memories were found to be no longer in
    their source, which closes a thread.
    """
    ordered = sorted(memories, key=lambda memory: (memory.created_at, memory.id))
    by_id = {memory.id: memory for memory in ordered}
    ticked: dict[str, list[Memory]] = {}
    opened: dict[str, list[Memory]] = {}
    for memory in ordered:
        line = without_time(memory.content)
        if done := _DONE.match(line):
            ticked.setdefault(normalise(line[done.end() :]), []).append(memory)
        elif opens(memory):
            task = _task(memory)
            earlier = opened.setdefault(task, [])
            if not earlier or any(
                earlier[-1].created_at <= closing.created_at < memory.created_at for closing in ticked.get(task, ())
            ):
                earlier.append(memory)  # once more, after it was done
    threads = []
    for task, memory in ((task, memory) for task, memories_of in opened.items() for memory in memories_of):
        by = next((closing for closing in ticked.get(task, ()) if closing.created_at >= memory.created_at), None)
        ends = [by.created_at] if by else []
        ends += [gone[memory.id]] if memory.id in gone else []
        into = _find_replacement(memory, by_id)
        if into and opens(into) and _noted_on(into) <= _noted_on(memory):
            continue  # the words as they were edited are the thread
        if into and memory.archived_at:
            ends.append(memory.archived_at)
            by = by or into
        closed_at = min(ends, default=None)
        threads.append(Thread(memory, closed_at, by if closed_at else None))
    return threads


def box_of(text: str) -> str:
    """The box of a task with a blank behind it, `[ ] ` or `[x] `, to stand before words that are told without it; empty
    if a text has none."""
    match = _BOX.match(text)
    return match[1] if match else ""


def is_ticked(text: str) -> bool:
    """True if a text is a task that somebody marked as done."""
    return _DONE.match(without_time(text)) is not None


def opens(memory: Memory) -> bool:
    """True if a memory says that something is open."""
    if memory.memory_type == "conversation":
        return False
    return THREAD_TAG in memory.tags or _OPEN.match(without_time(memory.content)) is not None


def _task(memory: Memory) -> str:
    line = without_time(memory.content)
    match = _OPEN.match(line)
    return normalise(line[match.end() :] if match else line)


def _find_replacement(memory: Memory, by_id: Mapping[str, Memory]) -> Memory | None:
    """The statement or digest that took the place of one, or its words as somebody edited them; what a night merged and
    a copy say it still."""
    into = by_id.get(memory.consolidated_into_id or "")
    if into is None or normalise(into.content) == normalise(memory.content):
        return None
    if into.source.connector != MADE:
        return into
    return into if into.source.file in (READING, DIGEST) and THREAD_TAG not in into.tags else None


def _noted_on(memory: Memory) -> date:
    """The later one of a note's day by the clock of its source and its day in UTC: a note that knows only its day is of
    that day everywhere, and none is told before it can be in the store."""
    return max(memory.created_on, memory.created_at.astimezone(UTC).date())
