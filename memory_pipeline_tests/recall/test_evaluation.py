"""What a memory answers, and what it is compared with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.errors import InputError
from memory_pipeline.recall.evaluation import (
    CONTEXT,
    GREP,
    NOW,
    TAIL,
    Asked,
    Evaluation,
    evaluate,
    make_questions,
    read_questions,
    wilson,
)
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, run, settings_for
from memory_pipeline_tests.interfaces.in_process import command

NOTES = (
    "The gateway of the warehouse listens on port 5433.",
    "Dana's parcel scanner needs firmware 4.18.2 before the inventory.",
    "Marco ordered the blue crates on 12 March.",
)


def noted(store: Store) -> None:
    notes = [candidate(text, FIRST + timedelta(days=n), native_id=f"n{n}") for n, text in enumerate(NOTES)]
    others = ("The choir meets in the hall.", "Bread is in the oven.", "A fox crossed the yard.")
    fill(store, [*notes, *(candidate(text, FIRST + timedelta(days=9 + n)) for n, text in enumerate(others))])


def table(found: Evaluation) -> Mapping[str, Mapping[int, int]]:
    return {row.method: row.answered for row in found.rows}


def test_an_answer_counts_where_the_text_within_the_budget_holds_it(store: Store) -> None:
    noted(store)
    asked = [
        Asked(question="which port has the gateway of the warehouse", answer=("5433",)),
        Asked(question="what colour have the crates", answer=("green",)),
    ]
    found = evaluate(store, settings_for(store), "p", asked, made_by="mine.jsonl")
    assert found.questions == 2 and found.all_notes == 1 and found.made_by == "mine.jsonl"
    rows = table(found)
    assert rows[NOW][250] == rows[CONTEXT][250] == rows[GREP][250] == 1
    assert found.missed == ("what colour have the crates",)


def test_the_newest_notes_alone_answer_what_is_new(store: Store) -> None:
    noted(store)
    fill(store, [candidate("The long tale of the river goes on. " * 80, FIRST + timedelta(days=30))])
    asked = [Asked(question="which port has the gateway of the warehouse", answer=("5433",))]
    rows = table(evaluate(store, settings_for(store), "p", asked))
    assert rows[NOW][250] == 1 and rows[TAIL][250] == 0


def test_questions_are_made_of_values_that_one_note_alone_has_and_say_none_of_them(store: Store) -> None:
    noted(store)
    with store.reading() as tx:
        notes = tx.memories.all()
    made = make_questions(notes, 10)
    assert {answer for one in made for answer in one.answer} >= {"5433", "4.18.2"}
    assert all(answer not in one.question for one in made for answer in one.answer)
    assert made == make_questions(list(reversed(notes)), 10)


def test_a_reading_is_not_asked_for(store: Store) -> None:
    lines = [candidate(f"Pump check complete in {30 + n}s", FIRST + timedelta(days=n)) for n in range(6)]
    fill(store, [*lines, candidate(NOTES[0], FIRST)])
    with store.reading() as tx:
        assert {one.answer for one in make_questions(tx.memories.all(), 10)} == {("5433",)}


@pytest.mark.slow
def test_after_a_night_the_same_is_asked_and_answered_and_what_it_made_is_shown(store: Store) -> None:
    noted(store)
    fill(store, lesson(5))
    settings = settings_for(store, consolidation__confidence__min=0.5)
    before = evaluate(store, settings, "p")
    run(store, date(2026, 3, 20), settings)
    bytes_then = store.path.read_bytes()
    after = evaluate(store, settings, "p", sample=5)
    assert store.path.read_bytes() == bytes_then
    assert after.questions == before.questions > 0 and table(after)[NOW][2000] == after.questions
    (merge,) = after.sample
    assert merge.number == after.made == 1 and len(merge.sources) == 5 and after.wrong_share is None
    judged = evaluate(store, settings, "p", wrong=[1])
    assert judged.wrong == 1 and judged.wrong_share == wilson(1, 1)
    with pytest.raises(InputError, match="--wrong names 9"):
        evaluate(store, settings, "p", wrong=[9])


def test_the_newest_answer_and_an_absent_one_are_counted(store: Store) -> None:
    fill(store, [candidate("The rent of the flat is 940 euros.", FIRST),
                 candidate("The rent of the flat is 980 euros.", FIRST + timedelta(days=20))])  # fmt: skip
    asked = [
        Asked(question="what is the rent of the flat", answer=("980",), stale="940"),
        Asked(question="zebra quantum xylophone", absent=True),
    ]
    found = evaluate(store, settings_for(store), "p", asked)
    assert (found.changed, found.newest_first, found.absent, found.absent_said) == (1, 1, 1, 1)


@pytest.mark.slow
@pytest.mark.usefixtures("judged")
def test_a_value_that_a_later_note_corrected_is_replaced_and_not_lost(store: Store) -> None:
    noted(store)
    fill(store, [candidate(NOTES[0].replace("5433", "5434"), FIRST + timedelta(days=20), native_id="later")])
    before = evaluate(store, settings_for(store), "p")
    run(store, date(2026, 3, 25))
    after = evaluate(store, settings_for(store), "p")
    assert (before.changed, after.changed, after.newest_first) == (0, 1, 1)
    assert after.questions == before.questions == table(after)[CONTEXT][250] and not after.missed


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("no json", "line 2 of"),
        ('["a"]', "line 2 of"),
        ('{"question": "what is it"}', "has no answer"),
        ('{"question": 7, "answer": "x"}', "is no question"),
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"question": "which port", "answer": ["5433", "the new one"]}\n' + line)
    with pytest.raises(InputError, match=said):
        read_questions(file)


def test_an_empty_file_and_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("\n")
    for name, said in (("q", "holds no question"), ("none", "cannot be read")):
        with pytest.raises(InputError, match=said):
            read_questions(tmp_path / name)


def test_a_memory_without_values_says_what_to_give(store: Store) -> None:
    fill(store, [candidate("All is well.")])
    with pytest.raises(InputError, match="--questions FILE"):
        evaluate(store, settings_for(store), "p")


@given(st.integers(1, 500), st.data())
def test_the_interval_holds_its_share_and_narrows(among: int, data: st.DataObject) -> None:
    found = data.draw(st.integers(0, among))
    low, high = wilson(found, among)
    assert 0 <= low <= round(found / among, 4) + 1e-4 and round(found / among, 4) - 1e-4 <= high <= 1
    wider = wilson(10 * found, 10 * among)
    assert wider[1] - wider[0] <= high - low + 1e-4


def test_the_command_prints_the_table_and_json(store: Store, tmp_path: Path) -> None:
    noted(store)
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"question": "which port has the gateway", "answer": "5433"}))
    told = command("evaluate", "--questions", file, "--store", store.path).out
    assert told.startswith("Within 500 tokens a context answers 1 of 1 question") and "grep in the notes" in told
    given_ = json.loads(command("evaluate", "--json", "--store", store.path).out)
    assert given_["made_by"] == "values" and given_["rows"][0]["method"] == CONTEXT
    wrong = command("evaluate", "--wrong", "one", "--store", store.path)
    assert wrong.code == 1 and "write the numbers of the sample" in wrong.err


def test_a_model_makes_questions_whose_answers_stand_in_their_notes(store: Store, tmp_path: Path) -> None:
    noted(store)
    record, answers, saved = (tmp_path / name for name in ("record.jsonl", "answers.jsonl", "made.jsonl"))
    answers.touch()
    asked_of = {
        "MEMORY_PIPELINE_MODEL_PROVIDER": "recorded",
        "MEMORY_PIPELINE_MODEL_ANSWERS": str(answers),
        "MEMORY_PIPELINE_MODEL_RECORD": str(record),
    }
    arguments = ("evaluate", "--make-questions", "--save", saved, "--json", "-q", "--store", store.path)
    before = store.path.read_bytes()
    unanswered = command(*arguments, **asked_of)
    assert unanswered.code == 1 and "no recorded answer" in unanswered.err and not saved.exists()
    (row,) = map(json.loads, record.read_text().splitlines())
    numbers = {one["note"]: one["number"] for one in json.loads(row["user"])["notes"]}
    assert set(NOTES) <= numbers.keys()
    made = [
        (NOTES[0], "On which port is the warehouse reached?", "5433"),
        (NOTES[1], "Which firmware does the scanner of Dana want?", "4.19.0"),
        (NOTES[1], "Which firmware does Oslo's scanner want?", "4.18.2"),
        (NOTES[2], "What did Marco order: blue crates?", "blue crates"),
        (NOTES[1], "What is it that somebody wants?", "firmware"),
        (NOTES[2], "What is it that somebody wants?", "crates"),
    ]
    questions = [{"note": numbers[note], "question": asked, "answer": said} for note, asked, said in made]
    answers.write_text(json.dumps({"question": row["question"], "answer": json.dumps({"questions": questions})}))
    found = json.loads(command(*arguments, **asked_of).out)
    assert (found["questions"], found["made_by"], found["all_notes"]) == (1, "recorded", 1)
    assert read_questions(saved) == [Asked(question=made[0][1], answer=("5433",))]
    assert store.path.read_bytes() == before
    again = command(*arguments, **asked_of)
    assert again.code == 1 and "made.jsonl" in again.err, "a file that is there is never replaced"
    answers.write_text(json.dumps({"question": row["question"], "answer": json.dumps({"questions": questions[3:4]})}))
    other = Store(tmp_path / "other.duckdb")
    noted(other)
    none = command("evaluate", "--make-questions", "-q", "--store", other.path, **asked_of)
    assert none.code == 1 and "asked no question whose answer stands in its note" in none.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--make-questions",), "no model is chosen"),
        (("--make-questions", "--questions", "some.jsonl"), "leave one out"),
        (("--save", "made.jsonl"), "add --make-questions"),
        (("--judge",), "no model is chosen"),
        (("--judge", "--wrong", "1"), "leave one out"),
        (("--make-questions", "--save", "one", "--page", "one"), "both name 'one'"),
    ],
)
def test_what_makes_no_questions_is_said(store: Store, arguments: tuple[str, ...], says: str) -> None:
    noted(store)
    failed = command("evaluate", *arguments, "--store", store.path)
    assert failed.code == 1 and says in failed.err


@pytest.mark.slow
def test_a_model_judges_the_sample_and_a_page_shows_it(store: Store, tmp_path: Path) -> None:
    fill(store, lesson(4))
    run(store, date(2026, 3, 9))
    answers, record, page = tmp_path / "answers.jsonl", tmp_path / "record.jsonl", tmp_path / "page.html"
    answers.touch()
    asked_of = {
        "MEMORY_PIPELINE_MODEL_PROVIDER": "recorded",
        "MEMORY_PIPELINE_MODEL_ANSWERS": str(answers),
        "MEMORY_PIPELINE_MODEL_RECORD": str(record),
    }
    arguments = ("evaluate", "--judge", "--page", page, "--json", "-q", "--store", store.path)
    unanswered = command(*arguments, **asked_of)
    assert unanswered.code == 1 and "no recorded answer" in unanswered.err
    assert json.loads(unanswered.out)["wrong"] is None and "Is each true" in page.read_text(), "what was counted stands"
    (row,) = map(json.loads, record.read_text().splitlines())
    (shown,) = json.loads(row["user"])["memories"]
    assert len(shown["sources"]) == 4

    said = [{"number": number, "why": "nothing says <b>so</b>"} for number in (shown["number"], 7)]
    answers.write_text(json.dumps({"question": row["question"], "answer": json.dumps({"wrong": said})}))
    before = store.path.read_bytes()
    judged = command(*arguments, **asked_of)
    assert judged.code == 0, judged.err
    found = json.loads(judged.out)
    assert (found["wrong"], found["judge"], found["wrong_share"]) == (1, "recorded", [0.2065, 1.0])
    assert found["sample"][0]["objection"] == "nothing says <b>so</b>"
    assert store.path.read_bytes() == before
    written = page.read_text()
    assert (
        "called wrong: nothing says &lt;b&gt;so&lt;/b&gt;" in written and "<svg" in written and "<b>so" not in written
    )
    assert command(*arguments, **asked_of).code == 0, "its own page is replaced"
    page.write_text("mine")
    other = command(*arguments, **asked_of)
    assert other.code == 1 and page.read_text() == "mine"
