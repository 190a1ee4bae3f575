"""What a series of lines with many figures says: the day first, the newest values, what was unusual beside them."""

from __future__ import annotations

import re
import time
from datetime import timedelta

import pytest

from memory_pipeline.wording.readings import read_memory, series_of
from memory_pipeline.wording.series_beside import beside
from memory_pipeline.wording.series_near import EXACT, NEAR
from memory_pipeline.wording.series_ranges import BOUND
from memory_pipeline.wording.series_unusual import Named
from memory_pipeline.wording.series_words import describe_series, line_in
from memory_pipeline_tests.build import FIRST
from memory_pipeline_tests.wording.told_series import said, series

HOOKS = "HOOKS: 6 ran (fast_one={}s, slow_one={}s, idle_one={}s, middle_one={}s, long_one={}s, last_one={}s)"
STEADY = [(0.001, 1.5 + n / 10, 0, 0.5 + n / 10, 1.2 + n / 10, f"0.00{n + 1}") for n in range(8)]


def test_of_a_list_of_pairs_the_largest_are_said_and_how_many_more_there_are() -> None:
    text = said(series(HOOKS, *STEADY), 38)
    assert text == (
        "Hooks on 8 March 2026: slow_one 2.2 s, long_one 1.9 s, middle_one 1.2 s and 4 more figures; "
        "8 readings since 1 March."
    )
    assert "more" not in said(series(HOOKS, *STEADY))


def test_a_long_line_keeps_its_labels_and_its_beginning() -> None:
    text = (
        "Evening check complete. Score = {}. Parts: Memory (db): {}; Planning & Tasks: {}; Writing: {}; "
        "Reading: {}; Timings: {{'first': {}, 'second': {}}}"
    )
    told = [(60 + n, 70 + n % 3, 80 + n % 5, 90 - n % 4, 50 + n % 3, 40 + n % 2, 3 + n % 4) for n in range(8)]
    assert said(series(text, *told), 48) == (
        "Evening check on 8 March 2026: Score 67, Parts Memory 71, Planning & Tasks 82 (80 to 84), Writing 87 "
        "(87 to 90), Reading 51, Timings first 41, second 6; 8 readings since 1 March."
    )
    short = "Score 67, Parts Memory 71, Planning & Tasks 82, Writing 87 and 3 more figures; 8 readings"
    assert short in said(series(text, *told), 32)


def test_what_is_unusual_in_a_structure_has_the_name_of_the_structure() -> None:
    text = "Look inside: {}B, marks {}, parts {}, timings={{'goals': {}, 'total': {}, 'other': {}}}"
    told = [(5000 + n % 3, 20 + n % 4, 7 + n % 2, 1 + n % 2, 30 + n % 3, n % 3) for n in range(9)]
    told[3] = (*told[3][:3], 90, 800, told[3][5])
    assert "Unusual: timings goals 90, total 800 on 4 March." in said(series(text, *told), 80)
    assert "timings goals 1 (90 on 4 March), total 32 (usually 30 to 32, 800 on 4 March)" in said(series(text, *told))
    for most in (48, 38):
        text_of = said(series(text, *told), most)
        assert "parts 7, timings total 32 (up to 800 on 4 March) and 2 more figures; 9 readings" in text_of


def test_what_is_unusual_is_named_or_lies_in_the_range() -> None:
    told = [(n % 3, 4 + n % 2, 10 + n % 4, 20 + n % 3, 30 + n % 5, 40 + n % 2) for n in range(16)]
    told[3], told[9] = (*told[3][:4], 300, 41), (*told[9][:5], 90)
    line = "Check: alpha {}, beta {}, gamma {}, delta {}, epsilon {}, zeta {}"
    for most in range(20, 90, 6):
        text = said(series(line, *told), most)
        assert " days" not in text and "Other figures" not in text
        assert "30 to 34" not in text or "300 on 4 March" in text
        assert "40 or 41" not in text or "90 on 10 March" in text


