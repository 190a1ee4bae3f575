"""The readings of one series and what they amount to: its figures with their least, greatest, median and usual values,
its words with their counts, and the readings that break the series."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal, localcontext
from functools import cached_property
from math import ceil, sqrt
from statistics import median_low, quantiles

from memory_pipeline.text.normalise import one_line, without_time_of
from memory_pipeline.text.templates import Line, Place, fields_in, line_key, list_elements, read_line

#: A value is outside when it is further than this many spreads from the median.
SPREADS = 3
#: The usual values are so many of the readings.
USUAL_SHARE = 4 / 5
#: Of so many lists, at most so many are odd.
_ENOUGH_LISTS, _MOST_ODD_LISTS = 5, 2


@dataclass(frozen=True, slots=True)
class Value:
    """A value as it was written, with its day."""

    text: str
    at: datetime

    @property
    def number(self) -> float:
        """Its number; of a part and its whole, such as `5/6`, the share."""
        part, _, whole = self.plain.partition("/")
        return float(part) / float(whole) if whole else float(part)

    @property
    def plain(self) -> str:
        """Its digits, without separators."""
        return self.text.replace(",", "")


@dataclass(frozen=True)
class Figure:
    """One place with figures, over all readings, oldest first."""

    place: int
    values: tuple[Value, ...]

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        return tuple(value.number for value in self.values)

    @property
    def first(self) -> Value:
        """The oldest value."""
        return self.values[0]

    @property
    def newest(self) -> Value:
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
        if low.number == high.number or "/" in low.text:
            return low.text
        with localcontext(prec=len(low.text) + len(high.text) + 2):
            middle = (Decimal(low.plain) + Decimal(high.plain)) / 2
            return f"{middle:f}"

    @property
    def varies(self) -> bool:
        """True if there are two values."""
        return self.least.number != self.greatest.number

    @property
    def rises(self) -> bool:
        """True if it is a counter: no value is lower than the one before, and most differ."""
        return self._moves and all(a <= b for a, b in itertools.pairwise(self.numbers))

    @property
    def falls(self) -> bool:
        """True if it counts down: no value is higher than the one before, and most differ."""
        return self._moves and all(a >= b for a, b in itertools.pairwise(self.numbers))

    @property
    def _moves(self) -> bool:
        return self.varies and 2 * len(set(self.numbers)) > len(self.numbers)

    @cached_property
    def usual(self) -> tuple[Value, Value]:
        """The ends of the narrowest range that holds four of five readings, which single far values do not widen (as
        the shortest half does it: Rousseeuw and Leroy, Robust Regression and Outlier Detection, 1987)."""
        ordered = sorted(self.values, key=lambda value: value.number)
        wide = ceil(USUAL_SHARE * len(ordered))
        starts = range(len(ordered) - wide + 1)
        start = min(starts, key=lambda n: ordered[n + wide - 1].number - ordered[n].number)
        return ordered[start], ordered[start + wide - 1]

    @cached_property
    def outside(self) -> tuple[bool, ...]:
        """For each value, whether it lies outside what three spreads around the median hold. A value that returns on
        another day is not outside, and neither is one of a figure that only rises or only falls."""
        if len(self.values) < 3 or not self.varies or self.rises or self.falls:
            return (False,) * len(self.values)
        middle = median_low(self.numbers)
        days: dict[float, set[date]] = {}
        for value in self.values:
            days.setdefault(value.number, set()).add(value.at.date())
        return tuple(
            len(days[x]) == 1 and abs(x - middle) > SPREADS * spread + 1e-9 * abs(x - middle)
            for x, spread in zip(self.numbers, _spreads(self.numbers), strict=True)
        )


def _spreads(numbers: Sequence[float]) -> list[float]:
    """The spread with which each of at least three numbers is compared.

    It is the interquartile range (Tukey, Exploratory Data Analysis, 1977, who calls what lies three of them out "far
    out"), or the standard deviation of the other numbers if that is larger, as it is where nearly all are equal: a
    number is compared with the others, so that one far number does not hide itself (Barnett and Lewis, Outliers in
    Statistical Data, 1994, on masking).
    """
    lower, _, upper = quantiles(numbers, n=4, method="inclusive")
    middle = median_low(numbers)
    moved = [number - middle for number in numbers]  # smaller numbers, whose squares keep their digits
    total, squares, others = sum(moved), sum(x * x for x in moved), len(moved) - 1
    spreads = []
    for x in moved:
        variance = (squares - x * x) / others - ((total - x) / others) ** 2
        spreads.append(max(upper - lower, sqrt(max(variance, 0.0))))
    return spreads


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


@dataclass(frozen=True)
class Series:
    """Readings of one template, oldest first. `strangers`: readings with a new word in the place of one."""

    readings: tuple[Reading, ...]
    strangers: tuple[Reading, ...] = ()

    @cached_property
    def every(self) -> tuple[Reading, ...]:
        """The readings and the strangers, oldest first."""
        return _sort_readings([*self.readings, *self.strangers]) if self.strangers else self.readings

    @property
    def newest(self) -> Reading:
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
        """The figures; a part with its whole (`5/6`) is one."""
        single = {
            i: Figure(i, tuple(Value(text, reading.at) for text, reading in zip(column, self.every, strict=True)))
            for i, (place, column) in enumerate(zip(self.places, self.columns, strict=True))
            if place.kind == "figure"
        }
        figures: list[Figure] = []
        is_whole = False
        for place, figure in single.items():
            if is_whole:
                is_whole = False
                continue
            whole = single.get(place + 1)
            is_part = whole is not None and self.between(place) == "/" and self.between(place + 1) != "/"
            share = _share(figure, whole) if is_part and whole is not None else None
            is_whole = share is not None
            figures.append(share or figure)
        return tuple(figures)

    def between(self, place: int) -> str:
        """The text between a place and the next one, or the end of the line; -1 is before the first place."""
        start = self.places[place].end if place >= 0 else 0
        end = self.places[place + 1].start if place + 1 < len(self.places) else len(self.newest.line.text)
        return self.newest.line.text[start:end]

    def counts(self, place: int) -> list[tuple[str, int]]:
        """Counts how often each word (or element of a list) stands in a place, the most frequent first."""
        every = Counter(word for text in self.columns[place] for word in (list_elements(text) or (text,)))
        return sorted(every.items(), key=lambda item: (-item[1], item[0]))

    @property
    def breaking_ids(self) -> frozenset[str]:
        """The memories of the readings that break the series: outside the bounds of a figure, or with an odd list."""
        outside = {n for figure in self.figures for n, is_outside in enumerate(figure.outside) if is_outside}
        for place, column in zip(self.places, self.columns, strict=True):
            outside.update(_odd_lists(column) if place.kind == "list" else ())
        return frozenset(self.every[n].memory_id for n in outside)


def _odd_lists(column: Sequence[str]) -> list[int]:
    """The lists with a word that no other one has. None, if there are few lists or many such ones: then each list is
    one of its own."""
    lists = [{*(list_elements(text) or ())} for text in column]
    times = Counter(word for words in lists for word in words)
    odd = [n for n, words in enumerate(lists) if any(times[word] == 1 for word in words)]
    return odd if len(column) >= _ENOUGH_LISTS and len(odd) <= _MOST_ODD_LISTS else []


def _share(part: Figure, whole: Figure) -> Figure | None:
    """A figure of parts and their wholes, or None if one is larger than its whole."""
    pairs = list(zip(part.values, whole.values, strict=True))
    if any(not 0 <= one.number <= other.number or not other.number for one, other in pairs):
        return None
    return Figure(part.place, tuple(Value(f"{one.text}/{other.text}", one.at) for one, other in pairs))


def read_memory(memory_id: str, at: datetime, content: str, position: int = 0) -> Reading:
    """A reading of a time. That it was written then, a line need not say."""
    return Reading(memory_id, at, read_line(one_line(without_time_of(content, at))), position)


def _sort_readings(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """Readings from the oldest to the newest. Those of one time are ordered by their position in a text, then by what
    they say."""
    return tuple(sorted(readings, key=lambda r: (r.at, r.position, r.line.text, r.memory_id)))


def days_of(readings: Sequence[Reading]) -> int:
    """The number of days with a reading, by the clock of each."""
    return len({reading.at.date() for reading in readings})


def series_of(readings: Iterable[Reading], strangers: Iterable[Reading] = ()) -> Series:
    """The series of readings that differ only in values and in fields; if some are of another form than most, the
    series of most. `strangers`: further lines; those of the same form belong to it."""
    keyed = [(line_key(reading.line), reading) for reading in _sort_readings(readings)]
    times = Counter(key for key, _ in keyed)
    form = max(reversed(keyed), key=lambda item: times[item[0]])[0]
    ordered = [reading for key, reading in keyed if key == form]
    others = _sort_readings(reading for reading in strangers if line_key(reading.line) == form)
    every = (*ordered, *others)
    fields = [[reading.line.value(word).casefold() for word in fields_in(reading.line)] for reading in every]
    varying = [number for number, column in enumerate(zip(*fields, strict=True)) if len(set(column)) > 1]
    mine, more = (
        [replace(reading, line=_with_fields(reading.line, varying)) for reading in some] for some in (ordered, others)
    )
    return Series(tuple(mine), tuple(more))


def _with_fields(line: Line, numbers: Sequence[int]) -> Line:
    """The line with places for these of its fields."""
    chosen = [field for number, field in enumerate(fields_in(line)) if number in numbers] if numbers else []
    return Line(line.text, tuple(sorted((*line.places, *chosen), key=lambda place: place.start))) if chosen else line
