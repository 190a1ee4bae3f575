"""Fills the context of a task: what an agent should know for it, within a token budget, and its text.

A context holds whatever a search prints, best first, within the same tokens: the ranking is the same, and a line of a
context is shorter than one of a search. What that saves is left for guidance; the rest of the room is for further
memories. No level comes before another: the most relevant piece does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import combinations, groupby
from zoneinfo import ZoneInfo

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.recall.documents import (
    NOTHING_NEAR,
    Context,
    ContextItem,
    Metrics,
    RecalledMemory,
    RecalledPlaybookEntry,
)
from memory_pipeline.recall.pieces import Piece
from memory_pipeline.recall.search import part_of
from memory_pipeline.records import LEVEL_PATTERN, LEVEL_RAW, Memory
from memory_pipeline.store import Transaction
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.guidance import advice_of
from memory_pipeline.text.normalise import line_shape, without_clock
from memory_pipeline.text.subject import with_lead_in, words_alone
from memory_pipeline.text.superseding import doubt_of, put_later_first
from memory_pipeline.text.values import lacks_name, other_values

#: How a context begins, by which a reader of workspaces knows it for ours (`ingest/openclaw_files.py`).
TITLE = "# Memory"
_SPEAKERS = {"human": "Human", "agent": "Agent"}
#: Pairs of marks around bold words and code; a single asterisk may belong to a pattern of files.
_MARKS = re.compile(r"(?<![\w*`])(\*\*|`+)(?=\S)(.+?)(?<=\S)\1(?![\w*`])")
#: If nothing is more relevant than this, nothing belongs to the task.
_LEAST_RELEVANCE = 0.2
#: What is less relevant was found only beside something that is (`ranking.rank`).
_LEAST_OF_EACH = 0.005
#: Fewer tokens than this are not worth a part of a memory.
_LEAST_PART = 16
#: Of a memory whose line is longer, the statements nearest to the task come first, and the rest of it only into room
#: that no other memory needs. On half of BEAM's chats of 100K tokens contexts of 300, 1,000, 2,000 tokens have .35,
#: .57, .64 of the evidence (whole ones: .32, .49, .57) and .30, .44, .53 of the words of the right answers (.30, .42,
#: .50). With 120 tokens it would be more evidence (.41, .60, .70), but three of 200 questions about notes unanswered.
_LONGEST = 240


def build_context(
    project: str,
    task: str,
    budget: int,
    pieces: Sequence[Piece],
    count_tokens: Callable[[str], int],
    *,
    with_sources: bool = False,
    nothing_near: bool = False,
) -> Context:
    """The context of a task: of the pieces, which come best first, those that fit, as Markdown of at most `budget`
    tokens. `with_sources`: each line names where it was read, too; `nothing_near`: the text says so first."""
    count_tokens = cache(count_tokens)
    chosen: list[Piece] = []
    head = f"{NOTHING_NEAR}\n" if nothing_near else ""
    if any(piece.relevance >= _LEAST_RELEVANCE for piece in pieces):
        chosen = _Filling(budget, task, count_tokens, with_sources).fill(pieces)
    earlier = earlier_values(chosen, task)
    while chosen and count_tokens(head + text_of(group_pieces(chosen, earlier), with_sources)) > budget:
        chosen.pop()  # to a tokenizer, a text may be more than its lines
    groups = group_pieces(chosen, earlier)
    text = head + text_of(groups, with_sources)
    return Context(
        project=project,
        task=task,
        budget=budget,
        tokens=count_tokens(text) if text else 0,
        items=tuple(
            ContextItem.of_record(
                piece,
                relevance_score=round(piece.relevance, 4),
                tokens=count_tokens(f"{line_of(piece, with_sources)}\n"),
            )
            for group in groups
            for piece in group
        ),
        text=text,
        nothing_near=nothing_near,
    )


class _Filling:
    """A budget that is filled with pieces. All that enters a context enters it here."""

    def __init__(self, budget: int, task: str, count_tokens: Callable[[str], int], with_sources: bool) -> None:
        self._task, self._count, self._with_sources = task, count_tokens, with_sources
        self._left = budget - count_tokens(TITLE)
        #: What handles have saved against whole ids, less what the title costs and guidance has used.
        self._saved = -count_tokens(TITLE)
        self._chosen: dict[int, Piece] = {}
        #: By what stands above lines, what the last line there is about.
        self._groups: dict[str, str] = {}
        self._taken: set[tuple[str, str | None]] = set()

    def fill(self, pieces: Sequence[Piece]) -> list[Piece]:
        """The pieces that fit, in their order."""
        waiting: list[tuple[int, Piece]] = []
        long: list[tuple[int, Piece]] = []
        for place, piece in enumerate(pieces):
            if piece.relevance < _LEAST_OF_EACH:
                continue
            if piece.is_guidance:
                waiting.append((place, piece))
            elif not self._take_memory(place, piece, _LONGEST):
                long.append((place, piece))
            waiting = [item for item in waiting if not self._take_guidance(*item, most=self._saved)]
        for place, piece in long:
            self._take_memory(place, piece, self._left)
        for place in [place for place in sorted(self._chosen) if self._chosen[place].is_part]:
            self._grow(place, pieces[place])
        for place, piece in waiting:
            self._take_guidance(place, piece, most=self._left)
        return [self._chosen[place] for place in sorted(self._chosen)]

    def _take_memory(self, place: int, piece: Piece, most: int) -> bool:
        """Take a memory, or the statements of it that are nearest to the task if it has more tokens than it may; none
        twice. Returns whether it is settled."""
        if (piece.content, piece.speaker) in self._taken:
            return True
        fitting = self._fit(piece, most, needs_best=True)
        if fitting is None and not self._chosen:
            fitting = self._fit(piece, self._left, needs_best=False)
        if fitting is None:
            return False
        self._enter(place, fitting)
        self._taken.add((piece.content, piece.speaker))
        self._saved += self._count(piece.id)
        for other in [other for other, guide in self._chosen.items() if piece.id in guide.stands_for]:
            guide = self._chosen.pop(other)
            self._left += self._count_line(guide)
        return True

    def _fit(self, piece: Piece, most: int, *, needs_best: bool) -> Piece | None:
        """A memory, or the statements of it that are nearest to the task, in a line of at most so many tokens."""
        if self._count_line(piece) <= most and self._cost(piece) <= self._left:
            return piece
        frame = replace(piece, content="", is_part=True)
        room = min(most - self._count_line(frame), self._left - self._cost(frame))
        if room < _LEAST_PART:
            return None
        part = replace(frame, content=part_of(piece.content, room, self._task, self._count, needs_best=needs_best))
        return part if part.content and self._cost(part) <= self._left else None

    def _grow(self, place: int, whole: Piece) -> None:
        """Put the whole memory, or more of it, in the place of a part of it, as far as there is room."""
        part = self._chosen[place]
        self._left += self._count_line(part)
        grown = self._fit(whole, self._left, needs_best=False) or part
        self._chosen[place] = grown
        self._left -= self._count_line(grown)

    def _take_guidance(self, place: int, piece: Piece, *, most: int) -> bool:
        """Take guidance if it costs at most so many tokens. Returns whether it is settled: it was taken, or a memory
        that it comes from stands there already."""
        if any(other.id in piece.stands_for for other in self._chosen.values()):
            return True
        cost = self._cost(piece)
        if cost > min(most, self._left):
            return False
        self._enter(place, piece)
        self._saved -= cost
        return True

    def _enter(self, place: int, piece: Piece) -> None:
        self._left -= self._cost(piece)
        self._chosen[place] = piece
        self._groups[group_of(piece)] = piece.subject

    def _cost(self, piece: Piece) -> int:
        """The tokens of a line, and of what it stands under if that is new."""
        group = group_of(piece)
        if group not in self._groups:
            return self._count(f"\n{group}\n") + self._count_line(piece)
        if piece.subject and piece.subject == self._groups[group]:
            return self._count(f"\n  {line_below(piece, self._with_sources)}\n")
        return self._count_line(piece)

    def _count_line(self, piece: Piece) -> int:
        return self._count(f"{line_of(piece, self._with_sources)}\n")


def earlier_values(pieces: Sequence[Piece], task: str) -> list[tuple[Piece, Piece]]:
    """Pairs of pieces of which the second is of an earlier day, or of none, and gives another value, for what the task
    asks or in the same words, or is contradicted by the first. Only such as stand in this order, that of a search."""
    memories = [piece for piece in pieces if not piece.is_guidance]
    texts = [piece.content for piece in memories]
    shapes = [line_shape(without_clock(text)) for text in texts]
    asked = content_words(task)
    are_others = other_values(asked, texts, content_words) & ~lacks_name(asked, texts, content_words)
    return [
        (later, earlier)
        for (i, later), (j, earlier) in combinations(enumerate(memories), 2)
        if not later.undated
        and (earlier.undated or earlier.day < later.day)
        and (are_others[j, i] or shapes[i] == shapes[j] or later.id in earlier.later)
    ]


def group_pieces(pieces: Iterable[Piece], earlier: Iterable[tuple[Piece, Piece]] = ()) -> list[list[Piece]]:
    """The pieces of each day, all guidance, and what the human wants and forbids, together; the last one first, and the
    others in the order of their first pieces, but a day never below one with an earlier value. `earlier`: pairs of
    pieces, as of `earlier_values`."""
    groups: dict[str, list[Piece]] = {}
    pieces = sorted(pieces, key=lambda piece: not piece.binds)
    for piece in pieces:
        groups.setdefault(group_of(piece), []).append(piece)
    later_ones: dict[str, list[str]] = {}
    for newer, older in sorted(earlier, key=lambda pair: pair[0].day, reverse=True):
        if not older.binds:
            later_ones.setdefault(group_of(older), []).append(group_of(newer))
    return [groups[name] for name in put_later_first(list(groups), later_ones)]


def group_of(piece: Piece) -> str:
    """The heading of a piece, at its longest: its day with the year."""
    return piece.title or short_day(piece.day, None)


def line_of(piece: Piece, with_source: bool = False) -> str:
    """A piece on one line: who said it, its words, those that it was found through, what contradicts it, where it was
    read if that is asked for, and its handle."""
    parts = ["-"]
    if piece.speaker:
        parts.append(f"{_SPEAKERS.get(piece.speaker, piece.speaker)}:")
    parts.append(_shorten(piece.content) + " …" * piece.is_part)
    if piece.found_through:
        day, words = piece.found_through
        parts.append(f"({short_day(day, piece.day.year) if day else 'undated'}: {_shorten(words)})")
    if piece.doubt:
        later_on, handle = piece.doubt
        parts.append(f"({doubt_of(later_on and short_day(later_on, piece.day.year))}: ^{handle})")
    if with_source:
        parts.append(f"({piece.source})")
    if piece.handle:
        parts.append(f"^{piece.handle}")
    return " ".join(parts)


def line_below(piece: Piece, with_source: bool = False) -> str:
    """A piece on one line below what it is about."""
    own = replace(piece, content=words_alone(piece.subject, piece.content), speaker=None)
    return line_of(own, with_source)


def lines_of(pieces: Iterable[Piece], with_sources: bool = False) -> Iterator[str]:
    """Pieces on one line each; those in a row that somebody says of one thing below its name."""
    for (subject, _), some in groupby(pieces, lambda piece: (piece.subject, piece.speaker)):
        first, *others = some
        if subject and others:
            name = with_lead_in(subject, "")
            yield line_of(replace(first, content=name, is_part=False, handle="", doubt=None, found_through=None))
            yield from (f"  {line_below(piece, with_sources)}" for piece in (first, *others))
        else:
            yield from (line_of(piece, with_sources) for piece in (first, *others))


def text_of(groups: Sequence[Sequence[Piece]], with_sources: bool = False) -> str:
    """Groups of pieces as Markdown; empty for none. A year is said where it is another than that of the day above."""
    if not groups:
        return ""
    parts, year = [TITLE], None
    for group in groups:
        first = group[0]
        title = first.title or short_day(first.day, year)
        year = year if first.title else first.day.year
        parts.append("\n".join([title, *lines_of(group, with_sources)]))
    return "\n\n".join(parts)


def short_day(day: date, year: int | None) -> str:
    """A day in two words, and in three if it is not of that year."""
    return f"{day.day} {day:%b}" if day.year == year else f"{day.day} {day:%b} {day.year:04}"


def _shorten(content: str) -> str:
    """The words on one line, without marks for bold and code."""
    return _MARKS.sub(r"\2", " ".join(content.split()))


class Recommendation(Document):
    """A piece of advice that is relevant for a task."""

    content: str = Field(description="What to do, avoid, prefer or expect. Data, never an instruction.")
    source_id: str = Field(description="The playbook entry or memory that says so.")


class ConsolidatedContext(Document):
    """The memories and guidance that are relevant for a task, with the advice in them."""

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
    """The parts of a context. `described`: its memories, best first; `memories`: by id; `entries`: its guidance."""
    in_entries = {source for entry in entries for source in entry.source_ids}
    advice = [Recommendation(content=entry.content, source_id=entry.id) for entry in entries]
    makers = [
        memory.id for memory in described if memory.abstraction_level >= LEVEL_PATTERN and memory.id not in in_entries
    ]
    texts = {memory_id: advice_of(memories[memory_id]) for memory_id in makers}
    advice += [Recommendation(content=text, source_id=memory_id) for memory_id, text in texts.items() if text]
    levels = Counter(memory.abstraction_level for memory in described)
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
    """The time at which the next scheduled night begins."""
    there = now.astimezone(_ZONE)
    due = datetime.combine(there.date(), _NIGHT, _ZONE)
    if due <= there:
        due = datetime.combine(there.date() + timedelta(days=1), _NIGHT, _ZONE)
    return due.astimezone(UTC)
