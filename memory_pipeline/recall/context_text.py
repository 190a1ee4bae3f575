"""A context as Markdown that costs few tokens: a day stands once for all that was noted on it, a handle for an id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from memory_pipeline.recall.pieces import Piece

#: How a context begins, by which a reader of workspaces knows it for ours (`ingest/openclaw_files.py`).
TITLE = "# Memory"
#: Titles of what stands under no day, by whether it is guidance and whether it binds.
_TITLES = {(True, False): "Guidance", (False, True): "Rules and preferences"}
_SPEAKERS = {"human": "Human", "agent": "Agent"}
#: Pairs of marks around bold words and code; a single asterisk may belong to a pattern of files.
_MARKS = re.compile(r"(?<![\w*`])(\*\*|`+)(?=\S)(.+?)(?<=\S)\1(?![\w*`])")


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
