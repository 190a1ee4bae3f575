"""One figure of a series over its readings: its newest, least, greatest, median and usual values, and those outside."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, localcontext
from functools import cached_property
from math import ceil, sqrt
from statistics import median_low, quantiles

#: A value is outside when it is further than this many spreads from the median.
SPREADS = 3
#: The usual values are so many of the readings.
USUAL_SHARE = 4 / 5


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
        """The number of each value."""
        return tuple(value.number for value in self.values)

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
        if low.number == high.number or "/" in low.text:
            return low.text
        with localcontext(prec=len(low.text) + len(high.text) + 2):
            middle = (Decimal(low.plain) + Decimal(high.plain)) / 2
            return f"{middle:f}"

    @property
    def varies(self) -> bool:
        """Whether there are two values."""
        return self.least.number != self.greatest.number

    @property
    def rises(self) -> bool:
        """Whether it is a counter: no value is lower than the one before, and most differ."""
        return self._moves and all(a <= b for a, b in itertools.pairwise(self.numbers))

    @property
    def falls(self) -> bool:
        """Whether it counts down: no value is higher than the one before, and most differ."""
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
