"""A series of readings in words: the line with its newest values and their day, then how many readings, from when, and
between which values.

Everything comes from the readings. Of what there is to say, as much is said as fits into a number of tokens: levels
such as scores come before counters and durations, and what is unusual is always said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_line import (
    capitalised,
    headline,
    key_of,
    listed,
    readable,
    subject_of,
)
from memory_pipeline.wording.series_pieces import Piece, beginning, pieces_of, with_places
from memory_pipeline.wording.series_ranges import (
    DAYS,
    EXTREMES,
    MEDIAN,
    SINGLE_DAYS,
    day_of,
    extreme_newest,
    newest_day,
    ranges,
    telling_figures,
    unusual,
)
from memory_pipeline.wording.templates import list_elements

#: The form of the words: a series in another form is rewritten by the next night that has a reading for it.
WORDS_VERSION = "series-5"
#: The ranges of so many figures are said; of a line with more figures that vary, its own words come before ranges.
_MOST_RANGES = 4
#: Where a series memory begins to count.
_COUNTED = re.compile(
    r"(?: on \d{1,2} [A-Z][a-z]+ \d{4}(?:, \d\d:\d\d)?; (?:the (?:least|greatest) of )?\d+ readings since "
    r"|, \d+ times from \d{1,2} ).*$",
    re.DOTALL,
)
_MOST_WORDS = 8
#: What programs count when all is well.
_WELL = re.compile(r"(?<![\d.,/])0 (?:failed|failures|errors)\b", re.IGNORECASE)
#: A line with more characters is told in parts; of so many pairs at most.
_LONGEST_LINE, _MOST_PAIRS = 600, 40


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


def _versions(series: Series) -> Iterator[str]:
    """Ways to say the series, the fullest first."""
    telling = telling_figures(series)
    whole, counted = headline(series), _counted(series)
    if not telling:
        yield from _without_figures(series, whole)
        return
    after = f" on {newest_day(series)}; {_span(series)}{_all_well(series)}."
    tails, least = _tails(series, 3), unusual(series, 1, each=1)
    is_long = len([figure for figure in series.figures if figure.varies]) > _MOST_RANGES
    if len(whole) <= _LONGEST_LINE:
        start = whole + after + counted
        choices = [sorted(telling[:n], key=lambda figure: figure.place) for n in range(_MOST_RANGES, 0, -1)]
        for figures in choices:
            for tail in tails:
                yield from (start + ranges(series, figures, level) + tail for level in (MEDIAN, DAYS, SINGLE_DAYS))
        for figures in choices:
            yield from (start + ranges(series, figures, EXTREMES) + tail for tail in tails)
        yield from (start + tail for tail in (*tails, least))
    pieces = pieces_of(series)
    told = pieces if is_long else with_places(pieces, [figure.place for figure in telling])
    yield from _shortened(series, told, sum(piece.has_value for piece in pieces), after, least)
    yield f"{subject_of(series)}{after}{ranges(series, telling[:1], EXTREMES)}{least}"


def _tails(series: Series, most: int) -> tuple[str, ...]:
    """What is unusual, on so many days and on fewer."""
    return tuple(dict.fromkeys(unusual(series, days) for days in range(most, 0, -1)))


def _shortened(series: Series, pieces: Sequence[Piece], number: int, after: str, tail: str) -> Iterator[str]:
    """The line up to one of these pairs, with the range of the first figure that is said and the most unusual value.
    `number`: how many pairs the line has."""
    figures = {figure.place: figure for figure in telling_figures(series)}
    values = min(sum(piece.has_value for piece in pieces), _MOST_PAIRS)
    for fewest, with_range, with_tail in ((3, True, True), (2, False, True), (1, False, False)):
        for most in range(values, min(fewest, values) - 1, -1):
            text, places = beginning(pieces, most, number)
            told = [figures[place] for place in sorted(places) if place in figures][:1] if with_range else []
            yield text + after + ranges(series, told, SINGLE_DAYS) + (tail if with_tail else "")


def _without_figures(series: Series, whole: str) -> Iterator[str]:
    """Ways to say a series in which no figure moves: how often, and which words."""
    tails, one = _tails(series, 2), unusual(series, 1, each=1)
    if _counted(series):
        start = f"{whole} on {newest_day(series)}; {_span(series)}{_all_well(series)}."
        without_words = _occurrences(series, headline(series, with_words=False))
        for tail in tails:
            yield start + _counted(series, with_newest=True) + tail
            if series.words:
                yield without_words + _counted(series) + tail
            for many in (5, 3, 2, 1):
                yield start + _counted(series, many, with_newest=True) + tail
        for text in dict.fromkeys((headline(series, with_words=False), subject_of(series))):
            for many in (_MOST_WORDS, 6, 4, 2, 1):
                yield f"{_occurrences(series, text)}{_counted(series, many)}{one}"
    else:
        yield from (_occurrences(series, whole) + tail for tail in tails)
    yield from (_occurrences(series, subject_of(series)) + one, _occurrences(series, subject_of(series)))


def _occurrences(series: Series, whole: str) -> str:
    """How often, from when to when."""
    first, last = series.every[0].at, series.newest.at
    start = str(first.day) if (first.year, first.month) == (last.year, last.month) else day_of(first, last.year)
    return f"{whole}, {len(series.every)} times from {start} to {day_of(last)}."


def _span(series: Series) -> str:
    start = day_of(series.every[0].at, series.newest.at.year)
    return f"{extreme_newest(series)}{len(series.every)} readings since {start}"


def _all_well(series: Series) -> str:
    """That all readings say `0 failed`, if they do: another number would have stood in the same place. A line with
    another word, `failure` for `success`, is of another shape, so that nothing can be said of all."""
    text, places = series.newest.line.text, series.places
    columns = zip(places, series.columns, strict=True)
    held = [(place.start, place.end) for place, column in columns if len(set(column)) > 1]
    words = []
    for match in _WELL.finditer(text):
        start, end = match.span()
        if all(end <= a or b <= start for a, b in held):
            words.append(match.group())
    return f", all {listed(list(dict.fromkeys(words)))}" if words else ""


def _counted(series: Series, most: int = _MOST_WORDS, *, with_newest: bool = False) -> str:
    """The words of each place with their counts. Of a list, what is always there comes first unless the newest list is
    said; then what it lacks comes first."""
    said = []
    for place in series.words:
        key, text = key_of(series, place), _with_counts(_with_strange_days(series, place), most)
        said.append(f"{key} {text}" if key else text)
    for place in (i for i, one in enumerate(series.places) if one.kind == "list"):
        counts, number = series.counts(place), len(series.every)
        others = [(word, str(count)) for word, count in counts if count < number]
        if others and with_newest:
            newest = list_elements(series.newest.values[place]) or ()
            said += _beside_the_newest(others, newest, number, most)
        elif others:
            always = [readable(word) for word, count in counts if count == number]
            said += ([f"always {listed(always[:most])}"] if always else []) + [_with_counts(others, most)]
    return "".join(f" {capitalised(text)}." for text in said)


def _beside_the_newest(
    others: Sequence[tuple[str, str]], newest: Sequence[str], number: int, most: int
) -> Iterator[str]:
    """What the newest list lacks, and what is in it but not in every one, each with its count."""
    totals = [(word, f"{count} of {number}" if not n else count) for n, (word, count) in enumerate(others)]
    lacking = [one for one in totals if one[0] not in newest]
    present = [one for one in totals if one[0] in newest]
    if lacking:
        yield f"not this time: {_with_counts(lacking, most)}"
    if present and len(lacking) < most:
        yield f"not always: {_with_counts(present, most - len(lacking))}"


def _with_strange_days(series: Series, place: int) -> list[tuple[str, str]]:
    """The words of a place with their counts, and with the day of one that only a stranger says."""
    known = {reading.values[place] for reading in series.readings}
    days = {reading.values[place]: day_of(reading.at, series.newest.at.year) for reading in series.strangers}
    return [
        (word, str(count) if word in known or count > 1 else f"{count} ({days[word]})")
        for word, count in series.counts(place)
    ]


def _with_counts(counts: Sequence[tuple[str, str]], most: int) -> str:
    shown = counts if len(counts) == most + 1 else counts[:most]
    more = f" and {len(counts) - most} more" if len(shown) < len(counts) else ""
    return ", ".join(f"{readable(word)} {count}" for word, count in shown) + more
