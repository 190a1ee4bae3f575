"""A line with many figures in few words: what it is about and its day, the newest values that matter most, each with
what was unusual in it, then how many readings there are, between which values, and how many figures are left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of, has_another, newest_day
from memory_pipeline.wording.series_figures import Figure, adds_up
from memory_pipeline.wording.series_line import capitalised, listed, name_of, structure_of, unit_of
from memory_pipeline.wording.series_pieces import Piece
from memory_pipeline.wording.series_ranges import (
    EXTREMES,
    SINGLE_DAYS,
    beside_value,
    is_dull,
    ranges,
    telling_figures,
)
from memory_pipeline.wording.series_unusual import Named, UnusualValue, named_values
from memory_pipeline.wording.templates import list_elements

#: Of a line at most so many pairs are tried, and so many days with unusual values.
_MOST_PAIRS, _MOST_DAYS = 14, 4
#: What a reader misses most: a day with an unusual value (the first one always), the newest value of a figure, its
#: range, words that all readings say.
_DAYS = (4.0, 0.4, 0.4, 0.3)
_PAIRS = (1.0, 1.0, 0.4)
_RANGES = (1.3, 0.8, 0.5)
_WORDS, _DAYS_OF_EXTREMES, _LEFT_OUT = 1.7, 0.1, 5.0
#: What is lost where the clock times of the newest day are not said.
_BRIEF = 0.6
#: What is lost for each figure that is told without what was unusual in it.
_UNSAID = 0.5
#: What a day is worth on which only parts of a sum were unusual, with their values or with their names only.
_PARTS_TOLD, _PARTS_NAMED = 1.0, 0.85
#: Of so many figures of one unit, those are small of which the newest value is less than this share of the largest.
_FEWEST_OF_UNIT, _SMALL = 5, 0.1
#: What the value of a figure that never varies is worth.
_CONSTANT = 0.1
#: So many words that all readings say are told.
_MOST_WORDS = 3
#: A name of the figure that a person asks for.
_HEADLINE = re.compile(r"(?:current|overall|now)\b", re.IGNORECASE)
#: Words in brackets between a name and its value.
_ASIDE = re.compile(r" \([^\W\d][^()\d]{0,30}\)(?= \d)")
#: A label in capitals before a number that has words of its own behind it.
_SHOUTED_BEFORE = re.compile(r"^(?:[\w-]{1,40}:? )?(?:[A-Z]{3,40}:? ){1,4}(?=\d[\d.,]{0,20} [a-z]{3})")
_LABEL = re.compile(r"([^\W\d][^:\d]*): (?=\S)")


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is said of a line: the pairs by their numbers, and how many days, ranges and words. `shown`: the places of
    the figures of which it is said what was unusual."""

    worth: float
    pairs: tuple[int, ...]
    named: Named
    shown: frozenset[int]
    ranged: int
    has_days: bool
    has_words: bool
    is_counted: bool
    aside: str = ""
    is_brief: bool = False


