"""The readings of one series and what they amount to: each figure's first, newest, least, greatest and median value,
the words and their counts, and the readings that break the series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from memory_pipeline.wording.normalise import one_line
from memory_pipeline.wording.series_figures import Figure, Value
from memory_pipeline.wording.sisters import likened
from memory_pipeline.wording.templates import Line, Place, list_elements, read_line, words_in

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
    """Readings of one template, oldest first. `words`: the places that hold one of a few words, by their position
    among the places of a line."""

    readings: tuple[Reading, ...]
    words: tuple[int, ...] = ()
    strangers: tuple[Reading, ...] = ()

    @cached_property
    def every(self) -> tuple[Reading, ...]:
        """The readings and the strangers, oldest first."""
        return in_order([*self.readings, *self.strangers]) if self.strangers else self.readings

    @cached_property
    def other_outcomes(self) -> frozenset[int]:
        """Which of all are strangers with a word that no reading has: what is usual does not hold for them."""
        known = [{reading.values[place] for reading in self.readings} for place in self.words]
        strange = {
            one.memory_id
            for one in self.strangers
            if any(one.values[place] not in words for place, words in zip(self.words, known, strict=True))
        }
        return frozenset(n for n, reading in enumerate(self.every) if reading.memory_id in strange)

    @cached_property
    def lone_outcomes(self) -> frozenset[int]:
        """Which of all are the only ones with their outcome: their day and figures stand beside its count."""
        counts = [Counter(reading.values[place] for reading in self.every) for place in self.words]
        return frozenset(
            n
            for n in self.other_outcomes
            if any(count[self.every[n].values[place]] == 1 for place, count in zip(self.words, counts, strict=True))
        )

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
        """The places with figures."""
        return tuple(
            Figure(i, tuple(Value(text, reading.at) for text, reading in zip(self.columns[i], self.every, strict=True)))
            for i, place in enumerate(self.places)
            if place.kind == "figure"
        )

    @cached_property
    def told(self) -> tuple[Figure, ...]:
        """The figures as they are told: a part with its whole (`5/6`) is one, and none where a percentage says it."""
        by_place = {figure.place: figure for figure in self.figures}
        found: dict[int, Figure] = {}
        wholes: set[int] = set()
        for place, figure in by_place.items():
            whole = by_place.get(place + 1)
            if place in wholes:
                continue
            is_part = whole is not None and self._between(place) == "/" and self._between(place + 1) != "/"
            share = _share(figure, whole) if is_part and whole is not None else None
            if share is not None:
                wholes.add(place + 1)
            found[place] = share or figure
        percentages = [f for f in found.values() if self._between(f.place).startswith("%")]
        return tuple(f for f in found.values() if not (f.is_share and any(_repeats(f, one) for one in percentages)))

    @property
    def repeated_shares(self) -> list[str]:
        """The newest parts with their wholes that a percentage says too."""
        told = {figure.place for figure in self.told}
        return [
            f"{figure.newest.text}/{self.newest.values[figure.place + 1]}"
            for figure in self.figures
            if figure.place not in told and self._between(figure.place) == "/"
        ]

    def _between(self, place: int) -> str:
        """The text between a place and the next one."""
        end = self.places[place + 1].start if place + 1 < len(self.places) else len(self.newest.line.text)
        return self.newest.line.text[self.places[place].end : end]

    def counts(self, place: int) -> list[tuple[str, int]]:
        """How often each word (or element of a list) stands in a place, the most frequent first."""
        every = Counter(word for text in self.columns[place] for word in (list_elements(text) or (text,)))
        return sorted(every.items(), key=lambda item: (-item[1], item[0]))

    @cached_property
    def breaks(self) -> tuple[Break, ...]:
        """The readings outside the bounds of a figure, and those with an odd list, oldest first."""
        found = [
            Break(reading.memory_id, figure.place, value)
            for figure in self.told
            for reading, value, is_outside in zip(self.every, figure.values, figure.outside, strict=True)
            if is_outside
        ]
        for n, place in self.odd_lists.items():
            reading = self.every[n]
            found.append(Break(reading.memory_id, place, Value(reading.values[place], reading.at)))
        return tuple(sorted(found, key=lambda one: (one.value.at, one.memory_id, one.place)))

    @cached_property
    def odd_lists(self) -> dict[int, int]:
        """Which of all have a list with a word that no other one has, with the place of it. None, if there are few
        lists or many such ones: then each list is one of its own."""
        found: dict[int, int] = {}
        for place, one in enumerate(self.places):
            if one.kind != "list" or len(self.every) < _ENOUGH_LISTS:
                continue
            lists = [{*(list_elements(text) or ())} for text in self.columns[place]]
            times = Counter(word for words in lists for word in words)
            odd = [n for n, words in enumerate(lists) if any(times[word] == 1 for word in words)]
            if len(odd) <= _MOST_ODD_LISTS:
                found.update(dict.fromkeys(odd, place))
        return found


def _share(part: Figure, whole: Figure) -> Figure | None:
    """A figure of parts and their wholes, or None if one is larger than its whole."""
    pairs = list(zip(part.values, whole.values, strict=True))
    if any(not 0 <= one.number <= other.number or not other.number for one, other in pairs):
        return None
    return Figure(part.place, tuple(Value(f"{one.text}/{other.text}", one.at) for one, other in pairs))


def _repeats(share: Figure, percentage: Figure) -> bool:
    """Whether a percentage says what a share says, but for rounding."""
    return all(
        abs(100 * one.number - other.number) <= 1 for one, other in zip(share.values, percentage.values, strict=True)
    )


def read_memory(memory_id: str, at: datetime, content: str, position: int = 0) -> Reading:
    """The reading in a memory."""
    return Reading(memory_id, at, read_line(one_line(content)), position)


def in_order(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """Readings from the oldest to the newest. Those of one time are ordered by their position in a text, then by what
    they say."""
    return tuple(sorted(readings, key=lambda r: (r.at, r.position, r.line.text, r.memory_id)))


def days_of(readings: Sequence[Reading]) -> int:
    """The number of days with a reading, by the clock of each."""
    return len({reading.at.date() for reading in readings})


def series_of(readings: Iterable[Reading], strangers: Iterable[Reading] = ()) -> Series:
    """The series of readings that differ only in values and in some words. `strangers`: readings with a new word in
    the place of one, with another outcome, or with more at the end of the line (sisters.py)."""
    ordered = in_order(readings)
    varying = _varying_words([reading.line for reading in ordered])
    model = ordered[-1].line
    others = [
        replace(reading, line=line)
        for reading in in_order(strangers)
        if (line := likened(reading.line, model, varying)) is not None
    ]
    varying = _varying_words([reading.line for reading in (*ordered, *others)])
    told, more = ([replace(one, line=_with_words(one.line, varying)) for one in some] for some in (ordered, others))
    return Series(tuple(told), _positions(model, varying), tuple(more))


def _varying_words(lines: Sequence[Line]) -> tuple[int, ...]:
    """The numbers of the words that differ between lines which are otherwise equal."""
    by_shape = {line.shape.casefold(): line for line in lines}
    if len(by_shape) < 2:
        return ()
    texts = [[line.value(word).casefold() for word in words_in(line)] for line in by_shape.values()]
    return tuple(i for i, column in enumerate(zip(*texts, strict=False)) if len(set(column)) > 1)


def _with_words(line: Line, numbers: Sequence[int]) -> Line:
    """The line with places for these of its words."""
    words = words_in(line)
    chosen = [words[number] for number in numbers if number < len(words)]
    return Line(line.text, tuple(sorted((*line.places, *chosen), key=lambda place: place.start))) if chosen else line


def _positions(line: Line, numbers: Sequence[int]) -> tuple[int, ...]:
    """The positions of these words among all places of a line."""
    chosen = _with_words(line, numbers).places
    return tuple(i for i, place in enumerate(chosen) if place.kind == "word")
