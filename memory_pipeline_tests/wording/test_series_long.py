"""What a series of lines with many figures says: several texts, each with the day first and some figures told whole."""

from __future__ import annotations

import re
import time
from datetime import timedelta

import pytest

from memory_pipeline.wording.readings import read_memory, series_of
from memory_pipeline.wording.series_words import describe_series, is_true, line_in
from memory_pipeline_tests.build import FIRST
from memory_pipeline_tests.wording.told_series import said, series, told

HOOKS = "HOOKS: 6 ran (fast_one={}s, slow_one={}s, idle_one={}s, middle_one={}s, long_one={}s, last_one={}s)"
STEADY = [(0.001, 1.5 + n / 10, 0, 0.5 + n / 10, 1.2 + n / 10, f"0.00{n + 1}") for n in range(8)]
CHECK = "Check: alpha {}, beta {}, gamma {}, delta {}, epsilon {}, zeta {}"
CHECKED = [(5 + n * 7 % 5, 40 + n * 5 % 4, n % 5, 20 + n % 3, n * 11 % 31, 40 + n % 2) for n in range(24)]
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


def test_every_figure_of_a_line_is_told_whole_in_one_of_several_texts() -> None:
    assert told(series(HOOKS, *STEADY), 38) == (
        "Hooks on 8 March 2026: slow_one 2.2 s (up from 1.5), long_one 1.9 s (up from 1.2); 8 readings since 1 March.",
        "Hooks on 8 March 2026: middle_one 1.2 s (up from 0.5), last_one 0.008 s (up from 0.001); "
        "8 readings since 1 March.",
        "Hooks on 8 March 2026: 6 ran, fast_one 0.001 s, idle_one 0 s, as in all 8 readings since 1 March.",
    )
    assert told(series(CHECK, *CHECKED), 38) == (
        "Check on 24 March 2026: alpha 6 (5 to 9), beta 43 (40 to 43), gamma 3 (0 to 4); 24 readings since 1 March.",
        "Check on 24 March 2026: delta 22 (20 to 22), epsilon 5 (0 to 30), zeta 41 (40 or 41); "
        "24 readings since 1 March.",
    )


def test_a_long_line_keeps_its_labels_and_its_beginning() -> None:
    text = (
        "Evening check complete. Score = {}. Parts: Memory (db): {}; Planning & Tasks: {}; Writing: {}; "
        "Reading: {}; Timings: {{'first': {}, 'second': {}}}"
    )
    values = [(60 + n, 70 + n % 3, 80 + n % 5, 90 - n % 4, 50 + n % 3, 40 + n % 2, 3 + n % 4) for n in range(8)]
    assert told(series(text, *values), 48) == (
        "Evening check on 8 March 2026: Score 67 (up from 60), Parts Memory 71 (70 to 72), Planning & Tasks 82 "
        "(80 to 84), Writing 87 (87 to 90); 8 readings since 1 March.",
        "Evening check on 8 March 2026: Reading 51 (50 to 52), Timings first 41 (40 or 41), second 6 (3 to 6); "
        "8 readings since 1 March.",
    )


def test_what_was_unusual_stands_with_its_day_behind_what_is_usual() -> None:
    line = "Hooks: 8 ran (one={}s, two={}s, three={}s, four={}s, five={}s, six={}s)"
    values = [
        ("0.001", f"1.{20 + n * 7 % 23}9", f"0.{25 + n * 3 % 7}", n % 3, f"1.0{n * 5 % 9}", n % 4) for n in range(16)
    ]
    for n, value in ((4, "0.721"), (9, "3.149"), (13, "1.038")):
        values[n] = (value, *values[n][1:])
    for n, value in ((0, "2.653"), (5, "4.080")):
        values[n] = (values[n][0], value, *values[n][2:])
    for most in (50, 60, 92):
        text = said(series(line, *values), most)
        assert "one 0.001 s (usually 0.001; 0.721 on 5 March, 3.149 on 10 March, 1.038 on 14 March)" in text
        assert "two 1.339 s (usually 1.219 to 1.429; 2.653 on 1 March, 4.080 on 6 March)" in text


