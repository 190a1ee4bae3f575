"""The readings of one series and what they amount to: its figures, its words with their counts, and the readings that
break the series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from memory_pipeline.text.normalise import one_line
from memory_pipeline.text.series_figures import Figure, Value
from memory_pipeline.text.templates import Line, Place, fields_in, line_key, list_elements, read_line

#: Of so many lists, at most so many are odd.
_ENOUGH_LISTS, _MOST_ODD_LISTS = 5, 2


@dataclass(frozen=True, slots=True)
class Reading:
    """One line of a series: the memory, the time that it refers to, and its values. `position`: the line in a text
    that is written from top to bottom, for lines of one time."""

    memory_id: str
    at: datetime
    line: Line
    position: int = 0

    @property
    def values(self) -> tuple[str, ...]:
        """The words of each place."""
        return self.line.values


@dataclass(frozen=True, slots=True)
class Break:
    """A reading that breaks the series: its value in one place."""

    memory_id: str
    place: int
    value: Value


@dataclass(frozen=True)
class Series:
    """Readings of one template, oldest first. `strangers`: readings with a new word in the place of one."""

    readings: tuple[Reading, ...]
    strangers: tuple[Reading, ...] = ()

    @cached_property
    def every(self) -> tuple[Reading, ...]:
        """The readings and the strangers, oldest first."""
        return _in_order([*self.readings, *self.strangers]) if self.strangers else self.readings

    @property
    def newest(self) -> Reading:
        """The newest reading."""
        return self.every[-1]

    @property
    def places(self) -> tuple[Place, ...]:
        """The places of the newest reading."""
        return self.newest.line.places

    @cached_property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """The values of each place, oldest first."""
        return tuple(zip(*(reading.values for reading in self.every), strict=True))

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """The figures; a part with its whole (`5/6`) is one."""
        single = {
            i: Figure(i, tuple(Value(text, reading.at) for text, reading in zip(column, self.every, strict=True)))
            for i, (place, column) in enumerate(zip(self.places, self.columns, strict=True))
            if place.kind == "figure"
        }
        figures: list[Figure] = []
        is_whole = False
        for place, figure in single.items():
            if is_whole:
                is_whole = False
                continue
            whole = single.get(place + 1)
            is_part = whole is not None and self.between(place) == "/" and self.between(place + 1) != "/"
            share = _share(figure, whole) if is_part and whole is not None else None
            is_whole = share is not None
            figures.append(share or figure)
        return tuple(figures)

    def between(self, place: int) -> str:
        """The text between a place and the next one, or the end of the line; -1 is before the first place."""
        start = self.places[place].end if place >= 0 else 0
        end = self.places[place + 1].start if place + 1 < len(self.places) else len(self.newest.line.text)
        return self.newest.line.text[start:end]

    def counts(self, place: int) -> list[tuple[str, int]]:
        """How often each word (or element of a list) stands in a place, the most frequent first."""
        every = Counter(word for text in self.columns[place] for word in (list_elements(text) or (text,)))
        return sorted(every.items(), key=lambda item: (-item[1], item[0]))

    @cached_property
    def breaks(self) -> tuple[Break, ...]:
        """The readings outside the bounds of a figure, and those with an odd list, oldest first."""
        breaks = [
            Break(reading.memory_id, figure.place, value)
            for figure in self.figures
            for reading, value, is_outside in zip(self.every, figure.values, figure.outside, strict=True)
            if is_outside
        ]
        for place, column in enumerate(self.columns):
            for n in _odd_lists(column) if self.places[place].kind == "list" else ():
                reading = self.every[n]
                breaks.append(Break(reading.memory_id, place, Value(column[n], reading.at)))
        return tuple(sorted(breaks, key=lambda one: (one.value.at, one.memory_id, one.place)))


def _odd_lists(column: Sequence[str]) -> list[int]:
    """Which lists have a word that no other one has. None, if there are few lists or many such ones: then each list is
    one of its own."""
    lists = [{*(list_elements(text) or ())} for text in column]
    times = Counter(word for words in lists for word in words)
    odd = [n for n, words in enumerate(lists) if any(times[word] == 1 for word in words)]
    return odd if len(column) >= _ENOUGH_LISTS and len(odd) <= _MOST_ODD_LISTS else []


def _share(part: Figure, whole: Figure) -> Figure | None:
    """A figure of parts and their wholes, or None if one is larger than its whole."""
    pairs = list(zip(part.values, whole.values, strict=True))
    if any(not 0 <= one.number <= other.number or not other.number for one, other in pairs):
        return None
    return Figure(part.place, tuple(Value(f"{one.text}/{other.text}", one.at) for one, other in pairs))


def read_memory(memory_id: str, at: datetime, content: str, position: int = 0) -> Reading:
    """The reading in a memory."""
    return Reading(memory_id, at, read_line(one_line(content)), position)


def _in_order(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """Readings from the oldest to the newest. Those of one time are ordered by their position in a text, then by what
    they say."""
    return tuple(sorted(readings, key=lambda r: (r.at, r.position, r.line.text, r.memory_id)))


def days_of(readings: Sequence[Reading]) -> int:
    """The number of days with a reading, by the clock of each."""
    return len({reading.at.date() for reading in readings})


def series_of(readings: Iterable[Reading], strangers: Iterable[Reading] = ()) -> Series:
    """The series of readings that differ only in values and in fields; if some are of another form than most, the
    series of most. `strangers`: further lines; those of the same form belong to it."""
    keyed = [(line_key(reading.line), reading) for reading in _in_order(readings)]
    times = Counter(key for key, _ in keyed)
    form = max(reversed(keyed), key=lambda item: times[item[0]])[0]
    ordered = [reading for key, reading in keyed if key == form]
    others = _in_order(reading for reading in strangers if line_key(reading.line) == form)
    every = (*ordered, *others)
    fields = [[reading.line.value(word).casefold() for word in fields_in(reading.line)] for reading in every]
    varying = [number for number, column in enumerate(zip(*fields, strict=True)) if len(set(column)) > 1]
    mine, more = ([replace(one, line=_with_fields(one.line, varying)) for one in some] for some in (ordered, others))
    return Series(tuple(mine), tuple(more))


def _with_fields(line: Line, numbers: Sequence[int]) -> Line:
    """The line with places for these of its fields."""
    chosen = [field for number, field in enumerate(fields_in(line)) if number in numbers] if numbers else []
    return Line(line.text, tuple(sorted((*line.places, *chosen), key=lambda place: place.start))) if chosen else line
