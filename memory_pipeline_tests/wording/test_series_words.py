"""What a series says: the newest line as it was written, then how many readings, and between which values."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from memory_pipeline.wording.readings import read_memory, series_of
from memory_pipeline.wording.series_figures import Figure, Value
from memory_pipeline.wording.series_levels import levels
from memory_pipeline.wording.series_near import NEAR, rounded
from memory_pipeline.wording.series_words import line_in
from memory_pipeline_tests.build import FIRST
from memory_pipeline_tests.wording.told_series import said, series, told


def test_the_largest_deviation_is_named_first_and_a_usual_range_leaves_it_out() -> None:
    pings = (260, 265, 991, 258, 262, 270, 836, *range(255, 271))
    text = said(series("Latency: p95={}ms [OK]", *pings))
    assert "23 readings since 1 March. p95 usually 255 to 270 ms" in text
    assert "Unusual: 991 ms on 3 March; 836 ms on 7 March." in text
    assert "p95 usually 255 to 270 ms; 991 on 3 March, 836 on 7 March." in said(
        series("Latency: p95={}ms [OK]", *pings), 38
    )


def test_without_unusual_values_a_range_holds_every_value() -> None:
    text = said(series("Check took {}s", 33, 33, 34, 30, 31, 32, 25, 30, 29))
    assert "Time 25 s (7 March) to 34 s (3 March)" in text and "usually" not in text


def test_usual_is_where_most_values_lie() -> None:
    times = (
        33,
        33.5,
        33,
        105.5,
        67.2,
        30.7,
        33.2,
        31,
        32.1,
        32.6,
        25.1,
        32.3,
        30,
        29.3,
        30,
        31.1,
        30.1,
        31.9,
        19.7,
        9.9,
    )
    text = said(series("Check took {}s", *times))
    assert "9.9 s on 20 March 2026; the shortest of 20 readings since 1 March. Time usually 25.1 to 33.5 s" in text
    assert text.endswith("; 105.5 on 4 March, 67.2 on 5 March, 19.7 on 19 March.")
    assert line_in(text) == "Check took 9.9 s"


def test_two_readings_of_the_newest_day_have_their_clock_times() -> None:
    told = [(n % 3 + 10, 0.9) for n in range(6)]
    one = series("Tasks {}, share {}", *told, (10, 0.01), (11, 0.9), hours=12)
    assert one.newest.at.date() == one.readings[-2].at.date()
    text = said(one)
    newest, before = (f"{reading.at:%H:%M}" for reading in (one.newest, one.readings[-2]))
    assert f"on 4 March 2026, {newest}; 8 readings" in text and f"Unusual: share 0.01 on 4 March, {before}." in text
    assert line_in(text) == "Tasks 11, share 0.9"


def test_an_earlier_reading_of_the_newest_day_without_a_clock_is_called_earlier() -> None:
    at = [FIRST + timedelta(days=min(n, 5)) for n in range(7)]
    one = series_of(
        read_memory(f"r{n}", day, f"Rows kept: {40 + value}", n)
        for n, (day, value) in enumerate(zip(at, (3, 4, 6, 5, 4, 9, 5), strict=True))
    )
    assert "Kept 43 (1 March) to 49 (earlier on 6 March)" in said(one).replace("Rows kept 43", "Kept 43")


def test_only_what_has_a_course_has_a_beginning() -> None:
    assert "at first" not in said(series("Queue at {} items", 13, 9, 23, 12, 32, 9, 30, 32, 38, 25, 8, 6, 31))
    assert "at first 13" in said(series("Queue at {} items", 13, 12, 15, 18, 16, 20, 22, 21, 25, 24, 29, 28, 33))
    assert "fell from 30 (1 March) to 19" in said(series("Queue at {} items", 30, 28, 27, 25, 22, 19))


def test_a_rise_from_the_first_reading_needs_no_day_of_its_own() -> None:
    told = [(0.55, 3), (0.91, 61), (0.999, 133), (0.96, 180), (0.838, 223)]
    one = series("Feedback: CORRECT, reward=1.00, EMA={}, total={}", *told)
    assert "reward 1.00, EMA 0.838, total 223 on 5 March" in said(one, 52)
    assert "EMA 0.55 (1 March) to 0.999 (3 March); total rose from 3 to 223." in said(one, 52)


def test_a_median_of_whole_numbers_is_one_of_them() -> None:
    assert "median" not in said(series("Tickets: {}", 1, 2, 5, 9, 4, 7))
    assert "median 5" in said(series("Tickets: {}", 1, 2, 5, 9, 8))


def test_a_value_of_two_is_one_or_the_other_and_totals_stay() -> None:
    told = [(4 + n % 2, 5 + n % 2, 3.9 + n % 4) for n in range(6)]
    text = said(series("Broadcast: {} groups, {}/6 modules ({}s)", *told))
    assert "4 or 5 groups; modules 5/6 three times, else 6/6; time 3.9 to 6.9 s." in text


def test_of_all_readings_only_a_count_of_nothing_is_said_as_failures_in_words_have_another_shape() -> None:
    assert "6 readings since 1 March." in said(series("Encoded episode (success, {}s)", 600, 300, 450, 320, 410, 390))
    assert "all 0 failed" in said(series("Suite: {} passed, 0 failed", 600, 300, 450, 320, 410, 390))
    assert "all" not in said(series("Suite: {} passed, {} failed", (60, 0), (30, 1), (45, 0), (32, 0), (41, 1)))


def test_words_that_vary_stand_beside_what_is_constant_and_add_up() -> None:
    text = "Variant: approach=small|guard=none|frame={} (type={})"
    told = [(("crit", "outp")[n % 2], ("testing", "general")[n % 3 == 0]) for n in range(9)]
    lines = [text.format(*values) for values in (*told, ("crit", "building"))]
    read = [read_memory(f"r{n}", FIRST + timedelta(days=n), line) for n, line in enumerate(lines)]
    one = series_of(read[:9], read[9:])
    short = said(one, 42)
    assert short.startswith("Variant: approach small, guard none") and "10 times from 1 to 10 March 2026" in short
    assert "Frame crit 6 (newest), outp 4. Type testing 6, general 3, building 1 (10 March)." in short
    assert "Frame crit 6, outp 4. Type" in said(one, 38)


NAS = "NAS: {:.1f}% used, {} GB free, disk {} C"


def test_an_odd_reading_is_told_whole_before_the_ranges_of_other_figures() -> None:
    told = [(80 + n % 4, 700 + 10 * (n % 5), 34 + n % 6) for n in range(12)]
    told[6] = (96.8, 118, 51)
    assert re.search(r"(Unusual:|;) 96.8%( used)?, 118 GB( free)?, (disk )?51 C on 7 March\.", said(series(NAS, *told)))
    for value in ("80.0% to 83.0%; 96.8%", "700 to 740; 118", "34 to 39; 51"):
        assert f"usually {value} on 7 March" in said(series(NAS, *told), 44)
    assert "Usually 80.0% to 83.0% used, 700 to 740 GB free" in said(series(NAS, *told), 70)
    assert "Usually 80.0 to 83.0%, 700 to 740 GB, 34 to 39 C; 96.8%, 118 GB, 51 C on 7" in said(series(NAS, *told), 60)


def test_a_value_of_an_odd_reading_that_is_only_its_extreme_stays_in_the_range() -> None:
    told = [(80 + n % 4, 700 + 10 * (n % 5), 34 + n % 6) for n in range(12)]
    told[6] = (96.8, 745, 40)
    text = said(series(NAS, *told))
    assert "Unusual: 96.8%" in text and "700 to 745 GB free, disk 34 to 40 C" in text


def test_a_failure_is_told_with_its_figures_once() -> None:
    lines = [f"Recorded: success (exit 0, took {120 + 40 * (n % 9)}s)" for n in range(12)]
    lines[4] = "Recorded: failure (exit 1, took 3s)"
    lines[8] = lines[8].replace("440", "1216")
    read = [read_memory(f"r{n}", FIRST + timedelta(days=n), line) for n, line in enumerate(lines)]
    one = series_of([read[n] for n in range(12) if n != 4], [read[4]])
    text = said(one)
    assert "Success 11, failure 1 (5 March: exit 1, 3 s)." in text
    assert text.count(" 3 s") == 1 and text.count("exit 1") == 1
    assert "failure 1 (5 March: 3 s)." in said(one, 45)
    lines[8] = lines[8].replace("1216", "440")
    again = [read_memory(f"r{n}", FIRST + timedelta(days=n), line) for n, line in enumerate(lines)]
    whole = said(series_of([again[n] for n in range(12) if n != 4], [again[4]]), 80)
    assert "usually 120 s (last 10 March) to 440 s (9 March)" in whole


def test_a_part_that_is_left_out_is_counted() -> None:
    told = [(95 + n * 7 % 11, f"{4000 + n * 37 % 900}.90", 2 + n % 8) for n in range(16)]
    one = series("**Goods**: {} | **Income**: {} EUR | **Returns**: {}", *told)
    assert said(one).startswith("Goods 101, Income 4555.90 EUR, Returns 9 on 16 March 2026; 16 readings")
    for most in range(30, 60):
        text = said(one, most)
        named = sum(name in text for name in ("Goods", "Income", "Returns"))
        assert named == 3 or "left out" in text or "and 1 more figure;" in text


def test_what_was_missing_from_a_list_on_an_odd_day_is_named_with_the_day() -> None:
    usual = ["a_one", "b_two", "c_three", "d_four"]
    lists = [[*usual, "e_five", "f_six"]] * 5 + [[*usual, "e_five"]] * 5 + [usual]
    lists[8] = ["a_one", "b_two", "c_three", "e_five", "g_seven"]
    text = said(series("Gate: left out {}", *[str(one) for one in lists]), 80)
    assert "Only on 9 March with g_seven, without d_four." in text
    assert "Before also e_five, until 5 March f_six." in text
    for most in (70, 60, 50, 40, 30):
        assert " more" not in said(series("Gate: left out {}", *[str(one) for one in lists]), most)


def test_whatever_was_in_a_list_and_is_not_now_is_said_or_counted() -> None:
    usual = ["a_one", "b_two"]
    lists = [[*usual, "c_three", "d_four"]] * 6 + [[*usual, "c_three"]] * 5 + [usual]
    lists[8] = ["a_one", "c_three", "e_five", "f_six"]
    one = series("Gate: left out {}", *map(str, lists))
    found = {said(one, most) for most in range(24, 80)}
    odd = "Before also c_three, until 6 March d_four; on 9 March e_five and f_six instead of b_two."
    assert any(odd in text for text in found)
    assert any("Before also c_three and 3 others." in text for text in found)
    for text in found:
        counted = sum(int(number) for number in re.findall(r"(\d+) others?", text))
        named = sum(word in text for word in ("c_three", "d_four", "e_five", "f_six"))
        assert named + counted == 4 or "also" not in text or "9 March has its own note" in text
        assert "9 March e_five and f_six." not in text  # as if b_two had been there too


def test_where_two_lists_are_the_same_odd_ones_they_differ_and_belong_to_the_series() -> None:
    lists = [["a_one", "b_two", "c_three"]] * 9 + [["a_one", "b_two"]]
    lists[4] = lists[6] = ["a_one", "d_four", "e_five", "c_three"]
    one = series("Gate: left out {}", *map(str, lists))
    assert one.breaks == ()
    found = {said(one, most) for most in range(20, 60)}
    assert any("Before also c_three; only 5 March and 7 March differ." in text for text in found)
    lists[4] = lists[6] = lists[8]
    lists[3] = ["a_one", "f_six"]
    assert [one.memory_id for one in series("Gate: left out {}", *map(str, lists)).breaks] == ["r003"]


def test_a_list_in_which_words_came_and_went_is_told_with_how_often() -> None:
    lists = [["a", "b"] if n % 2 else ["a", "c"] for n in range(9)] + [["a", "d"]]
    assert "Before also c five times, b four times." in said(series("Gate: left out {}", *map(str, lists)))


def test_words_beyond_those_that_fit_are_counted() -> None:
    told = [("red", "blue", "green", "brown", "white")[n % 5] for n in range(15)]
    lines = [f"Lamp is {word} now" for word in told]
    one = series_of(read_memory(f"r{n}", FIRST + timedelta(days=n), line) for n, line in enumerate(lines))
    assert "others" in said(one, 24) and " more" not in said(one, 24)


def test_a_currency_sign_names_its_figure_and_a_product_keeps_its_sign() -> None:
    told = [(f"{2 + n % 3}.50", 1400 + n * 37 % 200) for n in range(9)]
    text = said(series("Spent today: ${} for {} calls", *told))
    assert "$2.50" in text and "pent today $" not in text.replace("Spent today: $", "")
    told_once = said(series("Feedback: CORRECT×success → reward=1.00, level={}", *[f"0.{n}5" for n in range(6)]))
    assert "CORRECT×success" in told_once


def test_a_list_says_what_it_lacks_this_time() -> None:
    full, newest = "['alpha', 'beta', 'gamma', 'delta']", "['alpha', 'gamma']"
    text = said(series("Gate: left out {}", *[full] * 5, newest))
    assert "left out alpha and gamma on 6 March 2026" in text
    assert "Before also beta and delta." in text


def test_what_never_varied_is_left_out_before_a_range() -> None:
    told = [(f"0.{20 + n}", 500 + n * 7 % 40) for n in (3, 1, 4, 2, 6, 5)]
    one = series("Check: start, reward=1.00, limit=40, level={}, speed={}ms", *told)
    assert "reward 1.00" in said(one) and "reward" not in said(one, 40)
    assert "evel 0.21 to 0.26, speed 502 to 535 ms" in said(one, 40)


def test_figures_that_never_vary_and_are_left_out_are_counted_if_there_is_room() -> None:
    told = [(f"0.{20 + n}", 500 + n * 7 % 40) for n in (3, 1, 4, 2, 6, 5)]
    one = series("Check: start, reward=1.00, limit=40, size=7, depth=9, level={}, speed={}ms", *told)
    assert said(one, 47).startswith("Check: start, level 0.25, speed 535 ms on 6 March 2026; 6 readings since 1 March.")
    assert said(one, 47).endswith("Level 0.21 to 0.26, speed 502 to 535 ms. 4 more figures are left out.")
    assert "left out" not in said(one) and "left out" not in said(one, 40)


def test_a_share_that_a_percentage_repeats_is_not_told_twice() -> None:
    told = [(100 * n // 16, n, 500 + n * 7 % 40) for n in (15, 14, 15, 13, 14, 15, 16, 12)]
    text = said(series("Evaluation: found {}% ({}/16), speed={}ms", *told), 44)
    assert "ound 75% to 100%" in text and "/16 to" not in text


def test_a_newest_value_outside_the_usual_ones_is_said_to_be_so() -> None:
    told = [(40 + n % 5, f"0.9{n % 3}") for n in range(9)]
    assert "level 0.90 to 0.92 (now below)." in said(series("Run: {} parts, level {}", *told, (41, 0.3)))


def test_a_slow_rise_is_no_outlier_but_a_fall_to_zero_is() -> None:
    slow = values(0.81, 0.85, 0.85, 0.86, *[0.9] * 20)
    assert not any(slow.outside) and values(*[0.9] * 20, 0.81).outside[-1]
    scores = (0.44, 0.5, 0.9, 0.93, 1.0, 0.97, 0.95, 1.0, 0.99, 0.0, 0.96, 0.98)
    assert values(*scores).outside[9] and not any(values(6, 4, 2, 3, 0, 5, 4, 6).outside)


def test_another_outcome_and_a_further_sentence_are_counted_in() -> None:
    lines = [f"Recorded: {'failure' if n == 3 else 'success'} (took {20 + n % 4}s)" for n in range(8)]
    lines[5] += ". Top advice: look at the disk."
    lines[6] = lines[6].replace("s)", "s, links=1)")
    read = [read_memory(f"r{n}", FIRST + timedelta(days=n), line) for n, line in enumerate(lines)]
    one = series_of([read[n] for n in (0, 1, 2, 4, 7)], [read[3], read[5], read[6]])
    assert len(one.strangers) == 3 and one.other_outcomes == {3}
    assert "8 readings since 1 March. Success 7, failure 1 (4 March)." in said(one)


def test_another_last_sentence_behind_many_figures_is_counted_in() -> None:
    line = "Check done. Parts: alpha {}; beta {}; gamma {}; delta {}; epsilon {}. Report written. {}"
    told = [
        (n % 5, n % 4, n % 3, n % 2, n % 6, "Audit skipped (lock held)true." if n == 4 else "Audit done.")
        for n in range(8)
    ]
    read = [read_memory(f"r{n}", FIRST + timedelta(days=n), line.format(*values)) for n, values in enumerate(told)]
    one = series_of([read[n] for n in range(8) if n != 4], [read[4]])
    assert len(one.strangers) == 1 and "8 readings since 1 March" in said(one)
    few = [read_memory(f"r{n}", FIRST, f"Saw {n}. {end}") for n, end in enumerate(("All well.",) * 5 + ("Not so.",))]
    assert series_of(few[:5], few[5:]).strangers == ()


def test_a_rare_outcome_has_its_days() -> None:
    lines = [f"Recorded: {'failure' if n in (3, 6) else 'success'} ({20 + n % 4}s)" for n in range(9)]
    one = series_of(read_memory(f"r{n}", FIRST + timedelta(days=n), line) for n, line in enumerate(lines))
    assert "Success 7, failure 2 (4 March and 7 March)." in said(one)


def test_what_is_another_line_is_no_stranger() -> None:
    lines = [f"Suite: {40 + n} passed" for n in range(6)]
    others = ["Suite: 3 failed", "Suite: 41 passed but slowly", "The Suite: 4 passed", "Suite: 41 passed, 2 failed"]
    read = [read_memory(f"r{n}", FIRST + timedelta(days=n), line) for n, line in enumerate([*lines, *others])]
    assert series_of(read[:6], read[6:]).strangers == ()


def values(*numbers: float) -> Figure:
    return Figure(0, tuple(Value(str(x), datetime(2026, 3, n + 1)) for n, x in enumerate(numbers)))


def test_how_far_a_value_lies_is_told_in_spreads() -> None:
    figure = values(5, 5, 5, 5, 9, 5, 5, 5, 5, 5)
    assert figure.farness[4] == 4 and figure.farness[0] == 0  # the others do not differ: a spread is one unit
    assert values(10, 12, 11, 13, 12, 11, 30).outside[-1]
    assert values(1).farness == (0.0,)


def test_two_far_values_do_not_hide_each_other() -> None:
    sizes = (5083, 4900, 5596, 5200, 12603, 4708, 16135)
    assert values(*sizes).outside == (False,) * 4 + (True, False, True)
    text = said(series("Look inside: {}B", *sizes))
    assert (
        "16135 B on 7 March 2026; the largest of 7 readings since 1 March. Look inside usually 4708 to 5596 B" in text
    )
    assert text.endswith("Unusual: 12603 B on 5 March.")
    assert not any(values(5, 6, 7, 8, 9, 12, 14).outside) and not any(values(0, 0, 0, 0, 0, 1, 2).outside[:6])
    assert not any(values(30, 31, 29, 30, 32, 45, 45).outside)


def test_what_is_usual_stands_beside_what_was_unusual() -> None:
    told = [(72 + n * 7 % 36, 3100.0 + n * 173 % 1900, 2 + n * 3 % 8) for n in range(12)]
    text = said(
        series("**Orders**: {} | **Revenue**: {:.2f} EUR | **Returns**: {}", *told, (311, 15820.4, 3), (95, 4779.9, 2))
    )
    assert "Returns 2 on" in text and "Usually Orders 72 to 107, Revenue 3100.00 to" in text
    assert text.endswith("Unusual: Orders 311, Revenue 15820.40 EUR on 13 March.")


def test_a_steady_rise_beside_something_unusual_is_no_usual_range() -> None:
    told = [(398 + 2 * n, n * 3 % 4, 340 + n * 7 % 40) for n in range(16)]
    told[12] = (97, 318, 1204)
    text = said(series("Suite: {} passed, {} failed in {}s", *told))
    assert "Passed rose from 398 to 428, usually 0 to 3 failed" in text
    assert "Unusual: 97 passed, 318 failed, time 1204 s on 13 March." in text
    assert "Passed fell from 430 to 400, usually 0 to 3 failed" in said(
        series("Suite: {} passed, {} failed in {}s", *((828 - one[0], *one[1:]) for one in told))
    )


def test_the_newest_value_is_told_beside_what_most_are() -> None:
    pings = (297, 337, 264, 283, 991, 587, 268, 260, 254, 362, 836, 293, 261, 251, 257, 269, 159, 370, 237, 287, 504)
    assert "p95 504 ms (OK) on" in (text := said(series("Latency: p95={}ms [OK]", *pings), 46))
    assert "p95 159 to 587 ms, mostly 237 to 370 ms. Unusual: 991 ms on 5 March; 836 ms on 11 March" in text
    short = said(series("Latency: p95={}ms [OK]", *pings), 42)
    assert "p95 159 to 587 ms, mostly 237 to 370; 991 on 5 March, 836 on 11 March." in short
    assert values(*pings).mostly is not None and values(*pings[:10]).mostly is None


def test_what_a_gate_does_is_said_without_a_colon_where_that_leaves_room() -> None:
    lists = [["a_one", "b_two", "c_three"]] * 9 + [["a_one", "b_two"]]
    lists[4] = ["a_one", "d_four", "e_five", "c_three"]
    one = series("Gate: suppressing {}", *map(str, lists))
    texts = [said(one, most) for most in range(60, 20, -1)]
    assert texts[0].startswith("Gate: suppressing a_one and b_two on 10 March 2026;")
    assert any(text.startswith("Gate suppressing a_one and b_two on 10 March") for text in texts)
    assert any(text.endswith("Before also c_three; on 5 March d_four and e_five instead of b_two.") for text in texts)


EVAL = "Eval: dev accuracy {:.1f}%, loss {:.3f}"


def test_the_ends_of_usual_ranges_are_rounded_where_exact_ones_do_not_fit() -> None:
    told = [(80.5 + n % 4 * 0.6, 0.475 + n % 8 * 0.011) for n in range(12)]
    told[5] = (34.7, 2.871)
    one = series(EVAL, *told)
    assert "Usually accuracy 80.5% to 82.3%, loss 0.475 to 0.552. Unusual: dev" in said(one, 80)
    assert said(one, 58).endswith("Usually 80.5 to 82.3%, loss 0.475 to 0.552. Unusual: 34.7%, loss 2.871 on 6 March.")


def test_no_figure_beside_an_outlier_is_without_its_range_where_rounded_ones_fit() -> None:
    told = [(72 + n % 5 * 8, 3100 + n % 6 * 380.13, 2 + n % 8) for n in range(14)]
    told[8] = (311, 15820.40, 4)
    one = series("Orders: {} | Revenue: {:.2f} EUR | Returns: {}", *told)
    text = said(one, 54)
    assert "Usually Orders 72 to 104, Revenue 3100 to 5001 EUR, Returns 2 to 9. Unusual: Orders 311, " in text
    assert "15820.40 EUR on 9 March." in text


def test_what_held_in_every_reading_is_said_of_all() -> None:
    line = "Code-gen outcome: {0} files, syntax={0}/{0} clean, quality=0.96, task=success"
    text = said(series(line, 17, 8, 3, 3, 34, 10))
    assert text == (
        "Code-gen outcome: 10 files on 6 March 2026; 6 readings since 1 March, all with syntax clean, quality 0.96 and "
        "task success. Files 3 (last 4 March) to 34 (5 March)."
    )
    assert line_in(text) == "Code-gen outcome: 10 files"
    uneven = said(
        series(
            "Outcome: {} files, syntax={}/{} clean, quality=0.96, task=success",
            *[(n, n - n % 2, n) for n in (17, 8, 3, 4, 34, 10)],
        )
    )
    assert "syntax clean" not in uneven


def test_a_lasting_change_of_level_is_told_as_such() -> None:
    shares = (0.44, 0.5, 0.76, 0.57, 0.75, 0.88, 1, 1, 1, 1, 0.99, 1, 0.97, 1, 1, 1, 1, 0.93, 0.87, 1, 0.97, 0.95, 1)
    one = values(*(f"{share:.2f}" for share in (*shares, 0.91, 0, 0.72)))
    before, since = levels(one, [24]) or (None, None)
    assert before is not None and (before.least.text, before.greatest.text) == ("0.44", "0.76")
    assert since is not None and (since.least.text, since.greatest.text) == ("0.87", "1.00")
    assert levels(one, []) is None
    assert levels(values(*(n for n in range(24))), []) is None
    assert levels(values(1, 1, 2, 1, 5, 6, 5), []) is None


def test_a_rounded_end_is_near_and_tells_two_ends_apart() -> None:
    assert rounded("3100.00", "5000.43", NEAR) == ("3100", "5000")
    assert rounded("0.475", "0.552", NEAR) == ("0.475", "0.552")
    assert rounded("0.0068", "0.0093", NEAR) == ("0.007", "0.009")
    assert rounded("0.0002", "7.1432", NEAR) == ("0.0002", "7.14")
    assert rounded("5/6", "6/6", NEAR) == ("5/6", "6/6")


def test_a_list_that_was_another_one_has_a_second_text_for_that() -> None:
    newest = ["meta_gradient", "synaptic", "metrics", "world_model", "brain_goals"]
    lists = [[*newest, "broadcast", "introspection", "avoidance"]] * 5
    lists += [[*newest, "broadcast", "introspection"]] * 6 + [newest]
    lists[9] = [*newest[:3], newest[4], "broadcast", "introspection", "reasoning", "confidence"]
    first, second = told(series("Section gate: suppressing {}", *map(str, lists)), 42)
    assert first.endswith("world_model and brain_goals on 12 March 2026; 12 readings since 1 March.")
    assert second == (
        "Section gate suppressing from 1 to 11 March 2026, beside the later ones, also broadcast and introspection, "
        "until 5 March avoidance; on 10 March confidence and reasoning instead of world_model; 11 readings."
    )
