"""Parses days and times as people write them on a command line or in a run's configuration, and says which times a
memory can have."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from memory_pipeline.errors import InputError

#: Within these bounds, a time in any zone is also one in UTC, and every day has a next one.
EARLIEST, LATEST = date(1, 1, 2), date(9999, 12, 30)
#: No memory is older, for an earlier time comes from a clock that was never set, and no plan is for later.
FIRST_MEMORY, LAST_MEMORY = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
#: A clock somewhere else may be ahead of this one by so much.
_AHEAD = timedelta(days=1)


def read_day(text: str, name: str) -> date:
    """Parse a day. Raises InputError for invalid text, and for days at the ends of the calendar."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise InputError(f"{name} is '{text}', which is not a date; write it as YYYY-MM-DD") from None
    if not EARLIEST <= day <= LATEST:
        raise InputError(f"{name} is '{text}', at the end of the calendar; use a day that a memory can have")
    return day


def read_moment(text: str, name: str) -> datetime:
    """Parse a time as UTC; a time without a zone is taken as UTC. Raises InputError as `read_day` does."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"{name} is '{text}', which is not a time; write it like 2026-03-14T09:30Z") from None
    if not EARLIEST <= moment.date() <= LATEST:
        raise InputError(f"{name} is '{text}', at the end of the calendar; use a time that a memory can have")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def is_credible(moment: datetime, now: datetime | None) -> bool:
    """True if a memory can be of an aware time: from 2000 on, and no more than a day ahead of `now`; without `now`, it
    may be of a day to come."""
    return FIRST_MEMORY <= moment <= (LAST_MEMORY if now is None else now + _AHEAD)


def check_has_come(day: date, text: str, now: datetime) -> None:
    """Raises InputError for a day that is in the future everywhere on earth."""
    if day > (now + timedelta(days=1)).date():
        raise InputError(f"'{text}' is in the future; use 'now'")


def latest_complete_day(now: datetime) -> date:
    """The newest UTC day that has ended at `now`."""
    return date.fromordinal(now.astimezone(UTC).date().toordinal() - 1)


def end_of(day: date) -> datetime:
    """The end of a day, by UTC."""
    return datetime.combine(day + timedelta(days=1), time(), UTC)


def minutes_ahead(moment: datetime) -> int:
    """By how many minutes the zone of an aware time is ahead of UTC then; whole ones, as in all zones of today."""
    return round((moment.utcoffset() or timedelta()) / timedelta(minutes=1))
