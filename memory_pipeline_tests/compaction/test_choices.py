"""What a human chooses, limits and corrects, what an agent reports of its work, and statements that no section has."""

from __future__ import annotations

import pytest

from memory_pipeline.compaction.compacting import compact_session
from memory_pipeline.compaction.flush import flush_of
from memory_pipeline.compaction.kept import Kept
from memory_pipeline.compaction.transcripts import Session
from memory_pipeline_tests.build import settings_for
from memory_pipeline_tests.compaction.short_sessions import Labelled
from memory_pipeline_tests.compaction.test_short_sessions import met, session_of
from memory_pipeline_tests.compaction.trades_sessions import TRADES_SESSIONS
from memory_pipeline_tests.conversations.saying import talk


def kept(*said: str) -> list[Kept]:
    return list(flush_of(Session("s", "claude-code", "app", "s.jsonl", tuple(talk(*said)))).kept)


def of(kind: str, *said: str) -> list[str]:
    return [one.text for one in kept(*said) if one.kind == kind]


def test_of_sessions_of_other_trades_three_of_four_are_kept_and_nothing_that_must_not_stand() -> None:
    lost, wrong = 0, []
    for one in TRADES_SESSIONS:
        found = flush_of(session_of(one)).kept
        lost += sum(not any(met(label, found)) for label in one.wanted)
        wrong += [f"{label}: {text}" for label in one.unwanted for text in met(label, found)]
    assert wrong == [] and 4 * lost <= sum(len(one.wanted) for one in TRADES_SESSIONS)


@pytest.mark.parametrize("one", TRADES_SESSIONS, ids=[one.name for one in TRADES_SESSIONS])
def test_what_a_compaction_writes_of_them_is_not_longer_than_they_are(one: Labelled, tmp_path: object) -> None:
    done = compact_session(settings_for(tmp_path / "store.duckdb"), session_of(one))  # type: ignore[operator]
    assert 0 < done.tokens_after <= done.tokens_before


@pytest.mark.parametrize(
    "said",
    [
        "I set REPORT_DSN in deploy/report.env to point at the replica.",
        "Replaced in 9 places.",
        "The trial run with 3 tables passed.",
        "Put back chapter 4 in thesis/main.tex.",
        "I've moved the order OR-5512 to Friday.",
        "Wrote that to notes/minutes-04.md.",
    ],
)
def test_what_an_agent_did_is_kept_by_the_build_of_its_sentence(said: str) -> None:
    assert of("done", "Go on.", f"a: {said}") == [said]


@pytest.mark.parametrize(
    "said",
    [
        "I haven't touched the file deploy/report.env.",
        "I looked at deploy/report.env.",
        "I thought about deploy/report.env.",
        "I would have moved the order OR-5512 to Friday.",
    ],
)
def test_what_an_agent_did_not_do_or_only_read_is_not_done(said: str) -> None:
    assert of("done", "Go on.", f"a: {said}") == []


@pytest.mark.parametrize(
    "said",
    [
        "Great. Then let's bypass the proxy for the export, the others need it that way.",
        "We take the blue one, 25 years.",
        "I thought of 29 euros but let's say 32.50.",
        "Then we put in Ceylon instead of Assam.",
        "Then it's Mobull.",
        "Get it at Brandner.",
        "The third song can go, nobody knows it anyway.",
        "We walk the town wall instead.",
    ],
)
def test_what_a_human_chooses_is_a_decision(said: str) -> None:
    assert any(
        text in said for text in of("decision", "Let me plan this.", "a: I wrote it all down.", said, "a: Fine.")
    )


@pytest.mark.parametrize(
    "said",
    [
        "Then let's see.",
        "Let's talk about it tomorrow.",
        "If it's cheap we take the blue one.",
        "So we have a problem.",
        "Shall we take the blue one?",
    ],
)
def test_what_only_sounds_like_a_choice_is_none(said: str) -> None:
    assert of("decision", "Let me plan this.", "a: I wrote it all down.", said, "a: Fine.") == []


def test_that_one_is_kept_with_what_the_agent_named() -> None:
    found = of(
        "decision", "Find a hotel.", "a: The Alma in Bruges has a room for 94 euros.", "Book that one.", "a: OK."
    )
    assert found == ["The Alma in Bruges has a room for 94 euros. (the human: Book that one.)"]


