"""The partition sets. A partition is a UTC day, week or month; its window's end is the as-of time of a run."""

from datetime import date

from dagster import DailyPartitionsDefinition, MonthlyPartitionsDefinition, WeeklyPartitionsDefinition

from memory_pipeline.orchestration.home import load_project_settings


def daily_partitions(first: date) -> DailyPartitionsDefinition:
    """All complete UTC days from `first` on."""
    return DailyPartitionsDefinition(start_date=first.isoformat(), timezone="UTC")


_FIRST = date.fromisoformat(load_project_settings().values.first_partition)
DAILY = daily_partitions(_FIRST)
#: Weeks from Sunday to Sunday, and calendar months, UTC, from the first whole one on.
WEEKLY = WeeklyPartitionsDefinition(start_date=_FIRST.isoformat(), timezone="UTC")
MONTHLY = MonthlyPartitionsDefinition(start_date=_FIRST.isoformat(), timezone="UTC")
