"""A line with many figures in few words: what it is about and its day, the newest values that matter most, each with
what is usual and what was unusual in it, how many more figures there are, and how many readings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_beside import beside
from memory_pipeline.wording.series_days import newest_day
from memory_pipeline.wording.series_figures import Figure, adds_up
from memory_pipeline.wording.series_line import capitalised, is_in_structure, structure_of
from memory_pipeline.wording.series_near import EXACT, NEAR
from memory_pipeline.wording.series_pieces import Piece
from memory_pipeline.wording.series_ranges import (
    BOUND,
    EXTREMES,
    SINGLE_DAYS,
    is_dull,
    range_in_brackets,
    telling_figures,
)
from memory_pipeline.wording.series_unusual import Named, UnusualValue, named_values, unusual
from memory_pipeline.wording.templates import list_elements

#: Of a line at most so many pairs are tried, and so many days with unusual values.
_MOST_PAIRS, _MOST_DAYS = 14, 4
#: What a reader misses most: a day with an unusual value (the first one always), the newest value of a figure, its
#: range, words that all readings say.
_DAYS = (4.0, 0.45, 0.3, 0.2)
_PAIRS = (1.0, 0.9, 0.3)
_RANGES = (0.9, 0.8, 0.5)
_WORDS, _DAYS_OF_EXTREMES, _LEFT_OUT = 1.2, 0.1, 5.0
#: What it is worth that the usual values stand before an unusual one, at least their bound; the clock time of the
#: newest value, where another one of its day is told.
_USUAL, _USUAL_BOUND, _CLOCK = 0.8, 0.7, 0.05
#: What it is worth that the ends of ranges are exact.
_ROUNDED = 0.15
#: What unusual parts of a sum are worth: all of them, or the farthest; and between which values that lies else.
_PARTS, _ONE_PART, _ELSE = 3.0, 2.9, 1.0
#: What the value of a figure that never varies is worth.
_CONSTANT = 0.1
#: So many words that all readings say are told.
_MOST_WORDS = 3
#: A name of the figure that a person asks for.
_HEADLINE = re.compile(r"(?:current|overall|now)\b", re.IGNORECASE)
#: Words in brackets between a name and its value.
_ASIDE = re.compile(r" \([^\W\d][^()\d]{0,30}\)(?= \d)")
_LABEL = re.compile(r"([^\W\d][^:\d]*): (?=\S)")
#: The end of what a line is about that its values say too.
_DONE = re.compile(r"(?<=\w \w\w)(\w*) (?:complete|completed|done|finished)$")


@dataclass(frozen=True, slots=True)
class _Parts:
    """What is said of unusual parts of sums, and what that is worth; `has_else`: with the usual values."""

    named: Named | None = None
    worth: float = 0.0
    has_else: bool = False


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is said of a line: the pairs by their numbers, how many ranges, of how many figures the usual values before
    the unusual ones, how full and how near these are, and the unusual parts of sums."""

    worth: float
    pairs: tuple[int, ...]
    named: Named
    parts: _Parts
    ranged: int
    usuals: int
    level: int
    nearness: int
    has_words: bool
    is_counted: bool
    has_clock: bool


@dataclass(frozen=True)
class _Line:
    """A line with what is read of it once: what it is about, its pairs, and what is said of its readings. `said`: what
    stands in brackets, as far as it was needed."""

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
    def nearness(self) -> tuple[int, ...]:
        """How near the ends of ranges may be told: whole numbers stay as they are."""
        return (EXACT,) if all(figure.is_whole for figure in self.varying.values()) else (EXACT, NEAR)

    @cached_property
    def structures(self) -> dict[int, str]:
        """The key of the structure in which each figure stands, by its place."""
        return {figure.place: structure_of(self.series, figure.place) for figure in self.series.figures}

    @cached_property
    def plain(self) -> frozenset[int]:
        """The places of the figures that stand in the words of the line, where others stand in structures."""
        inside = {figure.place for figure in self.series.figures if is_in_structure(self.series, figure.place)}
        return frozenset({figure.place for figure in self.series.figures} - inside) if inside else frozenset()

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
    named, parts = _without_parts(line, named_values(series, with_others=False))
    headline = [place for n in _ranked(line, named.first(0), ())[:2] for place in pairs[n].places]
    named = _headline_first(named, headline)
    choices: list[_Choice] = []
    for days in range(min(_MOST_DAYS, len(named.days)) + 1):
        told, needed = named.first(days), _told_by(named.days[:days], headline)
        for some in parts:
            choices += _choices(line, told, _ranked(line, told, needed), needed, some)
    for choice in sorted(choices, key=lambda choice: -choice.worth):
        yield _in_words(line, choice)


