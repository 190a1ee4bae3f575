"""What is unusual in a series, in words: the values outside, and those that lie apart where one figure varies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of, when
from memory_pipeline.wording.series_figures import Figure, lies_within_fences
from memory_pipeline.wording.series_line import amount, called, measure_of, name_of, structure_of, unit_of


@dataclass(frozen=True, slots=True)
class UnusualValue:
    """An unusual value: its figure, which of its values it is, and the day in words."""

    figure: Figure
    number: int
    day: str

    @property
    def rank(self) -> tuple[bool, float]:
        """A fall to zero first, then what is farthest."""
        return not self.figure.is_fall_to_zero(self.number), -self.figure.farness[self.number]


@dataclass(frozen=True)
class Named:
    """The days with unusual values, those that matter most first: the newest, one with a fall to zero, those with the
    farthest values. `outside`: for each place of a figure, the numbers of the values that are told apart. `untold`: how
    many more days there are, the values of which are among the usual ones."""

    days: tuple[tuple[UnusualValue, ...], ...]
    outside: dict[int, frozenset[int]]
    untold: int = 0

    @property
    def outside_key(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """What is told apart, in order."""
        return tuple((place, tuple(sorted(numbers))) for place, numbers in sorted(self.outside.items()))

    def of(self, figure: Figure) -> frozenset[int]:
        """The numbers of the values of a figure that are told apart."""
        return self.outside.get(figure.place, frozenset())

    def first(self, most: int) -> Named:
        """The same with the first `most` days: what is not told is not apart."""
        if len(self.days) <= most:
            return self
        dropped: dict[int, set[int]] = {}
        for one in (one for day in self.days[most:] for one in day):
            dropped.setdefault(one.figure.place, set()).add(one.number)
        outside = {place: numbers - dropped.get(place, set()) for place, numbers in self.outside.items()}
        return Named(self.days[:most], outside, self.untold + len(self.days) - most)


def named_values(series: Series, most_apart: int = 0) -> Named:
    """The readings in which a value is outside, with all their values that are off; where one figure varies, also the
    farthest `most_apart` that lie apart. Of another outcome, the figures stand beside its count (`failed_with`)."""
    varying = [figure for figure in series.told if figure.varies]
    found: dict[int, set[int]] = {}
    for figure in varying:
        chosen = {n for n, is_outside in enumerate(figure.outside) if is_outside}
        if len(varying) == 1:
            if figure.apart[-1] and is_extreme(figure):
                chosen.add(len(figure.values) - 1)
            others = [n for n, is_apart in enumerate(figure.apart) if is_apart and n not in chosen]
            chosen.update(sorted(others, key=lambda n: (-figure.farness[n], -n))[:most_apart])
        found[figure.place] = chosen
    odd = set(series.other_outcomes).union(*found.values())
    for figure in varying:
        found[figure.place] |= {n for n in odd if is_off(series, figure, n, odd)}
    days: dict[tuple[object, str], list[UnusualValue]] = {}
    for figure in varying:
        for n in sorted(found[figure.place] - series.lone_outcomes):
            at = figure.values[n].at
            day = "now" if n == len(figure.values) - 1 else when(series, at)
            days.setdefault((at.date(), day), []).append(UnusualValue(figure, n, day))
    newest = series.newest.at.date()
    ordered = sorted(days.items(), key=lambda item: (item[0][0] != newest, min(one.rank for one in item[1]), item[0]))
    return Named(
        tuple(tuple(sorted(values, key=lambda one: one.figure.place)) for _, values in ordered),
        {place: frozenset(numbers) for place, numbers in found.items()},
    )


def is_off(series: Series, figure: Figure, number: int, odd: Collection[int]) -> bool:
    """Whether a value of an odd reading is beyond the inner fences around those of the readings that are not odd; of a
    reading with another outcome, whether it is beyond their range."""
    usual = [value.number for n, value in enumerate(figure.values) if n not in odd]
    x = figure.values[number].number
    if not usual or min(usual) <= x <= max(usual):
        return False
    return number in series.other_outcomes or not lies_within_fences(x, usual)


def failed_with(series: Series, number: int, *, with_repeated: bool = True) -> list[str]:
    """The figures that are off in a reading with another outcome, unless it is the newest, which is told anyway.
    `with_repeated`: also those that only repeat it, as an exit code does."""
    if number == len(series.every) - 1:
        return []
    odd = {n for figure in series.told for n, is_outside in enumerate(figure.outside) if is_outside}
    odd |= series.other_outcomes
    return [
        called(series, figure.place, figure.values[number].text)
        for figure in series.told
        if figure.varies
        and is_off(series, figure, number, odd)
        and (with_repeated or not repeats_outcome(series, figure))
    ]


def repeats_outcome(series: Series, figure: Figure) -> bool:
    """Whether a figure has one value for each outcome, as an exit code does."""
    others = series.other_outcomes
    usual, strange = (
        {value.number for n, value in enumerate(figure.values) if (n in others) is is_strange}
        for is_strange in (False, True)
    )
    return len(usual) == 1 and len(strange) == 1 and usual != strange


def is_extreme(figure: Figure) -> bool:
    """Whether the newest value is less or greater than all others."""
    newest, others = figure.newest.number, [value.number for value in figure.values[:-1]]
    return bool(others) and not min(others) <= newest <= max(others)


def unusual(series: Series, named: Named, said: Collection[int] = (), *, brief: bool = False) -> str:
    """A sentence with what is unusual, each day with all its values. `said`: places of figures of which another
    sentence says that they are unusual now. `brief`: without the name of a figure that its unit tells,
    and without a clock time where one reading is earlier on the newest day."""
    days = [[one for one in day if one.day != "now" or one.figure.place not in said] for day in named.days]
    told = [_day(series, day, brief=brief) for day in days if day]
    return f" {'Most unusual' if named.untold else 'Unusual'}: {'; '.join(told)}." if told else ""


def _day(series: Series, values: Sequence[UnusualValue], *, brief: bool) -> str:
    varying = [figure for figure in series.told if figure.varies and not repeats_outcome(series, figure)]
    is_alone = len(varying) == 1
    words: dict[str, None] = {}
    structure = ""
    for one in values:
        without = is_alone or (brief and has_own_unit(series, one.figure.place))
        said, inside = _in_words(series, one, is_alone=without), structure_of(series, one.figure.place)
        words[f"{inside} {said}" if inside and inside != structure and not without else said] = None
        structure = inside
    day = values[0].day
    return f"{', '.join(words)} {on_day(series, values[0], brief=brief)}" if day != "now" else f"{', '.join(words)} now"


def on_day(series: Series, one: UnusualValue, *, brief: bool = False) -> str:
    """The day of a value. `brief`: the one reading that came before the newest on its day is called earlier."""
    if one.day.startswith("earlier"):
        return one.day
    day = series.newest.at.date()
    of_day = sum(reading.at.date() == day for reading in series.every)
    if brief and of_day == 2 and one.figure.values[one.number].at.date() == day:
        return f"earlier on {day_of(series.newest.at, day.year)}"
    return f"on {one.day}"


def has_own_unit(series: Series, place: int) -> bool:
    """Whether a figure has a unit that no other one has which varies."""
    units = [unit_of(series, figure.place) for figure in series.told if figure.varies]
    unit = unit_of(series, place)
    return bool(unit) and units.count(unit) == 1


def _in_words(series: Series, one: UnusualValue, *, is_alone: bool) -> str:
    place, text = one.figure.place, one.figure.values[one.number].text
    if is_alone:
        return amount(series, place, text)
    measure = "" if name_of(series, place) else measure_of(series, place)
    return f"{measure} {called(series, place, text)}".lstrip()