def test_where_most_readings_have_one_value_or_two_they_are_counted() -> None:
    values = [
        "0.001",
        "0.000",
        "0.001",
        "0.216",
        "0.721",
        "0.001",
        "0.001",
        "3.149",
        "0.000",
        "0.161",
        "0.000",
        "0.001",
    ]
    text = said(series(CHECK, *[(value, *CHECKED[n][1:]) for n, value in enumerate(values)]))
    assert "alpha 0.001 (0.000 or 0.001 in 8 of 12, else 0.161 to 3.149, the most on 8 March)" in text


def test_a_stay_on_another_level_is_told_with_its_days() -> None:
    values = ["0.0018", "0.1598", "0.1037", "0.0956", "0.0026", "0.0027"]
    text = said(series(CHECK, *[(value, *CHECKED[n][1:]) for n, value in enumerate(values)]))
    assert "alpha 0.0027 (0.0956 to 0.1598 from 2 to 4 March, else 0.0018 to 0.0027)" in text


def test_a_counter_that_was_set_back_or_fell_a_little_is_no_scatter() -> None:
    total = [194, 203, 209, 216, 246, 260, 285, 297, 310, 238, 249, 261, 274, 287, 299, 298, 310]
    text = said(series(CHECK, *[(value, *CHECKED[n][1:]) for n, value in enumerate(total)]), 44)
    assert "alpha 310 (194 to 310 until 9 March, 238 to 310 since)" in text
    correct = [30, 39, 44, 51, 80, 89, 112, 124, 137, 150, 161, 190, 188]
    text = said(series(CHECK, *[(value, *CHECKED[n][1:]) for n, value in enumerate(correct)]), 44)
    assert "alpha 188 (up from 30, at most 190 on 12 March)" in text


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ("Score weights: {{'alpha': {}, 'beta': {}, 'gamma': {}, 'delta': {}, 'eps': {}, 'zeta': {}}}",
         "Score weights on 24 March 2026: alpha 6 (5 to 9), beta 43"),
        ("State: {{'cpu': {{'user': {}, 'sys': {}}}, 'mem': {{'free': {}, 'swap': {}, 'used': {}}}, 'all': {}}}",
         "State on 24 March 2026: cpu user 6 (5 to 9), sys 43"),
        ("Phase: alpha: {}; beta: {}; gamma: {}; delta: {}; eps: {}; zeta: {}", "Phase on 24 March 2026: alpha 6 (5"),
    ],
)  # fmt: skip
def test_what_pairs_are_of_is_the_subject(line: str, start: str) -> None:
    assert told(series(line, *CHECKED), 40)[0].startswith(start)


@pytest.mark.parametrize(
    "line",
    [
        "{} jobs done, {} failed, {} retried, queue {}, latency {} ms, {} tests",
        "The nightly run took {} minutes, read {} files, wrote {} rows, skipped {} rows, used {} GB and cost {} EUR.",
        "perf alpha={} beta={} gamma={} delta={} epsilon={} zeta={}",
        "| web | {} | {} | {} | {} | {} | {} |",
        "Stage timings for the nightly rebuild of everything in the northern region of the second cluster here: "
        "stage_number_a={}s, stage_number_b={}s, stage_number_c={}s, stage_d={}s, stage_e={}s, stage_f={}s",
    ],
)
def test_a_line_without_a_short_label_tells_what_figures_it_can_and_counts_the_others(line: str) -> None:
    text = said(series(line, *CHECKED), 44)
    (more,) = re.findall(r" and (\d+) more figures?;", text)
    assert len(re.findall(r"\(\d+ (?:to|or) \d+[,)]", text)) + int(more) in (5, 6), text


