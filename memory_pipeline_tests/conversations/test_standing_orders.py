"""Orders that hold from now on, what is given up for something else, absences and causes; and what looks so."""

from __future__ import annotations

import pytest

from memory_pipeline_tests.conversations.saying import found, read, talk


def kinds_of(said: str) -> list[str]:
    return [kind for kind, _ in found(said)]


@pytest.mark.parametrize(
    "said",
    [
        "From now on commit messages in English, imperative, max 60 characters.",
        "From now on, deploy only from the release branch.",
        "From now on: tests before code.",
        "Going forward, no merges without a review.",
        "Henceforth two reviewers per change.",
        "From here on use tabs in this repo.",
        "Henceforth no force pushes to shared branches.",
        "From today on: one migration per pull request.",
    ],
)
def test_what_is_to_be_so_from_now_on_is_an_order_with_or_without_a_verb(said: str) -> None:
    assert kinds_of(said) in (["dynamic"], ["boundary"])


@pytest.mark.parametrize("said", ["From now on we use tabs.", "From now on all receipts go into the scan folder."])
def test_what_two_do_from_now_on_is_a_decision(said: str) -> None:
    assert kinds_of(said) == ["decision"]


@pytest.mark.parametrize(
    "said",
    [
        "Ask Marek before you change the polling interval.",
        "Check with Lena Roth before any release.",
        "Before you change the polling interval, check with Marek.",
        "Ask the DBA before every migration.",
        "Get the nod from legal before any change to the terms page.",
        "Marek owns the carrier contract and is out until 2 December; ask him before you change the polling interval.",
    ],
)
def test_somebody_else_who_is_to_be_asked_first_is_a_boundary(said: str) -> None:
    assert "boundary" in kinds_of(said)


def test_who_is_to_be_asked_is_said_though_the_name_stands_in_the_sentence_before() -> None:
    said = "Marek owns the carrier contract. Ask him before you change the interval."
    assert ("boundary", said) in found(said)


@pytest.mark.parametrize(
    "said",
    [
        "Ask Anna how she is before she leaves.",
        "For now ask Marek before you change it.",
        "Did you ask Marek before you changed it?",
        "She said ask Marek before you change it.",
    ],
)
def test_what_is_for_the_moment_or_somebody_elses_order_is_no_boundary(said: str) -> None:
    assert "boundary" not in kinds_of(said)


@pytest.mark.parametrize(
    "said",
    [
        "Forget bytea, put them in the bucket labels-prod with a key per parcel.",
        "Skip the sandbox then, pass the models through as unrestricted modules.",
        "Drop Kafka, go with Redis.",
        "Leave out the cache, read straight from the replica.",
        "Leave out the wrapper, call the API directly.",
        "Take RabbitMQ then.",
    ],
)
def test_what_is_done_in_the_place_of_something_is_a_decision(said: str) -> None:
    assert kinds_of(said) == ["decision"]


@pytest.mark.parametrize(
    "said",
    [
        "Forget the rest, thanks.",
        "Skip the intro, tell me the result.",
        "Forget dinner, go home.",
        "Drop the pen and pick it up.",
        "Maybe forget bytea, put them in a bucket.",
        "a: Forget bytea, put them in the bucket.",
    ],
)
def test_what_is_only_told_or_doubted_is_no_decision(said: str) -> None:
    assert "decision" not in kinds_of(said)


@pytest.mark.parametrize(
    "said",
    [
        "Marek is out until 2 December.",
        "Marek is on parental leave until March.",
        "Our accountant is on holiday for three weeks.",
        "Lena is back on Monday.",
        "The ops team owns the DNS zone.",
    ],
)
def test_who_is_away_until_when_is_context(said: str) -> None:
    assert kinds_of(said) == ["context"]


@pytest.mark.parametrize(
    "said",
    ["Marek is out of milk.", "He is away with the fairies.", "The light is off."],
)
def test_what_only_sounds_away_is_none(said: str) -> None:
    assert kinds_of(said) == []


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        ("a: Found it: the parser strips the Z in parse_event(), line 57 of events.py.", ["context"]),
        ("a: Root cause: the worker keeps the old token after a restart.", ["context"]),
        ("a: Got it: I will look at the parser first and then at the tests.", []),
        ("a: Found it: maybe the parser strips the Z in parse_event().", []),
    ],
)
def test_a_cause_that_is_announced_as_found_is_context(said: str, kinds: list[str]) -> None:
    assert kinds_of(said) == kinds


@pytest.mark.parametrize(
    "words",
    [
        "Always run the linter before you commit.",
        "Please always lock the doors.",
        "Back up the disk always before an upgrade.",
    ],
)
def test_an_order_for_every_time_is_a_way_to_work(words: str) -> None:
    assert [one.kind for one in read(talk(words)).extractions] == ["dynamic"]


@pytest.mark.parametrize(
    "words", ["Always be kind.", "Always remember me.", "Always run the tests for now.", "You should always run it."]
)
def test_what_is_felt_or_meant_for_now_is_no_way_to_work(words: str) -> None:
    assert not read(talk(words)).extractions
