"""A series of readings in words: the line with its newest values and their day, then how many readings, from when, and
between which values.

Everything comes from the readings. Of what there is to say, as much is said as fits into a number of tokens: levels
such as scores come before counters and durations, and what is unusual is always said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from memory_pipeline.wording.lexicon import OUTCOMES
from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of, newest_day
from memory_pipeline.wording.series_figures import Figure
from memory_pipeline.wording.series_line import (
    capitalised,
    headline,
    key_of,
    listed,
    readable,
    subject_of,
)
from memory_pipeline.wording.series_pieces import joined, pieces_of, shortened
from memory_pipeline.wording.series_ranges import (
    DAYS,
    EXTREMES,
    MEDIAN,
    SINGLE_DAYS,
    extreme_newest,
    is_dull,
    often,
    ranges,
    telling_figures,
)
from memory_pipeline.wording.series_unusual import Named, named_values, unusual
from memory_pipeline.wording.templates import list_elements

#: The form of the words: a series in another form is rewritten by the next night that has a reading for it.
WORDS_VERSION = "series-6"
#: Of a line with more figures that vary, each figure that is said has its range behind it.
_MOST_RANGES = 4
#: On so many days what is unusual is said, of so many figures a day; so many values that lie apart are among them.
_MOST_DAYS, _MOST_OF_A_DAY, _MOST_APART = 4, 3, 4
#: Where a series memory begins to count.
_COUNTED = re.compile(
    r"(?: on \d{1,2} [A-Z][a-z]+ \d{4}(?:, \d\d:\d\d)?; (?:the [a-z]+est of )?\d+ readings since "
    r"|, \d+ times from \d{1,2} ).*$",
    re.DOTALL,
)
_MOST_WORDS = 8
#: An outcome of at most so many of so many readings is rare.
_RARE, _ENOUGH_FOR_RARE = 2, 8
#: What programs count when all is well.
_WELL = re.compile(r"(?<![\d.,/])0 (?:failed|failures|errors)\b", re.IGNORECASE)
#: A line with more characters is told in parts.
_LONGEST_LINE = 600


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
    """Ways to say the series, the fullest first: figures that never vary go first, then days and medians, then the
    ranges that say least, then all but one unusual value."""
    telling = telling_figures(series)
    if not telling:
        yield from _without_figures(series, headline(series))
        return
    after = f" on {newest_day(series)}; {_span(series)}{_all_well(series)}."
    pieces = pieces_of(series)
    is_long = sum(figure.varies for figure in series.told) > _MOST_RANGES
    if is_long:
        yield from _whole(series, telling, after, (len(telling),))
        yield from shortened(series, pieces, after)
    else:
        yield from _whole(series, telling, after, range(len(telling), -1, -1))
        yield from shortened(series, pieces, after)
    yield f"{subject_of(series)}{after}"


def _whole(series: Series, telling: Sequence[Figure], after: str, numbers: Sequence[int]) -> Iterator[str]:
    """The whole line, or without what never varies, with the ranges of so many figures."""
    starts = _starts(series)
    counted = _counted(series)
    said: dict[object, str] = {}
    for days in range(_MOST_DAYS, 0, -1):
        for chosen in (one for number in numbers for one in combinations(telling, number)):
            if len(chosen) < min(days - 1, len(telling)):
                continue
            figures = sorted(chosen, key=lambda figure: figure.place)
            for named in _namings(series):
                for each in range(_MOST_OF_A_DAY, 0, -1):
                    tail = unusual(series, named, days, each, _said_now(series, figures))
                    levels = (MEDIAN, DAYS, SINGLE_DAYS, EXTREMES)
                    for start in starts:
                        for level in levels[:-1] if any(map(is_dull, figures)) else levels:
                            key = (tuple(figure.place for figure in figures), level, named.outside_key)
                            if key not in said:
                                said[key] = ranges(series, figures, level, named)
                            yield f"{start}{after}{counted}{said[key]}{tail}"


def _starts(series: Series) -> list[str]:
    """The line with its newest values, and the line without the figures that never vary."""
    whole = headline(series)
    if len(whole) > _LONGEST_LINE:
        return []
    varying = {figure.place for figure in series.told if figure.varies}
    pieces = [
        piece for n, piece in enumerate(pieces_of(series)) if not n or not piece.places or varying & {*piece.places}
    ]
    shorter = joined(pieces)
    for share in series.repeated_shares:
        shorter = shorter.replace(f" ({share})", "")
    return list(dict.fromkeys((whole, shorter)))


def _namings(series: Series) -> list[Named]:
    """What is told apart from the usual: as many values as there are, and fewer; each set once."""
    found = {named.outside_key: named for most in range(_MOST_APART, -1, -1) for named in [named_values(series, most)]}
    return list(found.values())


def _said_now(series: Series, figures: Sequence[Figure]) -> set[int]:
    """The places of figures of which it is said elsewhere that their newest value is unusual."""
    varying = {figure.place for figure in series.told if figure.varies}
    return varying if extreme_newest(series) else {figure.place for figure in figures}


def _without_figures(series: Series, whole: str) -> Iterator[str]:
    """Ways to say a series in which no figure moves: how often, and which words."""
    named = named_values(series)
    tails = tuple(dict.fromkeys(unusual(series, named, *much) for much in ((3, 3), (2, 3), (2, 2), (1, 2), (1, 1))))
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
                yield f"{_occurrences(series, text)}{_counted(series, many)}{tails[-1]}"
    else:
        yield from (_occurrences(series, whole) + tail for tail in tails)
    yield from (_occurrences(series, subject_of(series)) + tails[-1], _occurrences(series, subject_of(series)))


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
            said += _beside_the_newest([one for one in counts if one[1] < number], newest, number, most)
        elif others:
            always = [readable(word) for word, count in counts if count == number]
            said += ([f"always {listed(always[:most])}"] if always else []) + [_with_counts(others, most)]
    return "".join(f" {capitalised(text)}." for text in said)


def _beside_the_newest(
    counts: Sequence[tuple[str, int]], newest: Sequence[str], number: int, most: int
) -> Iterator[str]:
    """What was in the lists before the newest one, and what was missing from some of them, with how often."""
    before = [(word, count) for word, count in counts if word not in newest]
    missing = [(word, number - count) for word, count in counts if word in newest]
    always = [readable(word) for word, count in before if count == number - 1][:most]
    others = [one for one in before if one[1] < number - 1][: most - len(always)]
    missing = missing[: most - len(always) - len(others)]
    said = [f"in all {number - 1} before also {listed(always)}"] if always else []
    said += [f"{'' if always else 'before also '}{_by_count(others)}"] if others else []
    said += [f"without {_by_count(missing)}"] if missing else []
    if said:
        more = len(counts) - len(always) - len(others) - len(missing)
        yield "; ".join(said) + (f"; and {more} more" if more else "")


def _by_count(counts: Sequence[tuple[str, int]]) -> str:
    """Words with how often each stands, those of one count together."""
    together: dict[int, list[str]] = {}
    for word, count in counts:
        together.setdefault(count, []).append(readable(word))
    return ", ".join(f"{listed(words)} {often(count)}" for count, words in together.items())


def _with_strange_days(series: Series, place: int) -> list[tuple[str, str]]:
    """The words of a place with their counts, and with the days of one that only a stranger says, and of an outcome
    that is rare."""
    known = {reading.values[place] for reading in series.readings}
    days: dict[str, dict[str, None]] = {}
    for reading in series.every:
        days.setdefault(reading.values[place], {})[day_of(reading.at, series.newest.at.year)] = None
    is_long = len(series.every) >= _ENOUGH_FOR_RARE
    return [
        (word, f"{count} ({listed(list(days[word]))})")
        if (count == 1 and word not in known) or (is_long and count <= _RARE and word.casefold() in OUTCOMES)
        else (word, str(count))
        for word, count in series.counts(place)
    ]


def _with_counts(counts: Sequence[tuple[str, str]], most: int) -> str:
    shown = counts if len(counts) == most + 1 else counts[:most]
    more = f" and {len(counts) - most} more" if len(shown) < len(counts) else ""
    return ", ".join(f"{readable(word)} {count}" for word, count in shown) + more
