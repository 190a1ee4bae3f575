"""Passwords in a column: a Markdown table with such a header, or comma-separated lines below such a header."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_pipeline.wording.redaction import words
from memory_pipeline.wording.redaction.spans import Span, is_stand_in, small_letters

_COLUMN = re.compile(
    rf"[\s*`\"']*(?:[\w-]+[\s_])?(?:{words.PASSWORDS}|{words.SHORT_PASSWORDS}|{words.TOKENS})s?(?:\s\([^)]*\))?[\s*`\"']*"
)
_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")


def find_in_columns(text: str) -> Iterator[Span]:
    """The cells below a header that says `password` or `token`."""
    if "\n" not in text:
        return
    columns: dict[int, str] = {}
    mark = ""
    at = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if mark and mark not in line:
            mark = ""
        if not mark:
            following = lines[number + 1] if number + 1 < len(lines) else ""
            mark, columns = _head(line, following)
        elif not _RULE.fullmatch(line):
            yield from _cells(line, at, mark, columns)
        at += len(line) + 1


def _head(line: str, following: str) -> tuple[str, dict[int, str]]:
    for mark in ("|", ",", "\t", ";"):
        if line.count(mark) < 1 or len(line) > 400 or (mark == "|" and not _RULE.fullmatch(following)):
            continue
        names = line.split(mark)
        if mark != "|" and (len(names) != len(following.split(mark)) or any(len(n.split()) > 2 for n in names)):
            continue
        found = {n: name for n, name in enumerate(names) if _COLUMN.fullmatch(small_letters(name))}
        if found:
            return mark, found
    return "", {}


def _cells(line: str, at: int, mark: str, columns: dict[int, str]) -> Iterator[Span]:
    for number, cell in enumerate(line.split(mark)):
        value = cell.strip(" \t*`\"'")
        if number in columns and _is_secret(value):
            start = at + cell.index(value)
            yield start, start + len(value)
        at += len(cell) + len(mark)


def _is_secret(value: str) -> bool:
    """Any value in such a column counts, except a word about it or about its absence."""
    if len(value) < 3 or " " in value or is_stand_in(value) or value.lower() in words.SAID_OF_ONE:
        return False
    return len(value) >= 5 or not value.isalpha()
