"""The partition sets. A partition is a UTC day, week or month; the end of its window is the as-of time of a run.

They begin with the store's first memory, so that a history of which every night has run has no missing partition.
"""

from datetime import UTC, date, datetime, timedelta

from dagster import (
    DailyPartitionsDefinition,
    MonthlyPartitionsDefinition,
    TimeWindowPartitionsDefinition,
    WeeklyPartitionsDefinition,
)
from dagster._core.definitions.partitions.context import partition_loading_context

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import StoreError
from memory_pipeline.moments import latest_complete_day
from memory_pipeline.orchestration import home
from memory_pipeline.orchestration.location import LOCATION
from memory_pipeline.places import demo_mark
from memory_pipeline.store import Store


def first_day_of(settings: Settings, *, of_demo: bool = True) -> date | None:
    """The day of a store's first memory, or the last complete day if that is earlier; None if there is no memory yet.
    With `of_demo`, that of a demo is its first night: it runs its last nights alone, and they take all that is before.

    Raises StoreError if the store cannot be read now.
    """
    store = Store.of(settings)
    if not store.exists():
        return None
    with store.reading() as tx:
        first = tx.contents.first_moment()
        night = tx.journal.oldest_reported_day() if of_demo and demo_mark(store.path).exists() else None
    if first and night:
        return max(night, settings.night.earliest)
    return first and max(min(first.date(), latest_complete_day(datetime.now(UTC))), settings.night.earliest)


def _first_day(*, of_demo: bool = True) -> date:
    """The setting; without one, the first memory's day, and in an empty store the last complete day.

    A store that cannot be read now may have memories of any day, and this process a run of any of them.
    """
    if LOCATION.night.first_partition or home.serves_any_store:
        return LOCATION.night.earliest
    try:
        return first_day_of(LOCATION, of_demo=of_demo) or latest_complete_day(datetime.now(UTC))
    except StoreError:
        return LOCATION.night.earliest


def daily_partitions(first: date) -> DailyPartitionsDefinition:
    """All complete UTC days from `first` on."""
    return DailyPartitionsDefinition(start_date=first.isoformat(), timezone="UTC")


FIRST_DAY = _first_day()
DAILY = daily_partitions(FIRST_DAY)
#: Weeks from Sunday to Sunday, in UTC, from that with the first day on.
WEEKLY = WeeklyPartitionsDefinition(
    start_date=(FIRST_DAY - timedelta(days=FIRST_DAY.isoweekday() % 7)).isoformat(), timezone="UTC"
)
_FIRST_MEMORY = _first_day(of_demo=False)
#: Calendar months, in UTC, from that with the first memory on.
MONTHLY = MonthlyPartitionsDefinition(start_date=_FIRST_MEMORY.replace(day=1).isoformat(), timezone="UTC")
#: Days and weeks from those with the first memory on, also of a demo, and calendar years: what can be summed up.
EVERY_DAY = daily_partitions(_FIRST_MEMORY)
EVERY_WEEK = WeeklyPartitionsDefinition(
    start_date=(_FIRST_MEMORY - timedelta(days=_FIRST_MEMORY.isoweekday() % 7)).isoformat(), timezone="UTC"
)
YEARLY = TimeWindowPartitionsDefinition(
    start=f"{_FIRST_MEMORY.year}", cron_schedule="0 0 1 1 *", fmt="%Y", timezone="UTC"
)


def periods_ending_with(day: date) -> dict[TimeWindowPartitionsDefinition, str]:
    """The keys of the week and the month whose last night is that of `day`, if they are partitions."""
    return {partitions: key for partitions in (WEEKLY, MONTHLY) if (key := _ending_with(partitions, day)) is not None}


def rollups_ending_with(day: date) -> dict[TimeWindowPartitionsDefinition, str]:
    """The keys of the week, month and year that end with a day, in this order, if they are partitions."""
    of_level = (EVERY_WEEK, MONTHLY, YEARLY)
    return {partitions: key for partitions in of_level if (key := _ending_with(partitions, day)) is not None}


def newest_period(partitions: TimeWindowPartitionsDefinition, last_night: date, now: datetime) -> str | None:
    """The key of the newest week or month whose nights, up to `last_night`, have all run."""
    return _newest(partitions, min(_end_of(last_night), now))


def _ending_with(partitions: TimeWindowPartitionsDefinition, day: date) -> str | None:
    key = _newest(partitions, _end_of(day))
    return key if key and partitions.time_window_for_partition_key(key).end == _end_of(day) else None


def _newest(partitions: TimeWindowPartitionsDefinition, at: datetime) -> str | None:
    """The key of the newest partition that has ended at a time."""
    with partition_loading_context(effective_dt=at):
        return partitions.get_last_partition_key()


def _end_of(day: date) -> datetime:
    return datetime.combine(day + timedelta(days=1), datetime.min.time(), UTC)
