"""The days of a series in words."""

from __future__ import annotations

from datetime import date, datetime

from memory_pipeline.wording.readings import Series

_MONTHS = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip


def day_of(at: date, year: int | None = None) -> str:
    """A day in words, without its year if it is the given one."""
    return f"{at.day} {_MONTHS[at.month - 1]}" + ("" if at.year == year else f" {at.year}")


def span_of(first: date, last: date, year: int | None = None) -> str:
    """From a day to another in words: `from 15 to 18 March`."""
    if first == last:
        return f"on {day_of(first, year)}"
    start = str(first.day) if (first.year, first.month) == (last.year, last.month) else day_of(first, last.year)
    return f"from {start} to {day_of(last, year)}"


def newest_day(series: Series, *, with_clock: bool = True) -> str:
    """The day of the newest reading, with its clock time if there is another one on that day."""
    at = series.newest.at
    return day_of(at) + (f", {at:%H:%M}" if with_clock and _has_another(series) else "")


def when(series: Series, at: datetime) -> str:
    """A day in words. An earlier reading of the newest day has its clock time, or is called earlier without one."""
    newest = series.newest.at
    day = day_of(at, newest.year)
    if at.date() != newest.date():
        return day
    return f"{day}, {at:%H:%M}" if at != newest else f"earlier on {day}"


def _has_another(series: Series) -> bool:
    at = series.newest.at
    return any(reading.at.date() == at.date() and reading.at != at for reading in series.every)
