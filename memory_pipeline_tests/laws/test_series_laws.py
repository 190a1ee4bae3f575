"""Law: what a series memory says, its readings say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of
from memory_pipeline.wording.series_near import NEAR as NEAR_ENDS
from memory_pipeline.wording.series_near import rounded
from memory_pipeline.wording.series_words import describe_series, is_true
from memory_pipeline_tests.wording.told_series import series, words

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
NUMBER = r"\d+\.\d{3}"
ROUNDED = r"\d+(?:\.\d+)?"
RANGE = rf"{ROUNDED}(?: (?:to|or) {ROUNDED})?"
DAY = r"\d{1,2} March"
#: Values near each other, and now and then a far one.
NEAR = st.integers(1000, 1400)
VALUES = st.one_of(NEAR, NEAR, NEAR, NEAR, NEAR, NEAR, st.integers(0, 9000)).map(lambda n: f"{n / 1000:.3f}")
#: Values that return, near two levels.
FEW = st.one_of(st.sampled_from(("1.000", "1.001")), st.sampled_from(("1.000", "1.001", "5.000", "5.090")), VALUES)
COUNTS = st.integers(24, 64)


def told_in(text: str) -> set[str]:
    """The figures that a text says; a median may be the mean of two."""
    return set(re.findall(rf"(?<![\d.]){NUMBER}(?!\d)", re.sub(r"median [\d.]+", "", text)))


def is_near(value: str, numbers: Iterable[float]) -> bool:
    """Whether a value of a text is one of these, or rounded: at most half a unit of its last digit from one."""
    half = 0.5 * 10.0 ** -len(value.partition(".")[2])
    return any(abs(float(value) - x) <= half * 1.001 for x in numbers)


def check_days(one: Series, text: str) -> None:
    """Every value that is said of a day was read on that day."""
    read = {(value.text, day_of(value.at)[: -len(" 2026")]) for figure in one.figures for value in figure.values}
    for value, day in re.findall(rf"({NUMBER})(?: s)?(?: on | \()({DAY})", text):
        assert (value, day) in read, text


@settings(max_examples=60, deadline=None)
@given(st.lists(VALUES, min_size=5, max_size=24), COUNTS)
def test_one_figure_is_told_between_values_that_hold(values: list[str], most: int) -> None:
    one = series("Check took {}s", *values)
    text = "\n".join(describe_series(one, words, most))
    assert told_in(text) <= {*values}
    check_days(one, text)
    numbers = [float(value) for value in values]
    behind = text.partition(" readings since ")[2]
    apart = {float(value) for value in re.findall(rf"({NUMBER})(?: s)? on {DAY}(?! 2026)", behind)}
    if found := re.search(rf"Time (?:usually )?({NUMBER})(?: s)?(?: \([^)]*\))? to ({NUMBER}) s", behind):
        low, high = map(float, found.groups())
        newest = {numbers[-1]} if "est of" in text or " now " in text else set()
        assert all(low <= x <= high for x in numbers if x not in apart | newest), text
    if found := re.search(rf"mostly (?:(from|up to) )?({NUMBER})(?: to ({NUMBER}))?", behind):
        way, one, other = found.groups()
        low = -1.0 if way == "up to" else float(one)
        high = 1e9 if way == "from" else float(other or one)
        assert sum(low <= x <= high for x in numbers[:-1]) >= 4 / 5 * (len(numbers) - 1), text
    if extreme := re.search(r"the (shortest|longest) of", text):
        assert numbers[-1] == (min if extreme.group(1) == "shortest" else max)(numbers), text


def within(value: str, numbers: Iterable[float]) -> bool:
    """Whether all of these lie in a range such as `1.2 to 1.4`, of which the ends may be rounded."""
    low, _, high = value.partition(" to " if " to " in value else " or ")
    ends = float(low), float(high or low)
    return all(ends[0] <= x <= ends[1] or is_near(low, [x]) or is_near(high or low, [x]) for x in numbers)


def check_beside(said: str, numbers: Sequence[float]) -> None:
    """What stands in brackets behind the newest value of a figure holds for every reading, one a day."""
    *before, newest = numbers
    usual, _, one_by_one = said.partition("; ")
    apart = {float(value) for value in re.findall(rf"({NUMBER}) on {DAY}", one_by_one)}
    if found := re.fullmatch(
        rf"({RANGE}) until (\d+) March(?:, (then )?({RANGE})(?: until (\d+) March| since))?", usual
    ):
        first, last, is_left, then, _ = found.groups()
        assert within(first, [x for x in numbers[: int(last)] if x not in apart]), said
        later = before if is_left else numbers
        assert within(then or str(newest), [x for x in later[int(last) :] if x not in apart]), said
    elif found := re.fullmatch(rf"({RANGE}) (?:from (\d+) to|on) (\d+) March, else ({RANGE})", usual):
        there, first, last, other = found.groups()
        during = range(int(first or last) - 1, int(last))
        assert within(there, [numbers[n] for n in during]), said
        assert within(other, [x for n, x in enumerate(numbers) if n not in during]), said
    elif found := re.fullmatch(
        rf"({RANGE}) in (\d+) of \d+, else ({NUMBER}(?: to {NUMBER})?)(?:, the most on {DAY})?", usual
    ):
        most = {float(value) for value in re.findall(NUMBER, found.group(1))}
        assert sum(x in most for x in numbers) == int(found.group(2)), said
        assert within(found.group(3), [x for x in numbers if x not in most]), said
    elif found := re.fullmatch(rf"({NUMBER}) on 1 March", usual):
        assert float(found.group(1)) == numbers[0] and len({*numbers[1:]}) == 1, said
    elif found := re.fullmatch(rf"up from ({NUMBER})(?: on 1 March)?, at most ({NUMBER}) on {DAY}", usual):
        assert [float(x) for x in found.groups()] == [numbers[0], max(numbers)] and min(numbers) == numbers[0], said
        assert sum(max(0.0, a - b) for a, b in pairwise(numbers)) <= 0.1001 * (newest - numbers[0]), said
    elif found := re.fullmatch(rf"(up|down) from ({NUMBER})(?: on 1 March)?", usual):
        assert float(found.group(2)) == numbers[0] and sorted(numbers, reverse=found.group(1) == "down") == [*numbers]
    else:
        plain = re.sub(rf"(?:, the (?:least|most))? on {DAY}", "", usual)
        found = re.fullmatch(rf"(usually )?({RANGE})(?:, mostly ({RANGE}))?(?:, median [\d.]+)?", plain)
        assert found is not None, said
        assert within(found.group(2), [x for x in before if x not in apart]), said
        assert not found.group(1) or apart, said
        if mostly := found.group(3):
            assert sum(within(mostly, [x]) for x in before) >= 4 / 5 * len(before), said


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(*[VALUES, VALUES, *[FEW] * (len(NAMES) - 2)]), min_size=5, max_size=20), COUNTS)
def test_of_many_figures_each_is_told_whole_or_counted(values: list[tuple[str, ...]], most: int) -> None:
    one = series("Check: " + ", ".join(f"{name} {{}}" for name in NAMES), *values)
    texts = describe_series(one, words, most)
    assert is_true(one, texts)
    text = "\n".join(texts)
    assert told_in(text) <= {value for reading in values for value in reading}
    check_days(one, text)
    if not told_in(text.partition("; ")[0]):
        return  # there is no room for one figure
    more = re.search(r" and (\d+) more figures?[;,]", text)
    told = [name for name in NAMES if re.search(rf"\b{name} {NUMBER}", text)]
    moving = {name for n, name in enumerate(NAMES) if len({float(reading[n]) for reading in values}) > 1}
    assert len(told) + int(more.group(1)) == len(NAMES) if more else {*told} >= moving, text
    for name, column in zip(NAMES, zip(*values, strict=True), strict=True):
        if found := re.search(rf"\b{name} {re.escape(column[-1])} \(([^)]*)\)", text):
            check_beside(found.group(1), [float(value) for value in column])


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=8, max_size=20), st.integers(24, 80))
def test_rounded_ends_are_at_most_half_a_unit_from_what_was_read(values: list[tuple[str, str, str]], most: int) -> None:
    one = series("Check: alpha {}s, beta {}%, gamma {}", *values)
    text = "\n".join(describe_series(one, words, most))
    numbers = [float(value) for reading in values for value in reading]
    behind = re.sub(r"median [\d.]+", "", text.partition(" readings since ")[2])
    for value in re.findall(rf"(?<![\d.])({ROUNDED})%?(?: to | s\b|%)", behind):
        assert is_near(value, numbers), text
    exact = {value for reading in values for value in reading}
    for value in re.findall(rf"({NUMBER})(?: s|%)?(?: on {DAY}|,)", text.partition("; ")[0]):
        assert value in exact, text


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 5), st.just(NEAR_ENDS))
def test_ends_are_near_and_stay_apart(one: int, other: int, decimals: int, nearness: int) -> None:
    low, high = (f"{n / 10**decimals:.{decimals}f}" for n in sorted((one, other)))
    least, greatest = rounded(low, high, nearness)
    assert is_near(least, [float(low)]) and is_near(greatest, [float(high)])
    assert float(least) < float(greatest) or one == other
