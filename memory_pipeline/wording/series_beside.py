"""What stands in brackets behind the newest value of a figure: between which values it lies, and what was unusual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of, span_of, when
from memory_pipeline.wording.series_figures import Figure, Value, are_two
from memory_pipeline.wording.series_levels import levels, nearly_rises, reset, stay
from memory_pipeline.wording.series_line import amount, amounts, unit_of
from memory_pipeline.wording.series_near import EXACT, NEAR, rounded

#: The hour at which a morning ends; the newest reading of a day and another one.
_NOON, _BOTH = 12, 2
#: So many unusual values are told one by one.
_MOST_APART = 3
#: What is usual is tight if it is at most so many times as wide as what holds four of five.
_TIGHT = 2
#: A steady rise has so many different values.
_FEWEST_STEPS = 3
#: One or two values stand for a figure if they are this share of all, and at least so many others are this many times
#: as far from them as they are from each other.
_MOST_OF_THEM, _FEWEST_ELSE, _FAR = 0.6, 4, 20


@dataclass(frozen=True, slots=True)
class Beside:
    """Ways to say between which values a figure lies, without its unit, each list the fullest first: `whole` ones,
    such as `usually 1.2 to 1.4; 4.1 on 19 March`, and those for where there is no room for one, at last nothing.

    Each holds for all readings: every value is in a range, or told with its day, or the newest one."""

    whole: tuple[str, ...] = ("",)
    short: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.whole, *self.short)


def beside(series: Series, figure: Figure) -> Beside:
    """What stands behind the newest value of a figure: nothing, if it does not vary."""
    if not figure.varies:
        return Beside()
    if steady := _steady(series, figure):
        return Beside(tuple(steady), ("",))
    newest = len(figure.values) - 1
    apart, outside = (
        [n for n, is_so in enumerate(flags) if is_so and n != newest] for flags in (figure.apart, figure.outside)
    )
    usual, others = (
        [value for value, is_so in zip(figure.values, flags, strict=True) if not is_so]
        for flags in (figure.apart, figure.outside)
    )
    plain = tuple(_whole(series, figure, with_days=with_days) for with_days in (True, False))
    short = (*plain, _near(series, figure), "")
    whole = _by_reset(series, figure) or _by_levels(series, figure, apart) or _by_stay(series, figure)
    if modal := _by_count(series, figure):
        return Beside((modal,), short)
    for values, numbers in ((usual, apart), (others, outside)):
        if numbers and len(numbers) <= _MOST_APART and _is_tight(figure, values):
            whole.append(_usual_and_apart(series, figure, values, numbers, EXACT))
            short = (_usual_and_apart(series, figure, values, numbers, NEAR), *short)
        elif numbers and len(numbers) <= _MOST_APART:
            least, greatest = (choose(values, key=lambda value: value.number) for choose in (min, max))
            between = _extremes(series, figure.place, least, greatest)
            whole.append(f"{between}, {_mostly(series, figure)}{_one_by_one(series, figure, numbers)}")
    if not whole and apart:
        whole = [f"{plain[0]}, {_mostly(series, figure)}", plain[0]]
    return Beside(tuple(dict.fromkeys(whole)), short) if whole else Beside(tuple(dict.fromkeys(plain)), short[2:])


def _near(series: Series, figure: Figure) -> str:
    if are_two(figure.values):
        return _whole(series, figure, with_days=False)
    return _extremes(series, figure.place, figure.least, figure.greatest, NEAR)


def _steady(series: Series, figure: Figure) -> list[str]:
    """From where a figure has risen or fallen to its newest value, or until when it had its other one."""
    if not (figure.rises or figure.falls):
        return _nearly_rising(series, figure)
    first, year = figure.first, series.newest.at.year
    said = _plain(series, figure.place, first.text)
    different = {value.number for value in figure.values}
    if len(different) < _FEWEST_STEPS:
        before = [n for n, value in enumerate(figure.values) if value.number == first.number]
        last = figure.values[before[-1]].at
        if len(before) == 1 or last.date() == series.newest.at.date():
            return [f"{said} {_on(series, figure, before[-1])}"]
        return [f"{said} until {day_of(last, year)}"]
    way = "up" if figure.rises else "down"
    return [f"{way} from {said} on {day_of(first.at, year)}", f"{way} from {said}"]


def _nearly_rising(series: Series, figure: Figure) -> list[str]:
    """From where a figure has risen, but for small falls, and how far: `up from 30 on 6 March, 190 on 1 April`."""
    if not nearly_rises(figure.values):
        return []
    first, most, year = figure.first, figure.greatest, series.newest.at.year
    if most.number == figure.newest.number or most.at.date() == series.newest.at.date():
        return []
    least, far = (_plain(series, figure.place, value.text) for value in (first, most))
    end = f"at most {far} on {day_of(most.at, year)}"
    return [f"up from {least} on {day_of(first.at, year)}, {end}", f"up from {least}, {end}"]


def _is_tight(figure: Figure, values: Sequence[Value]) -> bool:
    """Whether values lie close together, beside what holds four of five of all."""
    if figure.mostly is None or not values:
        return True
    least, greatest = min(value.number for value in values), max(value.number for value in values)
    low, high = figure.mostly
    return greatest - least <= _TIGHT * (high.number - low.number)


def _usual_and_apart(
    series: Series, figure: Figure, usual: Sequence[Value], apart: Sequence[int], nearness: int
) -> str:
    least, greatest = (choose(usual, key=lambda value: value.number) for choose in (min, max))
    between = _extremes(series, figure.place, least, greatest, nearness, is_either=are_two(usual))
    return f"usually {between}{_one_by_one(series, figure, apart)}"


def _one_by_one(series: Series, figure: Figure, numbers: Sequence[int]) -> str:
    """Values with their days; `that morning` only where no other day is named."""
    newest, year = series.newest.at.date(), series.newest.at.year
    days = {figure.values[n].at.date() for n in numbers}
    said = []
    for n in numbers:
        is_among_others = len(days) > 1 and figure.values[n].at.date() == newest
        day = f"earlier on {day_of(newest, year)}" if is_among_others else _on(series, figure, n)
        said.append(f"{_plain(series, figure.place, figure.values[n].text)} {day}")
    return f"; {', '.join(said)}" if numbers else ""


def _mostly(series: Series, figure: Figure) -> str:
    """Between which values four of five of the readings before the newest lie, or the median of few."""
    if figure.mostly is None:
        return f"median {_plain(series, figure.place, figure.median)}"
    low, high = figure.mostly
    return f"mostly {_extremes(series, figure.place, low, high)}"


def _by_levels(series: Series, figure: Figure, apart: Sequence[int]) -> list[str]:
    """The two lasting levels of a figure: `0.44 to 0.76 until 11 March, 0.87 to 1.00 since`, or `then 0.87 to 1.00
    until 1 April` if the newest reading has left it; with the values that lie apart. Nothing, if there are none."""
    found = levels(figure, apart) if len(apart) <= _MOST_APART else None
    if found is None:
        return []
    since = found[1]
    until, last = (day_of(level.last, series.newest.at.year) for level in found)
    is_left = not since.least.number <= figure.newest.number <= since.greatest.number
    if is_left and since.last == series.newest.at.date():
        return []
    one, other = (_extremes(series, figure.place, level.least, level.greatest) for level in found)
    both = f"{one} until {until}, {f'then {other} until {last}' if is_left else f'{other} since'}"
    return [both + _one_by_one(series, figure, apart)]


def _by_reset(series: Series, figure: Figure) -> list[str]:
    """The two courses of a figure that rises and was set back once: `194 to 344 until 19 March, 238 to 338 since`."""
    found = reset(figure)
    if found is None:
        return []
    one, other = (_extremes(series, figure.place, level.least, level.greatest) for level in found)
    return [f"{one} until {day_of(found[0].last, series.newest.at.year)}, {other} since"]


def _by_stay(series: Series, figure: Figure) -> list[str]:
    """The level on which a figure was for some days, and where it was else: `0.096 to 0.160 from 15 to 18 March, else
    0.002 to 0.003`. Nothing, if there is none."""
    found = stay(figure)
    if found is None:
        return []
    there = found[0]
    days = span_of(there.first, there.last, series.newest.at.year)
    one, two = (_extremes(series, figure.place, level.least, level.greatest) for level in found)
    return [f"{one} {days}, else {two}"]


def _by_count(series: Series, figure: Figure) -> str:
    """One or two values that most readings have, where the others lie far from them: `0.000 or 0.001 in 11 of 16, else
    0.161 to 3.149 on 24 March`."""
    times = Counter(value.number for value in figure.values)
    ordered = sorted(times, key=lambda number: -times[number])
    if len(times) < _FEWEST_STEPS:
        return ""
    for most in (ordered[:1], ordered[:2]):
        others = [value for value in figure.values if value.number not in most]
        count = len(figure.values) - len(others)
        width = max(most) - min(most) or _digit(figure)
        away = min((min(abs(value.number - number) for number in most) for value in others), default=0.0)
        if len(others) < _FEWEST_ELSE or count < _MOST_OF_THEM * len(figure.values) or away <= _FAR * width:
            continue
        said = sorted({value.number: value for value in figure.values if value.number in most}.values(), key=_number)
        low, high = min(others, key=_number), max(others, key=_number)
        usual = " or ".join(_plain(series, figure.place, value.text) for value in said)
        is_lone = times[high.number] == 1 and high.number != figure.newest.number
        day = f", the most {_on(series, figure, figure.values.index(high))}" if is_lone else ""
        else_ = _extremes(series, figure.place, low, high)
        return f"{usual} in {count} of {len(figure.values)}, else {else_}{day}"
    return ""


def _number(value: Value) -> float:
    return value.number


def _digit(figure: Figure) -> float:
    """One unit of the last digit."""
    return float(10.0 ** -min(max(len(value.plain.partition(".")[2]) for value in figure.values), 300))


def _whole(series: Series, figure: Figure, *, with_days: bool) -> str:
    """The least and the greatest value, with the days of those that came once; that of the newest is told."""
    times = Counter(value.number for value in figure.values)
    if (is_either := are_two(figure.values)) or not with_days:
        return _extremes(series, figure.place, figure.least, figure.greatest, is_either=is_either)

    def extreme(value: Value) -> str:
        said = _plain(series, figure.place, value.text)
        is_of_today = value.at.date() == series.newest.at.date()
        is_told = times[value.number] > 1 or value.number == figure.newest.number or is_of_today
        return said if is_told else f"{said} {_on(series, figure, figure.values.index(value))}"

    low, high = extreme(figure.least), extreme(figure.greatest)
    (least, _, first), (most, _, last) = low.partition(" on "), high.partition(" on ")
    if bool(first) != bool(last):  # one day behind a range would be read of both ends
        return f"{least} to {most}, the {'least' if first else 'most'} on {first or last}"
    return f"{low} to {high}"


def _extremes(
    series: Series, place: int, least: Value, greatest: Value, nearness: int = EXACT, *, is_either: bool = False
) -> str:
    if least.number == greatest.number:
        return _plain(series, place, least.text)
    if is_either:
        return _without_unit(series, place, amounts(series, place, least.text, " or ", greatest.text))
    low, high = rounded(least.text, greatest.text, nearness)
    return _without_unit(series, place, amounts(series, place, low, " to ", high))


def _plain(series: Series, place: int, text: str) -> str:
    return _without_unit(series, place, amount(series, place, text))


def _without_unit(series: Series, place: int, said: str) -> str:
    unit = unit_of(series, place)
    return said.replace(unit, "") if unit.startswith(" ") else said


def _on(series: Series, figure: Figure, number: int) -> str:
    at, newest = figure.values[number].at, series.newest.at
    if at.date() != newest.date():
        return f"on {day_of(at, newest.year)}"
    return "earlier that day" if when(series, at).startswith("earlier") else _hour(series, at)


def _hour(series: Series, at: datetime) -> str:
    """When an earlier reading of the newest day was: that morning, if it is the only one of it."""
    newest = series.newest.at
    of_day = sum(reading.at.date() == newest.date() for reading in series.every)
    is_other_half = at.hour < _NOON <= newest.hour
    return "that morning" if of_day == _BOTH and is_other_half else f"at {at:%H:%M} that day"