def test_a_list_beside_many_figures_is_told_with_its_words() -> None:
    line = "Modules loaded: {}, cpu {}%, mem {} GB, load {}, procs {}, temp {} C, fan {} rpm"
    lists = ["['core', 'net', 'disk']", "['core', 'net', 'ssd']"]
    first = told(series(line, *[(lists[n > 15], *row) for n, row in enumerate(CHECKED)]))[0]
    assert first.endswith(" Always core and net. Disk 16 times, ssd eight times.")


@pytest.mark.parametrize(
    "pair",
    ["mode {0} 3", "lint 4 {0}", "gap 3 {1}", "wait 3{1}", "phase {0} took 4 steps", "rows {2}_109", "took 1m{2}s"],
)
def test_what_varied_in_a_word_or_a_unit_is_not_said_of_all_readings(pair: str) -> None:
    ways = [("fast", "ms", 11), ("slow", "s", 12)]
    line = "Sync state: a {}, b {}, c {}, d {}, e {}, f {}, "
    lines = [line.format(*row) + pair.format(*ways[n % 2]) + ", min 3" for n, row in enumerate(CHECKED)]
    one = series_of(read_memory(f"r{n}", FIRST + timedelta(days=n), line) for n, line in enumerate(lines))
    always = [text.split(": ")[1].split() for text in told(one, 44) if "as in all" in text]
    assert not any(pair.split()[0] in said_so for said_so in always)


def test_what_was_so_once_at_first_has_its_day() -> None:
    text = said(series(CHECK, *[(int(not n), *row[1:]) for n, row in enumerate(CHECKED)]))
    assert "alpha 0 (1 on 1 March)" in text
    text = said(series(CHECK, *[(int(n < 3), *row[1:]) for n, row in enumerate(CHECKED)]))
    assert "alpha 0 (1 until 3 March)" in text


def test_every_text_of_a_line_says_what_it_is_about() -> None:
    line = "NAS volume 2: {}% used, {} GB free, disk {} C, {} writes, {} reads, load {}"
    texts = told(series(line, *CHECKED), 34)
    assert len(texts) > 1 and all(text.startswith("NAS volume 2 on 24 March 2026: ") for text in texts)
    texts = told(series("Goods {}, Income {} EUR, Returns {}", *[row[:3] for row in CHECKED]), 22)
    assert len(texts) == 1


def test_figures_of_a_structure_within_another_have_the_names_of_both() -> None:
    line = "Look: a {}, b {}, c {}. Parts: {{'memory': {{'score': {}, 'found': {{'edges': {}, 'nodes': {}}}}}}}"
    text = said(series(line, *CHECKED), 40)
    assert "memory found nodes 41 (40 or 41)" in text and "memory score 22 (20 to 22)" in text


def test_where_there_is_no_room_an_unusual_value_is_the_end_of_a_range_with_its_day() -> None:
    values = [*CHECKED]
    values[3] = (900, *values[3][1:])
    for most in range(26, 70, 4):
        text = said(series(CHECK, *values), most)
        assert "alpha 6 (usually 5 to 9; 900 on 4 March)" in text or "alpha 6 (5 to 900 on 4 March)" in text
    assert "alpha 6 (usually 5 to 9; 900 on 4 March)" in said(series(CHECK, *values))


def test_a_newest_value_that_is_unusual_stands_beside_the_usual_ones() -> None:
    values = [*CHECKED]
    values[23] = (*values[23][:3], 900, *values[23][4:])
    assert "delta 900 (20 to 900)" in said(series(CHECK, *values), 44)
    values[11] = (*values[11][:3], 800, *values[11][4:])
    assert "delta 900 (usually 20 to 22; 800 on 12 March)" in said(series(CHECK, *values), 44)


