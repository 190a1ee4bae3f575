"""Contradictions for a person: precise, in the words of the statements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.text.contradictions import find_contradiction

CONTRADICTIONS = [
    ("number", "The staging database listens on port 5432.", "The staging database listens on port 5433."),
    ("number", "Keep five copies of each backup.", "Keep 6 copies of each backup."),
    (
        "number",
        "The rate limit of the search API is 60 requests a minute.",
        "The rate limit of the search API is 100 requests a minute.",
    ),
    (
        "unit",
        "The sump pump switches on at a water level of 30 cm.",
        "The sump pump switches on at a water level of 30 mm.",
    ),
    ("unit", "The request timeout of the gateway is 30 s.", "The request timeout of the gateway is 30 ms."),
    ("date", "The lease of the office ends on 2026-03-12.", "The lease of the office ends on 2026-03-19."),
    ("date", "The rubbish is collected on Tuesday.", "The rubbish is collected on Thursday."),
    ("time", "The nightly export starts at 02:30.", "The nightly export starts at 03:30."),
    (
        "negation",
        "Customers may change the address after payment.",
        "Customers may not change the address after payment.",
    ),
    ("negation", "Use tabs in this repository.", "Never use tabs in this repository."),
    (
        "opposite",
        "Automatic updates are enabled on the media server.",
        "Automatic updates are disabled on the media server.",
    ),
    ("opposite", "Run the migrations before the deploy.", "Run the migrations after the deploy."),
    ("opposite", "The user prefers short answers without code.", "The user prefers long answers without code."),
    ("name", "Reviews of the paper are handled by Priya.", "Reviews of the paper are handled by Tomas."),
    ("quantifier", "All tests of the importer need a database.", "Some tests of the importer need a database."),
    ("order", "The billing service depends on the catalogue.", "The catalogue depends on the billing service."),
    ("opposite", "The digest of the forum is sent daily.", "The digest of the forum is sent weekly."),
    ("negation", "The user wants reminders by mail.", "The user does not want reminders by mail."),
    (
        "opposite",
        "Always run the linter before pushing, the checks are slow.",
        "Never run the linter before pushing, it takes too long.",
    ),
    ("name", "The user lives in Berlin with two cats.", "The user lives in Hamburg with two cats."),
    (
        "identifier",
        "The image is built with version 2.4.1 of the compiler.",
        "The image is built with version 2.5.0 of the compiler.",
    ),
]

#: Pairs of two days that do not contradict each other.
COMPATIBLE = [
    (
        "two runs",
        "The deploy took 14 minutes because the cache was cold.",
        "The deploy took 41 minutes because the cache was cold.",
    ),
    ("two runs", "The nightly backup took 12 minutes.", "The nightly backup took 19 minutes."),
    ("a gauge", "The memory usage of the server is 71%.", "The memory usage of the server is 84%."),
    ("a gauge", "Brain: 743 memories, 14298 edges", "Brain: 815 memories, 14298 edges"),
    ("a gauge", "The average latency is now 120 ms.", "The average latency is now 180 ms."),
    ("a gauge", "There are 42 open tasks in the backlog.", "There are 17 open tasks in the backlog."),
    (
        "an own sentence",
        "Summaries should be short bullet points without any greeting.",
        "Summaries should be short bullet points without any greeting. No emojis.",
    ),
    (
        "an own sentence",
        "Summaries should be short bullet points. At most 7 bullets.",
        "Summaries should be short bullet points. No emojis.",
    ),
    ("two subjects", "Dana prefers CSV files for the export.", "Marco prefers CSV files for the export."),
    (
        "two ids",
        "The bridge recorded the outcome as learnings_20260323_170626.",
        "The bridge recorded the outcome as learnings_20260325_150054.",
    ),
    (
        "settings of a run",
        "recorded success for variant approach=incremental|guard=none",
        "recorded success for variant approach=incremental|guard=strong",
    ),
    (
        "two things",
        "Call `make build` in the root of the repository.",
        "Call `make check` in the root of the repository.",
    ),
    ("two days", "Met Priya for lunch in the park.", "Met Tomas for lunch in the park."),
    ("two days", "The backup failed.", "The backup passed."),
    (
        "two days",
        "The build failed again this morning on the arm runner.",
        "The build passed again this morning on the arm runner.",
    ),
    ("links", "[Agent Documentation](https://a.example/en)", "[Agent Documentation](https://b.example/en)"),
    ("the same", "Retry after 5 minutes when the queue is full.", "Retry after five min when the queue is full."),
    ("a gauge", "The price of the share is 67.20 euros.", "The price of the share is 68.10 euros."),
    ("a count", "The reading group has 25 members.", "The reading group has 27 members."),
    ("two subjects", "Task 3 of the migration is done.", "Task 4 of the migration is done."),
    ("two subjects", "The morning report is in the folder.", "The evening report is in the folder."),
    ("two subjects", "The old server is in the cellar.", "The new server is in the cellar."),
    ("two subjects", "The notes of Monday are in the wiki.", "The notes of Friday are in the wiki."),
    ("two of many", "The newsletter goes to Priya and her team.", "The newsletter goes to Tomas and his team."),
    ("two days", "The next review of the budget is on Friday.", "The next review of the budget is on Monday."),
    ("two days", "Had a call with Priya about the lease.", "Had a call with Tomas about the lease."),
    ("two duties", "Check the upper limit of the gauge.", "Check the lower limit of the gauge."),
    ("unrelated", "The cat sleeps on the red sofa.", "Postgres runs on port 5432."),
]


#: Pairs that are kept apart, of which no person is asked which one is right.
NOT_TO_DECIDE = [
    ("two moments", "**Mail:** No new since 07:46. Quiet.", "**Mail:** No new since 08:22. Quiet."),
    ("two moments", "Heartbeat at 15:01: thread still active.", "Heartbeat at 00:01: thread still active."),
    ("two moments", "Garden sensor (check 1): done 04:06.", "Garden sensor (check 1): done 09:36."),
    ("two moments", "No visits of the plumber since April 21.", "No visits of the plumber since April 24."),
    ("counters", "**Forum:** 72 unread messages, all stale.", "**Forum:** 92 unread messages, all stale."),
    ("a countdown", "The filing deadline is 12 days out (April 13).", "The filing deadline is 11 days out (April 13)."),
    ("how many", "Feedback was given for all 3 searches.", "Feedback was given for both searches."),
    ("how often", "The review usually takes place in the hall.", "The review often takes place in the hall."),
    ("questions", "Which words feel like our baker?", "Which words do not feel like our baker?"),
    ("the same", "The two lists of guests are different.", "The two lists of guests are not the same list."),
    (
        "two plans",
        "Do not send all 11 letters at once. First test a group of six.",
        "Do not send all 10 letters at once. This is the order of sending.",
    ),
    ("tonight", "Do not send all five letters tonight.", "Do not send all ten letters tonight."),
]


@pytest.mark.parametrize("same_day", [True, False])
def test_a_person_is_asked_about_what_holds_and_not_about_moments(same_day: bool) -> None:
    asked = [
        one
        for kind, one, other in CONTRADICTIONS
        if (found := find_contradiction(one, other, same_day=same_day)) is not None and found.is_clear
    ]
    assert len(asked) >= len(CONTRADICTIONS) - 2
    for why, one, other in NOT_TO_DECIDE:
        found = find_contradiction(one, other, same_day=same_day)
        assert found is None or not found.is_clear, why


@pytest.mark.parametrize(("kind", "one", "other"), CONTRADICTIONS)
@pytest.mark.parametrize("same_day", [True, False])
def test_statements_that_cannot_both_be_true_contradict_each_other(
    kind: str, one: str, other: str, same_day: bool
) -> None:
    found, back = (find_contradiction(*pair, same_day=same_day) for pair in ((one, other), (other, one)))
    assert found is not None and back is not None and (found.kind, found.about) == (back.kind, back.about)
    assert found.kind == kind


@pytest.mark.parametrize(("why", "one", "other"), COMPATIBLE)
def test_statements_that_can_both_be_true_do_not(why: str, one: str, other: str) -> None:
    assert find_contradiction(one, other, same_day=False) is None
    assert find_contradiction(other, one, same_day=False) is None


@pytest.mark.parametrize(
    ("detail", "one", "other"),
    [
        ("passed / failed", "The price import passed its validation.", "The price import failed its validation."),
        (
            "Priya / Tomas",
            "The reviews are handled by Priya this month.",
            "The reviews are handled by Tomas this month.",
        ),
        ("allowed / not allowed", "Customers are allowed to pay later.", "Customers are not allowed to pay later."),
        ("30 s / 30 ms", "The timeout of the gateway is 30 s.", "The timeout of the gateway is 30 ms."),
        ("4 GB / 8 GB", "The limit of the worker is 4 GB.", "The limit of the worker is 8 GB."),
        ("Use / Never use", "Use tabs in this repository.", "Never use tabs in this repository."),
    ],
)
def test_words_are_shown_as_they_are_written(detail: str, one: str, other: str) -> None:
    found = find_contradiction(one, other, same_day=True)
    assert found is not None and found.detail == detail


def test_a_later_setting_supersedes_and_a_finding_does_not() -> None:
    setting = find_contradiction("The port of the proxy is 80.", "The port of the proxy is 81.", same_day=False)
    assert setting is not None and setting.can_change
    finding = find_contradiction(
        "The ablation shows that warm-up helps before the decay.",
        "The ablation shows that warm-up helps after the decay.",
        same_day=False,
    )
    assert finding is not None and not finding.can_change


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_are_compared_the_same_both_ways(one: str, other: str) -> None:
    found, back = (find_contradiction(*pair, same_day=True) for pair in ((one, other), (other, one)))
    assert (found and found.kind) == (back and back.kind)
    assert find_contradiction(one, one, same_day=True) is None


def test_a_leading_time_hides_no_contradiction() -> None:
    first, later = "The breaker of the rack is rated 32 A.", "16:00 The breaker of the rack is rated 63 A."
    for one in (first, f"10:15 {first}"):
        found = find_contradiction(one, later, same_day=False)
        assert found is not None and found.is_clear and found.detail == "32 / 63"
