"""The periods that are summed up: days, weeks from Sunday to Saturday, months and years, all in UTC."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from memory_pipeline.errors import InputError
from memory_pipeline.moments import FIRST_MEMORY, LATEST, end_of, read_day
from memory_pipeline.records.night import ROLLUP_LEVELS
from memory_pipeline.text.days import in_words

_DAY = timedelta(days=1)
_WEEK = re.compile(r"(\d{4})-W(\d{2})")
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A day, a week, a month or a year: from its first day to its last, both included."""

    first: date
    last: date
    level: str

    @property
    def key(self) -> str:
        """`2026-03-14`, `2026-W11`, `2026-03` or `2026`. A week has the number, by ISO 8601, of six of its seven days:
        those from Monday on."""
        if self.level == "day":
            return self.first.isoformat()
        if self.level == "week":
            year, week, _ = self.last.isocalendar()
            return f"{year}-W{week:02}"
        return f"{self.first:%Y-%m}" if self.level == "month" else f"{self.first:%Y}"

    @property
    def name(self) -> str:
        """The period in words: `the week from 8 to 14 March 2026`."""
        if self.level == "day":
            return in_words(self.first)
        if self.level == "month":
            return f"{self.first:%B %Y}"
        if self.level == "year":
            return f"{self.first:%Y}"
        begins = f"{self.first.day}"
        if self.first.month != self.last.month:
            begins += f" {self.first:%B}"
        if self.first.year != self.last.year:
            begins += f" {self.first:%Y}"
        return f"Week {self.key[-2:]}, {begins} to {in_words(self.last)}"

    @property
    def starts_at(self) -> datetime:
        return datetime.combine(self.first, time(), UTC)

    @property
    def ends_at(self) -> datetime:
        """The moment at which it has ended, as of which it is told."""
        return end_of(self.last)

    @property
    def parts(self) -> tuple[Period, ...]:
        """The periods that it is made from: a week from its days, a month from the weeks that lie in it and the days
        beside them, a year from its months."""
        if self.level == "day":
            return ()
        if self.level == "year":
            return tuple(period_of("month", date(self.first.year, number, 1)) for number in range(1, 13))
        parts: list[Period] = []
        day = self.first
        while day <= self.last:
            week = period_of("week", day)
            is_whole = self.level == "month" and week.first == day and week.last <= self.last
            parts.append(week if is_whole else period_of("day", day))
            day = parts[-1].last + _DAY
        return tuple(parts)


def period_of(level: str, day: date) -> Period:
    if level == "day":
        return Period(day, day, level)
    if level == "week":
        sunday = day - timedelta(days=day.isoweekday() % 7)
        return Period(sunday, sunday + 6 * _DAY, level)
    if level == "month":
        return Period(day.replace(day=1), day.replace(day=calendar.monthrange(day.year, day.month)[1]), level)
    return Period(date(day.year, 1, 1), date(day.year, 12, 31), level)


def periods_between(first: date, last: date, *, ended_by: date) -> list[Period]:
    """Every period that holds a day from `first` to `last` and has ended with `ended_by`, finer levels first."""
    periods: list[Period] = []
    for level in ROLLUP_LEVELS:
        period = period_of(level, first)
        while period.first <= last:
            if period.last <= ended_by:
                periods.append(period)
            period = period_of(level, period.last + _DAY)
    return periods


def read_period(text: str) -> Period:
    """Parse the key of a period. Raises InputError for anything else."""
    try:
        period = _parse_period(text.strip())
        if FIRST_MEMORY.date() <= period.last <= LATEST:
            return period
    except (ValueError, OverflowError, InputError):
        pass
    raise InputError(
        f"'{text}' is not a period; write a day (2026-03-14), a week (2026-W11), a month (2026-03) or a year (2026)"
    )


def _parse_period(key: str) -> Period:
    if week := _WEEK.fullmatch(key):
        return period_of("week", date.fromisocalendar(int(week[1]), int(week[2]), 1))
    if month := _MONTH.fullmatch(key):
        return period_of("month", date(int(month[1]), int(month[2]), 1))
    if _YEAR.fullmatch(key):
        return period_of("year", date(int(key), 1, 1))
    return period_of("day", read_day(key, "the period"))
