"""Schedules: the last complete day, across daylight saving."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import dagster as dg
import pytest
from dagster import (
    RunRequest,
    SkipReason,
    build_schedule_context,
)

from memory_pipeline.orchestration.location import STARTS_OFF
from memory_pipeline.orchestration.schedules import (
    SCHEDULES,
    duplicates_schedule,
    night_schedule,
)
from memory_pipeline.orchestration.sensors import SENSORS


@pytest.mark.parametrize(
    ("tick", "day"),
    [
        (datetime(2026, 3, 8, 7, 30, tzinfo=UTC), "2026-03-07"),  # 03:30 EDT, the night the clocks go forward
        (datetime(2026, 3, 7, 8, 30, tzinfo=UTC), "2026-03-06"),
        (datetime(2026, 11, 1, 8, 30, tzinfo=UTC), "2026-10-31"),  # 03:30 EST, the night they go back
        (datetime(2026, 10, 31, 7, 30, tzinfo=UTC), "2026-10-30"),
        (datetime(2028, 3, 1, 8, 30, tzinfo=UTC), "2028-02-29"),
    ],
)
def test_schedules_take_the_last_complete_day(tick: datetime, day: str) -> None:
    for schedule in (night_schedule, duplicates_schedule):
        request = schedule(build_schedule_context(scheduled_execution_time=tick))
        assert isinstance(request, RunRequest) and request.partition_key == day


def test_a_tick_before_the_first_partition_is_skipped_with_the_reason() -> None:
    tick = datetime(1999, 6, 1, 7, 30, tzinfo=UTC)
    assert isinstance(night_schedule(build_schedule_context(scheduled_execution_time=tick)), SkipReason)


@pytest.mark.slow
def test_daylight_saving_neither_skips_nor_repeats_a_partition() -> None:
    """A year of ticks of the real cron in its zone: each day's partition exactly once."""
    from dagster._utils.schedules import schedule_execution_time_iterator

    start = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    ticks = schedule_execution_time_iterator(start, "30 3 * * *", "America/New_York")
    days = [night_schedule(build_schedule_context(scheduled_execution_time=next(ticks))) for _ in range(365)]
    keys = [request.partition_key for request in days if isinstance(request, RunRequest)]
    assert len(set(keys)) == 365 and keys == sorted(keys)
    assert (keys[0], keys[-1]) == ("2025-12-31", "2026-12-30")


def test_only_the_night_and_what_follows_it_is_on_from_the_start() -> None:
    on = {dg.DefaultScheduleStatus.RUNNING, dg.DefaultSensorStatus.RUNNING}
    automations: list[Any] = [*SCHEDULES, *SENSORS]
    started = {each.name for each in automations if each.default_status in on}
    followers = {"ended_days", "ended_periods", "ended_rollups"}
    watchers = {"dead_runs", "earlier_memories", "failed_night_notice", "failed_run_notice"}
    assert started == {"night_schedule", *followers, *watchers}
    assert all((each.name in started) != each.description.endswith(STARTS_OFF) for each in automations)
