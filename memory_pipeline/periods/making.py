"""Makes the rollups of a project from the store: days from their memories, and each other level from the one below."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache, cached_property, partial
from itertools import islice

from memory_pipeline.models.conflicts import WORDING, find_conflict
from memory_pipeline.models.embedders.minilm import MiniLM
from memory_pipeline.periods import days
from memory_pipeline.periods.calendar import Period
from memory_pipeline.periods.in_short import Telling
from memory_pipeline.periods.pages import Page, page_of
from memory_pipeline.reading.classifier import LASTING, salience_by_id
from memory_pipeline.records import EXTRACTED, LEAST_READINGS, MADE, Memory, Rollup, derived_id
from memory_pipeline.store import Transaction
from memory_pipeline.text.days import with_days
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.sentences import split_statements
from memory_pipeline.text.steering import attempt_by, may_guide
from memory_pipeline.text.threads import Thread, box_of, find_threads, is_ticked

#: What is told beside the memories that were made of conversations; decisions and what the work depends on are among
#: those.
_KINDS = frozenset(("fact", "preference", "trust", "boundary", "dynamic", "learning"))


_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION = re.compile(r"\b(?:not|never|no|none|nor|without|cannot)\b|n['’]t\b", re.IGNORECASE)
#: The share of the shorter one's words that the longer one has.
_LEAST_SHARED = 0.85
#: The fewest words of a sentence that can be what a note is about.
_LEAST_CLAIM = 5
#: An entry is judged beside so many that have nearly all of its words.
_MOST_JUDGED = 5
#: The kinds beside its own whose entries can say what one of a kind says.
_STRONGER = {days.FACT: {days.PATTERN}, days.NOTE: {days.PATTERN, days.FACT}}
#: Of how the same memories are told. It is raised when the words of rollups change.
RULES_VERSION = 9
#: The most tokens of a rollup, by level: what an agent can read beside its work.
BUDGETS = {"day": 600, "week": 1000, "month": 1500, "year": 2500}
#: Days after which an open thread is worth half as much as one of today.
_HALF_AS_NEW = 14.0


class Maker:
    """Makes rollups of one project in one transaction. What it reads it keeps, so that a year costs little more than
    its days."""

    def __init__(self, tx: Transaction, project: str, count_tokens: Callable[[str], int]) -> None:
        self._tx, self._project = tx, project
        self._count = cache(count_tokens)
        #: The rollups that were made or read, by id; None for periods of which there is nothing to say.
        self.made: dict[str, Rollup | None] = {}
        self._tellings: dict[str, Telling] = {}
        self._pages: dict[str, Callable[[str], Page]] = {}
        self._readings = tx.rollups.shapes_of_readings(project, LEAST_READINGS)
        self._days = tx.rollups.days_with_notes(project)
        self._gone = {entry.memory_id: entry.gone_at for entry in tx.sources.gone(None) if entry.gone_at}
        self._extractions = tx.conversations.standing(project)
        self._by_agent = tx.conversations.said_by_agent(project)

    def rollup(self, period: Period, *, anew: bool) -> Rollup | None:
        """The rollup of a period; None if there is nothing to say. `anew`: made again although it is in the store."""
        known = rollup_id(self._project, period)
        if known in self.made:
            return self.made[known]
        if not anew and (stored := self._tx.rollups.read(self._project, [known])):
            self.made[known] = stored[known]
        else:
            self.made[known] = self._day(period) if period.level == "day" else self._above(period)
        return self.made[known]

    def tellings(self) -> dict[str, Telling]:
        """The rollups made that may be said in short, by id."""
        return {known: telling for known, telling in self._tellings.items() if telling.is_long}

    def say_in_short(self, known: str, words: str) -> None:
        """Let a rollup that was made begin with some sentences. Its entries stay, for the level above; what has no
        room beside these is counted."""
        rollup, page = self.made[known], self._pages[known](words)
        if rollup is not None and page.entries:
            self.made[known] = replace(rollup, content=page.text, token_count=page.tokens)

    def _day(self, period: Period) -> Rollup | None:
        if period.first not in self._days:
            return None
        noted = self._tx.rollups.noted(self._project, period.starts_at, period.ends_at)
        series = self._tx.rollups.series(self._project, period.starts_at, period.ends_at)
        gone = {memory_id for memory_id, moment in self._gone.items() if moment <= period.ends_at}
        # What ticks a task is told as the task that was closed.
        ticks = {by.id for thread in self._threads if (by := thread.closed_by) and is_ticked(by.content)}
        memories = [m for m in noted if m.id not in ticks and not self._is_reading(m, period.ends_at)]
        ids, vectors = self._tx.vectors.read([memory.id for memory in memories], MiniLM.name, MiniLM.dimension)
        salience = salience_by_id(memories, dict(zip(ids, vectors, strict=True)))
        routine, lasting = (
            frozenset(i for i, score in salience.items() if (score >= LASTING) is is_lasting)
            for is_lasting in (False, True)
        )
        entries = days.entries_of_day(
            period.first, memories, series, gone, self._count, self._by_agent, routine, lasting
        )
        entries = self._with_extractions(entries, period) + self._thread_entries(period)
        raw = [memory for memory in noted if memory.source.connector not in (MADE, EXTRACTED)]
        return self._rollup(period, entries, (), len(raw))

    def _above(self, period: Period) -> Rollup | None:
        parts = [(part, rollup) for part in period.parts if (rollup := self.rollup(part, anew=False)) is not None]
        if not parts:
            return None
        entries = [
            entry
            for _, rollup in parts
            for entry in days.from_json(rollup.entries)
            if entry.kind not in (days.SAID, days.THREAD, days.CLOSED)
            and (entry.kind != days.NOTE or period.level == "week")
        ]
        entries = self._with_extractions(self._without_replaced(entries, period.ends_at), period)
        entries += self._thread_entries(period)
        return self._rollup(period, entries, parts, sum(rollup.notes for _, rollup in parts))

    def _rollup(
        self, period: Period, entries: Sequence[days.Entry], parts: Sequence[tuple[Period, Rollup]], notes: int
    ) -> Rollup | None:
        if not entries:
            return None
        budget = BUDGETS[period.level]
        below = [part for part, _ in parts]
        write = partial(page_of, self._project, period, entries, below, notes, budget, self._count)
        page = write()
        if not page.entries:
            return None
        known = rollup_id(self._project, period)
        self._tellings[known], self._pages[known] = Telling(period, page.entries, below, budget), write
        return Rollup(
            id=known,
            project_id=self._project,
            level=period.level,
            period=period.key,
            starts_at=period.starts_at,
            ends_at=period.ends_at,
            content=page.text,
            entries=days.as_json(page.entries),
            below_ids=tuple(rollup.id for _, rollup in parts),
            memory_ids=tuple(sorted({entry.memory_id for entry in page.entries})),
            notes=notes,
            token_count=page.tokens,
            budget_tokens=budget,
            rules_version=RULES_VERSION,
        )

    def _without_replaced(self, entries: Sequence[days.Entry], as_of: datetime) -> list[days.Entry]:
        """The entries without those whose memory was archived by then into one that another entry says."""
        memory_ids = {entry.memory_id for entry in entries}
        known: dict[str, Memory] = {}
        into: dict[str, str] = {}
        waiting = memory_ids
        while waiting:
            read = self._tx.memories.read(waiting)
            known |= read
            into |= {
                memory_id: memory.consolidated_into_id
                for memory_id, memory in read.items()
                if memory.archived_at and memory.archived_at <= as_of and memory.consolidated_into_id
            }
            waiting = {into[memory_id] for memory_id in read if memory_id in into} - known.keys()

        def is_replaced(memory_id: str) -> bool:
            seen = {memory_id}
            while (memory_id := into.get(memory_id, "")) and memory_id not in seen:
                if memory_id in memory_ids:
                    return True
                seen.add(memory_id)
            return False

        return [
            entry
            for entry in entries
            if not is_replaced(entry.memory_id)
            and not (entry.kind == days.NOTE and self._is_reading(known[entry.memory_id], as_of))
        ]

    def _with_extractions(self, entries: Sequence[days.Entry], period: Period) -> list[days.Entry]:
        """Entries with what was said in a period and had not been withdrawn by its end."""
        withdrawn = {
            extraction_id
            for later in self._extractions
            if later.night <= period.last
            for extraction_id in later.withdraws
        }
        all_entries = list(entries)
        for extraction in self._extractions:
            is_entry = (
                period.first <= extraction.night <= period.last
                and extraction.kind in _KINDS
                and extraction.memory_id is None
            )
            if not is_entry or extraction.id in withdrawn or attempt_by(extraction.speaker, extraction.text):
                continue
            if (words := days.short(extraction.text, self._count)) is not None:
                place, day = f"{extraction.conversation}:{extraction.line:06}", min(extraction.day, period.last)
                line = f"{extraction.speaker}: {words}"
                all_entries.append(
                    days.Entry(days.SAID, line, day, extraction.turn_id, round(extraction.significance, 4), place)
                )
        return without_copies(all_entries)

    def _is_reading(self, memory: Memory, as_of: datetime) -> bool:
        """True if a note of no kind is one of many lines that differ only in figures."""
        since = self._readings.get(memory.shape_hash)
        return memory.memory_type == "other" and since is not None and since <= as_of

    def _thread_entries(self, period: Period) -> list[days.Entry]:
        """The threads that are open at the end of a period (those of a day: that were opened on it), and those that
        were closed in it."""
        thread_entries = []
        for thread in self._threads:
            memory = thread.memory
            is_new = period.first in (thread.opened_on, memory.day)
            is_closed = thread.is_closed(period.last, period.ends_at)
            words = days.short(with_days(memory.content, memory.day), self._count)
            if words is None:
                continue
            place = days.place_of(memory)
            if thread.opened_on <= period.last and not is_closed and (period.level != "day" or is_new):
                worth = round(0.5 ** (max((period.last - memory.day).days, 0) / _HALF_AS_NEW), 4)
                task = box_of(memory.content) + words
                thread_entries.append(days.Entry(days.THREAD, task, memory.day, memory.id, worth, place))
            elif is_closed and not thread.is_closed(period.first - timedelta(days=1), period.starts_at):
                day = min(thread.closed_on or period.last, period.last)
                thread_entries.append(days.Entry(days.CLOSED, words, day, memory.id, 1.0, place))
        return thread_entries

    @cached_property
    def _threads(self) -> list[Thread]:
        memories = [
            memory
            for memory in self._tx.memories.all(self._project)
            if memory.memory_type != "conversation" and may_guide(memory)
        ]
        return find_threads(memories, self._gone)


def rollup_id(project: str, period: Period) -> str:
    return derived_id("rollup", project, period.level, period.key)


@dataclass(frozen=True, slots=True)
class _Claim:
    words: frozenset[str]
    numbers: frozenset[str]
    is_negated: bool

    def is_covered_by(self, other: _Claim) -> bool:
        """True if another text has nearly all words and all numbers of this one, and denies what it denies."""
        shared = len(self.words & other.words)
        return (
            self.is_negated == other.is_negated
            and self.numbers <= other.numbers
            and shared >= _LEAST_SHARED * len(self.words)
        )


@dataclass(frozen=True, slots=True)
class _Wording:
    """The claims of an entry: as a whole, sentence by sentence, and in the sentence that it is about."""

    whole: _Claim
    sentences: tuple[_Claim, ...]
    main: _Claim | None

    @classmethod
    def of(cls, text: str) -> _Wording:
        """What a text claims. It is about the sentence with most words; the others tell more of that."""
        sentences = tuple(map(_claim, split_statements(text)))
        main = max(sentences, key=lambda claim: len(claim.words), default=None)
        return cls(_claim(text), sentences, main if main and len(main.words) >= _LEAST_CLAIM else None)

    def is_said_by(self, other: _Wording) -> bool:
        """True if another entry says all of this one, or what it is about."""
        main = self.main
        return self.whole.is_covered_by(other.whole) or (
            main is not None and any(map(main.is_covered_by, other.sentences))
        )


def without_copies(entries: Sequence[days.Entry]) -> list[days.Entry]:
    """The entries without those whose claim a better one makes too, and does not contradict; figures stay, of which no
    two are alike."""
    wordings = {entry: _Wording.of(entry.words) for entry in entries if entry.kind != days.FIGURE}
    with_word: dict[str, list[days.Entry]] = defaultdict(list)
    dropped: set[days.Entry] = set()
    for entry in sorted(wordings, key=lambda entry: _rank(entry, wordings[entry])):
        mine = wordings[entry]
        kinds = {entry.kind} | _STRONGER.get(entry.kind, set())
        near = {
            id(earlier): earlier for word in mine.whole.words for earlier in with_word[word] if earlier.kind in kinds
        }
        alike = (
            earlier
            for earlier in near.values()
            if mine.is_said_by(wordings[earlier]) or wordings[earlier].is_said_by(mine)
        )
        findings = (find_conflict(entry.words, earlier.words) for earlier in islice(alike, _MOST_JUDGED))
        if any(finding is None or finding.kind == WORDING for finding in findings):
            dropped.add(entry)
            continue
        for word in mine.whole.words:
            with_word[word].append(entry)
    return [entry for entry in entries if entry not in dropped]


def _rank(entry: days.Entry, wording: _Wording) -> tuple[object, ...]:
    """Stronger kinds first, and of a kind the best."""
    strength = -sum(entry.kind in weaker for weaker in _STRONGER.values())
    return (strength, -entry.weight, -len(wording.whole.words), -entry.day.toordinal(), entry.memory_id, entry.words)


def _claim(text: str) -> _Claim:
    return _Claim(frozenset(content_words(text)), frozenset(_NUMBER.findall(text)), _NEGATION.search(text) is not None)