def test_a_long_line_begins_with_the_same_figures_whatever_moved_last() -> None:
    line = "Check: alpha {}, beta {}, gamma {}, delta {}, epsilon {}, zeta {}"
    told = [(5 + n * 7 % 5, 40 + n * 5 % 4, n % 5, 20 + n % 3, n * 11 % 31, 40 + n % 2) for n in range(24)]
    for end in range(14, 25):
        text = re.sub(r"\d+", "N", said(series(line, *told[:end]), 40))
        assert text.startswith("Check on N March N: alpha N (N to N), beta N (N to N), gamma N") and len(text) < 130


def test_of_a_long_line_the_range_stands_behind_the_newest_value() -> None:
    line = "Check: alpha {}, beta {}, gamma {}, delta {}, current {}, zeta {}"
    told = [(5 + n * 7 % 5, 40 + n * 5 % 4, n % 5, 20 + n % 3, n * 11 % 31, 40 + n % 2) for n in range(24)]
    assert said(series(line, *told), 38) == (
        "Check on 24 March 2026: alpha 6 (5 to 9), beta 43, gamma 3, current 5 (0 to 30) and 2 more figures; "
        "24 readings since 1 March."
    )
    told[23] = (*told[23][:3], 900, *told[23][4:])
    assert "delta 900 (usually 20 to 22)" in said(series(line, *told), 44)


def test_what_a_structure_adds_up_to_is_said_before_its_parts() -> None:
    line = "Look: {}B, marks {}, took={{'one': {}, 'two': {}, 'three': {}, 'total': {}}}"
    told = [
        (500 + n * 7 % 5, 40 + n * 5 % 4, a := n % 5, b := 20 + n % 3, c := n * 11 % 31, a + b + c) for n in range(24)
    ]
    assert "501 B, marks 43, took total 30 and 3 more figures; 24 readings" in said(series(line, *told), 27)
    told[7] = (*told[7][:2], 60, *told[7][3:5], told[7][5] + 60 - told[7][2])
    told[8] = (*told[8][:2], 900, *told[8][3:5], told[8][4] + 900 + told[8][3])
    assert "more figure" not in said(series(line, *told), 80)


def test_of_the_parts_of_a_sum_the_farthest_is_told_or_all_are() -> None:
    line = "Look: {}B, marks {}, took={{'one': {}, 'two': {}, 'three': {}, 'total': {}}}"
    told = [
        (500 + n * 7 % 5, 40 + n * 5 % 4, 1 + n % 2, b := 20 + n % 3, 90 - b + n % 3, 91 + n % 2 + n % 3)
        for n in range(9)
    ]
    told[3] = (*told[3][:2], 40, 20, 32, 92)
    text = said(series(line, *told), 42)
    assert "B (500 to 504), took total 93 and 4 more figures, most unusual one 40 on 4 March, else 1 or 2; 9" in text
    assert said(series(line, *told), 35).endswith("Most unusual: one 40 on 4 March.")
    assert "Unusual: took one 40" in said(series(line, *told), 100)


def test_figures_in_words_come_before_those_in_structures() -> None:
    line = (
        "Analysis complete. {{'delta': {}, 'spread': {}, 'least': {}}}. {} tasks left. Parts: {{'one': {}, 'two': {}}}"
    )
    told = [(f"0.{10 + n * 3 % 7}", 40 + n * 5 % 9, n % 4, n * 11 % 31, 20 + n % 3, n % 5) for n in range(12)]
    assert "2026: 28 tasks left (0 to 28) and 5 more figures; 12 readings" in said(series(line, *told), 28)


def test_a_figure_that_was_unusual_has_no_range_that_hides_it() -> None:
    line = "Check: alpha {}, beta {}, gamma {}, delta {}, epsilon {}, zeta {}"
    told = [(5 + n * 7 % 5, 40 + n * 5 % 4, n % 5, 20 + n % 3, n * 11 % 31, 40 + n % 2) for n in range(24)]
    told[3] = (900, *told[3][1:])
    for most in range(24, 70, 4):
        text = said(series(line, *told), most)
        assert "to 900" not in text.replace("up to 900 on", "") and ("(5 to 9)" not in text)


