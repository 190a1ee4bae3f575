"""What a flush keeps of what people say about the work without naming it as such; and what only looks so."""

from __future__ import annotations

import pytest

from memory_pipeline.compaction.flush import Flush, flush_of, flush_text
from memory_pipeline.compaction.transcripts import Session
from memory_pipeline_tests.conversations.saying import START, talk


def flushed(*said: str) -> Flush:
    """What is kept of a talk, in which what begins with `a: ` is the agent's."""
    return flush_of(Session("s", "claude-code", "app", "s.jsonl", tuple(talk(*said))))


def kept(*said: str) -> list[tuple[str, str]]:
    """The kind, and the words or the setting, of what is kept of a talk that its agent ends."""
    flush = flushed(*said, "a: Ok.")
    return [(one.kind, f"{one.text} = {one.value}" if one.value else one.text) for one in flush.kept]


@pytest.mark.parametrize(
    "said",
    [
        "From now on commit messages in English, imperative, max 60 characters.",
        "From now on, deploy only from the release branch.",
        "Ask Marek before you change the polling interval.",
        "Marek owns the carrier contract and is out until 2 December; ask him before you change the polling interval.",
    ],
)
def test_an_order_of_the_human_that_lasts_is_a_rule(said: str) -> None:
    assert kept(said) == [("rule", said)]


@pytest.mark.parametrize(
    "said",
    [
        "Forget bytea, put them in the bucket labels-prod with a key per parcel.",
        "Put the labels in the bucket labels-prod.",
        "Store the scans under s3://scans/raw.",
        "Send the alerts to #ops-nights.",
        "Use ULIDs for the order ids.",
        "Skip the sandbox then, pass the models through as unrestricted modules.",
        "Scrap that, tag releases with semver instead.",
    ],
)
def test_what_the_human_orders_in_the_place_of_something_or_at_a_place_is_a_decision(said: str) -> None:
    assert ("decision", said) in kept("a: I store the labels as bytea.", said)


@pytest.mark.parametrize(
    "said",
    ["Put the kettle on.", "Put yourself in my place.", "Keep going.", "Call me by name.", "Use it for the day."],
)
def test_an_order_without_a_place_of_its_own_is_no_decision(said: str) -> None:
    assert "decision" not in [kind for kind, _ in kept(said)]


@pytest.mark.parametrize(
    "before",
    [
        ("a: I'll use Redis for the queue because it is fast.",),
        ("We decided to use Redis for the queue.", "a: Wrote it.", "a: All 9 tests pass.", "a: I ran it once."),
    ],
)
def test_a_no_with_its_reason_is_a_dead_end_and_ends_what_was_decided_before(before: tuple[str, ...]) -> None:
    found = kept(*before, "Hm, wait. Redis loses jobs on restart, so no.")
    assert [text for kind, text in found if kind == "decision"] == []
    (dead,) = (text for kind, text in found if kind == "dead_end")
    assert "Redis loses jobs on restart, so no." in dead


def test_of_a_no_the_cause_that_it_denies_is_a_dead_end_and_what_is_so_is_a_fact() -> None:
    before = "a: The cause is a wrong time zone in the container."
    assert kept(before, "No, that's not the cause.") == [
        ("dead_end", "The cause is a wrong time zone in the container. (the human: No, that's not the cause.)")
    ]
    told = [
        text for kind, text in kept(before, "No, that's not the cause. The container runs in UTC.") if kind == "fact"
    ]
    assert told == ["The container runs in UTC."]


def test_a_no_leaves_what_was_decided_against_the_same_or_for_something_else() -> None:
    before = ("We decided to use RabbitMQ instead of Redis.", "We decided to use Postgres for reports.")
    found = [text for kind, text in kept(*before, "Redis loses jobs on restart, so no.") if kind == "decision"]
    assert found == list(before)


