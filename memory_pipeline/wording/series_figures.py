"""One figure of a series over its readings: first, newest, least, greatest and median value, its course, and which of
its values are outside."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, localcontext
from functools import cached_property
from math import ceil, sqrt
from statistics import correlation, median_low, quantiles

#: A value is outside when it is further than this many spreads from the median.
SPREADS = 3
#: A value lies apart beyond this many interquartile ranges from the quartiles (the inner fences of Tukey, 1977).
_FENCE = 1.5
#: What holds fewer of the values than this share is not the usual.
_MOST_OF_THEM = 0.75
#: Most of the readings: so many of five, of at least so many.
_MOSTLY, _ENOUGH_FOR_MOSTLY = 4 / 5, 10
#: Values have a course if their ranks follow the time more closely than those of 19 of 20 random orders.
_COURSE = 1.96
#: A step of a slow rise or fall is at most this share of the way to the median.
_SLOW_STEP = 0.5
#: One zero is outside if the other values are at least this share of their median, and three of their spreads, from
#: it; of so many values.
_FAR_FROM_ZERO, _FEWEST_FOR_ZERO = 0.25, 5
#: Of so many values, two are compared with the others together.
_FEWEST_FOR_TWO = 7


@dataclass(frozen=True, slots=True)
class Value:
    """A value as it was written, with its day."""

    text: str
    at: datetime

    @property
    def number(self) -> float:
        """Its number; of a part and its whole, such as `5/6`, the share."""
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
        if low.number == high.number or self.is_share:
            return low.text
        with localcontext(prec=len(low.text) + len(high.text) + 2):
            middle = (Decimal(low.plain) + Decimal(high.plain)) / 2
            return f"{middle:f}"

    @cached_property
    def usual(self) -> tuple[Value, ...]:
        """The values that are not outside."""
        return tuple(value for value, is_outside in zip(self.values, self.outside, strict=True) if not is_outside)

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
    def is_share(self) -> bool:
        """Whether every value is a part of a whole: `5/6`."""
        return "/" in self.newest.text

    @property
    def falls_short(self) -> bool:
        """Whether a value is below its whole where others reach it."""
        return self.is_share and self.varies and self.greatest.number == 1

    @property
    def movement(self) -> float:
        """The span of the usual values relative to their size."""
        numbers = [value.number for value in self.usual]
        size = max(map(abs, numbers))
        return (max(numbers) - min(numbers)) / size if size else 0.0

    @cached_property
    def outside(self) -> tuple[bool, ...]:
        """For each value, whether it lies outside what three spreads around the median hold, or is the one zero of a
        figure that is far from it. A value that returns on another day is not outside, and neither is where a slow
        rise or fall begins or has come to."""
        numbers = [value.number for value in self.values]
        if len(numbers) < 3 or not self.varies:
            return (False,) * len(numbers)
        middle = median_low(numbers)
        days: dict[float, set[date]] = {}
        for value in self.values:
            days.setdefault(value.number, set()).add(value.at.date())
        far = [
            len(days[x]) == 1 and abs(x - middle) > SPREADS * spread + 1e-9 * abs(x - middle)
            for x, spread in zip(numbers, self._spreads, strict=True)
        ]
        for n in _two_far(numbers):
            far[n] = far[n] or len(days[numbers[n]]) == 1
        slow = _slow_runs(numbers, far, middle)
        return tuple((far[n] and n not in slow) or self.is_fall_to_zero(n) for n in range(len(numbers)))

    def is_fall_to_zero(self, n: int) -> bool:
        """Whether a value is the one zero among values that are all far from it."""
        if self._lone_zero != n or len(self.values) < _FEWEST_FOR_ZERO:
            return False
        others = [abs(value.number) for m, value in enumerate(self.values) if m != n]
        lower, _, upper = quantiles(others, n=4, method="inclusive")
        return min(others) > 0 and min(others) >= max(_FAR_FROM_ZERO * median_low(others), SPREADS * (upper - lower))

    @cached_property
    def _lone_zero(self) -> int | None:
        """Which value is zero, if one alone is."""
        zeros = [n for n, value in enumerate(self.values) if not value.number]
        return zeros[0] if len(zeros) == 1 else None

    @cached_property
    def apart(self) -> tuple[bool, ...]:
        """For each value, whether it is outside, or beyond the inner fences if most values are within them."""
        if not any(self.outside):
            return self.outside
        numbers = [value.number for value in self.values]
        found = tuple(
            is_outside or not lies_within_fences(value.number, numbers)
            for value, is_outside in zip(self.values, self.outside, strict=True)
        )
        return found if found.count(False) >= _MOST_OF_THEM * len(found) else self.outside

    @cached_property
    def mostly(self) -> tuple[Value, Value] | None:
        """Between which values four of five of the readings before the newest lie: the ends of the shortest such
        interval, which single far values do not widen (as the shortest half does it: Rousseeuw and Leroy, Robust
        Regression and Outlier Detection, 1987). The newest is left out, since it is compared with the others. None, if
        the readings are few."""
        ordered = sorted(self.values[:-1], key=lambda value: value.number)
        if len(ordered) < _ENOUGH_FOR_MOSTLY:
            return None
        wide = ceil(_MOSTLY * len(ordered))
        starts = range(len(ordered) - wide + 1)
        start = min(starts, key=lambda n: ordered[n + wide - 1].number - ordered[n].number)
        return ordered[start], ordered[start + wide - 1]

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


def are_two(values: Sequence[Value]) -> bool:
    """Whether values are one of two, each more than once."""
    times = Counter(value.number for value in values)
    return len(times) == 2 and min(times.values()) > 1


def lies_within_fences(x: float, numbers: Sequence[float]) -> bool:
    """Whether a number is within the inner fences around others (Tukey, 1977)."""
    if len(numbers) < 2:
        return x in numbers
    lower, _, upper = quantiles(numbers, n=4, method="inclusive")
    reach = _FENCE * (upper - lower)
    return lower - reach <= x <= upper + reach


def _two_far(numbers: Sequence[float]) -> tuple[int, ...]:
    """The two values that are farthest from the median, if both are further from all others than three times the whole
    range of these: each widens the spread with which the other one is compared, and so would hide it."""
    if len(numbers) < _FEWEST_FOR_TWO:
        return ()
    middle = median_low(numbers)
    *others, one, other = sorted(range(len(numbers)), key=lambda n: abs(numbers[n] - middle))
    usual = [numbers[n] for n in others]
    least, greatest = min(usual), max(usual)
    away = min(max(least - numbers[n], numbers[n] - greatest) for n in (one, other))
    return (one, other) if least < greatest and away > SPREADS * (greatest - least) else ()


def _slow_runs(numbers: Sequence[float], far: Sequence[bool], middle: float) -> set[int]:
    """The far values from which, or to which, the figure has moved slowly: at the beginning or the end, in one
    direction, and with no step of more than half of the way to the median."""
    return _slow_start(numbers, far, middle) | {
        len(numbers) - 1 - n for n in _slow_start(numbers[::-1], far[::-1], middle)
    }


def _slow_start(numbers: Sequence[float], far: Sequence[bool], middle: float) -> set[int]:
    end = next((n for n, is_far in enumerate(far) if not is_far), len(far))
    if end in (0, len(far)):
        return set()
    way = [abs(number - middle) for number in numbers[: end + 1]]
    is_slow = all(
        later <= earlier and earlier - later <= _SLOW_STEP * way[0] for earlier, later in itertools.pairwise(way)
    )
    return set(range(end)) if is_slow else set()


def _ranks(numbers: Sequence[float]) -> list[float]:
    """The place of each number in their order; equal ones share the middle of theirs."""
    ordered = sorted(numbers)
    return [(bisect_left(ordered, x) + bisect_right(ordered, x)) / 2 for x in numbers]


def number_of(text: str) -> float:
    """The number that a figure writes; of a part and its whole, the share."""
    part, _, whole = text.replace(",", "").partition("/")
    return float(part) / float(whole) if whole else float(part)
