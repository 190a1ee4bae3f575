"""A line with many figures in few words: what it is about and its day, the newest values that matter most, each with
what was unusual in it, then how many readings there are, between which values, and how many figures are left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of, newest_day, when
from memory_pipeline.wording.series_figures import Figure, adds_up
from memory_pipeline.wording.series_line import amount, capitalised, structure_of, unit_of
from memory_pipeline.wording.series_pieces import Piece
from memory_pipeline.wording.series_ranges import (
    EXTREMES,
    SINGLE_DAYS,
    is_dull,
    range_in_brackets,
    ranges,
    telling_figures,
)
from memory_pipeline.wording.series_unusual import Named, UnusualValue, named_values

#: Of a line at most so many pairs are tried, and so many days with unusual values.
_MOST_PAIRS, _MOST_DAYS = 14, 4
#: What a reader misses most: a day with an unusual value (the first one always), the newest value of a figure, its
#: range, words that all readings say.
_DAYS = (4.0, 0.9, 0.5, 0.3)
_PAIRS = (1.0, 0.9, 0.4)
_RANGES = (0.9, 0.8, 0.5)
_WORDS, _DAYS_OF_EXTREMES, _LEFT_OUT = 1.2, 0.1, 5.0
#: So many words that all readings say are told.
_MOST_WORDS = 3
#: A name of the figure that a person asks for.
_HEADLINE = re.compile(r"(?:current|overall|now)\b", re.IGNORECASE)
#: Words in brackets between a name and its value.
_ASIDE = re.compile(r" \([^\W\d][^()\d]{0,30}\)(?= \d)")
_LABEL = re.compile(r"([^\W\d][^:\d]*): (?=\S)")


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is said of a line: the pairs by their numbers, and how many days, ranges and words."""

    worth: float
    pairs: tuple[int, ...]
    named: Named
    ranged: int
    has_days: bool
    has_words: bool
    is_counted: bool


def in_parts(series: Series, pieces: Sequence[Piece], span: str, counted: str) -> Iterator[str]:
    """The line in fewer and fewer words. `span`: how many readings there are, since when; `counted`: the
    sentences about words that vary."""
    lead, pairs = _lead_and_pairs(pieces)
    if not pairs:
        return
    named = named_values(series, with_others=False)
    headline = [place for n in _ranked(series, pairs, named.first(0), ())[:2] for place in pairs[n].places]
    named = _headline_first(named, headline)
    words = _words_of_all(series, pairs)[:_MOST_WORDS]
    choices: list[_Choice] = []
    for days in range(min(_MOST_DAYS, len(named.days)) + 1):
        told, needed = named.first(days), _told_by(named.days[:days], headline)
        choices += _choices(series, pairs, told, _ranked(series, pairs, told, needed), words, needed)
    for choice in sorted(choices, key=lambda choice: -choice.worth):
        yield _in_words(series, lead, pairs, choice, words, span, counted)


def _words_of_all(series: Series, pairs: Sequence[Piece]) -> list[int]:
    """The numbers of the pairs that say a word which is the same in all readings: those that vary are counted."""
    varying = {series.newest.values[place].casefold() for place in series.words}
    return [
        n
        for n, pair in enumerate(pairs)
        if pair.says_word and not pair.has_value and pair.text.rpartition(": ")[2].casefold() not in varying
    ]


def _headline_first(named: Named, headline: Sequence[int]) -> Named:
    """The same, but after the first day those on which a figure was unusual that is told anyway."""
    others = sorted(named.days[1:], key=lambda day: not any(one.figure.place in headline for one in day))
    return Named((*named.days[:1], *others), named.outside, named.untold)


def _told_by(days: Sequence[Sequence[UnusualValue]], headline: Sequence[int]) -> list[int]:
    """The figure of each day that has to be told, by its place: the farthest, but after the first day one that is told
    anyway."""
    found = []
    for n, day in enumerate(days):
        unusual = {one.figure.place for one in day}
        anyway = [place for place in headline if n and place in unusual]
        found.append(anyway[0] if anyway else min(day, key=lambda one: one.rank).figure.place)
    return found


