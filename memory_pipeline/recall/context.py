"""What an agent should know for a task, within a token budget.

A context holds whatever a search prints, best first, within the same tokens: the ranking is the same, and a line of a
context is shorter than one of a search. What that saves is left for guidance; the rest of the room is for further
memories. No level comes before another: the most relevant piece does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date
from functools import cache

from memory_pipeline.recall.documents import Context, ContextItem
from memory_pipeline.recall.pieces import Piece
from memory_pipeline.recall.search import part_of

#: How a context begins, by which a reader of workspaces knows it for ours (`ingest/openclaw_files.py`).
TITLE = "# Memory"
#: Titles of what stands under no day, by whether it is guidance and whether it binds.
_TITLES = {(True, False): "Guidance", (False, True): "Rules and preferences"}
_SPEAKERS = {"human": "Human", "agent": "Agent"}
#: Pairs of marks around bold words and code; a single asterisk may belong to a pattern of files.
_MARKS = re.compile(r"(?<![\w*`])(\*\*|`+)(?=\S)(.+?)(?<=\S)\1(?![\w*`])")
#: If nothing is more relevant than this, nothing belongs to the task.
_LEAST_RELEVANCE = 0.2
#: What is less relevant was found only beside something that is (`ranking.rank`).
_LEAST_OF_EACH = 0.005
#: Fewer tokens than this are not worth a part of a memory.
_LEAST_PART = 16


def build_context(
    project: str,
    task: str,
    budget: int,
    pieces: Sequence[Piece],
    count_tokens: Callable[[str], int],
    *,
    with_sources: bool = False,
) -> Context:
    """The context of a task: of the pieces, which come best first, those that fit, as Markdown of at most `budget`
    tokens. `with_sources`: each line names where it was read, too."""
    count_tokens = cache(count_tokens)
    chosen: list[Piece] = []
    if any(piece.relevance >= _LEAST_RELEVANCE for piece in pieces):
        chosen = _Filling(budget, task, count_tokens, with_sources).fill(pieces)
    while chosen and count_tokens(text_of(group_pieces(chosen), with_sources)) > budget:
        chosen.pop()  # to a tokenizer, a text may be more than its lines
    groups = group_pieces(chosen)
    text = text_of(groups, with_sources)
    return Context(
        project=project,
        task=task,
        budget=budget,
        tokens=count_tokens(text) if text else 0,
        items=tuple(
            ContextItem(
                kind=piece.kind,
                id=piece.id,
                handle=piece.handle,
                content=piece.content,
                day=piece.day,
                source=piece.source,
                confidence=piece.confidence,
                relevance_score=round(piece.relevance, 4),
                tokens=count_tokens(f"{line_of(piece, with_sources)}\n"),
            )
            for group in groups
            for piece in group
        ),
        text=text,
    )


class _Filling:
    """A budget that is filled with pieces. All that enters a context enters it here."""

    def __init__(self, budget: int, task: str, count_tokens: Callable[[str], int], with_sources: bool) -> None:
        self._task, self._count, self._with_sources = task, count_tokens, with_sources
        self._left = budget - count_tokens(TITLE)
        #: What handles have saved against whole ids, less what the title costs and guidance has used.
        self._saved = -count_tokens(TITLE)
        self._chosen: dict[int, Piece] = {}
        self._groups: set[str] = set()

    def fill(self, pieces: Sequence[Piece]) -> list[Piece]:
        """The pieces that fit, in their order."""
        waiting: list[tuple[int, Piece]] = []
        for place, piece in enumerate(pieces):
            if piece.relevance < _LEAST_OF_EACH:
                continue
            if piece.is_guidance:
                waiting.append((place, piece))
            else:
                self._take_memory(place, piece)
            waiting = [item for item in waiting if not self._take_guidance(*item, most=self._saved)]
        for place, piece in waiting:
            self._take_guidance(place, piece, most=self._left)
        return [self._chosen[place] for place in sorted(self._chosen)]

    def _take_memory(self, place: int, piece: Piece) -> None:
        """Take a memory, or the statements of it that are nearest to the task if it does not fit; none twice."""
        if any(piece.content == other.content and piece.speaker == other.speaker for other in self._chosen.values()):
            return
        against = [other.handle for other in self._chosen.values() if other.id in piece.contradicting]
        piece = replace(piece, against=tuple(against))
        cost = self._cost(piece)
        if cost > self._left:
            room = self._left - self._cost(replace(piece, content="", is_part=True))
            if room < _LEAST_PART:
                return
            part = part_of(piece.content, room, self._task, self._count, needs_best=bool(self._chosen))
            if not part:
                return
            piece = replace(piece, content=part, is_part=True)
            cost = self._cost(piece)
            if cost > self._left:
                return
        self._enter(place, piece, cost)
        self._saved += self._count(piece.id)
        for other in [other for other, guide in self._chosen.items() if piece.id in guide.stands_for]:
            guide = self._chosen.pop(other)
            self._left += self._count_line(guide)

    def _take_guidance(self, place: int, piece: Piece, *, most: int) -> bool:
        """Take guidance if it costs at most so many tokens. Returns whether it is settled: it was taken, or a memory
        that it comes from stands there already."""
        if any(other.id in piece.stands_for for other in self._chosen.values()):
            return True
        cost = self._cost(piece)
        if cost > min(most, self._left):
            return False
        self._enter(place, piece, cost)
        self._saved -= cost
        return True

    def _enter(self, place: int, piece: Piece, cost: int) -> None:
        self._chosen[place] = piece
        self._groups.add(group_of(piece))
        self._left -= cost

    def _cost(self, piece: Piece) -> int:
        """The tokens of a line, and of what it stands under if that is new."""
        group = group_of(piece)
        above = 0 if group in self._groups else self._count(f"\n{group}\n")
        return above + self._count_line(piece)

    def _count_line(self, piece: Piece) -> int:
        return self._count(f"{line_of(piece, self._with_sources)}\n")


def group_pieces(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """The pieces of each day, all guidance, and what the human wants and forbids, together; the last one first, and the
    others in the order of their first pieces."""
    groups: dict[str, list[Piece]] = {}
    pieces = sorted(pieces, key=lambda piece: not piece.binds)
    for piece in pieces:
        groups.setdefault(group_of(piece), []).append(piece)
    return list(groups.values())


def group_of(piece: Piece) -> str:
    """What a piece stands under, at its longest: its day with the year."""
    return _TITLES.get((piece.is_guidance, piece.binds)) or short_day(piece.day, None)


def line_of(piece: Piece, with_source: bool = False) -> str:
    """A piece on one line: who said it, its words, those that it was found through, what contradicts it, where it was
    read if that is asked for, and its handle."""
    parts = ["-"]
    if piece.speaker:
        parts.append(f"{_SPEAKERS.get(piece.speaker, piece.speaker)}:")
    parts.append(_in_short(piece.content) + " …" * piece.is_part)
    if piece.found_through:
        day, words = piece.found_through
        parts.append(f"({short_day(day, piece.day.year)}: {_in_short(words)})")
    if piece.against:
        parts.append(f"(contradicts ^{', ^'.join(piece.against)})")
    if with_source:
        parts.append(f"({piece.source})")
    if piece.handle:
        parts.append(f"^{piece.handle}")
    return " ".join(parts)


def text_of(groups: Sequence[Sequence[Piece]], with_sources: bool = False) -> str:
    """Groups of pieces as Markdown; empty for none. A year is said where it is another than that of the day above."""
    if not groups:
        return ""
    parts, year = [TITLE], None
    for group in groups:
        first = group[0]
        is_titled = first.is_guidance or first.binds
        title = group_of(first) if is_titled else short_day(first.day, year)
        year = year if is_titled else first.day.year
        parts.append("\n".join([title, *(line_of(piece, with_sources) for piece in group)]))
    return "\n\n".join(parts)


def short_day(day: date, year: int | None) -> str:
    """A day in two words, and in three if it is not of that year."""
    return f"{day.day} {day:%b}" if day.year == year else f"{day.day} {day:%b} {day.year:04}"


def _in_short(content: str) -> str:
    """The words on one line, without marks for bold and code."""
    return _MARKS.sub(r"\2", " ".join(content.split()))
