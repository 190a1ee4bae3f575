"""Open threads: what somebody means to do, asks or waits for, and when a later note says that it is done."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from memory_pipeline.records import MADE, Memory
from memory_pipeline.wording.agreement import status_of
from memory_pipeline.wording.days import names_another_day
from memory_pipeline.wording.facts import content_words
from memory_pipeline.wording.normalise import normalise
from memory_pipeline.wording.sentences import split_statements

_OPENING = re.compile(
    r"^\W*(?:\[ \]|(?:P[0-3](?: (?:pending|next|remaining))?|to-?do|pending(?: \w+)?|blocked(?: on| by)?|"
    r"waiting (?:for|on)|follow[- ]?up|open questions?|next (?:steps?|up|P[0-3])|still open|unresolved|action items?)"
    r"\b\W{0,4}(?::|—|–)|(?:waiting for|blocked (?:on|by)|need(?:s)? to)\b)",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"\b(?:to-?dos?|pending|backlog|open (?:questions?|issues?|items?|threads?|points?|loops?|tasks?)|action items?|"
    r"follow ?ups?|blockers?|blocked|next (?:steps?|up|actions?|priorities)|tasks? remaining|remaining (?:tasks?|work)|"
    r"tomorrow(?: s)?(?: (?:focus|plans?|tasks?|priorities))?|unresolved|still open|planned)\b",
    re.IGNORECASE,
)
_HEADING_DONE = re.compile(r"\b(?:complet\w+|done|accomplish\w+|closed|resolved|finished)\b", re.IGNORECASE)
#: What will happen by itself on a day that is named is no task that somebody has to close.
_EXPECTED = re.compile(
    r"\b(?:will (?:take effect|start|begin|run|be)|should (?:start|begin|run)|takes effect)\b", re.IGNORECASE
)
#: Counts of tasks, and words that nothing is open.
_NOTHING = re.compile(
    r"^\W*(?:\w+ ){0,3}\W*(?:none|nothing|all (?:complete|done|clear)\w*|clear|empty|n/a)\W*$|"
    r"\b\d+ (?:tasks?|items?) (?:pending|open|remaining|left)\b",
    re.IGNORECASE,
)
_DONE = re.compile(r"\bresult: success\b|\b(?:succeeded|works now|is live)\b", re.IGNORECASE)
_FAILED = re.compile(r"\bresult: (?:fail|timeout|partial)\w*|\bfailed\b|\bnot (?:yet )?\w+ed\b", re.IGNORECASE)
#: Names of tasks as agents write them: `RETRIEVAL_EVAL_WIRING`, `OPS-142`.
_NAME = re.compile(r"\b(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{2,10}-\d{1,6})\b")
#: A statement closes a thread if it has this many of its words and this share of them; all of them, if they are few.
_LEAST_WORDS, _LEAST_COVERED, _FEW_WORDS = 3, 0.75, 5
_LONGEST = 1500


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
        """Whether it was closed by the end of a day, which is given too: what a note closes is closed on its day, what
        a night finds gone as of the end of the night's."""
        if self.closed_by is not None:
            return _noted_on(self.closed_by) <= day
        return self.closed_at is not None and self.closed_at <= ends_at


def find_threads(memories: Sequence[Memory], gone: Mapping[str, datetime]) -> list[Thread]:
    """The threads of a project, by the creation of what opened them.

    `memories`: all of a project, with archived ones; `gone`: when the words of memories were found to be no longer in
    their source, which closes a thread.
    """
    raw = sorted((m for m in memories if m.source.connector != MADE), key=lambda m: (m.created_at, m.id))
    opened: dict[str, Memory] = {}
    for memory in raw:
        if opens(memory):
            opened.setdefault(normalise(memory.content), memory)
    raw_ids = {memory.id for memory in raw}
    closers = _Closers([memory for memory in raw if _closes(memory)]) if opened else None
    found = []
    for memory in opened.values():
        by = closers.first_for(memory) if closers else None
        ends = [by.created_at] if by else []
        ends += [gone[memory.id]] if memory.id in gone else []
        if memory.archived_at and memory.consolidated_into_id in raw_ids and not _is_copy(memory, opened):
            ends.append(memory.archived_at)  # its words were edited
        at = min(ends, default=None)
        found.append(Thread(memory, at, by if by and by.created_at == at else None))
    return found


def _noted_on(memory: Memory) -> date:
    """The later one of a note's day by the clock of its source and its day in UTC: a note that knows only its day is of
    that day everywhere, and none is told before it can be in the store."""
    return max(memory.created_on, memory.created_at.astimezone(UTC).date())


def opens(memory: Memory) -> bool:
    """Whether a memory says that something is open."""
    text = memory.content[:_LONGEST]
    if memory.memory_type == "conversation" or _NOTHING.search(text) or status_of(text) == "done":
        return False
    if _OPENING.match(text):
        return True
    if _EXPECTED.search(text) and names_another_day(text):
        return False
    heading = memory.categories[0].replace("-", " ") if memory.categories else ""
    return bool(_HEADING.search(heading)) and not _HEADING_DONE.search(heading)


def _closes(memory: Memory) -> bool:
    text = memory.content[:_LONGEST]
    if memory.memory_type == "conversation" or _FAILED.search(text):
        return False
    return status_of(text) == "done" or _DONE.search(text) is not None


def _is_copy(memory: Memory, opened: Mapping[str, Memory]) -> bool:
    survivor = opened.get(normalise(memory.content))
    return survivor is not None and survivor.id == memory.consolidated_into_id


class _Closers:
    """Statements of memories that say that something is done, found by their words."""

    def __init__(self, memories: Sequence[Memory]) -> None:
        self._said = [
            (memory, statement) for memory in memories for statement in split_statements(memory.content[:_LONGEST])
        ]
        self._with: dict[str, list[int]] = defaultdict(list)
        for place, (_, statement) in enumerate(self._said):
            for word in _words_of(statement):
                self._with[word].append(place)

    def first_for(self, thread: Memory) -> Memory | None:
        """The first memory after a thread that says that it is done: one of its statements has nearly all words of the
        thread, or the name of its task."""
        names = set(_NAME.findall(thread.content))
        words = _words_of(thread.content)
        counts: dict[int, int] = defaultdict(int)
        for word in words:
            for place in self._with[word]:
                counts[place] += 1
        least = max(_LEAST_WORDS, _LEAST_COVERED * len(words) if len(words) > _FEW_WORDS else len(words))
        for place in sorted(counts):
            memory, statement = self._said[place]
            if memory.id == thread.id or memory.created_at < thread.created_at:
                continue
            if counts[place] >= least or (names and names & set(_NAME.findall(statement))):
                return memory
        return None


def _words_of(text: str) -> Collection[str]:
    return {word.casefold() for word in content_words(text[:_LONGEST])}
