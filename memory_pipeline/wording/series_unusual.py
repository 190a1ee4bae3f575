"""What is unusual in a series, in words: the values outside, and those that lie apart where one figure varies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import when
from memory_pipeline.wording.series_figures import Figure
from memory_pipeline.wording.series_line import amount, called, measure_of, name_of, structure_of


@dataclass(frozen=True, slots=True)
class _Unusual:
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
    farthest values. `outside`: for each place of a figure, the numbers of the values that are told apart."""

    days: tuple[tuple[_Unusual, ...], ...]
    outside: dict[int, frozenset[int]]

    @property
    def outside_key(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """What is told apart, in order."""
        return tuple((place, tuple(sorted(numbers))) for place, numbers in sorted(self.outside.items()))

    def of(self, figure: Figure) -> frozenset[int]:
        """The numbers of the values of a figure that are told apart."""
        return self.outside.get(figure.place, frozenset())


def named_values(series: Series, most_apart: int = 0) -> Named:
    """The values that are outside; where one figure varies, also the farthest `most_apart` that lie apart."""
    varying = [figure for figure in series.told if figure.varies]
    found: dict[int, set[int]] = {}
    outside: dict[int, frozenset[int]] = {}
    for figure in varying:
        chosen = {n for n, is_outside in enumerate(figure.outside) if is_outside}
        if len(varying) == 1:
            if figure.apart[-1] and is_extreme(figure):
                chosen.add(len(figure.values) - 1)
            others = [n for n, is_apart in enumerate(figure.apart) if is_apart and n not in chosen]
            chosen.update(sorted(others, key=lambda n: (-figure.farness[n], -n))[:most_apart])
        found[figure.place] = chosen
        outside[figure.place] = frozenset(chosen | series.other_outcomes)
    days: dict[tuple[object, str], list[_Unusual]] = {}
    for figure in varying:
        for n in sorted(found[figure.place]):
            at = figure.values[n].at
            day = "now" if n == len(figure.values) - 1 else when(series, at)
            days.setdefault((at.date(), day), []).append(_Unusual(figure, n, day))
    newest = series.newest.at.date()
    ordered = sorted(days.items(), key=lambda item: (item[0][0] != newest, min(one.rank for one in item[1]), item[0]))
    return Named(tuple(tuple(sorted(values, key=lambda one: one.rank)) for _, values in ordered), outside)


def is_extreme(figure: Figure) -> bool:
    """Whether the newest value is less or greater than all others."""
    newest, others = figure.newest.number, [value.number for value in figure.values[:-1]]
    return bool(others) and not min(others) <= newest <= max(others)


def unusual(series: Series, named: Named, most: int, each: int, said: Collection[int] = ()) -> str:
    """A sentence with what is unusual on the first `most` days, the farthest `each` figures of a day, and on how many
    days something is. `said`: places of figures of which another sentence says that they are unusual now."""
    days = [[one for one in day if one.day != "now" or one.figure.place not in said] for day in named.days]
    days = [day for day in days if day]
    told = [_day(series, day, each) for day in days[:most]]
    if not told:
        return ""
    lead = "Unusual" if len(told) == len(days) else f"Most unusual of {len(days)} days"
    return f" {lead}: {'; '.join(told)}."


def others_unusual(series: Series, named: Named, most: int, said: Collection[int]) -> str:
    """What is unusual in the figures but for those in these places, on the first `most` days; or on how many days
    something is."""
    days = tuple(day for values in named.days if (day := tuple(one for one in values if one.figure.place not in said)))
    if days and not most:
        return f" Other figures were unusual on {len(days)} day{'s' if len(days) > 1 else ''}."
    return unusual(series, Named(days, named.outside), most, 1)


def first_day(series: Series, named: Named, figure: Figure) -> str:
    """The unusual value of a figure that matters most, with its day, and how many others there are; or nothing. The
    newest value is not among them."""
    own = [one for values in named.days for one in values if one.figure is figure and one.day != "now"]
    if not own:
        return ""
    first, more = min(own, key=lambda one: one.rank), len(own) - 1
    at = figure.values[first.number].at
    is_today = at.date() == series.newest.at.date()
    day = first.day if first.day.startswith("earlier") else f"at {at:%H:%M}" if is_today else f"on {first.day}"
    return f"{amount(series, figure.place, first.figure.values[first.number].text)} {day}" + (
        f", {more} more" if more else ""
    )


def _day(series: Series, values: Sequence[_Unusual], each: int) -> str:
    is_alone = sum(figure.varies for figure in series.told) == 1
    chosen = sorted(values[:each], key=lambda one: one.figure.place)
    words = dict.fromkeys(_in_words(series, one, is_alone=is_alone) for one in chosen)
    day = values[0].day
    return f"{', '.join(words)} {day if day == 'now' or day.startswith('earlier') else f'on {day}'}"


def _in_words(series: Series, one: _Unusual, *, is_alone: bool) -> str:
    place, text = one.figure.place, one.figure.values[one.number].text
    if is_alone:
        return amount(series, place, text)
    names = (structure_of(series, place), "" if name_of(series, place) else measure_of(series, place))
    return " ".join((*filter(None, names), called(series, place, text)))