@pytest.mark.parametrize(
    "said",
    [
        "Don't send it, the notary has to see it first.",
        "Send nothing before Monday.",
        "Don't write 'significant improvement', write 'difference'.",
        "And British spelling throughout.",
        "Only Tomasz merges to main.",
        "Also no discount for Hofbauer, he still owes us for October.",
        "And write bar, not psi, on all our forms.",
    ],
)
def test_what_a_human_limits_is_a_rule(said: str) -> None:
    assert of("rule", "Help me with the papers.", "a: I wrote it all down.", said, "a: Fine.") == [said]


@pytest.mark.parametrize(
    "said", ["Don't worry about it.", "No change in the result.", "Don't do that.", "No idea.", "Keep it on the desk."]
)
def test_what_only_sounds_like_a_limit_is_none(said: str) -> None:
    assert of("rule", "Help me with the papers.", "a: I wrote it all down.", said, "a: Fine.") == []


def test_a_figure_that_the_human_replaced_does_not_stand_as_done() -> None:
    found = kept(
        "Write the offer, 440,000, valid until 30 November.",
        "a: I drafted the offer in house/offer-v1.docx with 440,000.",
        "Wait, make it 442,500.",
        "a: Changed to 442,500 in house/offer-v2.docx.",
    )
    assert not [one for one in found if "440,000" in one.text and "442,500" not in one.text]
    assert "Wait, make it 442,500." in [one.text for one in found if one.kind == "decision"]
    assert not [one for one in found if one.kind in ("decision", "done") and "440,000" in one.text]


def test_a_task_for_once_is_no_rule_and_a_thing_to_be_done_no_fact() -> None:
    found = kept(
        "Next, add an alert when the export takes longer than 90 minutes.",
        "a: Noted.",
        "Figure 2 has to be redone then, from data/clean.csv.",
        "a: Noted.",
    )
    assert {one.kind for one in found} == {"open"}


def test_a_setting_that_was_only_found_is_not_changed() -> None:
    said = "a: Found it: pgbouncer has server_lifetime = 2400 since commit 9f3c2ab, which cuts the connection."
    assert of("config", "Why does it stop?", said) == []


def test_a_doubt_of_something_else_is_no_dead_end_of_a_plan_or_a_report() -> None:
    assert not of(
        "dead_end",
        "Why?",
        "a: I'll look at the log first.",
        "I don't think it's the database, the other jobs are fine.",
    )
    assert not of(
        "dead_end", "Go on.", "a: 212 tests passed, one was skipped because mac-03 is off.", "After last time no."
    )


def test_of_a_sentence_only_the_part_that_failed_is_a_dead_end() -> None:
    said = "a: The mailing to 840 customers is a draft; the import of the list failed because of 23 bad addresses."
    assert of("dead_end", "Go on.", said) == ["the import of the list failed because of 23 bad addresses."]


def test_a_statement_with_an_identifier_that_no_section_has_is_a_fact() -> None:
    found = kept(
        "Go on.", "a: The certificate AS-118240 lists the garage roof.", "Her file number is VH-2026-0783.", "a: OK."
    )
    facts = {one.text: one.confidence for one in found if one.kind == "fact"}
    assert facts["The certificate AS-118240 lists the garage roof."] == 0.75
    assert facts["Her file number is VH-2026-0783."] == 0.85


def test_of_two_figures_for_the_same_the_older_is_left_out_and_so_is_what_was_denied() -> None:
    found = kept(
        "Go on.",
        "a: The insurance value reads 1.2 million euros.",
        "The value is 1.45 million euros since May.",
        "a: OK.",
    )
    assert not [one for one in found if "1.2" in one.text]
    found = kept(
        "Why?", "a: The valve was set to 210 bar in March.", "We measured 228 cold, so the valve is fine.", "a: OK."
    )
    assert not [one for one in found if "210 bar" in one.text]


def test_of_many_such_statements_the_newest_are_kept() -> None:
    talked = [f"a: Ticket AB-{number} stands at {number}.5 hours." for number in range(100, 140)]
    found = of("fact", *(line for said in talked for line in ("Go on.", said)))
    assert len(found) == 20 and "AB-139" in found[-1]
