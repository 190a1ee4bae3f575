"""Parses times as people and programs write them: timestamps in any zone, dates in file names, epochs, ISO text."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import RowError
from memory_pipeline.ingest.values import is_absent, shown
from memory_pipeline.moments import FIRST_MEMORY, is_credible

#: After every time that a memory tells.
FAR = datetime(9000, 1, 1, tzinfo=UTC)
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
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z]*\.?"
_DAY_OF_MONTH = r"\d{1,2}(?:st|nd|rd|th)?"
_HALF = r"[ap]\.?m\b\.?"
#: A clock time at the start of a line, after list boxes, brackets, emphasis or a sign of a clock, with or without a
#: date before it: `23:01`, `[23:01]`, `**23:01**`, `23:01:05.123`, `11:01 PM`, `11pm`, `23h01`, `23.01 Uhr`, `2301Z`.
#: Not the start of a duration (`1:45 hours`), a ratio, an address, or a number with a sign.
_LEADING_TIME = re.compile(
    rf"""
    (?:\[[ x]\]\s+)? (?:[^\w\n]|_){{0,8}}? (?P<lead>(?:at|around|ca\.?|um|time:)\s+)?
    (?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]?\s+)?
    (?:(?: (?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})[-/.](?P<date>\d{{1,2}})
         | (?P<date_2>\d{{1,2}})\.(?P<month_2>\d{{1,2}})\.(?P<year_2>\d{{4}})
         | (?P<date_3>{_DAY_OF_MONTH})\s+(?P<month_3>{_MONTH})(?:,?\s+(?P<year_3>\d{{4}}))?
         | (?P<month_4>{_MONTH})\s+(?P<date_4>{_DAY_OF_MONTH})(?:,?\s+(?P<year_4>\d{{4}}))?
       ) (?:t|,?\s+(?:at\s+|um\s+|[-–—|@]\s+)?|[,|]\s*|[\])*_`]+\s*[\[(*_`]*) )?
    (?<![-+−$€£#.,:/\\%\d])
    (?: (?P<hour>[01]?\d|2[0-3])[:：](?P<minute>[0-5]\d)(?:[:：](?P<second>[0-5]\d)(?:[.,]\d{{1,9}})?)?
        (?:\s?(?P<half>{_HALF})|\s?Uhr\b|(?<=\d\d[:：]\d\d)h\b)?
      | (?P<hour_2>[01]\d|2[0-3])h(?P<minute_2>[0-5]\d)
      | (?P<hour_3>[01]?\d|2[0-3])[.](?P<minute_3>[0-5]\d)\s?Uhr\b
      | (?P<hour_4>[01]\d|2[0-3])(?P<minute_4>[0-5]\d)(?:\s?(?=(?:Z|UTC|GMT)\b)|h(?:rs)?\b)
      | (?P<hour_5>1[0-2]|0?[1-9])\s?(?P<half_5>{_HALF})
    )
    (?P<zone>\s?[(\[]?(?:(?:UTC|GMT)[+-]\d{{1,2}}(?::?\d\d)?
        | (?:{"|".join(sorted(_ABBREVIATIONS, key=len, reverse=True))})\b
        | [+-]\d\d:?\d\d\b | [+-]\d\d\b | [A-Z][a-z]+(?:/[A-Z][A-Za-z_]+)+)[)\]]?)?
    (?![^\W_]|[%'’])(?![.,:/]\d)
    (?!\s*(?:h|hrs?|hours?|min|minutes?|mins?|s|secs?|seconds?|ratio|odds|aspect|of|elapsed|total|long|remaining)\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)


def zone(name: str) -> tzinfo:
    """A time zone by IANA name or known abbreviation. Raises InputError for an unknown one."""
    time_zone = _zone_or_none(name)
    if time_zone is None:
        raise InputError(f"no time zone is called '{name}'; use a name like Europe/Lisbon")
    return time_zone


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
    day = _day(*match.group(1, 2, 3)) if match else None
    return (day, time(int(match[4]), int(match[5])) if match[4] else None) if match and day else None


def _day(year: str | int, month: str | int, number: str | int) -> date | None:
    """A day that a memory can have; None for any other."""
    try:
        day = date(int(year), int(month), int(number))
    except ValueError:
        return None
    return day if FIRST_MEMORY.year <= day.year < _NO_YEAR else None


def written_time(text: str, day: date | None, default_zone: tzinfo) -> tuple[datetime, str] | None:
    """The time in a heading or at the start of a line, in its own zone, with its quality, or None.

    A date in the text takes precedence over `day`; a clock time without any date gives None.
    """
    dated = _DATE.search(text)
    if dated:
        day = _day(*dated.group(1, 2, 3))
    clock = _CLOCK.search(text)
    if day is None:
        return None
    if clock is None:
        return (datetime.combine(day, time(), default_zone), "date") if dated else None
    hour = _hour(clock[1], clock[4] or "")
    named = _zone_or_none(clock[5]) if clock[5] else None
    moment = datetime.combine(day, time(hour, int(clock[2]), int(clock[3] or 0)), named or default_zone)
    return moment, "exact"


def _hour(hour: str, half: str) -> int:
    """The hour of a day, of which the clock shows `half` (`am`, `p.m.`) if it has twelve of them."""
    number = int(hour)
    return number % 12 + 12 * half.lower().startswith("p") if half and number <= 12 else number


def leading_time(text: str, day: date | None, default_zone: tzinfo) -> datetime | None:
    """The clock time with which a line begins, in any of the ways that people write it, or None.

    A date before it takes precedence over `day`, which also gives the year of a date without one; a clock time without
    any date gives None. A zone may follow: `Z`, `CET`, `(CET)`, `UTC+1`, `+01:00`, `Europe/Lisbon`.
    """
    match = _LEADING_TIME.match(text)
    if not match:
        return None
    part = {name.partition("_")[0]: value for name, value in match.groupdict().items() if value is not None}
    if "date" in part:
        month = part["month"]
        number = int(month) if month.isdecimal() else _MONTHS.index(month[:3].lower()) + 1
        day = _day(part.get("year", day.year if day else 0), number, re.sub(r"\D", "", part["date"]))
    if day is None:
        return None
    hour = _hour(part["hour"], part.get("half", ""))
    clock = time(hour, int(part.get("minute", 0)), int(part.get("second", 0)))
    named = _zone_after_clock(part.get("zone", ""), is_dated="date" in part)
    return datetime.combine(day, clock, named or default_zone)


def begins_with_time(line: str) -> bool:
    """True if a line begins with a clock time, which makes it an entry of its own among the lines of a paragraph. Times
    like `at 14:00` and `2 pm` may just as well stand at the turn of a line."""
    match = _LEADING_TIME.match(line)
    return bool(match and not match["hour_5"] and not match["lead"])


def _zone_after_clock(text: str, *, is_dated: bool) -> tzinfo | None:
    """The zone written after a clock time. `09:00-10:00` is a span, but `2026-03-01T09:00-10:00` has an offset."""
    name = text.strip(" \t()[]")
    if name.startswith("-") and not text[:1].isspace() and not is_dated:
        return None
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d\d)?", name, re.IGNORECASE)
    if offset:
        return _zone_or_none(f"{offset[1]}{int(offset[2]):02d}:{offset[3] or '00'}")
    return _zone_or_none(name.upper()) or _zone_or_none(name) if name else None


def parse_moment(
    value: object, default_zone: tzinfo, now: datetime | None, name: str = "created_at"
) -> datetime | None:
    """A time from a row: ISO text, epoch seconds or milliseconds, a datetime, or None.

    It keeps its own zone; naive times, and those that machines write (in UTC), are in `default_zone`. Raises
    RowError for an invalid time, and for one that no memory can have as of `now`; None: any store's own time passes.
    """
    moment = _to_datetime(value, default_zone, name)
    if moment is not None and now is not None:
        check_moment(moment, now, name)
    return moment


def time_or_none(value: object, default_zone: tzinfo, now: datetime | None = None) -> datetime | None:
    """The time of a value, read as `parse_moment` does; None for what cannot be read."""
    with suppress(RowError):
        return parse_moment(value, default_zone, now)
    return None


def check_moment(moment: datetime, now: datetime | None, name: str) -> None:
    """Raises RowError for a time that no memory can have; without `now`, a day may be to come."""
    if not is_credible(moment, now):
        raise RowError(f"{name} {moment.isoformat()} is before 2000 or in the future")


def names_a_day(value: object) -> bool:
    """True if a value that `parse_moment` takes names only a day."""
    if isinstance(value, str):
        return re.fullmatch(r"\d{4}-?(?:\d\d-?\d\d|W\d\d-?\d)", value.strip(), re.ASCII) is not None
    return isinstance(value, date) and not isinstance(value, datetime)


def _to_datetime(value: object, default_zone: tzinfo, name: str) -> datetime | None:
    if is_absent(value):
        return None
    try:
        if isinstance(value, datetime):
            return _by_the_clock(value, default_zone)
        if isinstance(value, date):
            return datetime.combine(value, time(), default_zone)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _from_epoch(value).astimezone(default_zone)
        if isinstance(value, str):
            text = value.strip()
            if re.fullmatch(r"\d{9,13}(?:\.\d+)?", text, re.ASCII):
                return _from_epoch(float(text)).astimezone(default_zone)
            return _by_the_clock(datetime.fromisoformat(text), default_zone)
    except (ValueError, OverflowError, OSError):  # no valid time, or one beyond the calendar
        pass
    raise RowError(f"{name} is {shown(value)}, which is not a time; use ISO 8601 or an epoch")


def _by_the_clock(moment: datetime, default_zone: tzinfo) -> datetime:
    """A time in its own zone; one without a zone, or in UTC, in the default one."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=default_zone)
    return moment if moment.utcoffset() else moment.astimezone(default_zone)


def _from_epoch(number: float) -> datetime:
    """Seconds or milliseconds, distinguished by magnitude."""
    return datetime.fromtimestamp(number / 1000 if abs(number) > 1e11 else number, UTC)
