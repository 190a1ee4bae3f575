"""Partitions: days, weeks, months and years, from the first memory on."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from threading import Timer

import dagster as dg
from dagster._core.definitions.partitions.context import partition_loading_context
from dagster._core.remote_origin import GrpcServerCodeLocationOrigin

from memory_pipeline.config.night import EARLIEST_NIGHT
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import StoreError
from memory_pipeline.moments import end_of, latest_complete_day
from memory_pipeline.orchestration import home
from memory_pipeline.orchestration.home import load_project_settings
from memory_pipeline.orchestration.location import LOCATION, watches
from memory_pipeline.store import Store


def first_day_of(settings: Settings) -> date | None:
    """The day of a store's first memory, or the last complete day if that is earlier; None if there is no memory yet.

    Raises StoreError if the store cannot be read now.
    """
    store = Store.of(settings)
    if not store.exists():
        return None
    with store.reading() as tx:
        first = tx.contents.first_moment()
    return first and max(min(first.date(), latest_complete_day(datetime.now(UTC))), EARLIEST_NIGHT)


def _first_day() -> date:
    """The first memory's day, and in an empty store the last complete day.

    A store that cannot be read now may have memories of any day, and this process a run of any of them.
    """
    if home.serves_any_store:
        return EARLIEST_NIGHT
    try:
        return first_day_of(LOCATION) or latest_complete_day(datetime.now(UTC))
    except StoreError:
        return EARLIEST_NIGHT


FIRST_DAY = _first_day()
#: All complete UTC days from the first one on.
DAILY = dg.DailyPartitionsDefinition(start_date=FIRST_DAY.isoformat(), timezone="UTC")
#: Weeks from Sunday to Sunday, in UTC, from that with the first day on.
WEEKLY = dg.WeeklyPartitionsDefinition(
    start_date=(FIRST_DAY - timedelta(days=FIRST_DAY.isoweekday() % 7)).isoformat(), timezone="UTC"
)
#: Calendar months and years, in UTC, from those with the first day on.
MONTHLY = dg.MonthlyPartitionsDefinition(start_date=FIRST_DAY.replace(day=1).isoformat(), timezone="UTC")
YEARLY = dg.TimeWindowPartitionsDefinition(
    start=f"{FIRST_DAY.year}", cron_schedule="0 0 1 1 *", fmt="%Y", timezone="UTC"
)


def periods_ending_with(day: date) -> dict[dg.TimeWindowPartitionsDefinition, str]:
    """The keys of the week, month and year whose last night is that of `day`, in this order, if they are partitions."""
    end = end_of(day)
    newest = {partitions: _newest(partitions, end) for partitions in (WEEKLY, MONTHLY, YEARLY)}
    return {kind: key for kind, key in newest.items() if key and kind.time_window_for_partition_key(key).end == end}


def newest_period(partitions: dg.TimeWindowPartitionsDefinition, last_night: date, now: datetime) -> str | None:
    """The key of the newest week or month whose nights, up to `last_night`, have all run."""
    return _newest(partitions, min(end_of(last_night), now))


def _newest(partitions: dg.TimeWindowPartitionsDefinition, moment: datetime) -> str | None:
    """The key of the newest partition that has ended at a time."""
    with partition_loading_context(effective_dt=moment):
        return partitions.get_last_partition_key()


#: Seconds until the code server, which answers this tick, is asked to start anew, and the longest that it may take.
_DELAY_S, _LONGEST_S = 2, 120


@watches(minimum_interval_seconds=60)
def earlier_memories(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Loads the definitions again when the store has older memories, so that partitions begin with them."""
    try:
        first = first_day_of(load_project_settings().values)
    except StoreError as error:
        return dg.SkipReason(str(error))
    if first is None or first == FIRST_DAY:
        return dg.SkipReason(f"the partitions begin on {FIRST_DAY}, with the first memory if there is one")
    origin = context.code_location_origin
    if not isinstance(origin, GrpcServerCodeLocationOrigin):
        return dg.SkipReason(
            f"the first memory is of {first}, the first partition of {FIRST_DAY}: reload the definitions"
        )
    reload = Timer(_DELAY_S, origin.create_client().reload_code, kwargs={"timeout": _LONGEST_S})
    reload.daemon = True
    reload.start()
    return dg.SkipReason(
        f"the first memory is of {first}: loading the definitions with the partitions from that day on"
    )
