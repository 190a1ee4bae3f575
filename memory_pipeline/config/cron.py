"""Checks cron expressions, so that a wrong one gives a clear error message instead of a program that does not load."""

from __future__ import annotations

import re

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
#: Each field: its name, its lowest and highest value, and the words that represent values from the lowest on.
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)
_LONGEST_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PART = re.compile(r"(?:\*|(?P<first>\w+)(?:-(?P<last>\w+))?)(?:/(?P<step>[0-9]{1,3}))?", re.ASCII)


def check_cron(line: str) -> str:
    """Return the expression unchanged. Raises ValueError if it is not a cron expression of five fields, or never
    matches."""
    fields = line.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(f"{line!r} is not a cron line of five fields; write it like 0 2 * * *")
    _, _, days, months, _ = (_values(line, field, *limits) for field, limits in zip(fields, _FIELDS, strict=True))
    if fields[4] == "*" and not any(day <= _LONGEST_MONTH[month - 1] for month in months for day in days):
        raise ValueError(f"{line!r} never comes due: no such month has such a day")
    return line


def _values(line: str, field: str, name: str, least: int, greatest: int, words: tuple[str, ...]) -> set[int]:
    found: set[int] = set()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        first = _number(match["first"], least, words) if match and match["first"] else least
        last = _number(match["last"], least, words) if match and match["last"] else first
        if match and (not match["first"] or (match["step"] and not match["last"])):
            last = greatest
        step = int(match["step"]) if match and match["step"] else 1
        if first is None or last is None or not match or not least <= first <= last <= greatest or step < 1:
            raise ValueError(f"{line!r} is not a cron line: its {name} is {part!r}; write {least} to {greatest}, or *")
        found |= set(range(first, last + 1, step))
    return found


def _number(text: str, least: int, words: tuple[str, ...]) -> int | None:
    if text.isdigit():
        return int(text[:4])
    return words.index(text.lower()) + least if text.lower() in words else None
