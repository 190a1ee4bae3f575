"""Splits Markdown notes into entries: each bullet, paragraph, table or procedure with its heading path.

Every line of a file belongs to exactly one thing: an entry, a heading, structure, or a skipped block. The reader can
report which, so that no line gets lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from memory_pipeline.ingest.dates import begins_with_time

#: A procedure of at most this many characters stays one entry: its steps mean little separately.
PROCEDURE_CHARS = 1200
#: A full timestamp starts a new entry even in the middle of a line: some logs are appended without a newline.
_FULL_STAMP = re.compile(r"(?<!^)(?<!\()(?<!\[)(?=\d{4}-\d{2}-\d{2} \d{2}:\d{2}(?::\d{2})?(?: [A-Z]{3,4})? (?:-|–|—) )")
_LINE_STAMP = re.compile(r"^\s*[\[(]?(?:\d{4}-\d{2}-\d{2}[ T])?\d{1,2}:\d{2}(?::\d{2})?[^\w]")
_LABEL = re.compile(r"^\s*(?:\*\*|__)?[^\n]{1,80}?:(?:\*\*|__)?\s*$")
_BULLET = re.compile(r"^(\s*)(?:[-*+•]|\d{1,9}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its text without list mark, its first and last line (1-based), and the headings above it."""

    text: str
    first_line: int
    last_line: int
    path: tuple[str, ...]
    heading: str


@dataclass
class Note:
    """A parsed note: its entries in order, and the role of every line outside an entry."""

    entries: list[Entry] = field(default_factory=list)
    structure: dict[int, str] = field(default_factory=dict)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    # Setext headings are disabled: a paragraph above a rule is a paragraph in these logs.
    return MarkdownIt("commonmark").enable("table").disable("lheading")


def parse_note(text: str) -> Note:
    """Split a note into entries. Lines are numbered from 1; blank lines belong to nothing."""
    lines = text.split("\n")
    tokens = _parser().parse(text)
    note = Note()
    headings: list[tuple[int, str]] = []
    label: tuple[str, int, int] | None = None
    for token in _top_level(tokens):
        assert token.map is not None
        start, end = token.map[0], _last_content_line(lines, token.map[0], token.map[1])
        path = tuple(title for _, title in headings)
        if token.type == "heading_open":
            _flush_label(note, label, path)
            label = None
            level = int(token.tag[1])
            title = lines[start].lstrip("# \t").rstrip("# \t\r")
            headings = [(depth, kept) for depth, kept in headings if depth < level] + [(level, title)]
            _mark(note, start, end, "heading")
            continue
        if token.type in ("paragraph_open",):
            _flush_label(note, label, path)
            label = None
            body = "\n".join(lines[start:end])
            if _LABEL.match(body) and "\n" not in body and not _begins_entry(body):
                label = (body.strip(), start, end)
            else:
                note.entries.extend(_paragraph(lines, start, end, path))
            continue
        if token.type in ("bullet_list_open", "ordered_list_open"):
            _list(note, tokens, token, lines, path, label)
            label = None
            continue
        if token.type in ("table_open", "fence", "code_block", "blockquote_open"):
            begin = label[1] if label else start
            note.entries.append(_entry(lines, begin, end, path))
            label = None
            continue
        _flush_label(note, label, path)
        label = None
        _mark(note, start, end, "rule" if token.type == "hr" else "html")
    _flush_label(note, label, tuple(title for _, title in headings))
    _keep_stray_lines(note, lines, tuple(title for _, title in headings))
    note.entries.sort(key=lambda entry: entry.first_line)
    return note


def _top_level(tokens: list[Token]) -> Iterator[Token]:
    return (token for token in tokens if token.level == 0 and token.nesting >= 0 and token.map)


def _list(
    note: Note,
    tokens: list[Token],
    opening: Token,
    lines: list[str],
    path: tuple[str, ...],
    label: tuple[str, int, int] | None,
) -> None:
    """List items become separate entries; a short numbered list under a label stays one procedure."""
    assert opening.map is not None
    start, end = opening.map[0], _last_content_line(lines, *opening.map)
    body = "\n".join(lines[start:end])
    if label and opening.type == "ordered_list_open" and len(body) <= PROCEDURE_CHARS:
        note.entries.append(_entry(lines, label[1], end, path))
        return
    if label:
        _mark(note, label[1], label[2], "label")
        path = (*path, label[0].strip("*_: "))
    for item in _items(tokens, opening):
        assert item.map is not None
        first, last = item.map[0], _last_content_line(lines, *item.map)
        note.entries.extend(_paragraph(lines, first, last, path))


def _items(tokens: list[Token], opening: Token) -> Iterator[Token]:
    begin = tokens.index(opening)
    for token in tokens[begin + 1 :]:
        if token.level == 0 and token.nesting < 0:
            return
        if token.type == "list_item_open" and token.level == 1:
            yield token


def _paragraph(lines: list[str], start: int, end: int, path: tuple[str, ...]) -> list[Entry]:
    """One entry, or several if a timestamp starts a new one within a line."""
    cuts = [start, *(n for n in range(start + 1, end) if _begins_entry(lines[n])), end]
    entries = []
    for first, last in pairwise(cuts):
        entry = _entry(lines, first, last, path)
        pieces = _FULL_STAMP.split(entry.text)
        entries += [
            Entry(piece.strip(), entry.first_line, entry.last_line, path, entry.heading)
            for piece in pieces
            if piece.strip()
        ]
    return entries


def _begins_entry(line: str) -> bool:
    return bool(_LINE_STAMP.match(line)) or begins_with_time(line)


def _entry(lines: list[str], start: int, end: int, path: tuple[str, ...]) -> Entry:
    body = lines[start:end]
    mark = _BULLET.match(body[0])
    if mark:
        body = [body[0][mark.end() :], *(_dedent(line, mark.end()) for line in body[1:])]
    return Entry("\n".join(body).strip(), start + 1, end, path, path[-1] if path else "")


def _dedent(line: str, width: int) -> str:
    return line[min(width, len(line) - len(line.lstrip())) :]


def _flush_label(note: Note, label: tuple[str, int, int] | None, path: tuple[str, ...]) -> None:
    """A label with nothing below it is an ordinary entry."""
    if label:
        note.entries.append(Entry(label[0], label[1] + 1, label[2], path, path[-1] if path else ""))


def _mark(note: Note, start: int, end: int, what: str) -> None:
    for line in range(start, end):
        note.structure[line + 1] = what


def _keep_stray_lines(note: Note, lines: list[str], path: tuple[str, ...]) -> None:
    """Lines that the parser consumes itself (link definitions) become entries too, so that nothing is lost."""
    covered = {line for entry in note.entries for line in range(entry.first_line, entry.last_line + 1)}
    for number, line in enumerate(lines, start=1):
        if line.strip() and number not in covered and number not in note.structure:
            note.entries.append(Entry(line.strip(), number, number, path, path[-1] if path else ""))


def _last_content_line(lines: list[str], start: int, end: int) -> int:
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return end