@dataclass(frozen=True)
class _Line:
    """A line with what is read of it once: what it is about, its pairs, and what is said of its readings. `said`: the
    ranges in words, as far as they were needed."""

    series: Series
    lead: str
    pairs: tuple[Piece, ...]
    span: str
    counted: str
    said: dict[object, str] = field(default_factory=dict)

    @cached_property
    def telling(self) -> dict[int, Figure]:
        """The figures that have a range worth telling, by their places."""
        return {figure.place: figure for figure in telling_figures(self.series) if not is_dull(figure)}

    @cached_property
    def varying(self) -> dict[int, Figure]:
        """The figures that vary, by their places."""
        return {figure.place: figure for figure in self.series.told if figure.varies}

    @cached_property
    def structures(self) -> dict[int, str]:
        """The key of the structure in which each figure stands, by its place."""
        return {figure.place: structure_of(self.series, figure.place) for figure in self.series.figures}

    @cached_property
    def sums(self) -> dict[str, int]:
        """The figure that the others of a structure add up to, by the key: `timings={'a': 1, 'b': 2, 'total': 3}`."""
        found = {}
        for place, figure in self.varying.items():
            key = self.structures[place]
            others = [one for one in self.series.told if one is not figure and self.structures[one.place] == key]
            if key and adds_up(figure, others):
                found[key] = place
        return found

    @cached_property
    def parts(self) -> frozenset[int]:
        """The places of the figures that add up to another one."""
        return frozenset(
            place for place, key in self.structures.items() if key in self.sums and self.sums[key] != place
        )

    @cached_property
    def small(self) -> frozenset[int]:
        """The places of the figures that are small beside the largest newest value in their unit."""
        by_unit: dict[str, dict[int, float]] = {}
        for figure in self.series.told:
            by_unit.setdefault(unit_of(self.series, figure.place), {})[figure.place] = abs(figure.newest.number)
        return frozenset(
            place
            for unit, newest in by_unit.items()
            if unit and len(newest) >= _FEWEST_OF_UNIT
            for place, number in newest.items()
            if number < _SMALL * max(newest.values())
        )

    @cached_property
    def words(self) -> list[int]:
        """The numbers of the pairs that say a word which is the same in all readings: those that vary are counted."""
        values = [(one.kind, value) for one, value in zip(self.series.places, self.series.newest.values, strict=True)]
        varying = {value.casefold() for kind, value in values if kind == "word"}
        varying |= {one.casefold() for kind, value in values if kind == "list" for one in list_elements(value) or ()}
        said = [n for n, pair in enumerate(self.pairs) if pair.says_word and not pair.has_value]
        return [n for n in said if self.pairs[n].text.rpartition(": ")[2].casefold() not in varying][:_MOST_WORDS]

    @cached_property
    def number(self) -> int:
        """How many pairs have a value."""
        return sum(pair.has_value for pair in self.pairs)


def in_parts(series: Series, pieces: Sequence[Piece], span: str, counted: str) -> Iterator[str]:
    """The line in fewer and fewer words. `span`: how many readings there are, since when; `counted`: the
    sentences about words that vary."""
    lead, pairs = _lead_and_pairs(pieces)
    if not pairs:
        return
    line = _Line(series, lead, tuple(pairs), span, counted)
    named = _without(line, named_values(series, with_others=False))
    headline = [place for n in _ranked(line, named.first(0), ())[:2] for place in pairs[n].places]
    named = _weightiest_first(line, named, headline)
    choices: list[_Choice] = []
    for days in range(min(_MOST_DAYS, len(named.days)) + 1):
        told, needed = named.first(days), _told_by(line, named.days[:days], headline)
        aside = _parts_of(line, named.days[days:])
        choices += _choices(line, told, _ranked(line, told, needed), needed, aside)
    for choice in sorted(choices, key=lambda choice: -choice.worth):
        yield _in_words(line, choice)


def _without(line: _Line, named: Named) -> Named:
    """The same without what was unusual in small figures."""
    days = [tuple(one for one in day if one.figure.place not in line.small) for day in named.days]
    outside = {place: numbers for place, numbers in named.outside.items() if place not in line.small}
    return Named(tuple(day for day in days if day), outside, named.untold)


def _is_of_parts(line: _Line, day: Sequence[UnusualValue]) -> bool:
    """Whether only parts of a sum were unusual on a day."""
    return all(one.figure.place in line.parts for one in day)


def _parts_of(line: _Line, days: Sequence[Sequence[UnusualValue]]) -> str:
    """Which parts of a sum were unusual on the first of these days, if it is one of those, without their values."""
    if not days or not _is_of_parts(line, days[0]) or days[0][0].day == "now":
        return ""
    names = [name_of(line.series, one.figure.place) for one in days[0]]
    return f", {listed(names)} unusual on {days[0][0].day}" if all(names) else ""


def _weightiest_first(line: _Line, named: Named, headline: Sequence[int]) -> Named:
    """The same, but after the first day those on which a figure was unusual that is told anyway, and days on which only
    parts of a sum were at the end."""
    days = sorted(named.days, key=lambda day: _is_of_parts(line, day))
    others = sorted(
        days[1:],
        key=lambda day: (_is_of_parts(line, day), not any(one.figure.place in headline for one in day)),
    )
    return Named((*days[:1], *others), named.outside, named.untold)


def _told_by(line: _Line, days: Sequence[Sequence[UnusualValue]], headline: Sequence[int]) -> list[int]:
    """The figure of each day that has to be told, by its place: one that is told anyway, or the farthest."""
    found = []
    for day in days:
        unusual = {one.figure.place for one in day}
        anyway = [place for place in headline if place in unusual]
        first = min(day, key=lambda one: (one.figure.place in line.parts, *one.rank))
        found.append(anyway[0] if anyway else first.figure.place)
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


