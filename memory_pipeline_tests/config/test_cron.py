"""Cron lines: what is accepted loads and comes due, what is refused is named."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from dagster._utils.schedules import is_valid_cron_schedule, schedule_execution_time_iterator
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.config.night import check_cron

_NUMBERS = st.integers(0, 70).map(str) | st.sampled_from(["sun", "MON", "jan", "Dec", "L", "", "x", "-1", "007"])
_PARTS = st.one_of(
    st.just("*"),
    _NUMBERS,
    st.tuples(_NUMBERS, _NUMBERS).map("-".join),
    st.tuples(st.just("*") | _NUMBERS, st.integers(0, 100).map(str)).map("/".join),
)
_FIELDS = st.just("*") | st.lists(_PARTS, min_size=1, max_size=2).map(",".join)
_LINES = st.lists(_FIELDS, min_size=5, max_size=5).map(" ".join)


@given(_LINES)
def test_what_is_accepted_loads_in_dagster_and_comes_due(line: str) -> None:
    try:
        check_cron(line)
    except ValueError:
        return
    assert is_valid_cron_schedule(line)
    start = datetime(2026, 3, 14, tzinfo=UTC).timestamp()
    assert next(schedule_execution_time_iterator(start, line, "America/New_York", ascending=True))


@pytest.mark.parametrize(
    "line", ["0 2 * * *", "*/15 1-5 * * mon-fri", "30 3 1,15 jan,jul *", "0 0 * * 7", "0 0 29 2 *", " 0  2 * * * "]
)
def test_the_usual_lines_are_accepted(line: str) -> None:
    assert check_cron(line) == line


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("99 99 * * *", "its minute is '99'; write 0 to 59"),
        ("0 24 * * *", "its hour is '24'"),
        ("0 2 0 * *", "its day of the month is '0'"),
        ("0 2 * 13 *", "its month is '13'"),
        ("0 2 * * funday", "its day of the week is 'funday'"),
        ("*/0 2 * * *", "its minute is"),
        ("5-1 2 * * *", "its minute is"),
        ("0 2 * *", "not a cron line of five fields"),
        ("@daily", "not a cron line of five fields"),
        ("0 0 30 2 *", "never comes due"),
        ("0 0 31 4,6,9,11 *", "never comes due"),
    ],
)
def test_a_line_that_cannot_be_is_named(line: str, words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("*", r"\*")):
        check_cron(line)
