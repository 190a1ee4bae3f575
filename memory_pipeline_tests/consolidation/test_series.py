"""Series: lines that machinery writes again and again become one memory in words, kept up to date by the nights."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.errors import InputError, OutputError
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.recall.series import export_series, list_series, series_text, show_series
from memory_pipeline.records import Memory
from memory_pipeline.reporting.pages import as_markdown
from memory_pipeline.store import Store
from memory_pipeline.text.normalise import content_hash, shape_hash
from memory_pipeline.text.readings import Figure, Value
from memory_pipeline.text.subject import with_subject
from memory_pipeline.text.templates import read_line
from memory_pipeline_tests.build import FIRST, candidate, fill, run, settings_for, sql_rows

DAY = date(2026, 3, 20)


def lines(text: str, *values: object, start: int = 0, hours: int = 24) -> list[Candidate]:
    """A line for each value (a tuple fills several places), one a day."""
    return [
        candidate(
            text.format(*(value if isinstance(value, tuple) else (value,))),
            FIRST + timedelta(hours=hours * (start + n)),
            native_id=f"r{start + n:02}-{content_hash(text)[:6]}",
        )
        for n, value in enumerate(values)
    ]


def after_a_night(store: Store, notes: list[Candidate], day: date = DAY) -> list[str]:
    """What the active series memories say after a night over these lines."""
    fill(store, notes)
    run(store, day, run_id=f"night-{day}")
    return [memory.content for memory in series_in(store)]


def series_in(store: Store) -> list[Memory]:
    with store.reading() as tx:
        return list(tx.memories.read([one.id for one in tx.series.active()]).values())


def active(store: Store) -> set[str]:
    with store.reading() as tx:
        return {memory.content for memory in tx.memories.all(include_archived=False)}


def active_hash(store: Store) -> str:
    with store.reading() as tx:
        return tx.contents.digest(active_only=True)


def problems(store: Store) -> list[str]:
    with store.reading() as tx:
        return [finding.problem for finding in tx.integrity.check(deep=True, facts=True)]


@pytest.mark.slow
def test_a_series_is_told_in_one_memory_in_one_form(store: Store) -> None:
    (text,) = after_a_night(store, lines("**Crates**: {} kg | **Moist**: {}", *BARN))
    assert text == (
        "Crates: 310 kg | Moist: 0.61 (6 March 2026, the newest of 6 readings since 1 March). Crates 280 to 350 kg, "
        "usually 290 to 350; Moist 0.55 to 0.66, usually 0.55 to 0.62."
    )
    assert not [text for text in active(store) if text.startswith("**Crates**")] and problems(store) == []


BARN = ((300, "0.58"), (290, "0.55"), (350, "0.60"), (280, "0.62"), (345, "0.66"), (310, "0.61"))


def test_what_is_unusual_is_told_apart_from_what_is_usual(store: Store) -> None:
    spent = [("3.10", 1800), ("3.45", 1915), ("2.24", 1464), ("41.87", 26113), ("4.01", 2135), ("3.20", 1830)]
    (text,) = after_a_night(store, lines("Spent today: ${} for {} calls", *spent))
    assert text.endswith(
        "Spent today $2.24 to $41.87, usually $2.24 to $4.01, but $41.87 on 4 March; "
        "for 1464 to 26113 calls, usually 1464 to 2135, but 26113 on 4 March."
    )


@pytest.mark.slow
def test_figures_with_separators_and_of_any_length_are_told(store: Store) -> None:
    values = ["3,620", "3,620", "3,640", "3,620", "3,610", "9,999,620"]
    (text,) = after_a_night(store, lines("Mail sent today: {} letters", *values))
    assert "3,610 to 9,999,620 letters, usually 3,610 to 3,640, but 9,999,620 on 6 March." in text
    assert problems(store) == []


def test_the_median_of_two_values_is_exact() -> None:
    long = "9" * 300
    for low, high, middle in (
        ("1", "2", "1.5"),
        ("3,610", "3,620", "3615"),
        ("0.60", "0.61", "0.605"),
        (long, long + ".5", long),  # as numbers they are equal
        ("0." + "0" * 80 + "1", "0." + "0" * 80 + "2", "0." + "0" * 80 + "15"),
    ):
        figure = Figure(0, (Value(low, FIRST), Value(high, FIRST)))
        assert figure.median == middle


def test_a_series_of_which_nothing_varies_is_no_fact_and_one_with_figures_is_no_lesson(store: Store) -> None:
    told = [
        candidate(f"Lesson: check {n} took 3{n % 4} s", FIRST + timedelta(days=n), memory_type="lesson") for n in (1, 4)
    ]
    told += lines("Nightly: report kept at 0{}:3{}", *((n, n) for n in range(1, 7)))
    fill(store, told)
    after_a_night(store, [*lines("Check took {}s", 30, 31, 33, 29, 32)])
    assert {one.content.partition(" (")[0]: one.memory_type for one in series_in(store)} == {
        "Nightly: report kept at 06:36": "other",
        "Check took 32s": "fact",
    }


@pytest.mark.slow
def test_a_next_night_makes_the_next_version_and_keeps_every_reading(store: Store) -> None:
    text = "Pump check complete in {}s"
    after_a_night(store, lines(text, 30, 31, 33, 29, 32), date(2026, 3, 7))
    (first,) = series_in(store)
    after_a_night(store, lines(text, 34, start=8), date(2026, 3, 12))
    (second,) = series_in(store)
    assert "complete in 34s (9 March 2026, the newest of 6 readings since 1 March)" in second.content
    with store.reading() as tx:
        before = tx.memories.read([first.id])[first.id]
        assert before.consolidated_into_id == second.id and before.archived_at is not None
        assert len(tx.lineage.raw_sources_of([second.id])[second.id]) == 6
        assert json.loads(second.compressed_from or "")["source_ids"] == sorted([first.id, "r08-" + text_id(text)])
    assert problems(store) == []


def text_id(text: str) -> str:
    return content_hash(text)[:6]


@pytest.mark.slow
def test_rolling_back_a_version_brings_the_one_before(store: Store) -> None:
    text = "Pump check complete in {}s"
    after_a_night(store, lines(text, 30, 31, 33, 29, 32), date(2026, 3, 7))
    fill(store, lines(text, 34, start=8))
    before = active_hash(store)
    run(store, date(2026, 3, 12), run_id="later")
    assert active_hash(store) != before
    roll_back(store, settings_for(store), RollbackScope(run_id="later"))
    assert active_hash(store) == before and problems(store) == []
    run(store, date(2026, 3, 12), run_id="again")
    assert "34s" in series_in(store)[0].content and problems(store) == []


def test_an_identical_line_on_another_day_is_a_reading_too(store: Store) -> None:
    (text,) = after_a_night(store, lines("Pump check complete in {}s", 30, 31, 30, 29, 31, 30))
    assert "6 readings" in text and "29 to 31s" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "facts",
    [
        [f"The port of {name} is {5432 + n}" for n, name in enumerate(("alpha", "beta", "gamma", "delta", "omega"))],
        [f"Server web-0{n} has {n * 2} processors" for n in range(1, 7)],
        [f"Invoice of {name}: due on 2026-05-1{n}" for n, name in enumerate(("Ann", "Ben", "Cem", "Dia", "Eli"))],
        [f"The bill of the carpenter is due on 2026-06-1{n}" for n in range(6)],
        [
            "The deploy took 14 minutes because the cache was cold.",
            "Because of a cold cache the deploy took 25 minutes.",
            "This deploy took 19 minutes, the cache had been cleared.",
            "22 minutes for the deploy: cold cache again.",
            "The deploy needed 17 minutes with a cold cache.",
        ],
        [f"Server {n} has {8 * n} GB of RAM." for n in range(1, 9)],
        [f"Customer {4000 + 7 * n} pays {99 + 13 * n} EUR per month." for n in range(6)],
        [f"ALLOW 10.0.0.{n} port {22 + n}" for n in range(6)],
        [f"Ticket {700 + n}: do not restart node {n} before 1{n}:00." for n in range(6)],
        [f"Rule {n}: never store more than {n * 3} backups." for n in range(1, 7)],
        [f"Host 10.0.{n}.5 must never be rebooted." for n in range(6)],
        [f"Upgrade to 2.{n}.1 breaks the login." for n in range(6)],
        [f"Customer id 49151123{n} is blocked." for n in range(10, 16)],
        [f"Commit abc12{n}d4f broke the build." for n in range(6)],
        [f"Always deploy with {n} replicas." for n in range(3, 9)],
        [f"User {100 + n} is {'allowed' if n % 2 else 'denied'} on host {7 + n}." for n in range(6)] * 3,
        [f"host={name} port={5432 + n} role=db" for n, name in enumerate(("alpha", "beta", "eps"))] * 2,
        [f"Loss of epoch {n}: {value} nats." for n, value in enumerate(("1e999", "-1e999", "NaN", "inf", "1e9999"))],
        [f"{name} likes {drink}" for name, drink in (("Ada", "tea"), ("Bo", "milk"), ("Cy", "tea"), ("Di", "tea"))] * 2,
    ],
)
def test_facts_and_events_are_no_series(store: Store, facts: list[str]) -> None:
    fill(store, [candidate(f, FIRST + timedelta(days=n), native_id=f"f{n}") for n, f in enumerate(facts)])
    run(store, DAY)
    assert series_in(store) == []


def test_lines_under_the_names_of_different_things_are_no_series_and_a_series_keeps_its_heading(store: Store) -> None:
    prices, checks = lines("Average price: {} euros", 45, 30, 38, 52, 41), lines("Check took {}s", 3, 5, 4, 6, 4)
    names = ("Gino", "Ada", "Ugo", "Pia", "Leo")
    prices = [replace(one, headings=("Places", f"Da {name}")) for one, name in zip(prices, names, strict=True)]
    after_a_night(store, [*prices, *(replace(one, headings=(f"0{n}:30 Barn",)) for n, one in enumerate(checks))])
    (series,) = series_in(store)
    assert series.content.startswith("Check took 4s") and with_subject(series).startswith("Barn: Check took 4s")
    assert problems(store) == []


def test_a_long_number_with_a_unit_is_a_figure(store: Store) -> None:
    (said,) = after_a_night(store, lines("Ledger balance: {} wei", *range(12345678, 12345684)))
    assert "12345683 wei" in said and problems(store) == []


def test_a_word_that_returns_is_a_place_and_a_new_one_breaks_the_series(store: Store) -> None:
    text = "POST: outcome of {} files, task={}"
    told = [(9, "success"), (5, "failed"), (6, "success"), (8, "failed"), (7, "success"), (4, "success")]
    (said,) = after_a_night(store, [*lines(text, *told), *lines(text, (3, "lost"), start=7)])
    assert "task success 4, failed 2, lost 1 (8 March)" in said and "7 readings" in said
    assert text.format(3, "lost") in active(store) and problems(store) == []


@pytest.mark.slow
def test_one_failure_is_counted_beside_the_successes_and_stays(store: Store) -> None:
    text, failure = (
        "POST: recorded outcome: success (exit=0, took {}s)",
        "POST: recorded outcome: failure (exit=1, took 3s)",
    )
    (said,) = after_a_night(store, [*lines(text, 30, 33, 29, 31, 35, 32), *lines(failure, 0, start=6)])
    assert "7 readings since 1 March). recorded outcome success 6, failure 1 (7 March)" in said
    assert "exit 0 to 1, usually 0, but 1 on 7 March; took 3 to 35s, usually 29 to 35, but 3 on 7 March" in said
    assert failure in active(store)
    assert problems(store) == []
    assert "8 readings" in after_a_night(store, lines(failure, 0, start=21), DAY + timedelta(days=3))[0]
    assert problems(store) == []


@pytest.mark.slow
def test_readings_that_were_merged_while_they_were_few_belong_to_their_series(store: Store) -> None:
    """A list in another order is the same reading."""
    names = ("introspection", "metrics", "synaptic", "goals", "world_model")
    turned = [", ".join(f"'{name}'" for name in (*names[n:], *names[:n])) for n in range(4)]
    text = "Section gate: suppressing {{{}}}"
    assert after_a_night(store, lines(text, *turned), date(2026, 3, 6)) == []
    with store.reading() as tx:
        assert [m.source.file for m in tx.memories.all(include_archived=False) if m.consolidation_method] == ["merge"]
    fewer = ", ".join(f"'{name}'" for name in names[:3])
    (said,) = after_a_night(store, lines(text, turned[0], fewer, start=6), date(2026, 3, 12))
    assert "6 readings since 1 March). Section gate: suppressing" not in said and "goals 5, world_model 5." in said
    assert active(store) == {said} and problems(store) == []


def test_lines_with_and_without_the_time_of_writing_are_one_series(store: Store) -> None:
    degrees = (4.1, 4.3, 4.0, 4.2, 4.6, 4.4, 4.1, 3.9, 4.2, 4.0)
    notes = []
    for n, value in enumerate(degrees):
        at = FIRST.replace(hour=7 + n % 2, minute=10 + n, second=0) + timedelta(days=n)
        written = f"{at:%H:%M} " if n % 3 == 0 else ""
        notes.append(candidate(f"{written}fridge vaccine temp {value} C", at, native_id=f"{n}"))
    (told,) = after_a_night(store, notes)
    assert "the newest of 10 readings" in told and "07:1" not in told and "08:1" not in told
    assert active(store) == {told} and problems(store) == []


@pytest.mark.slow
@pytest.mark.parametrize("text", ["[{}] queue ok {}", "agent={} queue ok {}"])
def test_what_lines_begin_with_names_their_series(store: Store, text: str) -> None:
    told = [(f"agent-{'ab'[n % 2]}", n + 100 * (n % 2)) for n in range(12)]
    said = after_a_night(store, lines(text, *told))
    assert len(said) == 2 and {("gent-a" in one, "gent-b" in one) for one in said} == {(True, False), (False, True)}
    assert problems(store) == []


def test_a_mode_in_capitals_is_a_place_for_a_word(store: Store) -> None:
    told = [("DEEP", 4), ("LIGHT", 5), ("DEEP", 6), ("LIGHT", 7), ("DEEP", 9), ("LIGHT", 3)]
    (said,) = after_a_night(store, lines("Bridge open ({}): {} notes", *told))
    assert "DEEP 3, LIGHT 3" in said and problems(store) == []


def test_what_a_program_cut_off_is_no_word_of_a_line(store: Store) -> None:
    text = "Analysis complete. {{'trend': {}, 'current': {}, '{}. Weakest: {{'score': 0.8, 'said': ['{} notes', 'avg {}"
    told = [
        (1, 10, "measu", 300, "re"),
        (2, 11, "measureme", 301, "retr"),
        (3, 9, "me", 310, "r"),
        (4, 12, "m", 305, "re"),
    ]
    (said,) = after_a_night(store, lines(text, *told, (5, 10, "measur", 299, "ret"), (6, 11, "mea", 303, "retrie")))
    assert "6 readings" in said and "current 9 to 12" in said and problems(store) == []


def test_a_number_that_a_program_cut_off_is_one_place(store: Store) -> None:
    text = "Performance report {{'max': 0.7{}, 'count 1234{}. Weakest: memory at 0.3{}"
    assert [place.kind for place in read_line(text.format(1, 2, 3)).places] == ["figure", "cut", "figure"]
    (said,) = after_a_night(store, lines(text, *((n, n + 1, 9 - n) for n in range(6))))
    assert "6 readings" in said and problems(store) == []


def test_quoted_sentences_that_differ_in_their_last_words_are_no_series(store: Store) -> None:
    text = "Notes of run {}: {{'note': 'the open port is on host {}. Checked it', 'more': 'nothing'}}"
    told = [(n, name) for n, name in enumerate(("anna", "bert", "carl", "dora", "emil", "fred"))]
    fill(store, lines(text, *told))
    run(store, DAY)
    assert series_in(store) == []


def test_a_long_line_says_the_newest_values_of_its_figures(store: Store) -> None:
    text = "Evening check done. Score = {}. Parts: Memory: {}; Planning: {}; Writing: {}; Reading: {}; Tools: {}."
    told = [(60 + n, 70 + n % 3, 80 + n % 5, 90 - n % 4, 50 + n % 3, 40 + n % 2) for n in range(8)]
    (said,) = after_a_night(store, lines(text, *told))
    for value in ("Score = 67", "Memory: 71", "Planning: 82", "Writing: 87", "Reading: 51", "Tools: 41"):
        assert value in said
    assert problems(store) == []


def test_a_place_with_nine_words_names_things(store: Store) -> None:
    told = [(n, f"t{chr(97 + n % 9)}x") for n in range(36)]
    fill(store, lines("POST: outcome of {} files, task={}", *told, hours=12))
    run(store, date(2026, 4, 1))
    assert series_in(store) == []


@pytest.mark.slow
def test_a_reading_far_outside_stays_active_and_is_named(store: Store) -> None:
    (said,) = after_a_night(store, lines("Pump check complete in {}s", 30, 31, 33, 29, 32, 500, 30.5))
    assert "usually 29 to 33, but 500 on 6 March." in said
    assert "Pump check complete in 500s" in active(store) and problems(store) == []
    report = run(store, DAY + timedelta(days=1))
    assert report.clusters_compressed == 0


def test_a_list_with_a_word_of_its_own_stays_active_and_is_named(store: Store) -> None:
    names = ("alpha_one", "beta_two", "gamma_three", "epsilon_five", "zeta_six")
    usual = [str([*names[n:], *names[:n]]) for n in range(5)]
    odd = str(["alpha_one", "delta_four", *names[2:]])
    (said,) = after_a_night(store, lines("Section gate: leaving out {}", *usual[:4], odd, usual[4]))
    assert "beta_two 5, delta_four 1 (5 March)." in said
    assert active(store) == {said, f"Section gate: leaving out {odd}"} and problems(store) == []


@pytest.mark.slow
def test_the_report_names_the_series_its_readings_and_what_breaks_it(store: Store) -> None:
    text = "Pump check complete in {}s"
    fill(store, lines(text, 30, 31, 33, 29, 32, 500, 30.5))
    report = run(store, DAY)
    (one,) = report.series
    assert (report.series_created, report.series_updated, report.readings_archived) == (1, 0, 6)
    assert (report.readings_breaking, one.breaking, one.updated) == (1, ("Pump check complete in 500s",), False)
    assert one.content in as_markdown(report) and "stays active" in as_markdown(report)
    fill(store, lines(text, 34, start=8))
    later = run(store, DAY + timedelta(days=1))
    assert (later.series_created, later.series_updated, later.readings_archived) == (0, 1, 1)


def test_a_series_shows_every_reading_and_each_figure_over_time(store: Store) -> None:
    after_a_night(store, lines("Pump check complete in {}s", 30, 31, 33, 29, 32, 500, 30.5))
    with store.reading() as tx:
        (listed,) = list_series(tx)
        shown = show_series(tx, listed.id[:8])
    (figure,) = shown.figures
    assert (listed.readings, len(shown.values), len(figure.plot)) == (7, 7, 7)
    assert (figure.least.value, figure.greatest.value, figure.newest.value, figure.first.value) == (
        "29",
        "500",
        "30.5",
        "30",
    )
    assert [one.values for one in shown.values if one.breaks] == [("500",)]
    assert "breaks the series" in series_text(shown) and "▁" in series_text(shown)
    with store.reading() as tx, pytest.raises(InputError, match="series list"):
        show_series(tx, "nothing")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_readings_are_exported_as_rows(store: Store, tmp_path: Path, form: str) -> None:
    after_a_night(store, lines("**Crates**: {} kg | **Moist**: {}", *BARN))
    path = tmp_path / f"readings.{form}"
    assert export_series(store, form, path) == 12
    rows = {
        "csv": lambda: list(csv.DictReader(path.open(newline=""))),
        "json": lambda: json.loads(path.read_text())["series"],
        "parquet": lambda: pq.read_table(path).to_pylist(),
    }[form]()
    assert [(row["name"], row["value"]) for row in rows[:2]] == [("Crates", "300"), ("Moist", "0.58")]
    assert export_series(store, form, path) == 12
    path.write_text("my own words, not an export of anything")
    with pytest.raises(OutputError):
        export_series(store, form, path)


@pytest.mark.slow
def test_lines_of_one_day_and_four_lines_wait(store: Store) -> None:
    assert after_a_night(store, lines("Pump check complete in {}s", *range(30, 40), hours=1)) == []
    assert after_a_night(store, lines("Barn check complete in {}s", 1, 2, 3, 4, start=20)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "instead"),
    [("to 350 kg", "to 351 kg"), ("310 kg | Moist", "311 kg | Moist"), ("6 readings", "7 readings")],
)
def test_a_tampered_series_is_found(store: Store, said: str, instead: str) -> None:
    after_a_night(store, lines("**Crates**: {} kg | **Moist**: {}", *BARN))
    (series,) = series_in(store)
    wrong = series.content.replace(said, instead)
    assert wrong != series.content
    with store.writing("test") as tx:
        sql_rows(tx, "drop trigger memories_updated on memories")
        sql_rows(
            tx,
            "update memories set content = $2, content_hash = $3, shape_hash = $4 where id = $1",
            [series.id, wrong, content_hash(wrong), shape_hash(wrong)],
        )
    assert problems(store) == ["its words are not what its readings amount to"]


@pytest.mark.slow
def test_an_earlier_night_after_a_later_one_leaves_its_series(store: Store) -> None:
    text = "Pump check complete in {}s"
    after_a_night(store, lines(text, 30, 31, 33, 29, 32), DAY)
    fill(store, lines(text, 34, start=6))
    before = active_hash(store)
    run(store, date(2026, 3, 10), run_id="earlier")
    assert active_hash(store) == before
    run(store, DAY + timedelta(days=1), run_id="next")
    assert "6 readings" in series_in(store)[0].content


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["检查完成,用时{}秒,状态=正常", "복사 완료: {}개", "Die Prüfung dauerte {} Sekunden", "Проверка заняла {} с"],
)
def test_lines_of_any_language_are_counted(store: Store, text: str) -> None:
    (said,) = after_a_night(store, lines(text, 30, 31, 33, 29, 32))
    assert "32" in said and "5 readings" in said and problems(store) == []


def test_long_lines_stay_within_the_tokens(store: Store) -> None:
    text = "LOG: " + " ".join(f"step{chr(97 + n % 26)}{chr(97 + n // 26)}=done" for n in range(300)) + " total={}"
    (said,) = after_a_night(store, lines(text, 30, 31, 33, 29, 32))
    assert len(said.split()) <= 160 and problems(store) == []
