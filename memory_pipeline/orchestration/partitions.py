"""The partition sets. A partition is a UTC day, week or month; the end of its window is the as-of time of a run."""

from datetime import UTC, date, datetime, timedelta

from dagster import (
    DailyPartitionsDefinition,
    MonthlyPartitionsDefinition,
    TimeWindowPartitionsDefinition,
    WeeklyPartitionsDefinition,
)

from memory_pipeline.orchestration.location import LOCATION


def daily_partitions(first: date) -> DailyPartitionsDefinition:
    """All complete UTC days from `first` on."""
    return DailyPartitionsDefinition(start_date=first.isoformat(), timezone="UTC")


_FIRST = date.fromisoformat(LOCATION.night.first_partition)
DAILY = daily_partitions(_FIRST)
#: Weeks from Sunday to Sunday, and calendar months, in UTC, from the first complete one on.
WEEKLY = WeeklyPartitionsDefinition(start_date=_FIRST.isoformat(), timezone="UTC")
MONTHLY = MonthlyPartitionsDefinition(start_date=_FIRST.isoformat(), timezone="UTC")


def periods_ending_with(day: date) -> dict[TimeWindowPartitionsDefinition, str]:
    """The keys of the week and the month whose last night is that of `day`, if they are partitions."""
    return {partitions: key for partitions in (WEEKLY, MONTHLY) if (key := _ending_with(partitions, day)) is not None}


def newest_period(partitions: TimeWindowPartitionsDefinition, last_night: date, now: datetime) -> str | None:
    """The key of the newest week or month whose nights, up to `last_night`, have all run."""
    for key in reversed(partitions.get_partition_keys(current_time=now)):
        end = partitions.time_window_for_partition_key(key).end.date()
        if end - timedelta(days=1) <= last_night:
            return key
    return None


def _ending_with(partitions: TimeWindowPartitionsDefinition, day: date) -> str | None:
    after = datetime.combine(day + timedelta(days=1), datetime.min.time(), UTC)
    keys = partitions.get_partition_keys(current_time=after)
    ends = keys and partitions.time_window_for_partition_key(keys[-1]).end == after
    return keys[-1] if ends else None
