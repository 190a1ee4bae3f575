"""The partition sets. A daily partition is a UTC day; its window's end is the night's as-of time."""

from datetime import date

from dagster import DailyPartitionsDefinition

from memory_pipeline.orchestration.home import load_project_settings


def daily_partitions(first: date) -> DailyPartitionsDefinition:
    """All complete UTC days from `first` on."""
    return DailyPartitionsDefinition(start_date=first.isoformat(), timezone="UTC")


DAILY = daily_partitions(date.fromisoformat(load_project_settings().values.first_partition))