def _without_parts(line: _Line, named: Named) -> tuple[Named, list[_Parts]]:
    """What is unusual without the days on which only parts of a sum were so; and ways to tell the first of these, with
    what each is worth: all of the parts, the farthest, with its usual values or without, and none."""
    parts = {place for place, key in line.structures.items() if key in line.sums and line.sums[key] != place}
    left = [tuple(one for one in day if one.figure.place not in parts) for day in named.days]
    gone = [day for day, rest in zip(named.days, left, strict=True) if not rest]
    if not gone or gone[0][0].day == "now":
        return named, [_Parts()]
    outside = {place: numbers for place, numbers in named.outside.items() if place not in parts}
    ways = [_Parts(Named((gone[0],), {}, len(gone) - 1), _PARTS)]
    if len(gone[0]) > 1:
        farthest = min(gone[0], key=lambda one: one.rank)
        its_own = {farthest.figure.place: named.of(farthest.figure)}
        ways.append(_Parts(Named(((farthest,),), {}, 1), _ONE_PART))
        if len(named.of(farthest.figure)) == 1:
            ways.append(_Parts(Named(((farthest,),), its_own, 1), _ONE_PART + _ELSE, has_else=True))
    return Named(tuple(day for day in left if day), outside), [*ways, _Parts()]


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
        return _DONE.sub(r"\1", label.group(1)), [replace(first, text=first.text[label.end() :]), *others]
    return ("", [first, *others]) if first.places else (_DONE.sub(r"\1", first.text.rstrip(" .,;:")), others)


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
    that varies (of those in words, where others are in structures), what has the name of a headline or is what the
    others add up to, what else stands in words, what is needed for a day, what was unusual besides, those that vary,
    those that hardly vary or count on, and what never varies."""
    pairs = line.pairs
    leading = line.varying.keys() & line.plain or line.varying.keys()
    first = next((n for n, pair in enumerate(pairs) if leading & {*pair.places}), -1)
    named_so = {
        n for n, pair in enumerate(pairs) if _HEADLINE.match(pair.text) and line.varying.keys() & {*pair.places}
    }

    def weight(n: int) -> float:
        varying = [line.varying[place] for place in pairs[n].places if place in line.varying]
        if any(len(figure.values) - 1 in named.of(figure) for figure in varying):
            return 0
        if n == first:
            return 1
        if n in named_so:
            return 1.5
        if varying and any(place in line.sums.values() for place in pairs[n].places):
            return 2
        if varying and line.plain & {*pairs[n].places}:
            return 2.5
        if days := [day for day, place in enumerate(needed) if place in pairs[n].places]:
            return 3 + days[0] / len(needed)
        if any(map(named.of, varying)):
            return 4
        is_dull_one = all(is_dull(figure) or figure.rises or figure.falls for figure in varying)
        return 7 if not varying else 6 if is_dull_one else 5

    return sorted((n for n, pair in enumerate(pairs) if pair.places), key=lambda n: (weight(n), n))


def _choices(
    line: _Line, named: Named, order: Sequence[int], needed: Sequence[int], parts: _Parts
) -> Iterator[_Choice]:
    """Ways to tell the line in which the figures are said by which these days are told. `parts`: what is unusual in
    parts of sums."""
    has_another = newest_day(line.series) != newest_day(line.series, with_clock=False)
    for most in range(1, min(len(order), _MOST_PAIRS) + 1):
        told = {place for n in order[:most] for place in line.pairs[n].places}
        is_told_anyway = parts.has_else and parts.named is not None and parts.named.days[0][0].figure.place in told
        if not told.issuperset(needed) or is_told_anyway:
            continue
        apart = len([place for place in told if named.outside.get(place)])
        candidates = len(_ranged(line, order[:most], named))
        moving = sum(not line.varying.keys().isdisjoint(line.pairs[n].places) for n in order[:most])
        for ranged, usuals, level, nearness, has_words, has_clock in product(
            sorted({0, 1, 2, 3, 5, candidates} & {*range(candidates + 1)}),
            sorted({0, min(1, apart), apart}),
            (SINGLE_DAYS, EXTREMES, BOUND),
            line.nearness,
            {False, bool(line.words)},
            {False, has_another},
        ):
            is_empty = not ranged and not usuals
            if (
                (level == BOUND and not usuals)
                or (level == SINGLE_DAYS and not ranged)
                or (nearness and (is_empty or level == SINGLE_DAYS))
            ):
                continue
            total = (
                _sum_of(_DAYS, len(named.days))
                + _sum_of(_PAIRS, moving)
                + _CONSTANT * (most - moving)
                + _sum_of(_RANGES, ranged) * (1 + _DAYS_OF_EXTREMES * (level == SINGLE_DAYS))
                + usuals * (_USUAL_BOUND if level == BOUND else _USUAL)
                + _WORDS * has_words
                + _CLOCK * has_clock
                - _ROUNDED * (nearness != EXACT)
                + parts.worth
            )
            chosen = _Choice(
                total, tuple(order[:most]), named, parts, ranged, usuals, level, nearness, has_words, True, has_clock
            )
            if not parts.has_else or most < line.number:
                yield replace(chosen, worth=total + _LEFT_OUT)
            if most < line.number and is_empty and not parts.has_else:
                yield replace(chosen, is_counted=False)


def _sum_of(worth: Sequence[float], number: int) -> float:
    """What so many are worth, each further one as much as the last that is listed."""
    return sum(worth[:number]) + worth[-1] * max(0, number - len(worth))


def _ranged(line: _Line, order: Sequence[int], named: Named) -> list[Figure]:
    """The figures of these pairs that have a range worth telling and in which nothing was unusual, in their order."""
    ordered = sorted(order, key=lambda n: _HEADLINE.match(line.pairs[n].text) is None)
    found = [line.telling[place] for n in ordered for place in line.pairs[n].places if place in line.telling]
    return [figure for figure in found if not named.of(figure) and not any(figure.outside)]


def _in_words(line: _Line, choice: _Choice) -> str:
    series, pairs, chosen = line.series, line.pairs, {*choice.pairs}
    shown = _shown(choice.named, {place for n in chosen for place in pairs[n].places})
    levels = {figure.place: choice.level for figure in _ranged(line, choice.pairs, choice.named)[: choice.ranged]}
    apart = [place for n in choice.pairs for place in pairs[n].places if shown.outside.get(place)]
    levels |= dict.fromkeys(apart[: choice.usuals], choice.level)
    words = line.words if choice.has_words else []
    is_always = bool(words) and not series.strangers
    said: list[str] = []
    for n in sorted(chosen if is_always else chosen.union(words)):
        said.append(_pair(line, pairs[n], shown, levels, choice.nearness, " ".join([line.lead, *said])))
    day = newest_day(series, with_clock=choice.has_clock)
    more = line.number - len(chosen) if choice.is_counted else 0
    told = ", ".join(said) + (f" and {more} more figure{'s' if more > 1 else ''}" if more else "")
    if choice.parts.has_else:
        told += f", {_with_else(line, choice.parts.named)}"
    text = f"{line.lead} on {day}: {told}" if line.lead else f"On {day} {told}"
    always = f"{', '.join(_worded(pairs[n]) for n in words)}, as in all " if is_always else ""
    text += f"; {always}{line.span}.{line.counted}"
    if choice.parts.named is None or choice.parts.has_else:
        return capitalised(text)
    return capitalised(text + _parts(line, choice.parts.named, text))


def _with_else(line: _Line, named: Named | None) -> str:
    """The most unusual part of a sum, and between which values it lies else."""
    if named is None:
        return ""
    one, series = named.days[0][0], line.series
    words = unusual(series, named).strip(" .").removeprefix("Most unusual: ")
    if key := line.structures[one.figure.place]:
        words = words.removeprefix(f"{key} ")
    usual = range_in_brackets(series, one.figure, named, EXTREMES, NEAR).removeprefix("usually ")
    return f"most unusual {words}, else {usual}"


def _parts(line: _Line, named: Named, before: str) -> str:
    """The sentence with what was unusual in parts of a sum; the name of their structure is not said again."""
    key = line.structures[named.days[0][0].figure.place]
    said = unusual(line.series, named)
    return said.replace(f"{key} ", "", 1) if f" {key} " in before else said


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


def _pair(line: _Line, piece: Piece, shown: Named, levels: Mapping[int, int], nearness: int, before: str) -> str:
    """A pair as it is told, with the name of its structure unless that stands before it already, and in brackets with
    what is usual and what was unusual in it. `levels`: how full the ranges are, of the figures that have one."""
    text = _worded(piece)
    structure = line.structures.get(piece.places[0], "") if piece.places else ""
    if structure and structure not in before and structure not in text:
        text = f"{structure} {text}"
    asides = []
    for figure in (line.varying[place] for place in piece.places if place in line.varying):
        key = (figure.place, shown.of(figure), levels.get(figure.place), nearness, any(map(shown.outside.get, levels)))
        if key not in line.said:
            line.said[key] = beside(line.series, figure, shown, levels, nearness)
        asides += [line.said[key]] if line.said[key] else []
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
