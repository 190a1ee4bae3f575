"""What two statements have in common: what they say, their values, their days; and what is around a message."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.models.conflicts import says
from memory_pipeline.text.days import in_words, names_another_day, with_days
from memory_pipeline.text.facts import find_facts
from memory_pipeline.text.hidden import without_scaffolding
from memory_pipeline.text.normalise import embedding_text
from memory_pipeline.text.sentences import split_statements, strip_lead_in
from memory_pipeline.text.whole import facts_lacking, keeps

MONDAY = date(2026, 3, 30)


@pytest.mark.parametrize(
    ("statement", "by", "said"),
    [
        ("Mia is allergic to peanuts and to kiwi.", "Mia is allergic to peanuts and carries an EpiPen.", False),
        ("Never commit the key.", "Commit the key.", False),
        ("- [x] The login is moved.", "- [ ] The login is moved.", False),
        ("Suppressing {'a', 'b'}", "Suppressing {'a', 'b', 'c'}", False),
        ("Variant framing=none, type=general", "Variant framing=strong, type=general", False),
        ("Restart the gateway after a rotation.", "Restart the gateway after a rotation; it takes a minute.", True),
    ],
)  # fmt: skip
def test_a_statement_says_what_another_one_says_or_not(statement: str, by: str, said: bool) -> None:
    assert says(by, statement) is said


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("It starts tomorrow.", "It starts tomorrow (31 March 2026)."),
        ("Yesterday's run failed.", "Yesterday's (29 March 2026) run failed."),
        ("We meet next Friday.", "We meet next Friday (3 April 2026)."),
        ("It broke last night.", "It broke last night (29 March 2026)."),
        ("Due this week.", "Due this week (the week of 30 March 2026)."),
        ("Water them every day, today too.", "Water them every day, today too."),
        ("The last Friday deploy failed.", "The last Friday deploy failed."),
        ("It starts tomorrow (31 March 2026).", "It starts tomorrow (31 March 2026)."),
        ("Run `make today` first.", "Run `make today` first."),
        ("We moved three days ago.", "We moved three days ago (27 March 2026)."),
        ("It broke 2 weeks ago.", "It broke 2 weeks ago (the week of 16 March 2026)."),
        ("The day after tomorrow it ends.", "The day after tomorrow (1 April 2026) it ends."),
        ("We go to Spain next month.", "We go to Spain next month (April 2026)."),
        ("A year ago we used Jenkins.", "A year ago (2025) we used Jenkins."),
        ("The licence expires in 10 days.", "The licence expires in 10 days (9 April 2026)."),
        ("It was finished in 10 days.", "It was finished in 10 days."),
        ("It broke about two weeks ago.", "It broke about two weeks ago."),
        ("In the last month it may grow.", "In the last month it may grow."),
        ("It starts in 3 days of work.", "It starts in 3 days of work."),
    ],
)
def test_words_for_another_day_carry_their_date_once(text: str, dated: str) -> None:
    assert with_days(text, MONDAY) == dated == with_days(dated, MONDAY)
    assert names_another_day("It starts tomorrow.") and not names_another_day("It starts at noon.")
    assert in_words(MONDAY) == "30 March 2026"


@given(
    st.dates(),
    st.sampled_from("0 00 1 12 99 a an ten".split()),
    st.sampled_from(["day", "week", "month", "year"]),
    st.sampled_from(["It broke {} {}s ago.", "It is due in {} {}s.", "It broke {} {}s ago, last night or last month."]),
)
def test_a_span_that_no_calendar_has_stays_without_a_date(written: date, many: str, unit: str, statement: str) -> None:
    told = statement.format(many, unit)
    dated = with_days(told, written)
    assert re.sub(r" \([^()]*\)", "", dated) == told and dated == with_days(dated, written)


def test_a_fact_is_kept_at_another_place_of_a_sentence() -> None:
    one, other = "Since it failed, Ines chose nothing.", "Ines chose nothing since it failed."
    assert facts_lacking(one, other) == [] and all(keeps(other, fact) for fact in find_facts(one))
    assert [fact.text for fact in facts_lacking("It takes 5 minutes.", "It takes 15 minutes.")] == ["15 minutes"]
    assert facts_lacking("Never deploy. Ask Dana on Friday.", "Never ask Dana.")


def test_lead_ins_and_lead_outs_are_no_part_of_what_is_said() -> None:
    said = "Crop the images first."
    for text in (f"Noted again: {said}", f"As mentioned earlier, {said}", "Crop the images first (logged)."):
        assert strip_lead_in(text) == said


@pytest.mark.parametrize(
    "around",
    [
        'Conversation info (untrusted metadata):\n```json\n{\n  "message_id": "77", "sender": "bob"\n}\n```\n\n{}',
        'Sender (untrusted metadata):\n{"label": "bob", "id": "4711"}\n\n{}',
        "[message_id: om_x100b5]\n{}",
        "[Telegram Bob id:4711 2026-05-01 10:00 UTC] {}",
        "<system-reminder>Be brief. 12 files open.</system-reminder>\n{}",
        "{}\n\nbob@host:~/shop$ make test\n412 passed in 3 s\n",
    ],
)
def test_scaffolding_takes_no_part_in_comparing(around: str) -> None:
    said = "Please move the weekly review to Thursday."
    text = around.replace("{}", said)
    assert without_scaffolding(text).strip() == said
    assert embedding_text(text) == said and split_statements(text) == [said]
    assert not [fact for fact in find_facts(text) if fact.kind in ("number", "identifier")]


def test_a_text_of_nothing_but_scaffolding_stays_as_it_is() -> None:
    text = "[message_id: om_x100b5]"
    assert without_scaffolding(text) == text and embedding_text(text)
