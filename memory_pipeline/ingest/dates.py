"""Parses times as people and programs write them: timestamps in any zone, dates in file names, epochs, ISO text."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import RowError
from memory_pipeline.ingest.values import is_absent, shown

#: Earlier file times come from a clock that was never set.
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
#: In this year, a zone can move a time past the end of the calendar.
_NO_YEAR = 9999
#: Fixed offsets, in minutes, of the abbreviations in logs. IST is India's; CST is North America's.
_ABBREVIATIONS = {
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 60, "BST": 60, "CET": 60, "CEST": 120, "EET": 120, "EEST": 180,
    "MSK": 180, "IST": 330, "SGT": 480, "HKT": 480, "JST": 540, "KST": 540, "AEST": 600, "AEDT": 660, "NZST": 720,
    "NZDT": 780, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480,
    "PDT": -420, "AKST": -540, "AKDT": -480, "HST": -600, "BRT": -180, "ART": -180,
}  # fmt: skip
#: In minutes; Kiribati has the largest offset.
_GREATEST_OFFSET = 14 * 60
_FILE_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?:-([01]\d|2[0-3])([0-5]\d)(?!\d))?")
_DATE = re.compile(r"(?<![\d-])(\d{4})-(\d{2})-(\d{2})(?![\d-])")
_CLOCK = re.compile(
    r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?\s?([AaPp][Mm])?"
    r"(?:\s?(Z\b|[A-Z]{2,5}\b|[A-Z][a-z]+(?:/[A-Z][A-Za-z_]+)+|[+-]\d{2}:?\d{2}))?(?![\d:])"
)


def zone(name: str) -> tzinfo:
    """A time zone by IANA name or known abbreviation. Raises InputError for an unknown one."""
    found = _zone_or_none(name)
    if found is None:
        raise InputError(f"no time zone is called '{name}'; use a name like Europe/Lisbon")
    return found


def _zone_or_none(name: str) -> tzinfo | None:
    if name in _ABBREVIATIONS:
        return timezone(timedelta(minutes=_ABBREVIATIONS[name]), name)
    offset = re.fullmatch(r"([+-])(\d{2}):?(\d{2})", name)
    if offset:
        minutes = int(offset[2]) * 60 + int(offset[3])
        if int(offset[3]) > 59 or minutes > _GREATEST_OFFSET:
            return None
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def file_date(name: str) -> tuple[date, time | None] | None:
    """The day (and `HHMM`, if given) at the start of a file's name or in it, or None."""
    match = _FILE_DATE.search(name)
    if not match:
        return None
    try:
        day = date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None
    if not EARLIEST.year <= day.year < _NO_YEAR:
        return None
    return day, time(int(match[4]), int(match[5])) if match[4] else None


def written_time(text: str, day: date | None, default_zone: tzinfo) -> tuple[datetime, str] | None:
    """The time in a heading or at the start of a line, with its quality, or None.

    A date in the text takes precedence over `day`; a clock time without any date gives None.
    """
    dated = _DATE.search(text)
    if dated:
        try:
            day = date(int(dated[1]), int(dated[2]), int(dated[3]))
        except ValueError:
            return None
        if not EARLIEST.year <= day.year < _NO_YEAR:
            return None
    clock = _CLOCK.search(text)
    if day is None:
        return None
    if clock is None:
        return (at_midnight(day, default_zone), "date") if dated else None
    hour = int(clock[1])
    half = (clock[4] or "").lower()
    hour = hour % 12 + 12 if half == "pm" and hour <= 12 else 0 if half == "am" and hour == 12 else hour
    named = _zone_or_none(clock[5]) if clock[5] else None
    moment = datetime.combine(day, time(hour, int(clock[2]), int(clock[3] or 0)), named or default_zone)
    return moment.astimezone(UTC), "exact"


def at_midnight(day: date, default_zone: tzinfo) -> datetime:
    """The start of a day in a zone, as UTC."""
    return datetime.combine(day, time(), default_zone).astimezone(UTC)


def parse_moment(value: object, default_zone: tzinfo, now: datetime, name: str = "created_at") -> datetime | None:
    """A time from a row: ISO text, epoch seconds or milliseconds, a datetime, or None.

    Naive times are in `default_zone`. Raises RowError for an invalid time, one before 2000, or one more than a day
    after `now`.
    """
    moment = _to_datetime(value, default_zone, name)
    if moment is None:
        return None
    if not EARLIEST <= moment <= now + timedelta(days=1):
        raise RowError(f"{name} {moment.isoformat()} is before 2000 or in the future")
    return moment


def _to_datetime(value: object, default_zone: tzinfo, name: str) -> datetime | None:
    if is_absent(value):
        return None
    try:
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=default_zone)).astimezone(UTC)
        if isinstance(value, date):
            return at_midnight(value, default_zone)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _from_epoch(value)
        if isinstance(value, str):
            text = value.strip()
            if re.fullmatch(r"\d{9,13}(?:\.\d+)?", text, re.ASCII):
                return _from_epoch(float(text))
            moment = datetime.fromisoformat(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=default_zone)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):  # no valid time, or one beyond the calendar
        pass
    raise RowError(f"{name} is {shown(value)}, which is not a time; use ISO 8601 or an epoch")


def _from_epoch(number: float) -> datetime:
    """Seconds or milliseconds, distinguished by magnitude."""
    return datetime.fromtimestamp(number / 1000 if abs(number) > 1e11 else number, UTC)
