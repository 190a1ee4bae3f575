"""Law: what a series memory says, its readings say."""

from __future__ import annotations

import re
from math import ceil

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_pipeline.text.place_names import holds_readings
from memory_pipeline.text.series_words import day_in_words, describe_series, is_true
from memory_pipeline_tests.text.told_series import series, words

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
#: Values near each other, values that return, and now and then a far one.
NEAR = st.integers(1000, 1400)
VALUES = st.one_of(NEAR, NEAR, NEAR, st.sampled_from((1000, 1001)), st.integers(0, 9000)).map(
    lambda n: f"{n / 1000:.3f}"
)
CLAUSE = re.compile(
    r"(?P<name>[a-z]+) (?P<least>[\d.]+) to (?P<greatest>[\d.]+)"
    r"(?:, (?P<way>rising|falling)|, usually (?P<low>[\d.]+)(?: to (?P<high>[\d.]+))?)?(?:, but (?P<apart>.+))?"
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[VALUES] * len(NAMES)), min_size=5, max_size=24), st.integers(70, 200))
def test_each_figure_is_told_as_it_was_read_or_counted(readings: list[tuple[str, ...]], most: int) -> None:
    one = series("Check: " + ", ".join(f"{name} {{}}" for name in NAMES), *readings)
    text = describe_series(one, words, most)
    assert words(text) <= most and is_true(one, text) and holds_readings(one)
    newest = f"({day_in_words(one.newest.at)}, the newest of {len(readings)} readings since 1 March)."
    head, _, body = text.partition(newest)
    assert body is not None and one.newest.line.text.startswith(head.strip().removesuffix(" …"))
    columns = dict(zip(NAMES, zip(*readings, strict=True), strict=True))
    body, _, left = body.strip().partition(" more figure")
    clauses, _, number = body.rpartition(". ") if left else (body.removesuffix("."), "", "0")
    clauses, number = ("", body) if left and not number else (clauses, number or "0")
    told = {}
    for clause in filter(None, clauses.split("; ")):
        found = CLAUSE.fullmatch(clause)
        assert found is not None, clause
        told[found["name"]] = found
    varying = {name for name, column in columns.items() if len({*map(float, column)}) > 1}
    assert told.keys() <= varying and len(told) + int(number) == len(varying)
    for name, found in told.items():
        numbers = [float(value) for value in columns[name]]
        assert (float(found["least"]), float(found["greatest"])) == (min(numbers), max(numbers))
        if found["way"]:
            assert numbers == sorted(numbers, reverse=found["way"] == "falling")
        if found["low"]:
            low, high = float(found["low"]), float(found["high"] or found["low"])
            assert sum(low <= x <= high for x in numbers) >= ceil(0.8 * len(numbers)) and {low, high} <= {*numbers}
        for value, day in re.findall(r"([\d.]+) on (\d+) March", found["apart"] or ""):
            assert columns[name][int(day) - 1] == value
