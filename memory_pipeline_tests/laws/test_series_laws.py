"""Law: what a series memory says, its readings say."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of
from memory_pipeline.wording.series_near import NEAR as NEAR_ENDS
from memory_pipeline.wording.series_near import ROUGH, rounded
from memory_pipeline.wording.series_words import describe_series
from memory_pipeline_tests.wording.told_series import series, words

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
TIMES = ("once", "twice", "three times", "four times", "five times", "six times", "seven times", "eight times")
NUMBER = r"\d+\.\d{3}"
ROUNDED = r"\d+(?:\.\d+)?"
DAY = r"\d{1,2} March"
#: Values near each other, and now and then a far one.
NEAR = st.integers(1000, 1400)
VALUES = st.one_of(NEAR, NEAR, NEAR, NEAR, NEAR, NEAR, st.integers(0, 9000)).map(lambda n: f"{n / 1000:.3f}")
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
    text = describe_series(one, words, most)
    assert told_in(text) <= {*values}
    check_days(one, text)
    numbers = [float(value) for value in values]
    apart = {float(value) for value in re.findall(rf"({NUMBER}) s on {DAY}(?! 2026)", text.partition("nusual:")[2])}
    if found := re.search(rf"Time (mostly|usually|)\s?({NUMBER})(?: s)?(?: \([^)]*\))? to ({NUMBER}) s", text):
        low, high = float(found.group(2)), float(found.group(3))
        before = numbers[:-1]
        if found.group(1) == "mostly":
            assert sum(low <= x <= high for x in before) >= 4 / 5 * len(before), text
        else:
            newest = {numbers[-1]} if "est of" in text or " now " in text else set()
            assert all(low <= x <= high for x in numbers if x not in apart | newest), text
    if extreme := re.search(r"the (shortest|longest) of", text):
        assert numbers[-1] == (min if extreme.group(1) == "shortest" else max)(numbers), text


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(*[VALUES] * len(NAMES)), min_size=5, max_size=20), COUNTS)
def test_of_many_figures_each_is_told_or_counted(values: list[tuple[str, ...]], most: int) -> None:
    one = series("Check: " + ", ".join(f"{name} {{}}" for name in NAMES), *values)
    text = describe_series(one, words, most)
    assert told_in(text) <= {value for reading in values for value in reading}
    check_days(one, text)
    more = re.search(r" and (\d+) more figures?[;,]", text)
    told = [name for name in NAMES if re.search(rf"\b{name} {NUMBER}", text)]
    assert not more or len(told) + int(more.group(1)) == len(NAMES), text
    for name, column in zip(NAMES, zip(*values, strict=True), strict=True):
        numbers = [float(value) for value in column]
        start = rf"\b{name} {re.escape(column[-1])} \("
        if often := re.search(rf"{start}(\w+(?: times)?) over ({ROUNDED}),", text):
            above = sum(x > float(often.group(2)) for x in numbers)
            assert often.group(1) in (TIMES[above - 1], f"{above} times"), text
        found = re.search(rf"{start}(mostly |usually |)({ROUNDED}) to ({ROUNDED})(?: since ({DAY}))?[,;)]", text)
        if found is None:
            continue
        low, high = found.group(2), found.group(3)
        assert is_near(low, numbers) and is_near(high, numbers), text
        within = [float(low) <= x <= float(high) or is_near(low, [x]) or is_near(high, [x]) for x in numbers]
        inside = [n for n, is_inside in enumerate(within) if is_inside]
        if found.group(1) == "mostly ":
            assert sum(n < len(numbers) - 1 for n in inside) >= 4 / 5 * (len(numbers) - 1), text
        elif since := found.group(4):
            first = int(since.split()[0]) - 1
            apart = len(re.findall(rf"{ROUNDED} on {DAY}", text.partition(f"since {since}")[2].partition(")")[0]))
            assert sum(n >= first for n in inside if n < len(numbers) - 1) + apart >= len(numbers) - 1 - first, text
            assert not any(n < first for n in inside), text
        elif not found.group(1):
            assert is_near(low, [min(numbers)]) and is_near(high, [max(numbers)]), text


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=8, max_size=20), st.integers(24, 80))
def test_rounded_ends_are_at_most_half_a_unit_from_what_was_read(values: list[tuple[str, str, str]], most: int) -> None:
    one = series("Check: alpha {}s, beta {}%, gamma {}", *values)
    text = describe_series(one, words, most)
    numbers = [float(value) for reading in values for value in reading]
    behind = re.sub(r"median [\d.]+", "", text.partition(" readings since ")[2])
    for value in re.findall(rf"(?<![\d.])({ROUNDED})%?(?: to | s\b|%)", behind):
        assert is_near(value, numbers), text
    exact = {value for reading in values for value in reading}
    for value in re.findall(rf"({NUMBER})(?: s|%)?(?: on {DAY}|,)", text.partition("; ")[0]):
        assert value in exact, text


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 5), st.sampled_from((NEAR_ENDS, ROUGH)))
def test_ends_are_near_and_stay_apart(one: int, other: int, decimals: int, nearness: int) -> None:
    low, high = (f"{n / 10**decimals:.{decimals}f}" for n in sorted((one, other)))
    least, greatest = rounded(low, high, nearness)
    assert is_near(least, [float(low)]) and is_near(greatest, [float(high)])
    assert float(least) < float(greatest) or one == other
