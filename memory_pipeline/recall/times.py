"""The days and months that a query names: memories that refer to them are more likely meant."""

from __future__ import annotations

import calendar
import re

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.recall.ranking import NamedTime
from memory_pipeline.wording.facts import find_facts

_MONTHS = {name.casefold(): number for number, name in enumerate(calendar.month_name) if name}
_MONTH = re.compile(
    rf"\b(?:in|during|of|since|from|until|last|this)\s+({'|'.join(_MONTHS)})(?:,?\s+(\d{{4}}))?\b"
    rf"|\b({'|'.join(_MONTHS)}),?\s+(\d{{4}})\b|(?<!\d)(\d{{4}})-(0[1-9]|1[0-2])(?![\d-])",
    re.IGNORECASE,
)
_DATE = re.compile(r"(\d{4}|-{4})-(\d{2})-(\d{2})")
#: Words of a question about how things are now.
_NOW = re.compile(r"\b(?:now|nowadays|current(?:ly)?|latest|newest|at the moment|these days|today)\b", re.IGNORECASE)
#: Days after which a memory counts half as new.
_HALF_AS_NEW = 14.0
#: Rows of one named time that are looked at.
_MOST = 5_000

Days = NDArray[np.datetime64]


def named_times(query: str, days: Days, was_noted: NDArray[np.bool_]) -> tuple[NamedTime, ...]:
    """The rows that refer to days and months that a query names. `days`: datetime64[D], the day of each row.

    `was_noted`: whether a row is no memory that a night made: the day of such a one is only that of its newest source,
    and it is found through those of its sources that are of the day.
    """
    found: list[NamedTime] = []
    for fact in find_facts(query):
        date = _DATE.fullmatch(fact.value) if fact.kind == "date" else None
        if date:
            year = None if date[1].startswith("-") else int(date[1])
            found.append(NamedTime(_rows(days, year, int(date[2]), int(date[3])), is_day=True))
    if not found:
        for month in _MONTH.finditer(query):
            name, in_year = month[1] or month[3], month[2] or month[4] or month[5]
            number = _MONTHS[name.casefold()] if name else int(month[6])
            found.append(NamedTime(_rows(days, int(in_year) if in_year else None, number, None), is_day=False))
    noted = (NamedTime(time.rows[was_noted[time.rows]], time.is_day) for time in found)
    return tuple(time for time in noted if len(time.rows))


def newness_for(query: str, days: Days) -> NDArray[np.float64] | None:
    """How new each row is, from 1 for the newest day, if a query asks how things are now; else None."""
    if not len(days) or not _NOW.search(query):
        return None
    age = (days.max() - days).astype("timedelta64[D]").astype(np.float64)
    newness: NDArray[np.float64] = 0.5 ** (age / _HALF_AS_NEW)
    return newness


def _rows(days: Days, year: int | None, month: int, day: int | None) -> NDArray[np.int64]:
    months = days.astype("datetime64[M]").astype(np.int64)
    matches = months % 12 == month - 1
    if year is not None:
        matches &= months // 12 == year - 1970
    if day is not None:
        matches &= (days - days.astype("datetime64[M]")).astype(np.int64) == day - 1
    return np.flatnonzero(matches)[-_MOST:]
