"""A series of readings in words: the line with its newest values and their day, then how many readings, from when, and
between which values.

Everything comes from the readings. What one text has no room for is said in further ones; only where that cannot be
done something is left out: levels such as scores come before counters and durations, and what is unusual is said first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations, product
from typing import Literal

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_counts import MOST_WORDS, all_well, counted_fully_first, counted_words
from memory_pipeline.wording.series_days import day_of, newest_day, span_of
from memory_pipeline.wording.series_figures import Figure
from memory_pipeline.wording.series_held import held
from memory_pipeline.wording.series_line import (
    headline,
    subject_of,
)
from memory_pipeline.wording.series_lists import before_list, changes_in_lists, changes_in_short, lists_of
from memory_pipeline.wording.series_long import are_texts, in_texts, left_out_sentence
from memory_pipeline.wording.series_near import EXACT, NEAR
from memory_pipeline.wording.series_pieces import Piece, joined, pieces_of
from memory_pipeline.wording.series_ranges import (
    BOUND,
    DAYS,
    EXTREMES,
    MEDIAN,
    SINGLE_DAYS,
    extreme_newest,
    is_dull,
    range_of_one,
    ranges,
    ranges_in_short,
    telling_figures,
)
from memory_pipeline.wording.series_unusual import Named, named_values, unusual

#: The form of the words: a series in another form is rewritten by the next night that has a reading for it.
WORDS_VERSION = "series-19"
#: Of a line with more figures that vary, each figure that is said has its range behind it.
_MOST_RANGES = 4
#: On so many days what is unusual is said; so many values that lie apart are among them.
_MOST_DAYS, _MOST_APART = 4, 4
_DAY = r" on \d{1,2} [A-Z][a-z]+ \d{4}(?:, \d\d:\d\d)?"
#: Where a series memory begins to count.
_COUNTED = re.compile(
    rf"(?:(?:{_DAY})?; (?:the [a-z]+est of )?\d+ readings since |, as in all \d+ readings since "
    r"|, \d+ times from \d{1,2} ).*$",
    re.DOTALL,
)
#: The day of a long line stands before its values, and what was unusual behind them.
_DAY_BEFORE = re.compile(rf"{_DAY}(?=: )|^On{_DAY.removeprefix(' on')}: ")
_BESIDE = re.compile(
    r" \((?:usually|up from|down from) [^()]{1,200}\)"
    r"| \([^\w()]?\d[^()]{0,200}(?: to | or | until )[^()]{0,200}\)"
    r"| and \d+ more figures?(?=;|$)"
)
#: The colon between what the line is about and what that does, as in `Gate: suppressing one`.
_DOING = re.compile(r"(?<=[a-z]): (?=[a-z]+ing )")
#: A line with more characters is told in parts.
_LONGEST_LINE = 600

#: What is said of the parts of a line: that each varies, if it does; or the newest values of all.
_Parts = Literal["all", "newest"]


def describe_series(series: Series, count_tokens: Callable[[str], int], most: int) -> tuple[str, ...]:
    """A series in texts of at most `most` tokens each, as whole sentences: one, or several if there are many figures or
    long lists to tell."""
    shortest = ""
    for text in _whole_versions(series):
        if count_tokens(text) <= most:
            return (text,)
    if texts := _in_several(series, count_tokens, most):
        return texts
    for text in _short_versions(series):
        if count_tokens(text) <= most:
            return (text,)
        shortest = text if not shortest or len(text) < len(shortest) else shortest
    words = shortest.split()
    while len(words) > 1 and count_tokens(" ".join(words)) > most:
        words.pop()
    return (" ".join(words),)


def is_true(series: Series, texts: Sequence[str]) -> bool:
    """Whether texts are one of the ways to say a series, or the beginning of one that was too long."""
    if len(texts) == 1:
        versions = [*_whole_versions(series), *_short_versions(series)]
        if texts[0] in versions or min(versions, key=len).startswith(f"{texts[0]} "):
            return True
    return _are_several(series, texts)


def line_in(text: str) -> str:
    """What a series memory says of its line, without the words in which it counts: a person asks by the former. Another
    text is left as it is."""
    line = _COUNTED.sub("", text)
    return text if line == text else _BESIDE.sub("", _DAY_BEFORE.sub("", line, count=1))


def _whole_versions(series: Series) -> Iterator[str]:
    """Ways to say all that there is to say of the series in one text, the fullest first: figures that never vary go
    first, then days and medians."""
    telling = telling_figures(series)
    if not telling:
        yield from _without_figures(series, changes_in_lists(series))
        return
    is_long = _is_long(series)
    numbers, days = _numbers_and_days(series, telling)
    everything = _all_of(series, days) if is_long else days
    after = _after(series)
    if not is_long:
        yield from _with_held(series, telling, pieces_of(series))
    odd = _unusual_in(series)
    if odd and not is_long:
        if _all_of(series, days):
            yield from _whole(series, telling, after, numbers[:1], _all_of(series, days), "all")
            yield from _in_short(series, telling, after)
        if sum(figure.varies for figure in series.told) == 1:
            namings = _namings(series, _MOST_DAYS)
            for named, counted in product(namings, counted_fully_first(series)):
                yield f"{headline(series)}{after}{counted}{range_of_one(series, telling[0], named)}"
    if not is_long or _tells_each(series, telling):
        needed = odd & {figure.place for figure in telling}
        yield from _whole(series, telling, after, numbers, everything, "all", needed)


def _tells_each(series: Series, telling: Sequence[Figure]) -> bool:
    """Whether each figure that varies is among these, or always has the value of one of them."""
    values = {tuple(value.number for value in figure.values) for figure in telling}
    varying = (figure for figure in series.told if figure.varies)
    return all(tuple(value.number for value in figure.values) in values for figure in varying)


def _in_several(series: Series, count_tokens: Callable[[str], int], most: int) -> tuple[str, ...]:
    """The same in several texts, or nothing if that cannot be done."""
    if not telling_figures(series):
        told = (texts for texts in _lists_apart(series) if all(count_tokens(text) <= most for text in texts))
        return next(told, ())
    return in_texts(series, pieces_of(series), *_readings_of(series), count_tokens, most, is_long=_is_long(series))


def _are_several(series: Series, texts: Sequence[str]) -> bool:
    if not telling_figures(series):
        return tuple(texts) in _lists_apart(series)
    return are_texts(series, pieces_of(series), *_readings_of(series), texts)


def _short_versions(series: Series) -> Iterator[str]:
    """Ways to say some of it where there is room for no more."""
    telling, after = telling_figures(series), _after(series)
    if not telling:
        yield from _without_figures_in_short(series)
        return
    if not _is_long(series):
        numbers, days = _numbers_and_days(series, telling)
        if odd := _unusual_in(series):
            yield from _whole(series, telling, after, numbers[1:], _all_of(series, days), "newest", odd)
            yield from _whole(series, telling, after, numbers, _all_of(series, days), "newest", odd, (BOUND,))
        yield from _whole(series, telling, after, numbers, (*days, 0), "newest")
    yield f"{subject_of(series)}{after}"


def _numbers_and_days(series: Series, telling: Sequence[Figure]) -> tuple[Sequence[int], Sequence[int]]:
    """Of how many figures ranges are told, and on how many days what was unusual, each with the most first."""
    days = range(_MOST_DAYS, 0, -1) if named_values(series, _MOST_APART).days else (0,)
    return (len(telling),) if _is_long(series) else range(len(telling), -1, -1), days


def _is_long(series: Series) -> bool:
    return sum(figure.varies for figure in series.told) > _MOST_RANGES


def _after(series: Series) -> str:
    return f" on {newest_day(series)}; {_span(series)}{all_well(series)}."


def _readings_of(series: Series) -> tuple[str, list[str]]:
    """How many readings there are, since when; and ways to say which words vary."""
    counts = [
        counted_words(series, many, with_repeated=False, with_newest=True) + lists_of(series, many)
        for many in (MOST_WORDS, 2, 1)
    ]
    return f"{_span(series)}{all_well(series)}", counts


def _lists_apart(series: Series) -> list[tuple[str, str]]:
    """The newest lists, and in a second text how they were before."""
    if not changes_in_lists(series):
        return []
    start = _DOING.sub(" ", headline(series), count=1)
    first = f"{start}{_after(series)}{counted_words(series)}"
    lead, last = before_list(series, start), series.every[-2].at
    days, number = span_of(series.every[0].at, last), len(series.every) - 1
    texts = []
    for changes in changes_in_lists(series)[::-1]:
        before = changes.strip().rstrip(".")
        also = before.removeprefix("Before also ")
        said = f", beside the later ones, also {also}" if also != before else f": {before[:1].lower()}{before[1:]}"
        texts.append((first, f"{lead} {days}{said}; {number} reading{'s' if number > 1 else ''}."))
    return texts


def _whole(
    series: Series,
    telling: Sequence[Figure],
    after: str,
    numbers: Sequence[int],
    most_days: Sequence[int],
    parts: _Parts,
    needed: Collection[int] = (),
    levels: Sequence[int] = (MEDIAN, DAYS, SINGLE_DAYS, EXTREMES),
) -> Iterator[str]:
    """The line with the ranges of so many figures, and with what is unusual on so many days. `needed`: the places of
    figures of which the range has to be told; `levels`: how full a range may be, the fullest first."""
    if len(headline(series)) > _LONGEST_LINE:
        return
    said: dict[object, str] = {}
    pieces, counteds = pieces_of(series), counted_fully_first(series)
    for days in most_days:
        for chosen in (one for number in numbers for one in combinations(telling, number)):
            if len(chosen) < min(days - 1, len(telling)) or not {*needed} <= {figure.place for figure in chosen}:
                continue
            figures = sorted(chosen, key=lambda figure: figure.place)
            for named in _namings(series, days):
                starts = _starts(series, pieces, _left_out(telling, figures, named), parts)
                tails = [unusual(series, named, _said_now(series, figures), brief=brief) for brief in (False, True)]
                for tail, counted, (start, more) in product(dict.fromkeys(tails), counteds, starts):
                    for level in levels:
                        if level == EXTREMES and any(map(is_dull, figures)):
                            continue
                        key = (tuple(figure.place for figure in figures), level, named.outside_key)
                        if key not in said:
                            said[key] = ranges(series, figures, level, named)
                        yield f"{start}{after}{counted}{said[key]}{tail}{more}"


def _with_held(series: Series, telling: Sequence[Figure], pieces: Sequence[Piece]) -> Iterator[str]:
    """The whole line, in which what held in every reading is said of all, if there is such a thing."""
    gone, words = held(series, pieces)
    if not gone or len(headline(series)) > _LONGEST_LINE:
        return
    well = all_well(series)
    after = f" on {newest_day(series)}; {_span(series)}{'' if well.removeprefix(', all ') in words else well}{words}."
    named = named_values(series, _MOST_APART)
    figures = sorted(telling, key=lambda figure: figure.place)
    start = joined([piece for piece in pieces if piece not in gone])
    for level, counted in product((MEDIAN, DAYS, SINGLE_DAYS), counted_fully_first(series)):
        tail = unusual(series, named, _said_now(series, figures))
        yield f"{start}{after}{counted}{ranges(series, figures, level, named)}{tail}"


def _in_short(series: Series, telling: Sequence[Figure], after: str) -> Iterator[str]:
    """The whole line with the usual values of every figure and all that is unusual, in fewer and fewer words: with
    rounded ends, without names that units tell, and with both in one sentence."""
    named = named_values(series, _MOST_APART)
    figures = sorted(telling, key=lambda figure: figure.place)
    if len(headline(series)) > _LONGEST_LINE or any(one.day == "now" for day in named.days for one in day):
        return
    for is_one_sentence, (brief_range, brief_tail), nearness in product(
        (False, True), ((False, False), (False, True), (True, True)), (EXACT, NEAR)
    ):
        usual = ranges_in_short(series, figures, named, nearness, brief=brief_range)
        tail = unusual(series, named, brief=brief_tail)
        if is_one_sentence:
            if len(named.days) > 1 or "usually " not in usual.lower():
                continue
            usual, tail = usual.rstrip("."), f"; {tail.partition(': ')[2]}"
        for counted in counted_fully_first(series):
            yield f"{headline(series)}{after}{counted}{usual}{tail}"


def _all_of(series: Series, days: Sequence[int]) -> tuple[int, ...]:
    """So many of these days that all of the unusual ones are told, if there are so many."""
    enough = len(named_values(series, _MOST_APART).days)
    return (enough,) if enough in days else ()


def _unusual_in(series: Series) -> set[int]:
    """The places of the figures in which something was unusual: what is usual has to stand beside it."""
    return {one.figure.place for day in named_values(series, _MOST_APART).days for one in day}


def _left_out(telling: Sequence[Figure], figures: Sequence[Figure], named: Named) -> set[int]:
    """The places of the figures of which a reader would not learn that they vary."""
    told = {one.figure.place for day in named.days for one in day} | {figure.place for figure in figures}
    return {figure.place for figure in telling} - told


def _starts(series: Series, pieces: Sequence[Piece], left_out: set[int], parts: _Parts) -> list[tuple[str, str]]:
    """The line with its newest values, and without what never varies; with the sentence about what is left out of it.
    Nothing, if a part that varies would have to be left out."""
    if parts == "all" and any(left_out & {*piece.places} for piece in pieces):
        return []
    varying = {figure.place for figure in series.told if figure.varies}
    told = [one for n, one in enumerate(pieces) if not n or not one.places or varying & {*one.places}]
    shorter = joined(told)
    for share in series.repeated_shares:
        shorter = shorter.replace(f" ({share})", "")
    constant = len(pieces) - len(told)
    starts = [(headline(series), ""), *([(shorter, left_out_sentence(constant))] if constant else []), (shorter, "")]
    return list(dict.fromkeys(starts))


def _namings(series: Series, days: int) -> list[Named]:
    """What is told apart from the usual on so many days: as many values as there are, and fewer; each set once."""
    namings = (named_values(series, most).first(days) for most in range(_MOST_APART, -1, -1))
    return list({named.outside_key: named for named in namings}.values())


def _said_now(series: Series, figures: Sequence[Figure]) -> set[int]:
    """The places of figures of which it is said elsewhere that their newest value is unusual."""
    varying = {figure.place for figure in series.told if figure.varies}
    return varying if extreme_newest(series) else {figure.place for figure in figures}


def _without_figures(series: Series, changes: Sequence[str]) -> Iterator[str]:
    """Ways to say a series in which no figure moves: how often, and which words. `changes`: ways to say how its lists
    changed; nothing if they did not."""
    whole, tails = headline(series), _tails(series)
    if not series.words and not changes_in_lists(series):
        yield from (_occurrences(series, whole) + tail for tail in tails)
        return
    without_words = _occurrences(series, headline(series, with_words=False))
    for tail in tails:
        for change in changes if changes_in_lists(series) else [""]:
            for start in dict.fromkeys((whole, _DOING.sub(" ", whole, count=1))):
                yield f"{start}{_after(series)}{counted_words(series)}{change}{tail}"
        if series.words:
            for newest in (True, False):
                counted = counted_words(series, with_newest=newest)
                yield without_words + counted + lists_of(series, MOST_WORDS) + tail


def _without_figures_in_short(series: Series) -> Iterator[str]:
    """The same where there is room for no more: some of the words and of the lists."""
    yield from _without_figures(series, changes_in_short(series))
    tail = _tails(series)[-1]
    if series.words or changes_in_lists(series):
        for text in dict.fromkeys((headline(series, with_words=False), subject_of(series))):
            for many in (MOST_WORDS, 6, 4, 2, 1):
                yield f"{_occurrences(series, text)}{counted_words(series, many)}{lists_of(series, many)}{tail}"
    yield from (_occurrences(series, subject_of(series)) + tail, _occurrences(series, subject_of(series)))


def _tails(series: Series) -> list[str]:
    """What is unusual on fewer and fewer days."""
    named = named_values(series)
    return list(dict.fromkeys(unusual(series, named.first(days)) for days in (3, 2, 1, 0)))


def _occurrences(series: Series, whole: str) -> str:
    """How often, from when to when."""
    return f"{whole}, {len(series.every)} times {span_of(series.every[0].at, series.newest.at)}."


def _span(series: Series) -> str:
    start = day_of(series.every[0].at, series.newest.at.year)
    return f"{extreme_newest(series)}{len(series.every)} readings since {start}"
