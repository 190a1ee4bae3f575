"""What stands in brackets behind the newest value of a figure: what is usual, and what was unusual in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of, when
from memory_pipeline.wording.series_figures import Figure
from memory_pipeline.wording.series_line import amount, unit_of
from memory_pipeline.wording.series_ranges import apart_with, range_in_brackets
from memory_pipeline.wording.series_unusual import Named

#: The hour at which a morning ends; the newest reading of a day and another one.
_NOON, _BOTH = 12, 2


def beside(series: Series, figure: Figure, shown: Named, levels: Mapping[int, int], nearness: int) -> str:
    """What stands behind the newest value of a figure: what is usual, and what was unusual: `usually up to 1.4, 4.1 on
    19 March`, or alone `up to 4.1 on 19 March`. Of a newest value that is unusual, between which values the others
    lie. That a value is the most is also said where others lie apart on its side that are not told."""
    numbers = sorted(shown.of(figure))
    if numbers and numbers[-1] == len(figure.values) - 1:
        return range_in_brackets(series, figure, shown)
    place = figure.place
    usual = range_in_brackets(series, figure, shown, levels[place], nearness) if place in levels else ""
    is_one_of_several = " over " not in usual and len(apart_with(figure, numbers)) > len(numbers)
    is_plain = any(map(shown.outside.get, levels)) and not is_one_of_several
    once = [_once(series, figure, number, is_plain=is_plain) for number in numbers]
    return ", ".join([*([usual] if usual else []), *once])


def _hour(series: Series, at: datetime) -> str:
    """When an earlier reading of the newest day was: that morning, if it is the only one of it."""
    newest = series.newest.at
    of_day = sum(reading.at.date() == newest.date() for reading in series.every)
    is_other_half = at.hour < _NOON <= newest.hour
    return "that morning" if of_day == _BOTH and is_other_half else f"at {at:%H:%M} that day"


def _once(series: Series, figure: Figure, number: int, *, is_plain: bool) -> str:
    """An unusual value with its day. `is_plain`: without saying that it is the most or the least, where the usual
    values are told."""
    value = figure.values[number]
    said, unit = amount(series, figure.place, value.text), unit_of(series, figure.place)
    said = said.removesuffix(unit) if unit.startswith(" ") else said
    lead = {figure.greatest.number: "up to ", figure.least.number: "down to "}.get(value.number, "")
    if not value.number or is_plain:
        lead = ""
    day = when(series, value.at)
    if value.at.date() == series.newest.at.date():
        return f"{lead}{said} {'earlier' if day.startswith('earlier') else _hour(series, value.at)}"
    return f"{lead}{said} on {day_of(value.at, series.newest.at.year)}"