def test_the_line_of_a_long_series_is_without_its_day_and_what_was_unusual() -> None:
    line = "Check: alpha {}, beta {}, gamma {}, delta {}, epsilon {}, zeta {}"
    told = [(5 + n * 7 % 5, 40 + n * 5 % 4, n % 5, 20 + n % 3, n * 11 % 31, 40 + n % 2) for n in range(24)]
    told[22] = (*told[22][:3], 900, *told[22][4:])
    text = said(series(line, *told, hours=12))
    assert "(usually 20 to 22, 900 that morning)" in text
    assert line_in(text) == "Check: alpha 6, beta 43, gamma 3, delta 22, epsilon 5, zeta 41"


def test_the_dash_of_a_list_is_no_part_of_a_figure() -> None:
    line = "Check: alpha {}; beta {}; - gamma {}; - delta {}; epsilon {}; zeta {}"
    told = [(n % 5, n % 4, n % 3, n % 2, n % 6, n % 7) for n in range(24)]
    assert "; gamma 2; delta 1; " in said(series(line, *told), 80)
    assert ", gamma 2, delta 1, " in said(series(line, *told), 36)


def test_every_figure_of_a_short_line_has_its_newest_value_and_as_many_as_can_a_range() -> None:
    told = [(4 + n % 2, 70 + n * 5 % 7, 3 + n * 3 % 8) for n in range(9)]
    line = "Broadcast: level {}, groups {}, hosts {}"
    assert "evel 4 or 5" in said(series(line, *told))
    text = said(series(line, *told), 36)
    assert "level 4, groups 75, hosts 3" in text and text.endswith("Level 4 or 5, groups 70 to 76, hosts 3 to 10.")
    assert "level 4 (4 or 5), groups 75 (70 to 76), hosts 3; 9 readings" in said(series(line, *told), 32)


LONG = (
    "Analysis done. {{'trend': '{}', 'delta': {}, 'now': {}}}. "
    "Weakest: {{'memory': {{'score': {}, 'total': {}}}}}, more {}"
)


def long_values(n: int) -> tuple[object, ...]:
    return f"0.{10 + n * 3 % 7}", 40 + n * 5 % 9, f"0.{8 + n % 2}", 200 + n * 7 % 11, 30 + n * 4 % 5


def test_words_that_all_readings_say_come_before_lesser_figures() -> None:
    one = series(LONG, *[("increasing", *long_values(n)) for n in range(12)])
    for most in (60, 52, 46):
        text = said(one, most)
        assert "trend increasing, weakest memory, as in all 12 readings since 1 March." in text, text
        assert text.startswith("Analysis done on 12 March 2026: ") and "now 41 (40 to 48)" in text
        assert "more 34 (30 to 34)" in text


def test_a_list_of_one_word_is_not_said_of_all_readings() -> None:
    line = "Gate: alpha {}, beta {}, gamma {}, delta {}, epsilon {}. Left out: {}. Report: written."
    told = [(n % 3, 40 + n % 5, n % 4, 20 + n % 7, 30 + n % 2, ["['one', 'two']", "['one']"][n > 5]) for n in range(12)]
    text = said(series(line, *told), 54)
    assert "report written, as in all 12 readings" in text and "left out one, " not in text


def test_words_that_vary_are_counted_before_lesser_figures() -> None:
    one = series(LONG, *[(("increasing", "flat")[n % 3 == 0], *long_values(n)) for n in range(12)])
    for most in (60, 52, 46):
        assert "rend increasing 8, flat 4." in said(one, most)
        assert "trend increasing, " not in said(one, most) and "weakest memory, as in all" in said(one, 60)


