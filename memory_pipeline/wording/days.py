"""Days in words, and the words that mean another day later: `today`, `tomorrow`, `next Monday`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

_MONTHS = (
    "January February March April May June July August September October November December"
).split()  # fmt: skip
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_DAYS_AWAY = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
_RELATIVE = re.compile(
    r"\b(?P<day>today|tonight|yesterday|tomorrow)(?:['’]s)?\b"
    r"|\bthis (?P<part>morning|afternoon|evening)\b|\blast (?P<night>night)\b"
    rf"|(?<!\bthe )\b(?P<which>next|last|this) (?P<weekday>{'|'.join(_WEEKDAYS)})\b"
    r"|(?<!\bthe )\b(?P<span>next|last|this) week\b",
    re.IGNORECASE,
)
#: A statement with one of these speaks of any day, not of the one on which it was written.
_RULE = re.compile(r"\b(?:every|each|always|never|daily|weekly|monthly|whenever|any)\b", re.IGNORECASE)
#: A longer text is no sentence.
_LONGEST = 5_000
_SAID_ALREADY = re.compile(r"\s*(?:\(|,?\s*\d{4}-\d{2}-\d{2}|,?\s*\d{1,2} [A-Z][a-z]{2,8}\b)")


def in_words(day: date, *, year: bool = True) -> str:
    """`18 February 2026`, or `18 February`."""
    return f"{day.day} {_MONTHS[day.month - 1]}" + (f" {day.year}" if year else "")


def list_of_days(days: Sequence[date], *, year_of_first: bool) -> list[str]:
    """Each day in words; a year only where it differs from the day before, and at the first if wanted."""
    words = []
    last = None if year_of_first else (days[0].year if days else None)
    for day in days:
        words.append(in_words(day, year=day.year != last))
        last = day.year
    return words


def between_in_words(first: date, last: date) -> str:
    """`between 18 February and 21 March 2026`; each day has its month, so that it is read as a day."""
    return f"between {in_words(first, year=first.year != last.year)} and {in_words(last)}"


def names_another_day(statement: str) -> bool:
    """Whether a statement has a word that means another day later; a rule for any day has none."""
    return _RELATIVE.search(statement) is not None and _RULE.search(statement) is None


def with_days(statement: str, written: date) -> str:
    """A statement in which every word that means another day later carries its date: `tomorrow (27 March 2026)`.

    `written`: the day on which it was written down. A rule for any day (`every`, `whenever`) stays as it is, and so
    does code.
    """
    if len(statement) > _LONGEST or _RULE.search(statement) or "```" in statement:
        return statement
    done = 0
    parts: list[str] = []
    for match in _RELATIVE.finditer(statement):
        if statement.count("`", 0, match.start()) % 2 or _SAID_ALREADY.match(statement, match.end()):
            continue
        parts += (statement[done : match.end()], f" ({_meant(match, written)})")
        done = match.end()
    return "".join([*parts, statement[done:]])


def days_meant(written: date) -> Iterator[date]:
    """The days that words written on a day can mean: from the week before it to the week after it."""
    return (written + timedelta(days=away) for away in range(-13, 15))


def _meant(match: re.Match[str], written: date) -> str:
    if match["day"]:
        return in_words(written + timedelta(days=_DAYS_AWAY[match["day"].lower()]))
    if match["part"]:
        return in_words(written)
    if match["night"]:
        return in_words(written - timedelta(days=1))
    if match["weekday"]:
        ahead = (_WEEKDAYS.index(match["weekday"].lower()) - written.weekday()) % 7
        which = match["which"].lower()
        away = {"next": ahead or 7, "last": (ahead or 7) - 7, "this": ahead}[which]
        return in_words(written + timedelta(days=away))
    sign = {"next": 1, "last": -1, "this": 0}[match["span"].lower()]
    monday = written - timedelta(days=written.weekday()) + timedelta(weeks=sign)
    return f"the week of {in_words(monday)}"