def test_a_lasting_change_is_told_with_its_day() -> None:
    line = "Look inside: {}B, marks {}, parts {}, timings={{'goals': {}, 'total': {}, 'other': {}}}"
    slow = ("0.0066", "0.0123", "0.0101", "0.0081", "0.1151", "0.1468")
    one = series(line, *[(5000 + n % 3, 20 + n % 4, 7 + n % 2, slow[n], 30 + n % 3, n % 3) for n in range(6)])
    assert "goals 0.1468 (0.0066 to 0.0123 until 4 March, 0.1151 to 0.1468 since)" in said(one)
    left = [f"0.{44 + n % 3}" for n in range(9)] + [f"0.{87 + n % 5}" for n in range(9)] + ["0.70"]
    one = series(line, *[(5000 + n % 3, 20 + n % 4, 7 + n % 2, at, 30 + n % 3, n % 3) for n, at in enumerate(left)])
    assert "goals 0.70 (0.44 to 0.46 until 9 March, then 0.87 to 0.91 until 18 March)" in said(one)


def test_where_a_few_readings_widen_a_range_it_is_said_where_most_lie() -> None:
    pings = (297, 337, 264, 283, 991, 587, 268, 260, 254, 362, 836, 293, 261, 251, 257, 269, 159, 370, 237, 287, 504)
    values = [(ping, *CHECKED[n][1:]) for n, ping in enumerate(pings)]
    told_so = "alpha 504 (159 to 587, mostly 237 to 370; 991 on 5 March, 836 on 11 March)"
    assert told_so in said(series(CHECK, *values))


@pytest.mark.parametrize("most", [34, 46, 58])
def test_the_one_earlier_reading_of_a_day_is_told_with_the_day(most: int) -> None:
    values = [*CHECKED]
    values[22] = (*values[22][:3], 900, *values[22][4:])
    text = said(series(CHECK, *values, hours=12), most)
    assert "delta 22 (usually 20 to 22; 900 that morning)" in text
    assert all(start.startswith("Check on 12 March 2026") for start in text.splitlines())
    values[20] = (*values[20][:3], 900, *values[20][4:])
    assert "900 at 09:00 that day)" in said(series(CHECK, *values[:22], hours=6))


def test_the_line_of_a_long_series_is_without_its_day_and_what_stands_beside_its_values() -> None:
    values = [*CHECKED]
    values[3] = (900, *values[3][1:])
    lines = [line_in(text) for text in told(series(CHECK, *values))]
    assert ", ".join(lines).replace("Check: ", "") == "alpha 6, beta 43, gamma 3, delta 22, epsilon 5, zeta 41"
    hooks = [line_in(text) for text in told(series(HOOKS, *STEADY), 38)]
    assert hooks[1] == "Hooks: middle_one 1.2 s, last_one 0.008 s"


def test_the_dash_of_a_list_is_no_part_of_a_figure() -> None:
    line = "Check: alpha {}; beta {}; - gamma {}; - delta {}; epsilon {}; zeta {}"
    values = [(n % 5, n % 4, n % 3, n % 2, n % 6, n % 7) for n in range(24)]
    assert "; gamma 2; delta 1; " in said(series(line, *values), 80)
    assert "2026: delta 1 (0 or 1), " in said(series(line, *values), 36)


def test_a_short_line_is_told_in_several_texts_where_one_has_no_room_for_its_ranges() -> None:
    values = [(4 + n % 2, 70 + n * 5 % 7, 3 + n * 3 % 8) for n in range(9)]
    line = "Broadcast: level {}, groups {}, hosts {}"
    assert "evel 4 or 5" in said(series(line, *values))
    (text,) = told(series(line, *values), 36)
    assert "level 4, groups 75, hosts 3" in text and text.endswith("Level 4 or 5, groups 70 to 76, hosts 3 to 10.")
    assert told(series(line, *values), 32) == (
        "Broadcast on 9 March 2026: level 4 (4 or 5), groups 75 (70 to 76); 9 readings since 1 March.",
        "Broadcast on 9 March 2026: hosts 3 (3 to 10, the most on 6 March); 9 readings since 1 March.",
    )