def _ranked(line: _Line, named: Named, needed: Sequence[int]) -> list[int]:
    """The numbers of the pairs with figures, in an order that stays from night to night: what is unusual now, the first
    that varies, what the others add up to or has the name of a headline, what is needed for a day, what was unusual
    besides, those that vary, those that hardly vary or count on, what never varies, and what is small."""
    pairs = line.pairs
    first = next((n for n, pair in enumerate(pairs) if line.varying.keys() & {*pair.places}), -1)

    def weight(n: int) -> float:
        varying = [line.varying[place] for place in pairs[n].places if place in line.varying]
        if any(len(figure.values) - 1 in named.of(figure) for figure in varying):
            return 0
        if n == first:
            return 1
        if varying and (
            _HEADLINE.match(pairs[n].text) or any(place in line.sums.values() for place in pairs[n].places)
        ):
            return 2
        if days := [day for day, place in enumerate(needed) if place in pairs[n].places]:
            return 3 + days[0] / len(needed)
        if any(map(named.of, varying)):
            return 4
        if line.small.intersection(pairs[n].places):
            return 8
        is_dull_one = all(is_dull(figure) or figure.rises or figure.falls for figure in varying)
        return 7 if not varying else 6 if is_dull_one else 5

    return sorted((n for n, pair in enumerate(pairs) if pair.places), key=lambda n: (weight(n), n))


def _choices(
    line: _Line, named: Named, order: Sequence[int], needed: Sequence[int], aside: str = ""
) -> Iterator[_Choice]:
    """Ways to tell the line in which the figures are said by which these days are told. `aside`: what is said of
    figures that are left out."""
    for most in range(1, min(len(order), _MOST_PAIRS) + 1):
        told = {place for n in order[:most] for place in line.pairs[n].places}
        if not told.issuperset(needed):
            continue
        odd = {one.figure.place for day in named.days for one in day}.intersection(told)
        pairs = tuple(order[:most])
        every, those_needed = frozenset(told), frozenset(needed)
        tellable = {
            shown: len(_ranged(line, pairs, named, shown))
            for shown in ({every, those_needed} if odd - those_needed else {every})
        }
        moving = sum(not line.varying.keys().isdisjoint(line.pairs[n].places) for n in order[:most])
        parts = sum(_is_of_parts(line, day) for day in named.days)
        for shown, ranged, has_days, has_words, is_counted, names, is_brief in product(
            tellable,
            sorted({0, 1, 2, 3, 5, *tellable.values()} & {*range(max(tellable.values()) + 1)}),
            {False, True},
            {False, bool(line.words)},
            {most == line.number, True},
            {"", aside},
            {False, has_another(line.series)},
        ):
            worth = (
                _sum_of(_DAYS, len(named.days) - parts)
                + _PARTS_TOLD * parts
                + _sum_of(_PAIRS, moving)
                + _CONSTANT * (most - moving)
                + _sum_of(_RANGES, ranged) * (1 + _DAYS_OF_EXTREMES * has_days)
                + _WORDS * has_words
                + _LEFT_OUT * is_counted
                + (_PARTS_NAMED if names else 0)
                - (_BRIEF if is_brief else 0)
                - _UNSAID * len(odd - shown)
            )
            is_possible = ranged <= tellable[shown] and (ranged or not has_days)
            if is_possible and (not names or (is_counted and most < line.number)):
                yield _Choice(worth, pairs, named, shown, ranged, has_days, has_words, is_counted, names, is_brief)


def _sum_of(worth: Sequence[float], number: int) -> float:
    """What so many are worth, each further one as much as the last that is listed."""
    return sum(worth[:number]) + worth[-1] * max(0, number - len(worth))


