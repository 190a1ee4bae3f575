"""The log of a short session, so that it is never longer than what it replaces.

Most of a short session may be worth keeping, and a mark, a source and a heading for each sentence make it longer than
it was. So these go first; then what stands in `MEMORY.md`, which is not told twice; and then what matters least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date

from memory_pipeline.compaction.flush import Flush, flush_text, terse_text
from memory_pipeline.compaction.kept import Kept, Kind

#: What goes first if there is no room: what is done, and last what the human decided, ordered or does.
_WORTH: Sequence[Kind] = ("done", "open", "config", "fact", "dead_end", "decision", "rule")


def fitted_logs(
    flush: Flush,
    days: Sequence[date],
    room: int,
    is_in_memory: Callable[[Kept], bool],
    count: Callable[[str], int],
) -> dict[date, str]:
    """The text of each day's log, in the fullest form that has room, and in the shortest if none has.

    `is_in_memory`: whether something stands in `MEMORY.md`; `room`: tokens for all of them.
    """
    logs: dict[date, str] = {}
    for logs in _forms(flush, days, is_in_memory):
        if sum(count(text) for text in logs.values()) <= room:
            break
    return logs


def _forms(flush: Flush, days: Sequence[date], is_in_memory: Callable[[Kept], bool]) -> Iterator[dict[date, str]]:
    yield {day: flush_text(flush, day) for day in days}
    yield {day: terse_text(flush, day) for day in days}
    left = [one for one in flush.kept if not is_in_memory(one)]
    for _ in range(len(left) + 1):
        rest = replace(flush, kept=tuple(left))
        yield {day: terse_text(rest, day, _told(flush, rest, day, is_in_memory)) for day in days}
        if left:
            left.remove(min(left, key=_worth))


def _worth(one: Kept) -> tuple[int, bool, float]:
    return _WORTH.index(one.kind), one.is_marked, one.confidence


def _told(flush: Flush, rest: Flush, day: date, is_in_memory: Callable[[Kept], bool]) -> str:
    """How much of a day stands elsewhere, and how much found no room."""
    gone = [one for one in flush.kept if one.day == day and one not in rest.kept]
    elsewhere = sum(is_in_memory(one) for one in gone)
    parts = [f"{elsewhere} in MEMORY.md"] if elsewhere else []
    parts += [f"{len(gone) - elsewhere} left out"] if len(gone) > elsewhere else []
    return ", ".join(parts)
