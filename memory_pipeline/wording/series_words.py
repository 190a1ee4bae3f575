"""A series of readings in words: the newest values with their day, then how many readings, from when, and between
which values.

Everything comes from the readings. Of what there is to say, as much is said as fits into a number of tokens: levels
such as scores come before counters and durations, and what is unusual is always said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime

from memory_pipeline.wording.readings import Figure, Series, Value, number_of
from memory_pipeline.wording.series_line import (
    amount,
    called,
    capitalised,
    headline,
    key_of,
    listed,
    measure_of,
    name_of,
    readable,
    subject_of,
)

#: The form of the words: a series in another form is rewritten by the next night that has a reading for it.
WORDS_VERSION = "series-3"
#: A line with all its values is the headline up to this many characters; from a longer one, figures are chosen.
_LONGEST_HEADLINE = 130
_MONTHS = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip
#: Where a series memory begins to count.
_COUNTED = re.compile(r"(?: on \d{1,2} [A-Z][a-z]+ \d{4}; \d+ readings since |, \d+ times from \d{1,2} ).*$", re.DOTALL)
_MOST_WORDS = 8
#: Of a long line, the newest values of at most so many figures are said; of a short one, the ranges of so many.
_MOST_FIGURES, _MOST_RANGES = 6, 4
#: A figure hardly changes if this share of its values are equal.
_HARDLY_CHANGES = 0.8
#: How full a range is: the extremes; with their days; with the median; with the first value.
_EXTREMES, _DAYS, _MEDIAN, _FIRST = 1, 2, 3, 4


def describe_series(series: Series, count_tokens: Callable[[str], int], most: int) -> str:
    """A series in at most `most` tokens, as whole sentences."""
    shortest = ""
    for text in _versions(series):
        if count_tokens(text) <= most:
            return text
        shortest = text if not shortest or len(text) < len(shortest) else shortest
    words = shortest.split()
    while len(words) > 1 and count_tokens(" ".join(words)) > most:
        words.pop()
    return " ".join(words)


def is_true(series: Series, text: str) -> bool:
    """Whether a text is one of the ways to say a series, or the beginning of one that was too long."""
    versions = list(_versions(series))
    return text in versions or min(versions, key=len).startswith(f"{text} ")


def line_in(text: str) -> str:
    """What a series memory says of its line, without the words in which it counts: a person asks by the former. Another
    text is left as it is."""
    return _COUNTED.sub("", text)


def day_of(at: datetime, year: int | None = None) -> str:
    """A day in words, without its year if it is the given one."""
    return f"{at.day} {_MONTHS[at.month - 1]}" + ("" if at.year == year else f" {at.year}")


def _versions(series: Series) -> Iterator[str]:
    """Ways to say the series, the fullest first."""
    telling = _telling(series)
    whole, words = headline(series), _counted(series)
    breaks, fewer = _unusual(series, 2), _unusual(series, 1)
    if not telling:
        yield from _without_figures(series, whole, breaks)
        return
    if len(whole) <= _LONGEST_HEADLINE:
        start = f"{whole} on {day_of(series.newest.at)}; {_span(series)}."
        for many in range(min(_MOST_RANGES, len(telling)), 0, -1):
            figures = sorted(telling[:many], key=lambda figure: figure.place)
            for level, tail in (
                *((level, words + breaks) for level in (_FIRST, _MEDIAN, _DAYS)),
                *((level, words + fewer) for level in (_MEDIAN, _DAYS)),
                (_DAYS, fewer),
            ):
                yield start + _ranges(series, figures, level) + tail
        yield start + _ranges(series, telling[:1], _EXTREMES) + fewer
        yield start + fewer
    start = f"{subject_of(series)} on {day_of(series.newest.at)}; {_span(series)}:"
    tails = tuple(dict.fromkeys((_unusual(series, 2, each=1), _unusual(series, 1, each=1))))
    for many in range(min(_MOST_FIGURES, len(telling)), 0, -1):
        for spans in (3, 2, 1):
            for tail in tails:
                yield f"{start} {_newest_values(series, telling[:many], spans)}.{tail}"
    yield f"{start} {_named(series, telling[0], telling[0].newest)}."


def _telling(series: Series) -> list[Figure]:
    """The figures that usually vary, the most interesting first; of several that always have the same value only one,
    and none without a name if others have one."""
    moving = [figure for figure in series.figures if figure.movement]
    moving.sort(key=lambda figure: (*_dullness(series, figure), -figure.movement, figure.place))
    different = {tuple(v.number for v in f.values): f for f in sorted(moving, key=lambda f: -f.place)}
    chosen = [figure for figure in moving if figure in different.values()]
    named = [figure for figure in chosen if _name(series, figure.place)]
    return named or chosen


def _dullness(series: Series, figure: Figure) -> tuple[bool, bool, bool]:
    """What hardly ever changes says least, then what only counts on; durations and sizes say less than levels."""
    numbers = Counter(value.number for value in figure.usual)
    hardly_changes = max(numbers.values()) >= _HARDLY_CHANGES * len(figure.usual)
    counts_on = figure.rises and len(numbers) > 2
    return hardly_changes, counts_on, measure_of(series, figure.place) in ("time", "size")


def _newest_values(series: Series, figures: Sequence[Figure], most: int) -> str:
    """The newest values in the order of the line, and for the first `most` figures their extremes. `figures`: the most
    interesting first."""
    spans = figures[:most]
    return ", ".join(
        _named(series, figure, figure.newest) + (f" ({_between(series, figure, ' on ')})" if figure in spans else "")
        for figure in sorted(figures, key=lambda figure: figure.place)
    )


def _without_figures(series: Series, whole: str, breaks: str) -> Iterator[str]:
    """Ways to say a series in which no figure moves: how often, and which words."""
    subject, fewer = subject_of(series), _unusual(series, 1, each=1)
    if _counted(series):
        start = f"{whole} on {day_of(series.newest.at)}; {_span(series)}."
        for tail in (breaks, fewer):
            for many in (_MOST_WORDS, 5, 3, 2, 1):
                yield start + _counted(series, many, with_newest=True) + tail
        for many in (_MOST_WORDS, 6, 4, 2, 1):
            yield f"{_occurrences(series, subject)}{_counted(series, many)}{fewer}"
    else:
        yield from (_occurrences(series, whole) + breaks, _occurrences(series, whole) + fewer)
    yield from (_occurrences(series, subject) + fewer, _occurrences(series, subject))


def _occurrences(series: Series, whole: str) -> str:
    """How often, from when to when."""
    first, last = series.readings[0].at, series.newest.at
    start = str(first.day) if (first.year, first.month) == (last.year, last.month) else day_of(first, last.year)
    return f"{whole}, {len(series.readings)} times from {start} to {day_of(last)}."


def _span(series: Series) -> str:
    every = [*series.readings, *series.strangers]
    first = min(reading.at for reading in every)
    return f"{len(every)} readings since {day_of(first, series.newest.at.year)}"


def _ranges(series: Series, figures: Sequence[Figure], level: int) -> str:
    said = "; ".join(_range(series, figure, level) for figure in figures)
    return f" {capitalised(said)}." if said else ""


def _range(series: Series, figure: Figure, level: int) -> str:
    """The usual values of a figure."""
    name = _name(series, figure.place) or "value"
    first, newest, year = figure.first, figure.newest, series.newest.at.year
    if figure.rises and level > _EXTREMES and not any(figure.outside):
        oldest = f"{amount(series, figure.place, first.text)} ({day_of(first.at, year)})"
        text = f"{name} rose from {oldest} to {amount(series, figure.place, newest.text)}"
    else:
        usually = " usually" if any(figure.outside) else ""
        between = _between(series, figure, " (", ")") if level > _EXTREMES else _between(series, figure)
        text = f"{name}{usually} {between}"
    if level >= _MEDIAN:
        text += f", median {amount(series, figure.place, figure.median)}"
    if level >= _FIRST and first.text not in (figure.usual_least.text, figure.usual_greatest.text, figure.median):
        text += f", at first {amount(series, figure.place, first.text)}"
    return text


def _between(series: Series, figure: Figure, opening: str = "", closing: str = "") -> str:
    """The usual extremes of a figure, with their days between these signs, if there are any: the day of the newest
    value is not said again, and of a value that returned it is the last one."""
    year, times = series.newest.at.year, Counter(value.number for value in figure.values)

    def extreme(value: Value) -> str:
        said = amount(series, figure.place, value.text)
        if not opening or value.number == figure.newest.number:
            return said
        again = "last " if times[value.number] > 1 and not opening.strip().startswith("on") else ""
        return f"{said}{opening}{again}{day_of(value.at, year)}{closing}"

    return f"{extreme(figure.usual_least)} to {extreme(figure.usual_greatest)}"


def _name(series: Series, place: int) -> str:
    """The name of a figure, or what its unit measures."""
    return name_of(series, place) or measure_of(series, place)


def _named(series: Series, figure: Figure, value: Value) -> str:
    return f"{_name(series, figure.place)} {amount(series, figure.place, value.text)}".strip()


def _counted(series: Series, most: int = _MOST_WORDS, *, with_newest: bool = False) -> str:
    """The words of each place with their counts. Of a list, what is not always in it; what is always there comes first
    unless the newest list is said."""
    said = []
    for place in series.words:
        key, text = key_of(series, place), _with_counts(series.counts(place), most)
        said.append(f"{key} {text}" if key else text)
    for place in (i for i, one in enumerate(series.places) if one.kind == "list"):
        counts = series.counts(place)
        always = [readable(word) for word, count in counts if count == len(series.readings)]
        others = [(word, count) for word, count in counts if count < len(series.readings)]
        if others and with_newest:
            said.append(f"not in every one: {_with_counts(others, most)}")
        elif others:
            said += ([f"always {listed(always[:most])}"] if always else []) + [_with_counts(others, most)]
    return "".join(f" {capitalised(text)}." for text in said)


def _with_counts(counts: Sequence[tuple[str, int]], most: int) -> str:
    shown = counts if len(counts) == most + 1 else counts[:most]
    more = f" and {len(counts) - most} more" if len(shown) < len(counts) else ""
    return ", ".join(f"{readable(word)} {count}" for word, count in shown) + more


def _unusual(series: Series, most: int, each: int = 3) -> str:
    """What breaks the series on the newest `most` of the days with such a reading: of the figures of one day the
    farthest `each`."""
    year = series.newest.at.year
    days: dict[tuple[date, str], dict[str, float]] = {}
    for value, farness, said in _breaking(series):
        days.setdefault((value.date(), day_of(value, year)), {}).setdefault(said, farness)
    told = []
    for (_, day), values in sorted(days.items())[-most:]:
        farthest = sorted(values, key=lambda said: -values[said])[:each]
        told.append(f"{', '.join(said for said in values if said in farthest)} on {day}")
    if not told:
        return ""
    others = len(days) - len(told)
    more = f"; and on {others} more day{'s' if others > 1 else ''}" if others else ""
    return f" Unusual: {'; '.join(told)}{more}."


def _breaking(series: Series) -> Iterator[tuple[datetime, float, str]]:
    """When a reading broke the series, how far it was from the median in usual spans, and the value with its name."""
    figures = {figure.place: figure for figure in series.figures}
    alone = sum(figure.varies for figure in series.figures) == 1
    for one in series.breaks:
        figure = figures[one.place]
        span = figure.usual_greatest.number - figure.usual_least.number
        farness = abs(one.value.number - number_of(figure.median)) / (span or 1e-9)
        said = amount(series, one.place, one.value.text) if alone else called(series, one.place, one.value.text)
        yield one.value.at, farness, said
    known = {i: {reading.values[i] for reading in series.readings} for i in series.words}
    for reading in series.strangers:
        new = [reading.values[i] for i in known if reading.values[i] not in known[i]]
        if new:
            yield reading.at, 0.0, f"'{new[0]}'"
