"""Between which values the figures of a series lie, in words."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of, when
from memory_pipeline.wording.series_figures import Figure, Value, are_two
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
from memory_pipeline.wording.series_near import EXACT, rounded
from memory_pipeline.wording.series_unusual import Named, has_own_unit, is_extreme, on_day

#: How full a range is: only the bound beyond which something was unusual; the extremes; with the days of those that
#: came once; with every day and where a course began; with the median.
BOUND, EXTREMES, SINGLE_DAYS, DAYS, MEDIAN = 0, 1, 2, 3, 4
#: A usual range is wide if it is so many times as wide as what holds four of five.
_WIDE = 2
#: A steady rise has so many values.
_FEWEST_STEPS = 3
#: A figure hardly changes if this share of its values are equal.
_HARDLY_CHANGES = 0.8
_TIMES = ("once", "twice", "three times", "four times", "five times", "six times", "seven times", "eight times",
          "nine times", "ten times")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Usual:
    """Between which values a figure lies: nothing is left out but what is told apart, and then `word` is `usually`.
    `mostly`: between which four of five before the newest lie, where others lie apart that are not told, or all are
    much further apart and the newest is not among the four."""

    word: str
    least: Value
    greatest: Value
    is_either: bool = False
    mostly: tuple[Value, Value] | None = None


def usual_of(series: Series, figure: Figure, named: Named) -> Usual:
    """Between which values a figure lies, beside those that are told apart, and beside a newest value of which it is
    said that it is the least or the greatest."""
    told, newest = named.of(figure), len(figure.values) - 1
    values = kept(figure, named)
    if len(values) > 1 and values[-1] is figure.newest and extreme_newest(series):
        values = values[:-1]
    least, greatest = (choose(values, key=lambda value: value.number) for choose in (min, max))
    if told and figure.mostly is not None:
        low, high = figure.mostly
        is_told_whole = all(n in told for n, is_apart in enumerate(figure.apart) if is_apart)
        is_wide = greatest.number - least.number > _WIDE * (high.number - low.number)
        is_newest_off = not low.number <= figure.newest.number <= high.number and newest not in told
        is_inside = least.number <= low.number <= high.number <= greatest.number
        is_narrower = (low.number, high.number) != (least.number, greatest.number)
        if is_inside and is_narrower and (not is_told_whole or (is_wide and is_newest_off)):
            return Usual("", least, greatest, mostly=figure.mostly)
    return Usual("usually" if told else "", least, greatest, are_two(values))


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


def ranges(series: Series, figures: Sequence[Figure], level: int, named: Named) -> str:
    """A sentence with the range of each of these figures, or nothing: the usual values, if others are told apart."""
    if not figures:
        return ""
    is_usual = any(map(named.of, figures))
    is_one_of_several = sum(figure.varies for figure in series.told) > 1
    is_named_behind = (
        is_usual and is_one_of_several and all(name_and_side(series, figure.place)[1] for figure in figures)
    )
    if ((is_usual or level <= EXTREMES) and len(figures) > 1) or is_named_behind:
        return _together(series, figures, level, named)
    said = "; ".join(_range(series, figure, level, named) for figure in figures)
    return f" {capitalised(said)}."


def ranges_in_short(series: Series, figures: Sequence[Figure], named: Named, nearness: int, *, brief: bool) -> str:
    """The same with rounded ends. `brief`: without the name of a figure that its unit tells, and without where a
    steady rise or fall has come to, which the newest value says."""
    return _together(series, figures, EXTREMES, named, nearness, brief=brief)


def _together(
    series: Series, figures: Sequence[Figure], level: int, named: Named, nearness: int = EXACT, *, brief: bool = False
) -> str:
    """The ranges of several figures, of which it is said once that they are the usual ones, behind what rose or fell
    steadily but for what was unusual."""
    steady = {figure.place: way for figure in figures if (way := _steady(series, figure, named, brief=brief))}
    others = [figure for figure in figures if figure.place not in steady]
    told = [_usually(series, figure, named, level, nearness, brief=brief) for figure in others]
    between = "; " if any(", " in one for one in told) else ", "
    is_usual = any(map(named.of, others))
    usually = " ".join(part for part in ("usually" if is_usual else "", between.join(told)) if part)
    return f" {capitalised(', '.join([*steady.values(), *([usually] if usually else [])]))}."


def _extremes(series: Series, place: int, usual: Usual, nearness: int = EXACT) -> str:
    least, greatest = usual.least.text, usual.greatest.text
    if usual.least.number == usual.greatest.number:
        return amount(series, place, least)
    if not usual.is_either:
        least, greatest = rounded(least, greatest, nearness)
    return amounts(series, place, least, " or " if usual.is_either else " to ", greatest)


def _bound(series: Series, figure: Figure, named: Named) -> str:
    """The usual bound on the side on which values are told apart: `up to 1.4`, `80.5% or more`."""
    usual, apart = usual_of(series, figure, named), [figure.values[n].number for n in named.of(figure)]
    if apart and min(apart) > usual.greatest.number:
        return f"up to {amount(series, figure.place, usual.greatest.text)}"
    if apart and max(apart) < usual.least.number:
        return f"{amount(series, figure.place, usual.least.text)} or more"
    return ""


def _steady(series: Series, figure: Figure, named: Named, *, brief: bool = False) -> str:
    """That a figure rose or fell from reading to reading but for what is told apart, if it did. `brief`: without its
    newest value."""
    values = kept(figure, named)
    numbers = [value.number for value in values]
    if not named.of(figure) or len({*numbers}) < _FEWEST_STEPS:
        return ""
    rises = all(a <= b for a, b in itertools.pairwise(numbers))
    if not rises and not all(a >= b for a, b in itertools.pairwise(numbers)):
        return ""
    name = _name(series, figure.place) or "value"
    first, last = (amount(series, figure.place, value.text) for value in (values[0], values[-1]))
    is_said = brief and values[-1] is figure.newest
    moved = f"{name} {'rose' if rises else 'fell'} from {first}{'' if is_said else f' to {last}'}"
    return moved if extreme_newest(series) else moved + _now(series, figure, named, " ({})")


def _usually(series: Series, figure: Figure, named: Named, level: int, nearness: int, *, brief: bool) -> str:
    bound = _bound(series, figure, named) if level == BOUND else ""
    said = bound or _extremes(series, figure.place, usual_of(series, figure, named), nearness)
    if brief and said.count("%") > 1:
        said = said.replace("%", "", said.count("%") - 1)
    if shortfall := _shortfall(series, figure, named, with_day=False):
        return shortfall
    name = name_of(series, figure.place)
    if (bound or brief) and has_own_unit(series, figure.place):
        return f"{said}{_now(series, figure, named, ' ({})')}"
    words = beside_name(series, figure.place, said) if name else f"{measure_of(series, figure.place)} {said}".strip()
    if _is_short_enough(series, figure.place):
        words = words.replace(name, name.rpartition(" ")[2], 1)
    is_sentence = _is_sentence_case(words) and not bound
    return f"{words[:1].lower() + words[1:] if is_sentence else words}{_now(series, figure, named, ' ({})')}"


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


def _now(series: Series, figure: Figure, named: Named, form: str) -> str:
    """That the newest value is not among the usual ones."""
    if len(figure.values) - 1 not in named.of(figure):
        return ""
    usual, newest = usual_of(series, figure, named), figure.newest.number
    is_above, is_below = newest > usual.greatest.number, newest < usual.least.number
    words = "now above" if is_above else "now below" if is_below else "now apart" if usual.mostly is None else ""
    return form.format(words) if words else ""


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
    values, usual = kept(figure, named), usual_of(series, figure, named)
    is_told_apart = len(values) < len(figure.values)
    lead = f"{name} {usual.word} ".lstrip().replace("  ", " ")
    if steady := _steady(series, figure, named):
        return steady
    if (figure.rises or figure.falls) and level > EXTREMES and not is_told_apart:
        oldest = amount(series, figure.place, first.text)
        if level >= DAYS:
            oldest += f" ({day_of(first.at, year)})"
        moved = "rose" if figure.rises else "fell"
        return f"{name or 'value'} {moved} from {oldest} to {amount(series, figure.place, newest.text)}"
    if shortfall := _shortfall(series, figure, named):
        return shortfall
    if usual.is_either:
        return f"{lead}{_extremes(series, figure.place, usual)}{_now(series, figure, named, ', {}')}"
    bound = _bound(series, figure, named) if level == BOUND else ""
    has_days = named.of(figure) <= series.lone_outcomes and usual.mostly is None
    between = _between(series, figure, level, named) if has_days else _extremes(series, figure.place, usual)
    text = f"{lead}{bound or between}"
    if usual.mostly is not None:
        text += f", {_mostly(series, figure, usual)}"
    if level >= MEDIAN and len({v.number for v in values}) > 2 and _has_median(figure):
        text += f", median {amount(series, figure.place, figure.median)}"
    if level >= DAYS and figure.has_course and not is_told_apart:
        said = (figure.least.text, figure.greatest.text, figure.median)
        text += f", at first {amount(series, figure.place, first.text)}" if first.text not in said else ""
    return text if extreme_newest(series) else text + _now(series, figure, named, ", {}")


def _mostly(series: Series, figure: Figure, usual: Usual, *, brief: bool = False) -> str:
    """Between which values four of five of the readings before the newest lie. `brief`: without the unit, and without
    an end that is that of all."""
    assert usual.mostly is not None
    low, high = usual.mostly
    said = _extremes(series, figure.place, Usual("", low, high))
    if brief and high.number == usual.greatest.number:
        said = f"from {amount(series, figure.place, low.text)}"
    elif brief and low.number == usual.least.number:
        said = f"up to {amount(series, figure.place, high.text)}"
    unit = unit_of(series, figure.place)
    return f"mostly {said.replace(unit, '') if brief and unit.startswith(' ') else said}"


def range_of_one(series: Series, figure: Figure, named: Named) -> str:
    """The range of the one figure that varies and what was unusual in it, in one sentence that says its unit once."""
    usual, unit = usual_of(series, figure, named), unit_of(series, figure.place)
    odd = [one for day in named.days for one in day if one.figure is figure and one.day != "now"]
    odd.sort(key=lambda one: one.number)
    told = [f"{amount(series, figure.place, figure.values[one.number].text)} {on_day(series, one)}" for one in odd]
    mostly = f", {_mostly(series, figure, usual, brief=True)}" if usual.mostly is not None else ""
    apart = ", ".join(told).replace(unit, "") if unit.startswith(" ") else ", ".join(told)
    now = "" if extreme_newest(series) else _now(series, figure, named, ", {}")
    said = f"{_name(series, figure.place)} {usual.word} {_extremes(series, figure.place, usual)}{mostly}{now}"
    return f" {capitalised(' '.join(said.split()))}{f'; {apart}' if apart else ''}."


def _has_median(figure: Figure) -> bool:
    return not figure.is_share and (not figure.is_whole or figure.median in {value.text for value in figure.values})


def _between(series: Series, figure: Figure, level: int, named: Named) -> str:
    """The extremes of a figure, with their days: the day of the newest value is not said again, and of a value that
    returned it is the last one."""
    values = kept(figure, named)[::-1]
    least, greatest = (choose(values, key=lambda value: value.number) for choose in (min, max))
    if level <= EXTREMES:
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
