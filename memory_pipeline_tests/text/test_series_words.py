"""What a series says, in one form: the newest line with its day, how many readings, and each value that varies."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from memory_pipeline.text.place_names import names_of
from memory_pipeline.text.readings import Figure, Value, read_memory, series_of
from memory_pipeline.text.series_words import is_true, line_in, varies
from memory_pipeline_tests.build import FIRST
from memory_pipeline_tests.text.told_series import said, series, words

PINGS = (260, 265, 991, 258, 262, 270, 836, *range(255, 271))


def test_the_newest_line_speaks_then_range_usual_values_and_exceptions_with_their_days() -> None:
    assert said(series("Latency: p95={}ms [OK]", *PINGS)) == (
        "Latency: p95=270ms [OK] (23 March 2026, the newest of 23 readings since 1 March). "
        "p95 255 to 991ms, usually 257 to 270, but 991 on 3 March and 836 on 7 March."
    )


def test_each_figure_has_the_words_beside_it() -> None:
    told = [(300 + n, f"0.{55 + 7 * n % 11}", 3 + n % 2) for n in range(6)]
    assert said(series("Barn: {} crates | moist = {}; {}/6 doors open (${}.50)", *((*one, 9) for one in told))) == (
        "Barn: 305 crates | moist = 0.57; 4/6 doors open ($9.50) (6 March 2026, the newest of 6 readings since "
        "1 March). Barn 300 to 305 crates, rising; moist 0.55 to 0.65, usually 0.55 to 0.62; 3/6 to 4/6 doors."
    )


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Pre-flight complete in {}s", ["Pre-flight complete in"]),
        ("Suite: {} passed, {} failed in {}s", ["Suite", "failed", "in"]),
        ("Spent today: ${} for {} calls", ["Spent today", "for"]),
        ("inbox-2: mail queue {}, tickets {}, {}% busy", ["mail queue", "tickets", "busy"]),
        ("{{'delta': {}, 'memory': {{'score': {}}}}}", ["delta", "score"]),
        ("Skills: Planning (week): {}; Writing: {}.", ["Planning", "Writing"]),
        ("检查完成,用时{}秒,剩余{}个", ["用时", "剩余"]),
        ("{} items, weather {} C", ["items", "weather"]),
    ],
)
def test_a_place_is_called_by_the_words_on_its_side_of_a_mark(line: str, names: list[str]) -> None:
    one = series(line, *[tuple(range(10 + n, 10 + n + line.count("{}"))) for n in range(6)])
    assert [one.name for one in names_of(one)] == names


def test_words_stand_with_their_counts_and_one_that_came_once_with_its_day() -> None:
    told = [("success", 40), ("success", 43), ("failed", 41), ("success", 45), ("failed", 44), ("lost", 42)]
    assert said(series("Nightly: outcome of the run, task={}, {} files", *told)).endswith(
        "task success 3, failed 2, lost 1 (6 March); 40 to 45 files, usually 40 to 44."
    )


def test_of_lists_the_words_that_are_not_in_all_are_counted() -> None:
    told = ["['a_one', 'b_two']", "['b_two', 'a_one']", "['a_one']", "['a_one', 'b_two']", "['a_one', 'c_new']"]
    assert said(series("Gate: leaving out {}", *told)).endswith("). leaving out b_two 3, c_new 1 (5 March).")


def test_a_line_in_which_nothing_varies_but_its_time_is_only_counted() -> None:
    one = series("Report kept at 0{}:30", *range(1, 7))
    assert said(one) == "Report kept at 06:30 (6 March 2026, the newest of 6 readings since 1 March)."
    assert not varies(one) and varies(series("Report kept in {}s", *range(1, 7)))


def test_two_readings_of_the_newest_day_have_a_clock_time() -> None:
    one = series("Tasks: {}", 10, 12, 11, 13, 10, 12, hours=12)
    assert f"(3 March 2026, {one.newest.at:%H:%M}, the newest of 6 readings" in said(one)


def test_what_finds_no_room_is_counted_and_the_exceptions_come_first() -> None:
    told = [tuple(n * k % 11 + 20 * k for k in range(1, 9)) for n in range(20)]
    told[4] = (*told[4][:7], 5000)
    one = series("Check: " + ", ".join(f"name{chr(97 + n)} {{}}" for n in range(8)), *told)
    for most in (70, 90, 120, 160):
        text = said(one, most)
        assert "nameh 160 to 5000" in text and "but 5000 on 5 March" in text
        told_apart = sum(f"name{chr(97 + n)} {20 * (n + 1)} to" in text for n in range(8))
        assert text.endswith(f" {8 - told_apart} more figures: series show.") or told_apart >= 7


def test_a_long_line_is_cut_between_its_words_and_never_in_a_value() -> None:
    text = said(
        series("LOG: " + " ".join(f"step{chr(97 + n % 26)}=done" for n in range(300)) + " total={}", 3, 4, 9, 5, 7)
    )
    assert " … (5 March 2026, the newest of 5 readings since 1 March). total 3 to 9, usually 3 to 7." in text
    long = said(series("値" * 90 + "{}" + "た" * 90, *(n + 0.25 for n in (1000, 1003, 1001, 1002, 1005))), 60)
    assert long.startswith("値" * 20) and not re.search(r"\d …", long.partition(" (")[0].replace("1005.25 …", ""))


def test_another_text_is_not_true_of_a_series() -> None:
    one = series("Latency: p95={}ms [OK]", *PINGS)
    text = said(one)
    for right, wrong in (
        ("270ms", "271ms"),
        ("991 on 3", "991 on 4"),
        ("23 readings", "24 readings"),
        ("257 to", "255 to"),
    ):
        assert right in text and not is_true(one, text.replace(right, wrong, 1))
    assert not is_true(one, "") and not is_true(one, text[:-1])


def test_the_line_of_a_series_is_what_a_person_asks_by() -> None:
    assert line_in(said(series("Latency: p95={}ms [OK]", *PINGS))) == "Latency: p95=270ms [OK]"
    assert line_in("Keep 3 copies (4 March 2026, a day) of all.") == "Keep 3 copies (4 March 2026, a day) of all."


def test_usual_is_the_narrowest_range_of_four_of_five_readings() -> None:
    figure = Figure(0, tuple(Value(str(n), FIRST + timedelta(days=n)) for n in (1, 20, 21, 22, 23, 24, 25, 26, 27, 90)))
    assert [value.text for value in figure.usual] == ["20", "27"]


def test_a_figure_that_only_rises_has_no_exception_and_one_that_returns_is_none() -> None:
    at = [FIRST + timedelta(days=n) for n in range(10)]
    rising = Figure(0, tuple(Value(str(2**n), day) for n, day in enumerate(at)))
    assert rising.rises and not any(rising.outside)
    twice = Figure(0, tuple(Value("500" if n in (2, 7) else str(30 + n % 3), day) for n, day in enumerate(at)))
    assert not any(twice.outside)
    once = Figure(0, tuple(Value("500" if n == 2 else str(30 + n % 3), day) for n, day in enumerate(at)))
    assert [n for n, is_outside in enumerate(once.outside) if is_outside] == [2]


def test_lines_of_another_form_than_most_are_left_out() -> None:
    lines = [*(f"Backup took {n} s" for n in (5, 6, 7)), "Restore took 4 s of all"]
    one = series_of(read_memory(f"r{n}", FIRST + timedelta(days=n), line) for n, line in enumerate(lines))
    assert [reading.memory_id for reading in one.readings] == ["r0", "r1", "r2"] and words(said(one)) < 40