@pytest.mark.parametrize(
    ("talk", "settings"),
    [
        (("a: I set MAX_RETRY = 5.", "Make it 3.", "a: MAX_RETRY is 3 now."), ["MAX_RETRY = 3"]),
        (("a: I set MAX_RETRY = 5.", "Make it 3.", "a: Done."), ["MAX_RETRY = 3"]),
        (("a: I set the timeout to 30 s.", "Use 10 s instead."), ["timeout = 10 s"]),
        (("a: I set the statement timeout to 30 s.", "Better 45 s."), ["statement timeout = 45 s"]),
        (("a: I raised max_connections to 300.", "That's too much, 150 is enough."), ["max_connections = 150"]),
        (("a: I set MAX_RETRY = 5.", "We need 3 people for this."), ["MAX_RETRY = 5"]),
        (("a: I set MAX_RETRY = 5.", "3 is fine."), ["MAX_RETRY = 5"]),
        (("a: I set LOG_LEVEL = debug.", "Set it back to info."), ["LOG_LEVEL = info"]),
        (("a: I set LOG_LEVEL = debug.", "Change it to something else."), ["LOG_LEVEL = debug"]),
        (("a: I set MAX_RETRY = 5.", "Make it quick."), ["MAX_RETRY = 5"]),
        (("a: I set MAX_RETRY = 5 and POOL_SIZE = 9.", "Make it 3."), ["MAX_RETRY = 5", "POOL_SIZE = 9"]),
        (("a: I set MAX_RETRY = 5.", "Should we make it 3?"), ["MAX_RETRY = 5"]),
        (("Make it 3.",), []),
    ],
)
def test_a_value_without_a_name_is_of_what_was_set_last(talk: tuple[str, ...], settings: list[str]) -> None:
    assert [text for kind, text in kept(*talk) if kind == "config"] == settings


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("a: Backfill of October is running: 118,400 of 240,000 parcels are done.", "open"),
        ("a: 118,400 of 240,000 rows are migrated and the index is done.", "open"),
        ("a: The import is 60% done.", "open"),
        ("a: The upload is at 45 %.", "open"),
        ("a: 240 of 240 rows are done.", "done"),
        ("a: It is the proxy: it cuts the body at 64 KB.", "fact"),
        ("a: The parser strips the Z in parse_event(), line 57 of events.py.", "fact"),
        ("a: Found it: the parser strips the Z in parse_event(), line 57 of events.py.", "fact"),
    ],
)
def test_what_runs_is_open_and_what_was_found_at_a_place_in_the_code_is_a_fact(said: str, kind: str) -> None:
    assert kept(said) == [(kind, said.removeprefix("a: "))]


@pytest.mark.parametrize(
    "said",
    [
        "a: The server is running on port 8080.",
        "a: The parser might strip the Z, line 57 of events.py.",
        "a: Look at line 57 of events.py.",
        "a: It's a great idea: it is simple.",
        "a: I looked at line 57 of events.py.",
    ],
)
def test_what_only_looks_like_progress_or_a_finding_is_not_kept(said: str) -> None:
    assert kept(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "I will try to promote myself and expand my network.",
        "I'll take your advice to heart.",
        "I will find the time to relax myself.",
        "Leave me alone with it.",
        "I'll tell you later.",
        "I'll do my best.",
        "I'm getting a headache.",
        "I'll call you if it breaks.",
    ],
)
def test_what_the_human_does_for_himself_is_no_task(said: str) -> None:
    assert not [one for one in flushed(said, "a: Ok.").kept if one.is_humans]


def test_what_the_human_takes_on_is_told_as_the_humans_and_is_no_task_of_the_agent() -> None:
    flush = flushed("a: Next: the DNS.", "I'll do the DNS myself.")
    assert [(one.text, one.is_humans) for one in flush.kept] == [("I'll do the DNS myself.", True)]
    assert "- I'll do the DNS myself. (the human does this)" in flush_text(flush, START.date())


@pytest.mark.parametrize(
    ("talk", "is_open"),
    [
        (("Take a snapshot of the volume first.", "a: Noted."), True),
        (("Take a snapshot of the volume first.", "a: Done. Took a snapshot of the volume."), False),
        (("You write the changelog.", "a: OK."), True),
        (("You write the changelog.", "a: OK.", "Good.", "a: Wrote the changelog."), False),
        (("The build is red again.",), False),
        (("Tell me about the weather.", "a: OK."), False),
    ],
)
def test_what_the_agent_was_told_to_do_is_open_until_it_is_done(talk: tuple[str, ...], is_open: bool) -> None:
    found = [text for kind, text in kept(*talk) if kind == "open"]
    assert found == ([talk[0]] if is_open else [])
