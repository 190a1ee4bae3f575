"""Days in words, and the words that mean another day later: `today`, `next Monday`, `three weeks ago`.

Which words are read is decided here, span by span; what a span means is computed by dateparser. A free search for
dates would read "may" as a month and "in 2 days" of a duration as a day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from functools import lru_cache

MONTHS = "January February March April May June July August September October November December".split()
DAYS_OF_WEEK = "monday tuesday wednesday thursday friday saturday sunday".split()
_DAYS_AWAY = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1, "last night": -1}
_COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2})"
#: `about three weeks ago` names no week; `in two weeks` is a day only of what is announced, and else how long it took.
_ROUGHLY = "".join(rf"(?<!\b{word} )" for word in "about over than almost nearly least some minus".split())
_ANNOUNCED = "(?:" + "|".join(rf"(?<=\b{word} )" for word in "due back expires starts begins ends".split()) + ")"
#: A span of these units is told no finer than it was said.
_UNIT = re.compile(r"(day|week|month|year)", re.IGNORECASE)
_RELATIVE = re.compile(
    r"\b(?P<day>today|tonight|yesterday|tomorrow)(?:['’]s)?\b"
    r"|\b(?P<part>this (?:morning|afternoon|evening)|last night)\b"
    rf"|(?<!\bthe )\b(?P<which>next|last|this) (?P<weekday>{'|'.join(DAYS_OF_WEEK)})\b"
    r"|(?<!\bthe )\b(?P<span>next|last|this) week\b"
    r"|\bthe (?P<beyond>day (?:before yesterday|after tomorrow))\b"
    r"|(?<!\bthe )\b(?P<coming>(?:next|last) (?:month|year))\b"
    rf"|{_ROUGHLY}\b(?P<ago>{_COUNT} (?:day|week|month|year)s? ago)\b"
    rf"|{_ANNOUNCED}(?P<ahead>in {_COUNT} (?:day|week|month|year)s?)\b(?! of)",
    re.IGNORECASE,
)
#: A statement with one of these speaks of any day, not of the one on which it was written.
_RULE = re.compile(r"\b(?:every|each|always|never|daily|weekly|monthly|whenever|any)\b", re.IGNORECASE)
#: A longer text is no sentence.
_LONGEST = 5_000
_SAID_ALREADY = re.compile(r"\s*(?:\(|,?\s*\d{4}-\d{2}-\d{2}|,?\s*\d{1,2} [A-Z][a-z]{2,8}\b)")


def in_words(day: date, *, year: bool = True) -> str:
    """`18 February 2026`, or `18 February`."""
    return f"{day.day} {MONTHS[day.month - 1]}" + (f" {day.year}" if year else "")


def names_another_day(statement: str) -> bool:
    """True if a statement has a word that means another day later; a rule for any day has none."""
    return _RELATIVE.search(statement) is not None and _RULE.search(statement) is None


def with_days(statement: str, written: date) -> str:
    """A statement in which every word that means another day later carries its date: `tomorrow (27 March 2026)`.

    `written`: the day it was written down. A rule for any day (`every`, `whenever`) stays as it is, and so does code.
    """
    if len(statement) > _LONGEST or _RULE.search(statement) or "```" in statement:
        return statement
    done = 0
    parts: list[str] = []
    for match in _RELATIVE.finditer(statement):
        if statement.count("`", 0, match.start()) % 2 or _SAID_ALREADY.match(statement, match.end()):
            continue
        try:
            day = _meant(match, written)
        except (OverflowError, ValueError):  # no calendar has it: `99 years ago`, of the year 60
            continue
        parts += (statement[done : match.end()], f" ({day})")
        done = match.end()
    return "".join([*parts, statement[done:]])


def days_meant(written: date) -> Iterator[date]:
    """The days that words written on a day can mean: from the week before it to the week after it."""
    return (written + timedelta(days=away) for away in range(-13, 15))


def months_meant(written: Iterable[date]) -> Iterator[str]:
    """The names of the months that words written on some days can mean, as `this month` does."""
    return iter({MONTHS[meant.month - 1] for day in written for meant in days_meant(day)})


def _meant(match: re.Match[str], written: date) -> str:
    if day_or_part := match["day"] or match["part"]:
        return in_words(written + timedelta(days=_DAYS_AWAY.get(day_or_part.lower(), 0)))
    if match["weekday"]:
        ahead = (DAYS_OF_WEEK.index(match["weekday"].lower()) - written.weekday()) % 7
        which = match["which"].lower()
        away = {"next": ahead or 7, "last": (ahead or 7) - 7, "this": ahead}[which]
        return in_words(written + timedelta(days=away))
    if match["span"]:
        sign = {"next": 1, "last": -1, "this": 0}[match["span"].lower()]
        return _name_week(written + timedelta(weeks=sign))
    span = match["beyond"] or match["coming"] or match["ago"] or match["ahead"]
    day = _resolved(span.lower(), written)
    unit = _UNIT.findall(span)[0].lower()
    if unit == "day":
        return in_words(day)
    if unit == "week":
        return _name_week(day)
    return f"{MONTHS[day.month - 1]} {day.year}" if unit == "month" else str(day.year)


def _name_week(day: date) -> str:
    return f"the week of {in_words(day - timedelta(days=day.weekday()))}"


@lru_cache(maxsize=256)
def _resolved(span: str, written: date) -> date:
    """The day that a span such as `three weeks ago` means, of one who writes on a day."""
    import dateparser

    moment = dateparser.parse(
        span, languages=["en"], settings={"RELATIVE_BASE": datetime.combine(written, time(12)), "TIMEZONE": "UTC"}
    )
    if not isinstance(moment, datetime):
        raise ValueError(f"{span!r} is no span of days")
    return moment.date()
