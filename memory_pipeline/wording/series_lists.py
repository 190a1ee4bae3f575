"""Lists that a series says, in words: what the newest one lacks, and on which days a list was another one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import combinations

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of
from memory_pipeline.wording.series_line import capitalised, listed, readable
from memory_pipeline.wording.series_ranges import often
from memory_pipeline.wording.templates import list_elements

#: On so many days what is there, or missing, is odd, of so many readings.
_ODD, _ENOUGH = 2, 5


def changes_in_lists(series: Series) -> list[str]:
    """Sentences with how the lists before differ from the newest one, the fullest first: of what does not fit, the odd
    days go last. Nothing, if the lists are always the same."""
    parts = [part for place, one in enumerate(series.places) if one.kind == "list" for part in _parts(series, place)]
    chosen = [one for number in range(len(parts), 0, -1) for one in combinations(parts, number)]
    return ["".join(f" {capitalised(part)}." for part in one) for one in chosen]


def lists_of(series: Series, most: int) -> str:
    """What is always in the lists, and the `most` frequent of the rest, with how often each is there."""
    said = []
    for place in (n for n, one in enumerate(series.places) if one.kind == "list"):
        counts, number = series.counts(place), len(series.every)
        always = [readable(word) for word, count in counts if count == number][:most]
        others = [(word, count) for word, count in counts if count < number][:most]
        if others:
            said += [f"always {listed(always)}"] if always else []
            said.append(_by_count(others))
    return "".join(f" {capitalised(text)}." for text in said)


def _parts(series: Series, place: int) -> list[str]:
    """The odd days, what was always there before, and what else came and went."""
    lists = [(reading.at, set(list_elements(reading.values[place]) or ())) for reading in series.every]
    newest, before = lists[-1][1], lists[:-1]
    words = [word for word, _ in series.counts(place)]
    there = {word: [at for at, elements in before if word in elements] for word in words}
    missing = {word: [at for at, elements in before if word not in elements] for word in words if word in newest}
    is_enough = len(lists) >= _ENOUGH
    came = {word: there[word] for word in words if word not in newest and is_enough and len(there[word]) <= _ODD}
    went = {word: days for word, days in missing.items() if is_enough and 0 < len(days) <= _ODD}
    always = [word for word in words if word not in newest and len(there[word]) == len(before)]
    rest = [word for word in words if word not in newest and word not in always and word not in came]
    parts = [_odd_days(series, came, went)] if came or went else []
    parts += [f"before also {listed([readable(word) for word in always])}"] if always else []
    parts += [f"{'' if always else 'before also '}{_by_span(series, rest, there, before[0][0])}"] if rest else []
    rare = [(word, len(days)) for word, days in missing.items() if days and word not in went]
    return parts + ([f"without {_by_count(rare)}"] if rare else [])


def _odd_days(series: Series, came: dict[str, list[datetime]], went: dict[str, list[datetime]]) -> str:
    """`28 March: with reasoning, without world_model`."""
    days = sorted({at for found in (*came.values(), *went.values()) for at in found})
    said: dict[str, list[str]] = {}
    for at in days:
        told = [
            f"{word} {listed([readable(one) for one, found in some.items() if at in found])}"
            for word, some in (("with", came), ("without", went))
            if any(at in found for found in some.values())
        ]
        said.setdefault(", ".join(told), []).append(day_of(at, series.newest.at.year))
    return "; ".join(f"{listed(list(dict.fromkeys(on)))} {text}" for text, on in said.items())


def _by_span(series: Series, words: Sequence[str], there: dict[str, list[datetime]], first: datetime) -> str:
    """Words with the day until which they were there, if they were always there until then, or with how often."""
    every = [reading.at for reading in series.every]
    together: dict[str, list[str]] = {}
    for word in words:
        days = there[word]
        until = days == every[: len(days)] and days[0] == first
        said = f"until {day_of(days[-1], series.newest.at.year)}" if until else often(len(days))
        together.setdefault(said, []).append(readable(word))
    return ", ".join(f"{listed(some)} {said}" for said, some in together.items())


def _by_count(counts: Sequence[tuple[str, int]]) -> str:
    """Words with how often each stands, those of one count together."""
    together: dict[int, list[str]] = {}
    for word, count in counts:
        together.setdefault(count, []).append(readable(word))
    return ", ".join(f"{listed(words)} {often(count)}" for count, words in together.items())
