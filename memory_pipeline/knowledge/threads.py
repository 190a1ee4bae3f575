"""Open threads: what somebody means to do, asks or waits for, and when a later note says that it is done."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from memory_pipeline.records import MADE, Memory
from memory_pipeline.wording.agreement import base_form, status_of
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
#: What is ticked or labelled as done is done, whatever its words say of waiting.
_TICKED = re.compile(
    r"^\s*(?:[-*]\s*)?(?:\[[xX]\]|✅|✔|☑)|^\W*(?:done|completed|finished|resolved|closed)\W{0,3}(?::|—|–)",
    re.IGNORECASE,
)
#: The label before a task.
_LABEL = re.compile(
    r"^\W*(?:\[[ xX]\]\W*|(?:P[0-3](?: (?:pending|next|remaining))?|to-?dos?|pending|blocked(?: on| by)?|follow[- ]?up|"
    r"open questions?|next(?: steps?| up)?|still open|unresolved|action items?|done|completed|finished|resolved|closed)"
    r"\b\W{0,4}(?::|—|–)\W*)+",
    re.IGNORECASE,
)
#: Words that say that something is open, and not what.
_OPEN_WORDS = frozenset(("wait", "block", "pend", "todo", "need"))
#: Forms of verbs that tell what was done; others end with `ed`.
_PAST = frozenset(
    "kept sent left wrote sold bought held built found broke drew chose threw caught taught spent paid met took made "
    "did got gave told ran brought saw spoke went began set put read cut hired moved".split()
)
_BASES = {
    "took": "take", "taken": "take", "made": "make", "did": "do", "got": "get", "gave": "give", "given": "give",
    "told": "tell", "ran": "run", "brought": "bring", "saw": "see", "seen": "see", "spoke": "speak", "spoken": "speak",
    "went": "go", "gone": "go", "began": "begin", "begun": "begin",
}  # fmt: skip
#: What makes a past form no report.
_NO_REPORT = re.compile(
    r"\b(?:not|never|no|if|when|unless|whether|will|would|should|could|must|might|needs?|has to|have to|to be|yet|"
    r"tried|wanted|planned|asked|failed|half|partly|almost)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
_FAILED = re.compile(r"\bresult: (?:fail|timeout|partial)\w*|\bfailed\b|\bnot (?:yet )?\w+ed\b", re.IGNORECASE)
#: Names of tasks as agents write them: `RETRIEVAL_EVAL_WIRING`, `OPS-142`.
_NAME = re.compile(r"\b(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{2,10}-\d{1,6})\b")
#: A statement closes a thread if it has this many of its words and this share of them; all of them, if they are few.
_LEAST_WORDS, _LEAST_COVERED, _FEW_WORDS = 3, 0.75, 5
_LONGEST = 1500
#: Of a note that does not call itself done, its first statements can report that a task was.
_LONGEST_REPORT, _MOST_REPORTS = 400, 2
_WORD = re.compile(r"[^\W\d_]+")
_LEAST_STEM = 4


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
    closers = _Closers(raw) if opened else None
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
    if memory.memory_type == "conversation" or _NOTHING.search(text) or _TICKED.match(text):
        return False
    if status_of(text) == "done":
        return False
    if _OPENING.match(text):
        return True
    if _EXPECTED.search(text) and names_another_day(text):
        return False
    heading = memory.categories[0].replace("-", " ") if memory.categories else ""
    return bool(_HEADING.search(heading)) and not _HEADING_DONE.search(heading)


def _closes(memory: Memory) -> bool:
    text = memory.content[:_LONGEST]
    if _FAILED.search(text):
        return False
    return _TICKED.match(text) is not None or status_of(text) == "done" or _DONE.search(text) is not None


def _is_copy(memory: Memory, opened: Mapping[str, Memory]) -> bool:
    survivor = opened.get(normalise(memory.content))
    return survivor is not None and survivor.id == memory.consolidated_into_id


@dataclass(frozen=True, slots=True)
class _Statement:
    """One statement that may say that something is done. `told`: whether it calls itself done; else `past` has those of
    its words that report something."""

    memory: Memory
    words: frozenset[str]
    names: frozenset[str]
    told: bool
    past: frozenset[str] = frozenset()

    def closes(self, words: frozenset[str], names: frozenset[str]) -> bool:
        """Whether it says that a task of these words or names is done: with nearly all of them, and of a few with all;
        with hardly anything else, if they are two; in the past tense, if it does not call itself done."""
        if names & self.names and self.told:
            return True
        shared = len(words & self.words)
        if not self.told:
            return shared == len(words) >= _LEAST_WORDS and bool(self.past & words)
        if len(words) > _FEW_WORDS:
            return shared >= max(_LEAST_WORDS, _LEAST_COVERED * len(words))
        if shared < len(words) or not words:
            return False
        return len(words) >= _LEAST_WORDS or self.words == words


class _Closers:
    """Statements of memories that say that something is done, found by their words."""

    def __init__(self, memories: Sequence[Memory]) -> None:
        self._said = [
            one for memory in memories if memory.memory_type != "conversation" for one in _statements_of(memory)
        ]
        self._with: dict[str, list[int]] = defaultdict(list)
        for place, one in enumerate(self._said):
            for word in one.words | one.names:
                self._with[word].append(place)

    def first_for(self, thread: Memory) -> Memory | None:
        """The first memory after a thread that says that it is done."""
        names = frozenset(_NAME.findall(thread.content))
        words = _task_words(thread.content)
        for place in sorted({place for word in words | names for place in self._with.get(word, ())}):
            one = self._said[place]
            is_later = one.memory.id != thread.id and one.memory.created_at >= thread.created_at
            if is_later and one.closes(words, names):
                return one.memory
        return None


def _statements_of(memory: Memory) -> Iterator[_Statement]:
    text = memory.content[:_LONGEST]
    if _closes(memory):
        for statement in split_statements(text):
            names = frozenset(_NAME.findall(statement))
            yield _Statement(memory, _task_words(statement), names, told=True)
    elif len(text) <= _LONGEST_REPORT and not opens(memory):
        for statement in split_statements(text)[:_MOST_REPORTS]:
            if _NO_REPORT.search(statement):
                continue
            written = [word.lower() for word in _WORD.findall(statement)]
            past = [word for word in written if word in _PAST or word.endswith("ed")]
            if past:
                yield _Statement(memory, _task_words(statement), frozenset(), False, _task_words(" ".join(past)))


def _task_words(text: str) -> frozenset[str]:
    """The words of a task without its label and without words that say that it is open; verbs in their base form."""
    words = content_words(_LABEL.sub("", text[:_LONGEST], count=1))
    bases = {base_form(_BASES.get(word.casefold(), word.casefold())) for word in words} - _OPEN_WORDS
    return frozenset(word.removesuffix("e") if len(word) > _LEAST_STEM else word for word in bases)  # phone, phon(ed)
