"""Periods of rollups: days, weeks, months and years."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from memory_pipeline.errors import InputError
from memory_pipeline.periods.calendar import Period, period_of, read_period


def test_a_period_is_read_and_named() -> None:
    assert read_period("2026-W11") == period_of("week", date(2026, 3, 14))
    assert period_of("week", date(2026, 3, 8)).key == "2026-W11" and period_of("week", date(2026, 3, 8)).first == date(
        2026, 3, 8
    )
    assert read_period("2026-03") == period_of("month", date(2026, 3, 5)) and read_period("2026") == period_of(
        "year", date(2026, 5, 5)
    )
    assert period_of("week", date(2026, 1, 1)).name == "Week 01, 28 December 2025 to 3 January 2026"
    for wrong in ("2026-13", "2026-W60", "soon", "", "2026-02-30"):
        with pytest.raises(InputError):
            read_period(wrong)


def days_of(period: Period) -> list[date]:
    return [period.first + timedelta(days=n) for n in range((period.last - period.first).days + 1)]


def test_the_weeks_and_days_of_a_month_hold_each_of_its_days_once() -> None:
    for number in range(1, 13):
        month = period_of("month", date(2026, number, 1))
        days = [
            part.first + timedelta(days=n) for part in month.parts for n in range((part.last - part.first).days + 1)
        ]
        assert days == [month.first + timedelta(days=n) for n in range((month.last - month.first).days + 1)]
