"""Tells in one sentence what was told of several times: the values in which those differ, each with its day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from memory_pipeline.consolidation.distillers.saying import Saying, Statement
from memory_pipeline.models import Declined
from memory_pipeline.text.days import between_in_words, in_words, list_of_days
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.values import Value, normal_value, values_in

#: So many different values have a day each; more of them are listed with the days from which to which;
MOST_DATED = 3
#: and more than these are no sentence.
MOST_LISTED = 12

TOO_MANY = f"more than {MOST_LISTED} values differ: no sentence can hold them"

_NUMBERS = ("Once", "Twice", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")
_NOUN_FOLLOWS = re.compile(r"[ -][^\W\d_]")
#: What leads to a value: `at step` in `diverged at step 900`.
_LEADING = re.compile(r"\b(?:at|on|in|after|for|from|by|with) (?:[\w'-]+ )?$", re.IGNORECASE)
#: Why one more time was as it was: `, because somebody had cleared the cache`.
_REASON = re.compile(r",? (?:because|since|as|after|when) ")
_TODAY = re.compile(r"^,? (?:today|this time)\b")
_THIS_TIME = re.compile(r",?\s+(?:again|once more|once again|yet again|this time|this round)\b(?=\W)", re.IGNORECASE)


def told_once(saying: Saying, once_more: Sequence[Saying] = ()) -> str | Declined:
    """The wording of a saying; if its tellings differ in values, with all of these. `once_more`: what
    `is_once_more` of it.

    One differing place holds its values as a list. If several do, what belongs together stays together: the sentence
    gives the first telling whole, and those of the others follow it. Both begin with how many times there were.
    """
    places = saying.varying
    if not places:
        return saying.best.text
    rows = _rows(saying, places)
    if len(rows) > MOST_LISTED:
        return Declined(TOO_MANY)
    if len(places) == 1:
        return _listed(saying, places[0], rows, once_more)
    return _followed(saying, places, rows)


def is_once_more(saying: Saying, other: Saying) -> bool:
    """Whether another thing that is said is one more time of the same, for a reason of its own: `Deploying took 17
    minutes, because ...` beside `The deploy took 14, 22 and 19 minutes because ...`."""
    places = saying.varying
    statement = other.best
    values = values_in(statement.text)
    if len(places) != 1 or len(other.tellings) != 1 or len(values) != 1:
        return False
    mine, days = _values_of(saying.best, saying)[places[0]], {one.day for one, _ in saying.tellings}
    (value,) = values
    before, after = statement.text[: value.start], _without_day(statement.text[value.end :])
    said_before = content_words(saying.best.text[: mine.start])
    return (
        len(_rows(saying, places)) >= MOST_DATED
        and value.place == mine.place
        and statement.day not in days
        and _REASON.match(after) is not None
        and bool(content_words(before))
        and set(content_words(before)) <= set(said_before)
    )


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


def _listed(saying: Saying, place: int, rows: Sequence[_Row], once_more: Sequence[Saying]) -> str:
    value = _values_of(saying.best, saying)[place]
    days = [day for _, row_days in rows for day in row_days]
    written = [values[0].written for values, _ in rows]
    text = saying.best.text
    before, after = _any_time(text[: value.start]), _any_time(text[value.end :])
    if len(set(days)) > 1 and len(rows) <= MOST_DATED and (value.unit or not _NOUN_FOLLOWS.match(after)):
        told = _and([f"{one} ({when})" for one, when in zip(written, _whens(rows), strict=True)])
        return f"{before}{told}{after}"
    sentence = f"{before}{_and(_with_one_unit(written))}{after}"
    if len(set(days)) == 1:
        return sentence
    others = [one.best for one in once_more]
    end = sentence[-1] if sentence.endswith((".", "!")) else "."
    told = "".join(f", and {_once_more(other)}" for other in others)
    more: list[_Row] = [(values_in(other.text), (other.day,)) for other in others]
    return f"{_times([*rows, *more])}: {sentence.rstrip('.!')}{told}{end}"


def _once_more(statement: Statement) -> str:
    """`17 minutes on 18 October because somebody had cleared the cache`."""
    (value,) = values_in(statement.text)
    reason = _without_day(statement.text[value.end :]).lstrip(",").rstrip(".!")
    return f"{value.written} on {in_words(statement.day, year=False)}{reason}"


def _without_day(text: str) -> str:
    return _TODAY.sub("", text)


def _with_one_unit(written: Sequence[str]) -> list[str]:
    """Amounts of which only the last one has its unit, if it is the same word: `50`, `35 minutes`."""
    parts = [text.partition(" ") for text in written]
    if len({unit for _, _, unit in parts}) > 1:
        return list(written)
    return [*(number for number, _, _ in parts[:-1]), written[-1]]


def _followed(saying: Saying, places: Sequence[int], rows: Sequence[_Row]) -> str:
    """The best wording with the values of the first time, and those of the other times after it."""
    (oldest, _), *others = rows
    days = [day for _, row_days in rows for day in row_days]
    several_days = len(set(days)) > 1
    each = several_days and len(rows) <= MOST_DATED
    whens = [f" ({when})" if each else "" for when in _whens(rows)]
    text = saying.best.text
    mine = _values_of(saying.best, saying)
    for place, value in sorted(zip(places, oldest, strict=True), reverse=True):
        text = f"{text[: mine[place].start]}{value.written}{text[mine[place].end :]}"
    text = _any_time(text).rstrip()
    end = text[-1] if text.endswith((".", "!")) else "."
    labels = [_label_of(saying, place) for place in places]
    lead = _leading(saying, places[0]) if len(places) == 2 else ""
    if lead:  # `at step 1050 with 4e-4, 900 with 3e-4`
        told = [
            f"{one.written} with {other.written}{when}"
            for ((one, other), _), when in zip(others, whens[1:], strict=True)
        ]
        following = f"{lead}{_and(told)}"
    else:
        told = [
            _and([f"{label} {value.written}".strip() for label, value in zip(labels, values, strict=True)]) + when
            for (values, _), when in zip(others, whens[1:], strict=True)
        ]
        following = f"then {', '.join(told)}"
    sentence = f"{text.rstrip('.!')}{whens[0]}; {following}{end}"
    return f"{_times(rows)}: {sentence}" if several_days and not each else sentence


def _times(rows: Sequence[_Row]) -> str:
    """`Four times between 17 October and 18 November 2026`. What was told on two days may have been one time."""
    days = [day for _, row_days in rows for day in row_days]
    span = between_in_words(min(days), max(days))
    if len(days) > len(rows):
        return f"{span[:1].upper()}{span[1:]}"
    number = _NUMBERS[len(rows) - 1] if len(rows) <= len(_NUMBERS) else str(len(rows))
    return f"{number} times {span}"


def _leading(saying: Saying, place: int) -> str:
    """The words that lead to a value, if all tellings have the same one before it: `at step `."""
    value = _values_of(saying.best, saying)[place]
    leading = _LEADING.search(saying.best.text[: value.start])
    return leading.group().lower() if leading and (leading.group().count(" ") == 1 or _label_of(saying, place)) else ""


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


def _any_time(text: str) -> str:
    """A part of a sentence without the words by which it meant one of several times."""
    return _THIS_TIME.sub("", text)


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