def _lead_and_pairs(pieces: Sequence[Piece]) -> tuple[str, list[Piece]]:
    """What the line is about, and its pairs. Of a line that begins with a value, the former is empty."""
    first, *others = _without_brackets(pieces)
    label = _LABEL.match(first.text)
    if label is not None:
        return label.group(1), [replace(first, text=first.text[label.end() :]), *others]
    return ("", [first, *others]) if first.places else (first.text.rstrip(" .,;:"), others)


def _without_brackets(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces without the brackets in which several of them stand."""
    found: list[Piece] = []
    is_open = False
    for piece in pieces:
        is_open = is_open or piece.separator == " ("
        text = piece.text
        if is_open and text.count(")") > text.count("("):
            text, is_open = "".join(text.rsplit(")", 1)), False
        found.append(replace(piece, text=text))
    return found


def _ranked(series: Series, pairs: Sequence[Piece], named: Named, needed: Sequence[int]) -> list[int]:
    """The numbers of the pairs with figures, in an order that stays from night to night: what is unusual now, the first
    that varies, what the others add up to or has the name of a headline, what is needed for a day, what was unusual
    besides, those that vary, those that hardly vary or count on, and what never varies."""
    figures = {figure.place: figure for figure in series.told if figure.varies}
    first = next((n for n, pair in enumerate(pairs) if figures.keys() & {*pair.places}), -1)

    def weight(n: int) -> float:
        varying = [figures[place] for place in pairs[n].places if place in figures]
        if any(len(figure.values) - 1 in named.of(figure) for figure in varying):
            return 0
        if n == first:
            return 1
        if varying and (_HEADLINE.match(pairs[n].text) or any(_is_sum(series, figure) for figure in varying)):
            return 2
        if days := [day for day, place in enumerate(needed) if place in pairs[n].places]:
            return 3 + days[0] / len(needed)
        if any(map(named.of, varying)):
            return 4
        is_dull_one = all(is_dull(figure) or figure.rises or figure.falls for figure in varying)
        return 7 if not varying else 6 if is_dull_one else 5

    return sorted((n for n, pair in enumerate(pairs) if pair.places), key=lambda n: (weight(n), n))


def _is_sum(series: Series, figure: Figure) -> bool:
    """Whether a figure is what the others of its structure add up to: `timings={'a': 1, 'b': 2, 'total': 3}`."""
    structure = structure_of(series, figure.place)
    return bool(structure) and adds_up(
        figure, [one for one in series.told if one is not figure and structure_of(series, one.place) == structure]
    )


def _choices(
    series: Series,
    pairs: Sequence[Piece],
    named: Named,
    order: Sequence[int],
    words: Sequence[int],
    needed: Sequence[int],
) -> Iterator[_Choice]:
    """Ways to tell the line in which the figures are said by which these days are told."""
    number = sum(piece.has_value for piece in pairs)
    for most in range(1, min(len(order), _MOST_PAIRS) + 1):
        told = {place for n in order[:most] for place in pairs[n].places}
        if not told.issuperset(needed):
            continue
        candidates = len(_ranged(series, pairs, order[:most]))
        is_whole = most == number
        for ranged, has_days, has_words, is_counted in product(
            sorted({0, 1, 2, 3, candidates} & {*range(candidates + 1)}),
            (False, True),
            {False, bool(words)},
            {is_whole, True},
        ):
            worth = (
                _sum_of(_DAYS, len(named.days))
                + _sum_of(_PAIRS, most)
                + _sum_of(_RANGES, ranged) * (1 + _DAYS_OF_EXTREMES * has_days)
                + _WORDS * has_words
                + _LEFT_OUT * is_counted
            )
            yield _Choice(worth, tuple(order[:most]), named, ranged, has_days, has_words, is_counted)


def _sum_of(worth: Sequence[float], number: int) -> float:
    """What so many are worth, each further one as much as the last that is listed."""
    return sum(worth[:number]) + worth[-1] * max(0, number - len(worth))


def _ranged(series: Series, pairs: Sequence[Piece], order: Sequence[int]) -> list[Figure]:
    """The figures of these pairs that have a range worth telling, in their order."""
    telling = {figure.place: figure for figure in telling_figures(series) if not is_dull(figure)}
    ordered = sorted(order, key=lambda n: _HEADLINE.match(pairs[n].text) is None)
    return [telling[place] for n in ordered for place in pairs[n].places if place in telling]


def _in_words(
    series: Series,
    lead: str,
    pairs: Sequence[Piece],
    choice: _Choice,
    words: Sequence[int],
    span: str,
    counted: str,
) -> str:
    chosen = {*choice.pairs}
    shown = _shown(choice.named, {place for n in chosen for place in pairs[n].places})
    is_always = choice.has_words and not series.strangers
    in_line = sorted(chosen | ({*words} if choice.has_words and not is_always else set()))
    said: list[str] = []
    for n in in_line:
        said.append(_pair(series, pairs[n], shown, " ".join([lead, *said])))
    day = newest_day(series)
    text = f"{lead} on {day}: {', '.join(said)}" if lead else f"On {day} {', '.join(said)}"
    always = ", ".join(_worded(pairs[n]) for n in words)
    text += f"; {always}, as in all {span}." if is_always and always else f"; {span}."
    last = len(series.every) - 1
    ranged = [figure for figure in _ranged(series, pairs, choice.pairs) if last not in shown.of(figure)]
    ranged = ranged[: choice.ranged]
    ranged.sort(key=lambda figure: figure.place)
    text += counted + ranges(series, ranged, SINGLE_DAYS if choice.has_days else EXTREMES, shown)
    more = sum(piece.has_value for piece in pairs) - len(chosen)
    return capitalised(text + (left_out_sentence(more) if more and choice.is_counted else ""))


def left_out_sentence(number: int) -> str:
    """How many figures of the line are not told."""
    return f" {number} more figure{'s are' if number > 1 else ' is'} left out."


def _shown(named: Named, places: Collection[int]) -> Named:
    """What is unusual in the figures of these places: the rest is not told apart."""
    days = tuple(tuple(one for one in day if one.figure.place in places) for day in named.days)
    outside = {
        place: frozenset(one.number for day in days for one in day if one.figure.place == place) for place in places
    }
    return Named(tuple(day for day in days if day), outside)


def _pair(series: Series, piece: Piece, shown: Named, before: str) -> str:
    """A pair as it is told, with the name of its structure unless that stands before it already, and with what is
    unusual in it in brackets."""
    text = _worded(piece)
    structure = structure_of(series, piece.places[0]) if piece.places else ""
    if structure and structure not in before and structure not in text:
        text = f"{structure} {text}"
    asides = [
        aside for figure in series.told if figure.place in piece.places if (aside := _beside(series, figure, shown))
    ]
    return f"{text} ({'; '.join(asides)})" if asides else text


def _worded(piece: Piece) -> str:
    text = _ASIDE.sub("", piece.text).rstrip(" .,;:")
    label = _LABEL.match(text)
    if label is not None and piece.has_value:
        return f"{label.group(1)} {text[label.end() :]}"
    if not piece.says_word:
        return text
    name, _, word = text.partition(": ")
    return f"{name[:1].lower() + name[1:] if name[1:].islower() else name} {word}"


def _beside(series: Series, figure: Figure, shown: Named) -> str:
    """What was unusual in a figure, as it stands behind its newest value: `up to 4.1 on 19 March`; of a newest value
    that is unusual, between which values the others lie."""
    numbers = sorted(shown.of(figure))
    if not numbers:
        return ""
    if numbers[-1] == len(figure.values) - 1:
        return range_in_brackets(series, figure, shown)
    return ", ".join(_once(series, figure, number) for number in numbers)


def _once(series: Series, figure: Figure, number: int) -> str:
    value = figure.values[number]
    said, unit = amount(series, figure.place, value.text), unit_of(series, figure.place)
    said = said.removesuffix(unit) if unit.startswith(" ") else said
    lead = {figure.greatest.number: "up to ", figure.least.number: "down to "}.get(value.number, "")
    if not value.number:
        lead = ""
    day = when(series, value.at)
    if value.at.date() == series.newest.at.date():
        return f"{lead}{said} {'earlier' if day.startswith('earlier') else f'at {value.at:%H:%M}'}"
    return f"{lead}{said} on {day_of(value.at, series.newest.at.year)}"