def _ranged(line: _Line, order: Sequence[int], named: Named, told: Collection[int]) -> list[Figure]:
    """The figures of these pairs that have a range worth telling: those with the name of a headline, and those with
    something unusual beside which it stands, come first. `told`: the places of which it is said what was unusual; of
    others in which something was, there is none, and that of one that is unusual now is told anyway."""
    last = len(line.series.every) - 1
    ordered = sorted(order, key=lambda n: _HEADLINE.match(line.pairs[n].text) is None)
    every = [line.telling[place] for n in ordered for place in line.pairs[n].places if place in line.telling]
    found = [one for one in every if not named.of(one) or (one.place in told and last not in named.of(one))]
    return sorted(found, key=lambda figure: not named.of(figure))


def _in_words(line: _Line, choice: _Choice) -> str:
    series, pairs, chosen = line.series, line.pairs, {*choice.pairs}
    shown = _shown(choice.named, choice.shown)
    words = line.words if choice.has_words else []
    beside, behind = _told_ranges(line, choice)
    is_always = bool(words) and not series.strangers
    said: list[str] = []
    for n in sorted(chosen if is_always else chosen.union(words)):
        asides = [
            aside
            for place in pairs[n].places
            if place in line.varying
            and (aside := beside_value(series, line.varying[place], shown, place in beside, is_brief=choice.is_brief))
        ]
        pair = _pair(line, pairs[n], " ".join([line.lead, *said]))
        said.append(f"{pair} ({'; '.join(asides)})" if asides else pair)
    day = day_of(series.newest.at) if choice.is_brief else newest_day(series)
    text = f"{line.lead} on {day}: {', '.join(said)}" if line.lead else f"On {day} {', '.join(said)}"
    always = f"{', '.join(_worded(pairs[n]) for n in words)}, as in all " if is_always else ""
    text += f"; {always}{line.span}.{line.counted}{_ranges(line, choice, behind, shown)}"
    more = line.number - len(chosen)
    return capitalised(
        text + (left_out_sentence(more, choice.aside, is_brief=choice.is_brief) if more and choice.is_counted else "")
    )


def _told_ranges(line: _Line, choice: _Choice) -> tuple[set[int], list[Figure]]:
    """The figures the ranges of which are told: the places of those in which something was unusual, the range of which
    stands beside it, and the others."""
    chosen = _ranged(line, choice.pairs, choice.named, choice.shown)[: choice.ranged]
    beside = {figure.place for figure in chosen if choice.named.of(figure)}
    return beside, sorted((one for one in chosen if one.place not in beside), key=lambda figure: figure.place)


def _ranges(line: _Line, choice: _Choice, chosen: Sequence[Figure], shown: Named) -> str:
    """The sentence with these ranges."""
    level = SINGLE_DAYS if choice.has_days else EXTREMES
    key = (level, tuple((figure.place, shown.of(figure)) for figure in chosen))
    if key not in line.said:
        line.said[key] = ranges(line.series, chosen, level, shown, lead=line.lead)
    return line.said[key]


def left_out_sentence(number: int, aside: str = "", *, is_brief: bool = False) -> str:
    """How many figures of the line are not told, and what is said of them."""
    figures = "" if is_brief else " figures" if number > 1 else " figure"
    return f" {number} more{figures} {'are' if number > 1 else 'is'} left out{aside}."


def _shown(named: Named, places: Collection[int]) -> Named:
    """What is unusual in the figures of these places: the rest is not told apart."""
    days = tuple(tuple(one for one in day if one.figure.place in places) for day in named.days)
    outside = {
        place: frozenset(one.number for day in days for one in day if one.figure.place == place) for place in places
    }
    return Named(tuple(day for day in days if day), outside)


def _pair(line: _Line, piece: Piece, before: str) -> str:
    """A pair as it is told, with the name of its structure unless that stands before it already."""
    text = _worded(piece)
    structure = line.structures.get(piece.places[0], "") if piece.places else ""
    is_sum = structure in line.sums and line.sums[structure] in piece.places and len(line.sums) == 1
    is_said = not structure or is_sum or structure in before or structure in text
    return text if is_said else f"{structure} {text}"


def _worded(piece: Piece) -> str:
    text = _SHOUTED_BEFORE.sub("", _ASIDE.sub("", piece.text)).rstrip(" .,;:")
    label = _LABEL.match(text)
    if label is not None and piece.has_value:
        return f"{label.group(1)} {text[label.end() :]}"
    if not piece.says_word:
        return text
    name, _, word = text.partition(": ")
    return f"{name[:1].lower() + name[1:] if name[1:].islower() else name} {word}"
