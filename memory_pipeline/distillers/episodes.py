"""Tells in one sentence what was told of several times: the values in which those differ, each with its day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from memory_pipeline.distillers.saying import Saying, Statement
from memory_pipeline.llm import Declined
from memory_pipeline.wording.days import list_of_days, span_in_words
from memory_pipeline.wording.values import Value, normal_value

#: So many different values have a day each; more of them are listed with the days from which to which;
MOST_DATED = 3
#: and more than these are no sentence.
MOST_LISTED = 12

TOO_MANY = f"more than {MOST_LISTED} values differ: no sentence can hold them"

_THIS_TIME = re.compile(r",?\s+(?:again|once more|once again|yet again|this time|this round)\b(?=\W)", re.IGNORECASE)


def told_once(saying: Saying) -> str | Declined:
    """The wording of a saying; if its tellings differ in values, with all of these.

    One differing place holds its values as a list. If several do, what belongs together stays together: the sentence
    gives one telling whole, and those of the others follow it.
    """
    places = saying.varying
    if not places:
        return saying.best.text
    rows = _rows(saying, places)
    if len(rows) > MOST_LISTED:
        return Declined(TOO_MANY)
    if len(places) == 1:
        return _listed(saying, places[0], rows)
    return _followed(saying, places, rows)


_Row = tuple[tuple[Value, ...], tuple[date, ...]]


def _rows(saying: Saying, places: Sequence[int]) -> list[_Row]:
    """Every distinct set of values at these places, oldest first, with its days."""
    found: dict[tuple[str, ...], tuple[tuple[Value, ...], list[date]]] = {}
    for statement, values in saying.tellings:
        if values:
            chosen = tuple(values[place] for place in places)
            key = tuple(normal_value(value) for value in chosen)
            found.setdefault(key, (chosen, []))[1].append(statement.day)
    return [(values, tuple(sorted(set(days)))) for values, days in found.values()]


def _listed(saying: Saying, place: int, rows: Sequence[_Row]) -> str:
    value = _values_of(saying.best, saying)[place]
    days = [day for _, row_days in rows for day in row_days]
    written = [values[0].written for values, _ in rows]
    if len(set(days)) == 1:
        told = _and(written)
    elif len(rows) <= MOST_DATED:
        told = _and([f"{text} ({when})" for text, when in zip(written, _whens(rows), strict=True)])
    else:
        told = f"{_and(written)} (oldest first, {_span(days)})"
    text = saying.best.text
    return f"{_any_time(text[: value.start])}{told}{_any_time(text[value.end :])}"


def _followed(saying: Saying, places: Sequence[int], rows: Sequence[_Row]) -> str:
    """The best wording with its own values, and the other tellings after it."""
    mine = tuple(normal_value(_values_of(saying.best, saying)[place]) for place in places)
    own = [row for row in rows if tuple(map(normal_value, row[0])) == mine]
    others = [row for row in rows if tuple(map(normal_value, row[0])) != mine]
    days = [day for _, row_days in rows for day in row_days]
    each = len(set(days)) > 1 and len(rows) <= MOST_DATED
    whens = [f" ({when})" if each else "" for when in _whens([*own, *others])]
    text = _any_time(saying.best.text).rstrip()
    end = text[-1] if text.endswith((".", "!")) else "."
    labels = [_label_of(saying, place) for place in places]
    told = [
        _and([f"{label} {value.written}".strip() for label, value in zip(labels, values, strict=True)]) + when
        for (values, _), when in zip(others, whens[1:], strict=True)
    ]
    span = f" ({_span(days)})" if len(set(days)) > 1 and not each else ""
    return f"{text.rstrip('.!')}{whens[0]}; the same with {', '.join(told)}{span}{end}"


def _label_of(saying: Saying, place: int) -> str:
    """The word before a value that has no unit, if all tellings have it there: `step` in `step 900`."""
    value = _values_of(saying.best, saying)[place]
    labels = {values[place].label for _, values in saying.tellings if values}
    if value.unit or value.kind != "number" or labels != {value.label} or not value.label:
        return ""
    before = re.search(r"([\w'-]+) $", saying.best.text[: value.start])
    return before.group(1) if before else ""


def _values_of(statement: Statement, saying: Saying) -> tuple[Value, ...]:
    return next(values for one, values in saying.tellings if one is statement)


def _whens(rows: Sequence[_Row]) -> list[str]:
    """The days of each row in words; the year where it first stands or changes."""
    flat = list_of_days([day for _, days in rows for day in days], year_of_first=True)
    whens = []
    for _, days in rows:
        whens.append(_and(flat[: len(days)]))
        flat = flat[len(days) :]
    return whens


def _span(days: Sequence[date]) -> str:
    return span_in_words(min(days), max(days))


def _any_time(text: str) -> str:
    """A part of a sentence without the words by which it meant one of several times."""
    return _THIS_TIME.sub("", text)


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