def test_the_one_earlier_reading_of_a_day_is_told_with_the_day() -> None:
    line = "Check: alpha {}, beta {}, gamma {}, delta {}, epsilon {}, zeta {}"
    told = [(5 + n * 7 % 5, 40 + n * 5 % 4, n % 5, 20 + n % 3, n * 11 % 31, 40 + n % 2) for n in range(24)]
    told[22] = (*told[22][:3], 900, *told[22][4:])
    texts = {said(series(line, *told, hours=12), most) for most in range(34, 70, 3)}
    usual = "delta 22 (usually 20 to 22, 900 that morning)"
    assert any("on 12 March 2026, 21:00: " in text and usual in text for text in texts)
    assert any("on 12 March 2026: " in text and "delta 22 (up to 900 that morning)" in text for text in texts)
    assert all(re.search(r"900 (that morning|on 12 March, 09:00)", text) for text in texts if "900" in text)
    told[20] = (*told[20][:3], 900, *told[20][4:])
    assert "900 at 09:00 that day)" in said(series(line, *told[:22], hours=6))


def test_several_exceptions_are_not_told_as_one() -> None:
    line = "Hooks: 8 ran (one={}s, two={}s, three={}s, four={}s, five={}s, six={}s)"
    told = [
        ("0.001", f"1.{20 + n * 7 % 23}9", f"0.{25 + n * 3 % 7}", n % 3, f"1.0{n * 5 % 9}", n % 4) for n in range(16)
    ]
    for n, value in ((4, "0.721"), (9, "3.149"), (13, "1.038")):
        told[n] = (value, *told[n][1:])
    for n, value in ((0, "2.653"), (5, "4.080")):
        told[n] = (told[n][0], value, *told[n][2:])
    texts = {said(series(line, *told), most) for most in (60, 92)}
    assert any("two 1.339 s (mostly 1.239 to 1.429, up to 4.080 on 6 March)" in text for text in texts)
    assert all("(3.149 on" not in text and "(4.080 on" not in text for text in texts)
    one = series(line, *told)
    two = next(figure for figure in one.told if figure.greatest.text == "4.080")
    shown = Named((), {two.place: frozenset({5})})
    assert beside(one, two, shown, {two.place: BOUND}, EXACT) == "twice over 1.429, 4.080 on 6 March"
    assert beside(one, two, shown, {two.place: BOUND}, NEAR) == "twice over 1.43, 4.080 on 6 March"


def test_the_usual_value_stands_beside_an_unusual_part_of_a_sum() -> None:
    line = "Look: {}B, marks {}, took={{'one': {}, 'two': {}, 'three': {}, 'total': {}}}"
    told = [
        (500 + n * 7 % 5, 40 + n * 5 % 4, 1 + n % 2, b := 20 + n % 3, 90 - b + n % 3, 91 + n % 2 + n % 3)
        for n in range(9)
    ]
    told[3] = (*told[3][:2], 40, 20, 32, 92)
    texts = {said(series(line, *told), most) for most in (32, 38)}
    told_so = " more figures, most unusual one 40 on 4 March, else 1 or 2; 9 readings since"
    assert any(told_so in text for text in texts)
    assert {line_in(text) for text in texts} & {"Look: 501 B"}


@pytest.mark.parametrize(
    "piece", ["a={0}s, ", "(", "({0}, ", "{{'a': {0}, ", "x {0}. ", "[{0}] ", "{0}/", "a (b {0} s, "]
)
def test_no_line_makes_telling_a_series_slow(piece: str) -> None:
    values = [f"{n % 3}" for n in range(6)]
    lines = [(f"N {value} " + piece.format(value) * 6000)[:6000] for value in values]
    one = series_of(read_memory(f"r{n}", FIRST + timedelta(days=n), line) for n, line in enumerate(lines))
    began = time.process_time()
    describe_series(one, len, 400)
    assert time.process_time() - began < 4.0
