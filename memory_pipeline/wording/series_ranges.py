"""Between which values the figures of a series lie, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of, when
from memory_pipeline.wording.series_figures import Figure, Value
from memory_pipeline.wording.series_line import (
    amount,
    amounts,
    beside_name,
    capitalised,
    has_currency,
    measure_of,
    name_and_side,
    name_of,
    unit_of,
)
from memory_pipeline.wording.series_unusual import Named, is_extreme

#: How full a range is: the extremes; with the days of those that came once; with every day and where a course began;
#: with the median.
EXTREMES, SINGLE_DAYS, DAYS, MEDIAN = 1, 2, 3, 4
#: A figure hardly changes if this share of its values are equal.
_HARDLY_CHANGES = 0.8
_TIMES = ("once", "twice", "three times", "four times", "five times", "six times", "seven times", "eight times",
          "nine times", "ten times")  # fmt: skip


def extreme_newest(series: Series) -> str:
    """That the newest value is the least or the greatest of all, if one figure varies and the value lies apart."""
    varying = [figure for figure in series.told if figure.varies]
    if len(varying) != 1 or not varying[0].apart[-1] or not is_extreme(varying[0]):
        return ""
    figure = varying[0]
    measure = measure_of(series, figure.place)
    words = {"time": ("shortest", "longest"), "size": ("smallest", "largest")}.get(measure, ("least", "greatest"))
    return f"the {words[figure.newest.number == figure.greatest.number]} of "


def telling_figures(series: Series) -> list[Figure]:
    """The figures that usually vary, the most interesting first; of several that always have the same value only one,
    and none without a name or a unit if others have one."""
    moving = [figure for figure in series.told if figure.movement]
    moving.sort(key=lambda figure: (*_dullness(series, figure), figure.place))
    different = {tuple(v.number for v in f.values): f for f in sorted(moving, key=lambda f: -f.place)}
    chosen = [figure for figure in moving if figure in different.values()]
    named = [figure for figure in chosen if _name(series, figure.place) or _is_measured(series, figure.place)]
    return named or chosen


def _dullness(series: Series, figure: Figure) -> tuple[bool, ...]:
    """What falls short of its whole says most, then what has unusual values: they are told beside the usual ones. What
    hardly ever changes says least, then what only counts on, then what has two values; durations and sizes say less
    than levels."""
    numbers = Counter(value.number for value in figure.usual)
    return (
        not figure.falls_short,
        is_dull(figure),
        not _is_money_or_share(series, figure),
        not any(figure.outside),
        len(numbers) <= 2,
        measure_of(series, figure.place) in ("time", "size"),
    )


def is_dull(figure: Figure) -> bool:
    """Whether a figure hardly ever changes, or only counts on."""
    numbers = Counter(value.number for value in figure.usual)
    hardly_changes = max(numbers.values()) >= _HARDLY_CHANGES * len(figure.usual)
    return (hardly_changes and not figure.falls_short) or (figure.rises and len(numbers) > 2)


def _is_money_or_share(series: Series, figure: Figure) -> bool:
    return has_currency(series, figure.place) or unit_of(series, figure.place).strip() in ("%", "EUR", "USD")


def _is_measured(series: Series, place: int) -> bool:
    return bool(unit_of(series, place)) or has_currency(series, place)


def ranges(series: Series, figures: Sequence[Figure], level: int, named: Named, *, lead: str = "") -> str:
    """A sentence with the range of each of these figures, or nothing: the usual values, if others are told apart.
    `lead`: what the line is about, where that is said before its values, and needs not be said again."""
    if not figures:
        return ""
    is_usual = any(map(named.of, figures))
    is_one_of_several = sum(figure.varies for figure in series.told) > 1
    is_named_behind = (
        is_usual and is_one_of_several and all(name_and_side(series, figure.place)[1] for figure in figures)
    )
    if ((is_usual or level == EXTREMES) and len(figures) > 1) or is_named_behind:
        told = [_usually(series, figure, named, lead) for figure in figures]
        said = ("; " if any(", " in one for one in told) else ", ").join(told)
        return f" Usually {said}." if is_usual else f" {capitalised(said)}."
    said = "; ".join(_range(series, figure, level, named) for figure in figures)
    return f" {capitalised(said)}."


def range_in_brackets(series: Series, figure: Figure, named: Named) -> str:
    """The range of a figure as it stands behind its newest value: `usually 0.87 to 1.00`. Nothing, if
    that is the usual one."""
    values, place = kept(figure, named), figure.place
    least, greatest = (choose(values, key=lambda value: value.number) for choose in (min, max))
    between = " or " if _is_either(values) else " to "
    said = amounts(series, place, least.text, between, greatest.text)
    if least.number == greatest.number == figure.newest.number:
        return ""
    if least.number == greatest.number:
        said = amount(series, place, least.text)
    unit = unit_of(series, place)
    if unit.startswith(" "):
        said = said.removesuffix(unit)
    return said if len(values) == len(figure.values) else f"usually {said}"


def _usually(series: Series, figure: Figure, named: Named, lead: str) -> str:
    values = kept(figure, named)
    least, greatest = (choose(values, key=lambda value: value.number) for choose in (min, max))
    between = " or " if _is_either(values) else " to "
    if least.number == greatest.number:
        said = amount(series, figure.place, least.text)
    else:
        said = amounts(series, figure.place, least.text, between, greatest.text)
    if shortfall := _shortfall(series, figure, named, with_day=False):
        return shortfall
    name = name_of(series, figure.place)
    if lead and name in ("", lead):
        return f"{said}{_now(figure, named, ' ({})')}"
    words = beside_name(series, figure.place, said) if name else f"{measure_of(series, figure.place)} {said}".strip()
    if _is_short_enough(series, figure.place):
        words = words.replace(name, name.rpartition(" ")[2], 1)
    return f"{words[:1].lower() + words[1:] if _is_sentence_case(words) else words}{_now(figure, named, ' ({})')}"


def _is_short_enough(series: Series, place: int) -> bool:
    """Whether the last word of a name says which figure it is: `accuracy` of `dev accuracy`."""
    names = {figure.place: name_of(series, figure.place) for figure in series.told}
    last = names[place].rpartition(" ")[2]
    return names[place].islower() and all(last not in name.split() for other, name in names.items() if other != place)


def _is_sentence_case(words: str) -> bool:
    first, _, rest = words.partition(" ")
    return first[1:].islower() and rest[:1].islower()


def kept(figure: Figure, named: Named) -> list[Value]:
    """The values of a figure that are not told apart."""
    apart = named.of(figure)
    return [value for n, value in enumerate(figure.values) if n not in apart]


def _is_either(values: Sequence[Value]) -> bool:
    times = Counter(value.number for value in values)
    return len(times) == 2 and min(times.values()) > 1


def _now(figure: Figure, named: Named, form: str) -> str:
    """That the newest value is not among the usual ones."""
    if len(figure.values) - 1 not in named.of(figure):
        return ""
    usual = [value.number for value in kept(figure, named)]
    newest = figure.newest.number
    return form.format("now above" if newest > max(usual) else "now below" if newest < min(usual) else "now apart")


def _shortfall(series: Series, figure: Figure, named: Named, *, with_day: bool = True) -> str:
    """How often a figure fell short of its whole, if it reached it otherwise: `modules 5/6 five times, else 6/6`."""
    values = kept(figure, named)
    times = Counter(value.text for value in values)
    if not figure.falls_short or len(times) != 2:
        return ""
    (full,) = {value.text for value in values if value.number == 1} or {""}
    short = [value for value in values if value.text != full]
    if not full or len({value.number for value in short}) != 1:
        return ""
    count = len(short)
    is_now = short[-1] is figure.newest
    last = "" if is_now or not with_day else f" ({'last ' if count > 1 else ''}{when(series, short[-1].at)})"
    return f"{_name(series, figure.place)} {short[-1].text} {often(count)}{last}, else {full}".strip()


def often(count: int) -> str:
    """How often, in words up to ten."""
    return _TIMES[count - 1] if 0 < count <= len(_TIMES) else f"{count} times"


def _range(series: Series, figure: Figure, level: int, named: Named) -> str:
    name = _name(series, figure.place) or ("" if _is_measured(series, figure.place) else "value")
    first, newest, year = figure.first, figure.newest, series.newest.at.year
    values = kept(figure, named)
    is_told_apart = len(values) < len(figure.values)
    lead = f"{name}{' usually' if is_told_apart else ''} ".lstrip()
    if (figure.rises or figure.falls) and level > EXTREMES and not is_told_apart:
        oldest = amount(series, figure.place, first.text)
        if level >= DAYS:
            oldest += f" ({day_of(first.at, year)})"
        moved = "rose" if figure.rises else "fell"
        return f"{name or 'value'} {moved} from {oldest} to {amount(series, figure.place, newest.text)}"
    if shortfall := _shortfall(series, figure, named):
        return shortfall
    if _is_either(values):
        least, greatest = (choose(values, key=lambda value: value.number) for choose in (min, max))
        either = amounts(series, figure.place, least.text, " or ", greatest.text)
        return f"{lead}{either}{_now(figure, named, ', {}')}"
    text = f"{lead}{_between(series, figure, EXTREMES if is_told_apart else level, named)}"
    if level >= MEDIAN and len({v.number for v in values}) > 2 and _has_median(figure):
        text += f", median {amount(series, figure.place, figure.median)}"
    if level >= DAYS and figure.has_course and not is_told_apart:
        said = (figure.least.text, figure.greatest.text, figure.median)
        text += f", at first {amount(series, figure.place, first.text)}" if first.text not in said else ""
    return text if extreme_newest(series) else text + _now(figure, named, ", {}")


def _has_median(figure: Figure) -> bool:
    return not figure.is_share and (not figure.is_whole or figure.median in {value.text for value in figure.values})


def _between(series: Series, figure: Figure, level: int, named: Named) -> str:
    """The extremes of a figure, with their days: the day of the newest value is not said again, and of a value that
    returned it is the last one."""
    values = kept(figure, named)[::-1]
    least, greatest = (choose(values, key=lambda value: value.number) for choose in (min, max))
    if level == EXTREMES:
        return amounts(series, figure.place, least.text, " to ", greatest.text)
    times = Counter(value.number for value in figure.values)

    def extreme(value: Value) -> str:
        said = amount(series, figure.place, value.text)
        again = times[value.number] > 1
        if value.number == figure.newest.number or (again and level < DAYS):
            return said
        return f"{said} ({'last ' if again else ''}{when(series, value.at)})"

    return f"{extreme(least)} to {extreme(greatest)}"


def _name(series: Series, place: int) -> str:
    """The name of a figure, or what its unit measures."""
    return name_of(series, place) or measure_of(series, place)
