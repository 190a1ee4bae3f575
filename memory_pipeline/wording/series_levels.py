"""Two lasting levels of a figure: until a day on one, and since then on another."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from math import exp
from statistics import median

from memory_pipeline.wording.series_figures import Figure, Value

#: Each part has so many readings.
_FEWEST = 3
#: A change is no chance if a random order would show one so clear in fewer than 5 of 100 cases.
_CHANCE = 0.05


@dataclass(frozen=True, slots=True)
class Level:
    """Between which values a figure lay, on which days."""

    least: Value
    greatest: Value
    first: date
    last: date


def levels(figure: Figure, apart: Collection[int]) -> tuple[Level, Level] | None:
    """The two levels of a figure, if all readings until a day lie on one side of a value and all later ones on the
    other, on neither side they move on, and the change is clear by the test of Pettitt (A non-parametric approach to
    the change-point problem, Applied Statistics, 1979), and wider than most steps. The newest reading is left out,
    since it is compared with the others, and so are those that are told `apart`; None, if another one is outside."""
    if any(is_outside and n not in apart for n, is_outside in enumerate(figure.outside)):
        return None
    values = [value for n, value in enumerate(figure.values[:-1]) if n not in apart]
    steps = [abs(one.number - other.number) for one, other in pairwise(values)]
    for middle in range(_FEWEST, len(values) - _FEWEST + 1):
        before, since = values[:middle], values[middle:]
        one, other = _level(before), _level(since)
        gap = max(other.least.number - one.greatest.number, one.least.number - other.greatest.number)
        moves_on = any(Figure(figure.place, tuple(part)).has_course for part in (before, since))
        if gap > median(steps) and one.last < other.first and not moves_on and _chance(middle, len(values)) < _CHANCE:
            return one, other
    return None


def _level(values: list[Value]) -> Level:
    least, greatest = (choose(values, key=lambda value: value.number) for choose in (min, max))
    return Level(least, greatest, values[0].at.date(), values[-1].at.date())


def _chance(middle: int, number: int) -> float:
    """Pettitt's approximation for parts that do not overlap, of which the statistic is the product of their sizes."""
    clear = middle * (number - middle)
    return 2 * exp(-6 * clear**2 / (number**3 + number**2))