def test_figures_beyond_what_some_texts_hold_are_counted_the_last_ones_first() -> None:
    names = [f"figure_{chr(97 + n)}" for n in range(20)]
    line = "Table: " + ", ".join(f"{name} {{}}" for name in names)
    values = [[n if k % 5 == 4 else 1000 * n + k for k in range(20)] for n in (3, 1, 4, 1, 5, 9)]
    values = [[7 if k == 3 else value for k, value in enumerate(row)] for row in values]
    texts = told(series(line, *map(tuple, values)), 34)
    (more,) = re.findall(r" and (\d+) more figures;", texts[-2])
    named = [name for name in names if any(re.search(rf"{name} \d", text) for text in texts)]
    assert len(texts) == 7 and len(named) + int(more) == 20 and "figure_t" not in named


LONG = (
    "Analysis done. {{'trend': '{}', 'delta': {}, 'now': {}}}. "
    "Weakest: {{'memory': {{'score': {}, 'total': {}}}}}, more {}"
)


def long_values(n: int) -> tuple[object, ...]:
    return f"0.{10 + n * 3 % 7}", 40 + n * 5 % 9, f"0.{8 + n % 2}", 200 + n * 7 % 11, 30 + n * 4 % 5


@pytest.mark.parametrize("most", [46, 52, 60])
def test_words_that_all_readings_say_are_in_the_first_text(most: int) -> None:
    first, *others = told(series(LONG, *[("increasing", *long_values(n)) for n in range(12)]), most)
    assert first.startswith("Analysis done on 12 March 2026: delta ")
    assert first.endswith("; trend increasing, weakest memory, as in all 12 readings since 1 March.")
    assert all("trend" not in text and "weakest" not in text for text in others)


def test_a_list_of_one_word_is_not_said_of_all_readings() -> None:
    line = "Gate: alpha {}, beta {}, gamma {}, delta {}, epsilon {}. Left out: {}. Report: written."
    values = [
        (n % 3, 40 + n % 5, n % 4, 20 + n % 7, 30 + n % 2, ["['one', 'two']", "['one']"][n > 5]) for n in range(12)
    ]
    text = said(series(line, *values), 54)
    assert "report written, as in all 12 readings" in text and "left out one, " not in text


@pytest.mark.parametrize("most", [46, 52, 60])
def test_words_that_vary_are_counted_in_the_first_text(most: int) -> None:
    one = series(LONG, *[(("increasing", "flat")[n % 3 == 0], *long_values(n)) for n in range(12)])
    first, *others = told(one, most)
    assert first.endswith(" Trend increasing 8 (newest), flat 4.") and "trend increasing, " not in first
    assert all("flat" not in text for text in others)


def test_texts_that_leave_a_figure_out_or_say_one_twice_are_no_way_to_tell_a_series() -> None:
    one = series(CHECK, *CHECKED)
    texts = told(one, 38)
    assert len(texts) == 2 and is_true(one, texts)
    for wrong in (texts[:1], (texts[0], texts[0]), (*texts, texts[1]), (texts[0], texts[1].replace("30", "31"))):
        assert not is_true(one, wrong)
    counted = texts[1].replace(", zeta 41 (40 or 41)", " and 1 more figure")
    assert is_true(one, (texts[0], counted)) and not is_true(one, (texts[0], counted.replace("1 more", "2 more")))


@pytest.mark.parametrize(
    "piece", ["a={0}s, ", "(", "({0}, ", "{{'a': {0}, ", "x {0}. ", "[{0}] ", "{0}/", "a (b {0} s, "]
)
def test_no_line_makes_telling_a_series_slow(piece: str) -> None:
    values = [f"{n % 3}" for n in range(6)]
    lines = [(f"N {value} " + piece.format(value) * 6000)[:6000] for value in values]
    one = series_of(read_memory(f"r{n}", FIRST + timedelta(days=n), line) for n, line in enumerate(lines))
    began = time.process_time()
    assert is_true(one, describe_series(one, len, 400))
    assert time.process_time() - began < 4.0
