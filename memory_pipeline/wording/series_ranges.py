"""Between which values the figures of a series lie, and what is unusual, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from memory_pipeline.wording.readings import Figure, Series, Value
from memory_pipeline.wording.series_line import (
    amount,
    amounts,
    called,
    capitalised,
    measure_of,
    name_of,
    structure_of,
)

#: How full a range is: the extremes; with the days of those that came once; with every day and where a course began;
#: with the median.
EXTREMES, SINGLE_DAYS, DAYS, MEDIAN = 1, 2, 3, 4
#: A figure hardly changes if this share of its values are equal.
_HARDLY_CHANGES = 0.8
_MONTHS = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip


def day_of(at: datetime, year: int | None = None) -> str:
    """A day in words, without its year if it is the given one."""
    return f"{at.day} {_MONTHS[at.month - 1]}" + ("" if at.year == year else f" {at.year}")


def newest_day(series: Series) -> str:
    """The day of the newest reading, with its clock time if there is another one on that day."""
    at = series.newest.at
    return day_of(at) + (f", {at:%H:%M}" if _has_another(series) else "")


def extreme_newest(series: Series) -> str:
    """That the newest value is the least or the greatest of all, if one figure varies and the value is not usual."""
    varying = [figure for figure in series.figures if figure.varies]
    if len(varying) != 1 or varying[0].newest.number in {value.number for value in varying[0].usual}:
        return ""
    newest, others = varying[0].newest.number, [value.number for value in varying[0].values[:-1]]
    return "the least of " if newest < min(others) else "the greatest of " if newest > max(others) else ""


def _has_another(series: Series) -> bool:
    at = series.newest.at
    return any(reading.at.date() == at.date() and reading.at != at for reading in series.every)


def _when(series: Series, at: datetime) -> str:
    """A day in words. An earlier reading of the newest day has its clock time, or is called earlier without one."""
    newest = series.newest.at
    day = day_of(at, newest.year)
    if at.date() != newest.date():
        return day
    return f"{day}, {at:%H:%M}" if at != newest else f"earlier on {day}"


def telling_figures(series: Series) -> list[Figure]:
    """The figures that usually vary, the most interesting first; of several that always have the same value only one,
    and none without a name if others have one."""
    moving = [figure for figure in series.figures if figure.movement]
    moving.sort(key=lambda figure: (*_dullness(series, figure), -figure.movement, figure.place))
    different = {tuple(v.number for v in f.values): f for f in sorted(moving, key=lambda f: -f.place)}
    chosen = [figure for figure in moving if figure in different.values()]
    named = [figure for figure in chosen if _name(series, figure.place)]
    return named or chosen


def _dullness(series: Series, figure: Figure) -> tuple[bool, bool, bool, bool, bool]:
    """What has unusual values says most: they are told beside the usual ones. What hardly ever changes says least, then
    what only counts on, then what has two values; durations and sizes say less than levels."""
    is_all_usual = len(figure.usual) == len(figure.values)
    numbers = Counter(value.number for value in figure.usual)
    hardly_changes = max(numbers.values()) >= _HARDLY_CHANGES * len(figure.usual)
    counts_on = figure.rises and len(numbers) > 2
    return (
        is_all_usual,
        hardly_changes,
        counts_on,
        len(numbers) <= 2,
        measure_of(series, figure.place) in ("time", "size"),
    )


def ranges(series: Series, figures: Sequence[Figure], level: int) -> str:
    """A sentence with the range of each of these figures, or nothing."""
    said = "; ".join(_range(series, figure, level) for figure in figures)
    return f" {capitalised(said)}." if said else ""


def _range(series: Series, figure: Figure, level: int) -> str:
    """The values of a figure; the usual ones, if others are told apart."""
    name = _name(series, figure.place) or "value"
    first, newest, year = figure.first, figure.newest, series.newest.at.year
    is_told_apart = len(figure.usual) < len(figure.values)
    if (figure.rises or figure.falls) and level > EXTREMES and not is_told_apart:
        oldest = f"{amount(series, figure.place, first.text)} ({day_of(first.at, year)})"
        moved = "rose" if figure.rises else "fell"
        return f"{name} {moved} from {oldest} to {amount(series, figure.place, newest.text)}"
    times = Counter(value.number for value in figure.usual)
    if len(times) == 2 and min(times.values()) > 1:
        either = amounts(series, figure.place, figure.usual_least.text, " or ", figure.usual_greatest.text)
        return f"{name}{' usually' if is_told_apart else ''} {either}"
    text = (
        f"{name}{' usually' if is_told_apart else ''} {_between(series, figure, EXTREMES if is_told_apart else level)}"
    )
    if level >= MEDIAN and len(times) > 2 and (not figure.is_whole or figure.median in _texts(figure)):
        text += f", median {amount(series, figure.place, figure.median)}"
    said = (figure.usual_least.text, figure.usual_greatest.text, figure.median)
    if level >= DAYS and figure.has_course and first.text not in said:
        text += f", at first {amount(series, figure.place, first.text)}"
    return text


def _texts(figure: Figure) -> set[str]:
    return {value.text for value in figure.values}


def _between(series: Series, figure: Figure, level: int) -> str:
    """The usual extremes of a figure, with their days: the day of the newest value is not said again, and of a value
    that returned it is the last one."""
    least, greatest = figure.usual_least, figure.usual_greatest
    if level == EXTREMES:
        return amounts(series, figure.place, least.text, " to ", greatest.text)
    times = Counter(value.number for value in figure.values)

    def extreme(value: Value) -> str:
        said = amount(series, figure.place, value.text)
        again = times[value.number] > 1
        if value.number == figure.newest.number or (again and level < DAYS):
            return said
        return f"{said} ({'last ' if again else ''}{_when(series, value.at)})"

    return f"{extreme(least)} to {extreme(greatest)}"


def _name(series: Series, place: int) -> str:
    """The name of a figure, or what its unit measures."""
    return name_of(series, place) or measure_of(series, place)


@dataclass(frozen=True, slots=True)
class _Unusual:
    """An unusual value: when, how many spreads from the median, in words, and whether it breaks the series."""

    at: datetime
    day: str
    farness: float
    place: int
    said: str
    breaks: bool


def unusual(series: Series, most: int, each: int = 3) -> str:
    """What is unusual on the `most` days with the farthest values: of the figures of one day the farthest `each`."""
    days: dict[tuple[date, str], list[_Unusual]] = {}
    for one in _unusual_values(series):
        days.setdefault((one.at.date(), one.day), []).append(one)
    ordered = sorted(days.items(), key=lambda item: (-max(one.farness for one in item[1]), item[0]))
    told = []
    for (_, day), values in ordered[:most]:
        farthest = sorted(values, key=lambda one: -one.farness)[:each]
        said = dict.fromkeys(one.said for one in sorted(farthest, key=lambda one: one.place))
        told.append(f"{', '.join(said)} on {day}")
    if not told:
        return ""
    is_all = not any(one.breaks for _, values in ordered[most:] for one in values)
    return f" {'Unusual' if is_all else 'Most unusual'}: {'; '.join(told)}."


def _unusual_values(series: Series) -> Iterator[_Unusual]:
    """The values that break the series; where one figure varies, also the others that lie apart from the usual ones,
    but for the newest, which is said anyway."""
    varying = [figure for figure in series.figures if figure.varies]
    is_alone = len(varying) == 1
    for figure in varying:
        if not any(figure.outside):
            continue
        usual = {value.number for value in figure.usual}
        for n, value in enumerate(figure.values):
            is_newest = n == len(figure.values) - 1
            is_apart = is_alone and value.number not in usual and not is_newest
            if figure.outside[n] or is_apart:
                said = _named(series, figure.place, value.text, is_alone=is_alone)
                day = day_of(value.at, value.at.year) if is_newest else _when(series, value.at)
                yield _Unusual(value.at, day, figure.farness[n], figure.place, said, figure.outside[n])


def _named(series: Series, place: int, value: str, *, is_alone: bool) -> str:
    if is_alone:
        return amount(series, place, value)
    names = (structure_of(series, place), "" if name_of(series, place) else measure_of(series, place))
    return " ".join((*filter(None, names), called(series, place, value)))
