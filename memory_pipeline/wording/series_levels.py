"""Two lasting levels of a figure: until a day on one, and since then on another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate, groupby, pairwise
from math import exp
from statistics import median

from memory_pipeline.wording.series_figures import SPREADS, Figure, Value

#: Before a stay, during it, and after it.
_RUNS_OF_STAY = 3
#: What rises has small falls if they are together at most this share of the way, and no step wider than that one.
_SMALL_FALLS, _WIDEST_STEP = 0.1, 0.5
#: A reset is at least that much of the range, with so many readings before it and since.
_RESET, _FEWEST_RISING = 0.25, 5
#: So many readings are on the newest level.
_FEWEST_SINCE = 2
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

    @property
    def width(self) -> float:
        """How far apart they are."""
        return self.greatest.number - self.least.number


def levels(figure: Figure, apart: Collection[int]) -> tuple[Level, Level] | None:
    """The two levels of a figure, if all readings until a day lie on one side of a value and all later ones on the
    other, on neither side they move on, and the change is clear by the test of Pettitt (A non-parametric approach to
    the change-point problem, Applied Statistics, 1979), and wider than most steps. The newest reading is left out,
    since it is compared with the others, and so are those that are told `apart`; None, if another one is outside.

    Of few readings, a change is clear if it is so many times as wide as both levels as an unusual value is away.
    """
    if any(is_outside and n not in apart for n, is_outside in enumerate(figure.outside)):
        return None
    values = [value for n, value in enumerate(figure.values[:-1]) if n not in apart]
    usual_step = median([abs(one.number - other.number) for one, other in pairwise(values)] or [0.0])
    for middle, one, other in _apart(values, _FEWEST, _FEWEST):
        is_clear = _gap(one, other) > usual_step and _chance(middle, len(values)) < _CHANCE
        if is_clear and _last(one, other, values[:middle], values[middle:]):
            return one, other
    return _step([*values, figure.newest]) if len(figure.values) - 1 not in apart else None


def stay(figure: Figure) -> tuple[Level, Level] | None:
    """The level on which a figure was for three readings or more in a row and at no other time, neither at first nor at
    last, and that of all other readings. The two are further from each other than each is wide."""
    values = figure.values
    ordered = sorted(value.number for value in values)
    gap, middle = max(((b - a, (a + b) / 2) for a, b in pairwise(ordered)), default=(0.0, 0.0))
    sides = [value.number > middle for value in values]
    runs = [len([*run]) for _, run in groupby(sides)]
    if len(runs) != _RUNS_OF_STAY or min(runs[1], runs[0] + runs[2]) < _FEWEST:
        return None
    there, other = (_level([v for v, side in zip(values, sides, strict=True) if (side != sides[0]) is is_there])
                    for is_there in (True, False))  # fmt: skip
    apart = values[runs[0] - 1].at.date() < there.first and there.last < values[runs[0] + runs[1]].at.date()
    return (there, other) if apart and gap > max(there.width, other.width) else None


def nearly_rises(values: Sequence[Value]) -> bool:
    """Whether values rise, but for falls that are together at most a tenth of the way."""
    numbers = [value.number for value in values]
    falls = any(other < one for one, other in pairwise(numbers))
    return len(numbers) >= _FEWEST_RISING and falls and _climbs(values) and min(numbers) == numbers[0]


def reset(figure: Figure) -> tuple[Level, Level] | None:
    """The two courses of a figure that rises all the time, but for small falls, and was set back once between two days:
    by a quarter of its range or more."""
    numbers = [value.number for value in figure.values]
    drop, middle = max(((a - b, n) for n, (a, b) in enumerate(pairwise(numbers), start=1)), default=(0.0, 0))
    parts = figure.values[:middle], figure.values[middle:]
    if drop < _RESET * (max(numbers) - min(numbers)) or drop <= 0 or min(map(len, parts)) < _FEWEST_RISING:
        return None
    one, other = map(_level, parts)
    rise = all(_climbs(part) for part in parts) and not any(figure.outside)
    return (one, other) if rise and one.last < other.first else None


def _climbs(values: Sequence[Value]) -> bool:
    """Whether values rise in many steps, but for small falls."""
    numbers = [value.number for value in values]
    falls = sum(max(0.0, one - other) for one, other in pairwise(numbers))
    way, widest = numbers[-1] - numbers[0], max(other - one for one, other in pairwise(numbers))
    return way > 0 and falls <= _SMALL_FALLS * way and widest <= _WIDEST_STEP * way


def _apart(values: Sequence[Value], before: int, since: int) -> Iterator[tuple[int, Level, Level]]:
    """Where values lie on one side of a value until a reading and on the other after it, with the two levels. `before`
    and `since`: each has so many readings. In time proportional to the values."""
    least, greatest = ([*accumulate(values, choose)] for choose in (_lower, _higher))
    last_least, last_greatest = ([*accumulate(values[::-1], choose)][::-1] for choose in (_lower, _higher))
    for middle in range(before, len(values) - since + 1):
        one = Level(least[middle - 1], greatest[middle - 1], values[0].at.date(), values[middle - 1].at.date())
        other = Level(last_least[middle], last_greatest[middle], values[middle].at.date(), values[-1].at.date())
        if _gap(one, other) > 0:
            yield middle, one, other


def _lower(one: Value, other: Value) -> Value:
    return min(one, other, key=lambda value: value.number)


def _higher(one: Value, other: Value) -> Value:
    return max(one, other, key=lambda value: value.number)


def _step(values: Sequence[Value]) -> tuple[Level, Level] | None:
    for middle, one, other in _apart(values, _FEWEST, _FEWEST_SINCE):
        widest = max(one.width, other.width)
        if _gap(one, other) > SPREADS * widest > 0 and _last(one, other, values[:middle], values[middle:]):
            return one, other
    return None


def _gap(one: Level, other: Level) -> float:
    return max(other.least.number - one.greatest.number, one.least.number - other.greatest.number)


def _last(one: Level, other: Level, *parts: Sequence[Value]) -> bool:
    """Whether two levels are on different days and neither moves on."""
    return one.last < other.first and not any(Figure(0, tuple(part)).has_course for part in parts)


def _level(values: Sequence[Value]) -> Level:
    least, greatest = (choose(values, key=lambda value: value.number) for choose in (min, max))
    return Level(least, greatest, values[0].at.date(), values[-1].at.date())


def _chance(middle: int, number: int) -> float:
    """Pettitt's approximation for parts that do not overlap, of which the statistic is the product of their sizes."""
    clear = middle * (number - middle)
    return 2 * exp(-6 * clear**2 / (number**3 + number**2))
