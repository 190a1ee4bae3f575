"""Days and moments as people write them on a command line or in a run's configuration."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from memory_pipeline.errors import InputError

#: Within these a moment of any zone is one of UTC too, and a day has a next one.
EARLIEST, LATEST = date(1, 1, 2), date(9999, 12, 30)


def read_day(text: str, name: str) -> date:
    """A day. Raises InputError for what is none, and at the ends of the calendar."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise InputError(f"{name} is '{text}', no date; write it as YYYY-MM-DD") from None
    if not EARLIEST <= day <= LATEST:
        raise InputError(f"{name} is '{text}', at the end of the calendar; use a day that a memory can have")
    return day


def read_moment(text: str, name: str) -> datetime:
    """A moment in UTC; one without a zone is of UTC. Raises InputError as `read_day` does."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"{name} is '{text}', no time; write it like 2026-03-14T09:30Z") from None
    if not EARLIEST <= moment.date() <= LATEST:
        raise InputError(f"{name} is '{text}', at the end of the calendar; use a time that a memory can have")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def check_has_come(day: date, text: str, now: datetime) -> None:
    """Raises InputError for a day that lies in the future everywhere on earth."""
    if day > (now + timedelta(days=1)).date():
        raise InputError(f"'{text}' has not come yet; use 'now'")


def latest_complete_day(now: datetime) -> date:
    """The newest UTC day that has ended at `now`."""
    return date.fromordinal(now.astimezone(UTC).date().toordinal() - 1)
