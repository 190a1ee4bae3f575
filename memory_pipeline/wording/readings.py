"""The readings of one series and what they amount to: each figure's first, newest, least, greatest and median value,
the words and their counts, and the readings that break the series."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal, localcontext
from functools import cached_property
from math import sqrt
from statistics import correlation, median_low, quantiles

from memory_pipeline.wording.normalise import one_line
from memory_pipeline.wording.templates import Line, Place, list_elements, read_line

#: A value is outside when it is further than this many spreads from the median.
SPREADS = 3
#: A value is usual up to this many interquartile ranges from the quartiles (the inner fences of Tukey, 1977).
_FENCE = 1.5
#: What holds fewer of the values than this share is not the usual.
_MOST_OF_THEM = 0.75
#: Values have a course if their ranks follow the time more closely than those of 19 of 20 random orders.
_COURSE = 1.96
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Reading:
    """One line of a series: the memory, the time that it refers to, and its values. `position`: the line in a text
    that is written from top to bottom, for lines of one time."""

    memory_id: str
    at: datetime
    line: Line
    position: int = 0

    @property
    def values(self) -> tuple[str, ...]:
        """The words of each place."""
        return self.line.values


@dataclass(frozen=True, slots=True)
class Value:
    """A value as it was written, with its day."""

    text: str
    at: datetime

    @property
    def number(self) -> float:
        """Its number."""
        return number_of(self.text)

    @property
    def plain(self) -> str:
        """Its digits, without separators."""
        return self.text.replace(",", "")


@dataclass(frozen=True)
class Figure:
    """One place with figures, over all readings, oldest first."""

    place: int
    values: tuple[Value, ...]

    @property
    def first(self) -> Value:
        """The oldest value."""
        return self.values[0]

    @property
    def newest(self) -> Value:
        """The newest value."""
        return self.values[-1]

    @cached_property
    def least(self) -> Value:
        """The least value, the newest of equal ones."""
        return min(reversed(self.values), key=lambda value: value.number)

    @cached_property
    def greatest(self) -> Value:
        """The greatest value, the newest of equal ones."""
        return max(reversed(self.values), key=lambda value: value.number)

    @cached_property
    def median(self) -> str:
        """The median: a value as it was written, or the mean of the two in the middle."""
        ordered = sorted(self.values, key=lambda value: value.number)
        low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
        if low.number == high.number:
            return low.text
        with localcontext(prec=len(low.text) + len(high.text) + 2):
            middle = (Decimal(low.plain) + Decimal(high.plain)) / 2
            return f"{middle:f}"

    @cached_property
    def usual(self) -> tuple[Value, ...]:
        """Where the values lie: all of them, or those within the inner fences if some are outside."""
        if not any(self.outside):
            return self.values
        inside = [value for value, is_outside in zip(self.values, self.outside, strict=True) if not is_outside]
        lower, _, upper = quantiles((value.number for value in self.values), n=4, method="inclusive")
        reach = _FENCE * (upper - lower)
        near = [value for value in inside if lower - reach <= value.number <= upper + reach]
        return tuple(near if len(near) >= _MOST_OF_THEM * len(self.values) else inside)

    @cached_property
    def usual_least(self) -> Value:
        """The least usual value, the newest of equal ones."""
        return min(reversed(self.usual), key=lambda value: value.number)

    @cached_property
    def usual_greatest(self) -> Value:
        """The greatest usual value, the newest of equal ones."""
        return max(reversed(self.usual), key=lambda value: value.number)

    @property
    def varies(self) -> bool:
        """Whether there are two values."""
        return self.least.number != self.greatest.number

    @property
    def rises(self) -> bool:
        """Whether no value is lower than the one before, and the last is higher than the first."""
        numbers = [value.number for value in self.values]
        return self.varies and all(a <= b for a, b in itertools.pairwise(numbers))

    @property
    def falls(self) -> bool:
        """Whether no value is higher than the one before, and the last is lower than the first."""
        numbers = [value.number for value in self.values]
        return self.varies and all(a >= b for a, b in itertools.pairwise(numbers))

    @cached_property
    def has_course(self) -> bool:
        """Whether the values move in one direction: the first and the newest are further apart than the middle half of
        all, and the ranks follow the time (Spearman's coefficient beside its standard error)."""
        numbers = [value.number for value in self.values]
        if len(numbers) < 3 or not self.varies:
            return False
        lower, _, upper = quantiles(numbers, n=4, method="inclusive")
        if abs(numbers[-1] - numbers[0]) <= upper - lower:
            return False
        return abs(correlation(range(len(numbers)), _ranks(numbers))) * sqrt(len(numbers) - 1) > _COURSE

    @property
    def is_whole(self) -> bool:
        """Whether every value is a whole number."""
        return all(value.plain.lstrip("+-").isdigit() for value in self.values)

    @property
    def movement(self) -> float:
        """The span of the usual values relative to their size."""
        least, greatest = self.usual_least.number, self.usual_greatest.number
        size = max(abs(least), abs(greatest))
        return (greatest - least) / size if size else 0.0

    @cached_property
    def outside(self) -> tuple[bool, ...]:
        """For each value, whether it lies outside what three spreads around the median hold. A value that returns on
        another day is not outside."""
        numbers = [value.number for value in self.values]
        if len(numbers) < 3 or not self.varies:
            return (False,) * len(numbers)
        middle = median_low(numbers)
        days: dict[float, set[date]] = {}
        for value in self.values:
            days.setdefault(value.number, set()).add(value.at.date())
        return tuple(
            len(days[x]) == 1 and abs(x - middle) > SPREADS * spread + 1e-9 * abs(x - middle)
            for x, spread in zip(numbers, self._spreads, strict=True)
        )

    @cached_property
    def farness(self) -> tuple[float, ...]:
        """For each value, how many spreads it is from the median; a spread is at least one unit of the last digit."""
        middle = median_low([value.number for value in self.values])
        digits = max(len(value.plain.partition(".")[2]) for value in self.values)
        least = 10.0 ** -min(digits, 300)
        spreads = self._spreads or (0.0,) * len(self.values)
        return tuple(abs(v.number - middle) / max(s, least) for v, s in zip(self.values, spreads, strict=True))

    @cached_property
    def _spreads(self) -> tuple[float, ...]:
        """The spread with which each value is compared, of three values or more.

        It is the interquartile range (Tukey, Exploratory Data Analysis, 1977, who calls what lies three of them out
        "far out"), or the standard deviation of the other values if that is larger, as it is where nearly all are
        equal: a value is compared with the others, so that one far value does not hide itself (Barnett and Lewis,
        Outliers in Statistical Data, 1994, on masking).
        """
        numbers = [value.number for value in self.values]
        if len(numbers) < 3:
            return ()
        lower, _, upper = quantiles(numbers, n=4, method="inclusive")
        middle = median_low(numbers)
        moved = [number - middle for number in numbers]  # smaller numbers, whose squares keep their digits
        total, squares, others = sum(moved), sum(x * x for x in moved), len(moved) - 1
        found = []
        for x in moved:
            variance = (squares - x * x) / others - ((total - x) / others) ** 2
            found.append(max(upper - lower, sqrt(max(variance, 0.0))))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Break:
    """A reading that breaks the series: its value in one place."""

    memory_id: str
    place: int
    value: Value


@dataclass(frozen=True)
class Series:
    """Readings of one template, oldest first. `words`: the places that hold one of a few words, by their position
    among the places of a line."""

    readings: tuple[Reading, ...]
    words: tuple[int, ...] = ()
    strangers: tuple[Reading, ...] = ()

    @cached_property
    def every(self) -> tuple[Reading, ...]:
        """The readings and the strangers, oldest first."""
        return in_order([*self.readings, *self.strangers]) if self.strangers else self.readings

    @property
    def newest(self) -> Reading:
        """The newest reading."""
        return self.every[-1]

    @property
    def places(self) -> tuple[Place, ...]:
        """The places of the newest reading."""
        return self.newest.line.places

    @cached_property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """The values of each place, oldest first."""
        return tuple(zip(*(reading.values for reading in self.every), strict=True))

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """The places with figures."""
        return tuple(
            Figure(i, tuple(Value(text, reading.at) for text, reading in zip(self.columns[i], self.every, strict=True)))
            for i, place in enumerate(self.places)
            if place.kind == "figure"
        )

    def counts(self, place: int) -> list[tuple[str, int]]:
        """How often each word (or element of a list) stands in a place, the most frequent first."""
        every = Counter(word for text in self.columns[place] for word in (list_elements(text) or (text,)))
        return sorted(every.items(), key=lambda item: (-item[1], item[0]))

    @cached_property
    def breaks(self) -> tuple[Break, ...]:
        """The readings outside the bounds of a figure, and those with a new word, oldest first."""
        found = [
            Break(reading.memory_id, figure.place, value)
            for figure in self.figures
            for reading, value, is_outside in zip(self.every, figure.values, figure.outside, strict=True)
            if is_outside
        ]
        return tuple(sorted(found, key=lambda one: (one.value.at, one.memory_id, one.place)))


def _ranks(numbers: Sequence[float]) -> list[float]:
    """The place of each number in their order; equal ones share the middle of theirs."""
    ordered = sorted(numbers)
    return [(bisect_left(ordered, x) + bisect_right(ordered, x)) / 2 for x in numbers]


def number_of(text: str) -> float:
    """The number that a figure writes."""
    return float(text.replace(",", ""))


def read_memory(memory_id: str, at: datetime, content: str, position: int = 0) -> Reading:
    """The reading in a memory."""
    return Reading(memory_id, at, read_line(one_line(content)), position)


def in_order(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """Readings from the oldest to the newest. Those of one time are ordered by their position in a text, then by what
    they say."""
    return tuple(sorted(readings, key=lambda r: (r.at, r.position, r.line.text, r.memory_id)))


def days_of(readings: Sequence[Reading]) -> int:
    """The number of days with a reading, by the clock of each."""
    return len({reading.at.date() for reading in readings})


def series_of(readings: Iterable[Reading], strangers: Iterable[Reading] = ()) -> Series:
    """The series of readings that differ only in values and in some words. `strangers`: readings with a new word in
    the place of one."""
    ordered = in_order(readings)
    varying = _varying_words([reading.line for reading in ordered])
    told = [replace(reading, line=_with_words(reading.line, varying)) for reading in ordered]
    others = [replace(reading, line=_with_words(reading.line, varying)) for reading in in_order(strangers)]
    kinds = [place.kind for place in told[0].line.places]
    return Series(
        tuple(told),
        _positions(ordered[0].line, varying),
        tuple(other for other in others if [place.kind for place in other.line.places] == kinds),
    )


def words_in(line: Line) -> list[Place]:
    """Every word between the places of a line."""
    found, done = [], 0
    for start, end in [*((place.start, place.end) for place in line.places), (len(line.text),) * 2]:
        found += [Place("word", match.start(), match.end()) for match in _WORD.finditer(line.text, done, start)]
        done = end
    return found


def _varying_words(lines: Sequence[Line]) -> tuple[int, ...]:
    """The numbers of the words that differ between lines which are otherwise equal."""
    by_shape = {line.shape.casefold(): line for line in lines}
    if len(by_shape) < 2:
        return ()
    texts = [[line.value(word).casefold() for word in words_in(line)] for line in by_shape.values()]
    return tuple(i for i, column in enumerate(zip(*texts, strict=False)) if len(set(column)) > 1)


def _with_words(line: Line, numbers: Sequence[int]) -> Line:
    """The line with places for these of its words."""
    words = words_in(line)
    chosen = [words[number] for number in numbers if number < len(words)]
    return Line(line.text, tuple(sorted((*line.places, *chosen), key=lambda place: place.start))) if chosen else line


def _positions(line: Line, numbers: Sequence[int]) -> tuple[int, ...]:
    """The positions of these words among all places of a line."""
    chosen = _with_words(line, numbers).places
    return tuple(i for i, place in enumerate(chosen) if place.kind == "word")
