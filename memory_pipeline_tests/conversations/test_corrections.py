"""What a correction withdraws."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memory_pipeline.conversations.earlier import withdrawn_by
from memory_pipeline.conversations.extraction import OF_NOTHING
from memory_pipeline_tests.conversations.saying import START, found, only, read, talk


def test_a_correction_withdraws_what_it_rejects() -> None:
    result = read(talk("My daughter is six.", "a: Noted.", "Sorry, I misspoke, my daughter is seven, not six."))
    old = next(one for one in result.extractions if one.quote == "My daughter is six.")
    assert result.withdrawn[old.id] == next(one.id for one in result.extractions if one.kind == "correction")


def test_a_correction_withdraws_what_the_agent_found() -> None:
    result = read(
        talk(
            "a: It turned out that the job on the mail server listens on port 5432.", "No, the port is 5433, not 5432."
        )
    )
    assert [one.kind for one in result.extractions if one.id in result.withdrawn] == ["context"]


@pytest.mark.parametrize(
    ("answer", "stands"),
    [
        ("That isn't it, the proxy was replaced in May.", False),
        ("Can't be.", False),
        ("No, we replaced the proxy.", False),
        ("The proxy is fine.", False),
        ("So it wasn't Sofie.", True),
        ("Good.", True),
        ("Thanks. Now the header.", True),
    ],
)
def test_a_cause_that_the_human_denies_is_not_kept(answer: str, stands: bool) -> None:
    result = read(talk("a: The cause of the timeouts is the proxy.", answer))
    standing = [one for one in result.extractions if one.speaker == "agent" and one.id not in result.withdrawn]
    assert bool(standing) is stands


def test_a_changed_fact_withdraws_the_one_in_the_store() -> None:
    known = read(talk("I live in Lisbon.", at=START - timedelta(days=30))).extractions
    result = read(talk("I live in Porto now."), known=known)
    assert set(result.withdrawn) == {known[0].id}


def test_what_was_withdrawn_can_be_told_anew() -> None:
    result = read(talk("I live in Lisbon.", "I live in Porto now.", "a: ok", "I live in Lisbon."))
    assert [one.quote for one in result.extractions] == [
        "I live in Lisbon.",
        "I live in Porto now.",
        "I live in Lisbon.",
    ]
    assert set(result.withdrawn) == {result.extractions[0].id}


def test_another_fact_withdraws_nothing() -> None:
    known = read(talk("I live in Lisbon.", "I speak Polish.", at=START - timedelta(days=30))).extractions
    assert not read(talk("My name is Priya.", "I'm a nurse now."), known=known).withdrawn


def test_a_correction_of_another_value_withdraws_nothing() -> None:
    known = read(talk("I live in Lisbon.", at=START - timedelta(days=30))).extractions
    assert not read(talk("No, the port is 5433, not 5432."), known=known).withdrawn


@pytest.mark.parametrize(
    ("before", "correction"),
    [
        ("The limit is 40 requests.", "No, the limit is 60 requests, not 40."),
        ("The backup job starts at 02:00.", "Correction: the backup job starts at 04:00, not 02:00."),
        ("The clinic opens at 08:00.", "No, the clinic opens at 09:00, not 08:00."),
        ("The tax is due on 5 May.", "No, the tax is due on 9 May, not on 5 May."),
    ],
)
def test_a_figure_a_time_and_a_day_can_be_what_is_wrong(before: str, correction: str) -> None:
    known = read(talk(before, at=START - timedelta(days=2))).extractions
    assert set(read(talk(correction), known=known).withdrawn) == {one.id for one in known} != set()


def test_a_figure_of_something_else_is_not_withdrawn() -> None:
    known = read(talk("The hall holds 40 people.", at=START - timedelta(days=2))).extractions
    assert known and not read(talk("No, the limit is 60 requests, not 40."), known=known).withdrawn


def test_a_correction_stands_with_the_sentence_that_says_what_is_right() -> None:
    before = only("The noise was the heat pump. You were wrong there.")
    assert (before.kind, before.quote) == ("correction", "The noise was the heat pump. You were wrong there.")
    after = only("That is false. The lease runs until May 2031.")
    assert (after.kind, after.quote) == ("correction", "That is false. The lease runs until May 2031.")


def test_a_correction_of_nothing_is_counted() -> None:
    result = read(talk("No, that's wrong."))
    assert (result.extractions, result.dropped[OF_NOTHING]) == ((), 1)


def test_nothing_of_another_project_is_withdrawn() -> None:
    (old,) = read(talk("I live in Lisbon.")).extractions
    (new,) = read(talk("I live in Porto now.", at=START + timedelta(days=1))).extractions
    assert withdrawn_by(new, [old]) == (old.id,)
    assert withdrawn_by(new, [replace(old, project_id="q")]) == ()


@pytest.mark.parametrize(
    "words", ["No, revert that.", "Please don't.", "Scrap that!", "undo it please", "Wait, no. Drop that."]
)
def test_what_a_human_takes_back_directly_is_not_kept_of_an_agent(words: str) -> None:
    assert found("a: I decided to use SQLite, because it needs no server.", words) == []


def test_a_no_to_a_question_takes_nothing_back() -> None:
    said = "a: I decided to use SQLite, because it needs no server. Shall I delete the old files?"
    assert [kind for kind, _ in found(said, "Please don't.")] == ["decision"]


def test_a_decision_that_begins_with_a_denial_withdraws_the_one_before_it() -> None:
    first, second = read(
        talk("a: I decided to use SQLite, because it needs no server.", "Actually no, let's use Postgres.")
    ).extractions
    assert second.withdraws == (first.id,)
    alone = read(talk("We decided to use SQLite.", "a: Good.", "Let's use Postgres for the reports.")).extractions
    assert [one.withdraws for one in alone] == [(), ()]


@pytest.mark.parametrize("correction", ["No, I was born in 1985, not in 1984.", "Actually I was born in 1985."])
def test_a_correction_of_what_is_long_past_withdraws_it(correction: str) -> None:
    before = read(talk("I was born in 1984.")).extractions
    after = read(talk(correction, at=START + timedelta(days=2)), known=before).extractions
    assert {old for one in after for old in one.withdraws} == {one.id for one in before} != set()
