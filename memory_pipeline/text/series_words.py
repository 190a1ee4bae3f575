"""A series of readings in words, in one plain form: the newest line with its day, how many readings since when, then of
each value that varies least to greatest, what is usual, and the exceptions with their days.

Everything comes from the readings. Values that find no room are counted; `series show` tells them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from memory_pipeline.text.days import in_words
from memory_pipeline.text.place_names import PlaceName, names_of
from memory_pipeline.text.readings import Figure, Series
from memory_pipeline.text.templates import Line, list_elements

#: The form of the words: a series in another form is rewritten by the next night.
WORDS_VERSION = "series-21"
#: So many words of a place, and so many exceptions of a figure, are told.
MOST_WORDS, MOST_EXCEPTIONS = 8, 4
#: What stands for the rest of a line that is too long.
_CUT = " …"
#: Where a series memory begins to count.
_COUNTED = re.compile(r" \(\d{1,2} [A-Z][a-z]+ \d{4}(?:, \d\d:\d\d)?, the newest of \d+ readings since .*$", re.DOTALL)


def describe_series(series: Series, count_tokens: Callable[[str], int], most: int) -> str:
    """A series in at most `most` tokens: half of them for the line, or more where the rest needs fewer."""
    line, clauses = series.newest.line, _clauses(series)
    room = max(most // 2, most - count_tokens(_tail(series, clauses, len(clauses))))
    while True:
        head = _clipped(line, count_tokens, room)
        for count in range(len(clauses), -1, -1):
            text = head + _tail(series, clauses, count)
            if count_tokens(text) <= most:
                return text
        if not room:
            return text
        room //= 2


def is_true(series: Series, text: str) -> bool:
    """True if a text is what `describe_series` says of a series, with any number of tokens."""
    line, clauses = series.newest.line.text, _clauses(series)
    for count in range(len(clauses) + 1):
        head = text.removesuffix(_tail(series, clauses, count))
        if head != text and (head == _ended(line) or (head.endswith(_CUT) and line.startswith(head[: -len(_CUT)]))):
            return True
    return False


def line_in(text: str) -> str:
    """The words of a series memory about its line, without the words in which it counts: a person asks by the former.
    Another text is left as it is."""
    return _COUNTED.sub("", text).removesuffix(_CUT)


def varies(series: Series) -> bool:
    """True if a series tells of anything but how often its line came."""
    return bool(_clauses(series))


def day_in_words(day: date, year: int | None = None) -> str:
    """A day in words, without its year if it is the given one."""
    return in_words(day, year=day.year != year)


def _tail(series: Series, clauses: list[str], count: int) -> str:
    """The text behind the line: its day, the number of readings, so many clauses, and the number of the others."""
    newest, year = series.newest.at, series.newest.at.year
    has_another = any(reading.at.date() == newest.date() and reading.at != newest for reading in series.every)
    clock = f", {newest:%H:%M}" if has_another else ""
    since = day_in_words(series.every[0].at, year)
    head = f" ({day_in_words(newest)}{clock}, the newest of {len(series.every)} readings since {since})."
    body = f" {'; '.join(clauses[:count])}." if count else ""
    left = len(clauses) - count
    return f"{head}{body}" + (f" {left} more figure{'s' * (left > 1)}: series show." if left else "")


def _ended(line: str) -> str:
    return line.rstrip(" .!") or line


def _clipped(line: Line, count_tokens: Callable[[str], int], room: int) -> str:
    """The line, or as much of it as fits: no value is cut."""
    text = _ended(line.text)
    if count_tokens(text) <= room:
        return text
    inside = {position for place in line.places for position in range(place.start + 1, place.end)}
    ends = [match.start() for match in re.finditer(r"\s", text)] or [*range(1, len(text))]
    ends = [end for end in ends if end not in inside]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        if count_tokens(text[: ends[middle]] + _CUT) <= room:
            low = middle + 1
        else:
            high = middle
    return text[: ends[low - 1] if low else 0] + _CUT


def _clauses(series: Series) -> list[str]:
    """The clauses on each place that varies, in the order of the line; those with exceptions first."""
    names, year = names_of(series), series.newest.at.year
    clauses = [
        (not any(figure.outside), figure.place, _figure_clause(figure, _name_figure(figure, names), year))
        for figure in series.figures
        if figure.varies
    ]
    for number, place in enumerate(series.places):
        if place.kind in ("word", "list") and (words := _words_clause(series, number, names[number])):
            clauses.append((False, number, words))
    return [clause for _, _, clause in sorted(clauses)]


def _name_figure(figure: Figure, names: Sequence[PlaceName]) -> PlaceName:
    """The name of a figure; the unit of a part with its whole stands behind the whole."""
    name = names[figure.place]
    if "/" not in figure.newest.text:
        return name
    return replace(name, unit=names[figure.place + 1].unit, after=names[figure.place + 1].after)


def _figure_clause(figure: Figure, name: PlaceName, year: int) -> str:
    least, greatest = (f"{name.sign}{end.text}" for end in (figure.least, figure.greatest))
    clause = name.around(f"{least} to {greatest}")
    low, high = figure.usual
    if figure.rises or figure.falls:
        clause += ", rising" if figure.rises else ", falling"
    elif (low.number, high.number) != (figure.least.number, figure.greatest.number):
        to = f" to {name.sign}{high.text}" if low.number != high.number else ""
        clause += f", usually {name.sign}{low.text}{to}"
    outside = [value for value, is_outside in zip(figure.values, figure.outside, strict=True) if is_outside]
    days = [f"{name.sign}{value.text} on {day_in_words(value.at, year)}" for value in outside[-MOST_EXCEPTIONS:]]
    days += [f"{len(outside) - len(days)} earlier"] if len(outside) > len(days) else []
    return clause + (f", but {' and '.join(days)}" if days else "")


def _words_clause(series: Series, place: int, name: PlaceName) -> str:
    """The words of a place with their counts; of lists, those not in all. A word that came once has its day."""
    whole = len(series.every)
    counts = [(word, count) for word, count in series.counts(place) if count < whole]
    parts = []
    for word, count in counts[:MOST_WORDS]:
        day = ""
        if count == 1:
            texts = ((reading.at, reading.values[place]) for reading in series.every)
            moment = next(moment for moment, text in texts if word in (list_elements(text) or (text,)))
            day = f" ({day_in_words(moment, series.newest.at.year)})"
        parts.append(f"{word} {count}{day}")
    more = len(counts) - len(parts)
    parts += [f"{more} more"] if more else []
    return name.around(", ".join(parts)) if parts else ""
