"""Lists that a series says, in words: what the newest one lacks, and on which days a list was another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of
from memory_pipeline.wording.series_line import capitalised, listed, readable
from memory_pipeline.wording.series_ranges import often
from memory_pipeline.wording.templates import list_elements

#: On so many days what is there, or missing, is odd, of so many readings.
_ODD, _ENOUGH = 2, 5


def changes_in_lists(series: Series) -> list[str]:
    """Sentences with all differences of the lists before from the newest one, the fullest first. Nothing, if the lists
    are always the same."""
    return _sentences([_ways(series, place) for place in _lists(series)])


def changes_in_short(series: Series) -> list[str]:
    """The same where there is room for no more: what was in a list and is not now is at least counted."""
    return _sentences([_short_ways(series, place) for place in _lists(series)])


def before_list(series: Series, line: str) -> str:
    """What a line says before its first list."""
    newest = series.newest.values[_lists(series)[0]]
    lead, _, _ = line.partition(listed([readable(word) for word in list_elements(newest) or (newest,)]))
    return lead.strip(" :,;")


def _lists(series: Series) -> list[int]:
    return [place for place, one in enumerate(series.places) if one.kind == "list"]


def _sentences(of_each: list[list[tuple[str, ...]]]) -> list[str]:
    ways = [way for way in of_each if way]
    said = [[way[min(n, len(way) - 1)] for way in ways] for n in range(max(map(len, ways), default=0))]
    return ["".join(f" {capitalised(part)}." for parts in one for part in parts) for one in said]


def lists_of(series: Series, most: int) -> str:
    """What is always in the lists, and the `most` frequent of the rest, with how often each is there."""
    said = []
    for place in (n for n, one in enumerate(series.places) if one.kind == "list"):
        counts, number = series.counts(place), len(series.every)
        always = [readable(word) for word, count in counts if count == number]
        others = [(word, count) for word, count in counts if count < number]
        if others:
            said += [f"always {listed(_at_most(always, most))}"] if always else []
            more = len(others) - most
            said.append(_by_count(others[:most]) + (f", {_others(more)}" if more > 0 else ""))
    return "".join(f" {capitalised(text)}." for text in said)


@dataclass(frozen=True)
class _Changes:
    """How the lists of a place differ from the newest: the days of what came for a day or two and is gone, of what was
    missing for as long, and of what was there longer; and how often what is now there was missing."""

    came: dict[str, list[datetime]]
    went: dict[str, list[datetime]]
    gone: dict[str, list[datetime]]
    rare: list[tuple[str, int]]


def _changes(series: Series, place: int) -> _Changes:
    lists = [(reading.at, set(list_elements(reading.values[place]) or ())) for reading in series.every]
    newest, before = lists[-1][1], lists[:-1]
    words = [word for word, _ in series.counts(place)]
    there = {word: [at for at, elements in before if word in elements] for word in words}
    missing = {word: [at for at, elements in before if word not in elements] for word in words if word in newest}
    is_enough = len(lists) >= _ENOUGH
    came = {word: there[word] for word in words if word not in newest and is_enough and len(there[word]) <= _ODD}
    went = {word: days for word, days in missing.items() if is_enough and 0 < len(days) <= _ODD}
    gone = {word: there[word] for word in words if word not in newest and word not in came}
    rare = [(word, len(days)) for word, days in missing.items() if days and word not in went]
    return _Changes(came, went, gone, rare)


def _ways(series: Series, place: int) -> list[tuple[str, ...]]:
    """Ways to say how the lists of a place changed, the fullest first, each in some parts: what was there longer, the
    odd days, and what was missing."""
    found = _changes(series, place)
    until = [_gone(series, found.gone)] if found.gone else []
    without = [f"without {_by_count(found.rare)}"] if found.rare else []
    odd = [_odd_days(series, found.came, found.went)] if found.came or found.went else []
    ways: list[tuple[str, ...]] = [(*until, *odd, *without)]
    if until and odd:
        ways.append((f"{until[0]}; {_odd_days_in_short(series, found.came, found.went)}", *without))
    return [way for way in dict.fromkeys(ways) if way]


def _short_ways(series: Series, place: int) -> list[tuple[str, ...]]:
    """Ways to say some of it, at least how much is gone."""
    found = _changes(series, place)
    ways: list[tuple[str, ...]] = []
    if found.gone and (found.came or found.went):
        ways.append((f"{_gone(series, found.gone)}; {_odd_days_alone(series, found.came, found.went)}",))
    names = [readable(word) for word in (*found.gone, *found.came)]
    ways += [(f"before also {listed(_at_most(names, most))}",) for most in range(len(names) - 1, -1, -1)]
    return list(dict.fromkeys(ways))


def _odd_days(series: Series, came: dict[str, list[datetime]], went: dict[str, list[datetime]]) -> str:
    """`only on 28 March with reasoning, without world_model`."""
    said: dict[str, list[str]] = {}
    for at in _days_in(came, went):
        told = [
            f"{word} {listed([readable(one) for one, found in some.items() if at in found])}"
            for word, some in (("with", came), ("without", went))
            if any(at in found for found in some.values())
        ]
        said.setdefault(", ".join(told), []).append(day_of(at, series.newest.at.year))
    return "; ".join(f"only on {listed(list(dict.fromkeys(on)))} {text}" for text, on in said.items())


def _odd_days_in_short(series: Series, came: dict[str, list[datetime]], went: dict[str, list[datetime]]) -> str:
    """The odd days behind what was there before also: `on 28 March reasoning instead of world_model`."""
    said = []
    for at in _days_in(came, went):
        there, missing = ([readable(word) for word, found in some.items() if at in found] for some in (came, went))
        instead = f"{listed(there)} instead of {listed(missing)}" if there and missing else ""
        told = instead or (f"with {listed(there)}" if there else f"without {listed(missing)}")
        said.append(f"on {day_of(at, series.newest.at.year)} {told}")
    return "; ".join(said)


def _odd_days_alone(series: Series, came: dict[str, list[datetime]], went: dict[str, list[datetime]]) -> str:
    """Where there is no room for the names: `28 March has its own note`, if the list breaks the series; else `only 28
    March differs`."""
    found = _days_in(came, went)
    days = list(dict.fromkeys(day_of(at, series.newest.at.year) for at in found))
    breaks = {series.every[n].at for n in series.odd_lists}
    if len(days) > 1:
        return f"{listed(days)} have their own notes" if breaks.issuperset(found) else f"only {listed(days)} differ"
    return f"{days[0]} has its own note" if breaks.issuperset(found) else f"only {days[0]} differs"


def _days_in(*some: dict[str, list[datetime]]) -> list[datetime]:
    return sorted({at for found in some for days in found.values() for at in days})


def _gone(series: Series, gone: dict[str, list[datetime]]) -> str:
    """What the newest list has no more, with the day until which it was always there, or with how often it was."""
    every = [reading.at for reading in series.every]
    until: dict[str, list[str]] = {}
    counts = []
    always = [readable(word) for word, days in gone.items() if days == every[:-1]]
    for word, days in gone.items():
        if days == every[:-1]:
            continue
        if days == every[: len(days)]:
            until.setdefault(day_of(days[-1], series.newest.at.year), []).append(readable(word))
        else:
            counts.append((word, len(days)))
    said = [f"before also {listed(always)}"] if always else []
    for day, words in until.items():
        said.append(f"until {day}{'' if said else ' also'} {listed(words)}")
    said += [("" if said else "before also ") + _by_count(counts)] if counts else []
    return ", ".join(said)


def _at_most(words: Sequence[str], most: int) -> list[str]:
    """The first words, and how many others there are."""
    more = len(words) - most
    return [*words[:most], _others(more)] if more > 0 else list(words)


def _others(number: int) -> str:
    return f"{number} other{'s' if number > 1 else ''}"


def _by_count(counts: Sequence[tuple[str, int]]) -> str:
    """Words with how often each stands, those of one count together."""
    together: dict[int, list[str]] = {}
    for word, count in counts:
        together.setdefault(count, []).append(readable(word))
    return ", ".join(f"{listed(words)} {often(count)}" for count, words in together.items())
