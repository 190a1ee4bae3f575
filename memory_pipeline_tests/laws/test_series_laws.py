"""Law: what a series memory says, its readings say."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_days import day_of
from memory_pipeline.wording.series_words import describe_series
from memory_pipeline_tests.wording.told_series import series, words

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
NUMBER = r"\d+\.\d{3}"
DAY = r"\d{1,2} March"
#: Values near each other, and now and then a far one.
NEAR = st.integers(1000, 1400)
VALUES = st.one_of(NEAR, NEAR, NEAR, NEAR, NEAR, NEAR, st.integers(0, 9000)).map(lambda n: f"{n / 1000:.3f}")
COUNTS = st.integers(24, 64)


def told_in(text: str) -> set[str]:
    """The figures that a text says; a median may be the mean of two."""
    return set(re.findall(rf"(?<![\d.]){NUMBER}(?!\d)", re.sub(r"median [\d.]+", "", text)))


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
    more = re.search(r" and (\d+) more figures?;", text)
    told = [name for name in NAMES if re.search(rf"\b{name} {NUMBER}", text)]
    assert not more or len(told) + int(more.group(1)) == len(NAMES), text
    for name, column in zip(NAMES, zip(*values, strict=True), strict=True):
        numbers = [float(value) for value in column]
        found = re.search(rf"\b{name} {column[-1]} \((mostly |usually |)(?:up to )?({NUMBER})? to ({NUMBER})", text)
        if found is None or found.group(2) is None:
            continue
        low, high = float(found.group(2)), float(found.group(3))
        if found.group(1) == "mostly ":
            assert sum(low <= x <= high for x in numbers[:-1]) >= 4 / 5 * (len(numbers) - 1), text
        elif not found.group(1):
            assert (low, high) == (min(numbers), max(numbers)), text
