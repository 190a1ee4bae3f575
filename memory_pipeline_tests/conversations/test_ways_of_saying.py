"""What people plainly say in many ways is kept: choices, permissions, prohibitions, standing orders, surroundings."""

from __future__ import annotations

import pytest
from demo_conversations import score_demo

from memory_pipeline.demo.conversations import conversations
from memory_pipeline_tests.conversations.saying import found


def kinds_of(said: str) -> list[str]:
    """The kinds of what is extracted of one turn."""
    return [kind for kind, _ in found(said)]


@pytest.mark.parametrize(
    "said",
    [
        "Agreed, let's move the nightly job to the small box.",
        "We're going with Radicale instead of Nextcloud, since a calendar is all we need.",
        "Let's stay on version 15 until January, because the driver is not ready.",
        "We agreed with Marta to invoice in euros only.",
        "We dropped Kafka, nobody could run it.",
        "We're keeping restic and dropping Borg, two tools are one too many.",
        "We schedule nothing between two and three any more.",
        "As of April all receipts go into the scan folder.",
        "Postgres it is, then.",
        "New rule for us: keys are renewed a month before they expire.",
        "Use the core insert instead of the bulk one.",
        "a: Decision: the export moves to the new host.",
    ],
)
def test_a_choice_is_a_decision(said: str) -> None:
    assert kinds_of(said) == ["decision"]


@pytest.mark.parametrize(
    "said",
    [
        "We decided two years ago to replace the battery and then forgot about it.",
        "We're moving the desks right now.",
        "I'm going with my sister to the doctor.",
        "Maybe we should stay on version 15, because the driver is not ready.",
        "The neighbours are going with gas instead of a heat pump.",
        "If they raise the price we're switching to another provider.",
        "Let's go for a walk instead.",
        "a: We could stay on version 15, because the driver is not ready.",
        "a: Agreed, use the small box.",
    ],
)
def test_what_is_no_choice_of_the_two_is_no_decision(said: str) -> None:
    assert "decision" not in kinds_of(said)


@pytest.mark.parametrize(
    "said",
    [
        "You have my OK to restart the workers whenever they hang.",
        "Up to 100 euros you can buy spare parts without asking me.",
        "Questions about sizes you can answer straight away.",
        "Small orders don't have to cross my desk.",
        "Whatever you come up with is fine by me.",
        "The layout is your decision.",
    ],
)
def test_a_permission_is_trust(said: str) -> None:
    assert kinds_of(said) == ["trust"]


@pytest.mark.parametrize(
    "said",
    [
        "Please do not email her directly, go through me.",
        "Ask before you spend more than 20 euros.",
        "Before you change anything on the router, talk to me.",
        "Refunds above 50 euros always come to me before you reply.",
        "Please leave the neighbour out of it.",
        "Hands off the old archives.",
        "Only through the VPN.",
        "She wrote them herself, so don't correct her sentences.",
        "I read every contract myself.",
    ],
)
def test_what_an_agent_must_not_do_or_must_ask_about_is_a_boundary(said: str) -> None:
    assert kinds_of(said) == ["boundary"]


@pytest.mark.parametrize(
    "said",
    [
        "Don't worry about the printer.",
        "Please don't restart it yet, the copy is still running.",
        "Don't tell me it broke again!",
        "Do not disturb mode is broken on my phone.",
        "Each service has its own key and never shares it.",
        "No problem at all with the second one.",
        "My doctor says I should never skip breakfast.",
    ],
)
def test_what_is_for_the_moment_or_no_order_is_no_boundary(said: str) -> None:
    assert kinds_of(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "When it gets above 38 degrees, ring me.",
        "Wake me when a backup fails.",
        "Explain such things to me as if I had never seen a server.",
        "What helps me most is if you sort the inbox first.",
        "Two paragraphs are plenty for me.",
        "I don't mind mistakes as long as you tell me.",
    ],
)
def test_how_an_agent_is_to_work_is_a_dynamic(said: str) -> None:
    assert kinds_of(said) == ["dynamic"]


@pytest.mark.parametrize(
    "said", ["When you're done, tell me.", "If you find the file, send it to me.", "Call me later."]
)
def test_an_order_for_one_occasion_is_a_task(said: str) -> None:
    assert kinds_of(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Marta is our accountant.",
        "Sofie packs the parcels at the warehouse.",
        "The backup key lies in the safe at the office.",
        "Our blankets come from a mill in Covilha.",
        "The root cause was a stale lock file.",
        "a: The pickup was missing because the carrier's token had expired.",
    ],
)
def test_how_things_are_around_the_two_is_context(said: str) -> None:
    assert kinds_of(said) == ["context"]


@pytest.mark.parametrize(
    "said",
    [
        "The budget for travel is too low.",
        "My colleague Jan lives in Antwerp.",
        "Our neighbours' daughter starts school in August.",
        "The key to happiness lies in small things.",
        "a: The upload might have failed because of the proxy.",
    ],
)
def test_an_opinion_or_somebody_else_is_no_context(said: str) -> None:
    assert kinds_of(said) == []


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("I moved to Porto last month.", "fact"),
        ("My wife Clara works at the harbour.", "fact"),
        ("Jonas, my husband, takes the pictures.", "fact"),
        ("I was really worried about the audit.", "emotion"),
        ("Scrap that, tag releases with semver instead.", "correction"),
        ("That cannot be right, we pay 29 a month.", "correction"),
        ("I told you in January that the boxes run on UTC.", "correction"),
    ],
)
def test_facts_feelings_and_corrections_have_many_forms(said: str, kind: str) -> None:
    assert kinds_of(said) == [kind]


@pytest.mark.parametrize(
    "said",
    [
        "Leave a slice for me.",
        "You have to show me that!",
        "From now on things are better.",
        "No rain in sight.",
        "Nobody goes out on Mondays.",
        "We left early because it rained.",
        "We're leaving on Friday.",
        "We're going for pizza.",
        "Hard as it is, we try.",
        "Explain recursion to me like I'm five.",
        "Remind me when the cake is done.",
        "Ask me if I want coffee.",
        "The cat sits on the roof.",
        "Anna runs every morning.",
        "I told you that I love you.",
        "It's the thought that counts, not the gift.",
        "I bought a house in my dream.",
        "Before you go, tell me a joke.",
    ],
)
def test_what_people_say_in_passing_is_not_kept(said: str) -> None:
    assert kinds_of(said) == []


def test_a_fact_beside_an_order_is_kept_as_well() -> None:
    said = "I have type 2 diabetes, so if my phone is silent for a day, call my wife."
    assert kinds_of(said) == ["dynamic", "fact"]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("We moved to Amersfoort last weekend.", "fact"),
        ("I moved in with my sister last month.", "fact"),
        ("My son turned four yesterday.", "fact"),
        ("I gave up smoking in March.", "fact"),
        ("Our flat is on the fourth floor, without a lift.", "fact"),
        ("Answer me in plain English.", "dynamic"),
        ("Write to me in short sentences.", "dynamic"),
        ("Please finish every message with the next step.", "dynamic"),
        ("Open each mail draft with the ask, then the background.", "dynamic"),
        ("Please put the deadline in the first line of every mail.", "dynamic"),
        ("I'd rather you stopped too early than too late.", "dynamic"),
        ("From today, release notes in German, one line per change.", "dynamic"),
        ("From now on subject lines in French, without exclamation marks.", "dynamic"),
        ("From now on, flash boards only with signed firmware.", "dynamic"),
        ("Commit messages must be in English.", "dynamic"),
        ("Test names have to be full sentences.", "dynamic"),
        ("Use tabs, not spaces", "dynamic"),
        ("Keep functions under forty lines.", "dynamic"),
        ("We agreed to meet every Thursday at ten.", "decision"),
        ("The new site will be built with Astro, that is decided.", "decision"),
        ("We are not renewing the contract with VetSoft.", "decision"),
        ("We won't order from Berger again.", "decision"),
        ("The old intranet will be switched off in June.", "decision"),
        ("Use Postgres, not Mongo.", "decision"),
        ("Tag a release only after the smoke tests.", "boundary"),
        ("Don't change the data plan before you spoke to Tomasz.", "boundary"),
        ("You may delete old branches.", "trust"),
        ("No, the office closes at 17:00, not 18:00.", "correction"),
    ],
)
def test_plain_sentences_need_no_word_that_announces_them(said: str, kind: str) -> None:
    assert kinds_of(said) == [kind]


@pytest.mark.parametrize(
    "said",
    [
        "We moved to Slack last weekend.",
        "We moved to Hetzner with the kids in June.",
        "My laptop turned eight minutes of work into nothing.",
        "I stopped the server two minutes ago.",
        "Our flat white was cold this morning.",
        "Answer me in one word: is it done?",
        "Write to me tomorrow in the morning.",
        "Explain the second paragraph in simple words.",
        "Begin the summary with the costs.",
        "I'd rather you came on Sunday than on Monday.",
        "From today's paper I learned nothing.",
        "The messages must have been lost.",
        "The shop will be full tomorrow.",
        "The light will be switched off in five minutes.",
        "We agreed with everything he said about meetings.",
        "They deploy only on Mondays over there.",
        "You may find the figures strange.",
    ],
)
def test_what_only_looks_like_a_plain_sentence_to_keep_is_not_kept(said: str) -> None:
    assert kinds_of(said) == []


def test_a_short_denial_is_kept_with_what_is_right() -> None:
    assert found("No, not pgbouncer. We use the pooler of Hetzner.") == [
        ("correction", "No, not pgbouncer. We use the pooler of Hetzner.")
    ]


def test_the_demo_has_a_hundred_sentences_to_keep_and_a_hundred_that_look_like_one() -> None:
    parts = [part for talk in conversations() for said in talk.turns for part in said.parts]
    assert sum(bool(part.ways) for part in parts) >= 100 and sum(bool(part.looks_like) for part in parts) >= 100


@pytest.mark.slow
def test_of_the_demos_conversations_most_is_kept_and_nearly_all_that_is_kept_is_right() -> None:
    score = score_demo()
    assert score.precision >= 0.95 and score.recall >= 0.8, score.told
    assert score.fell <= 2, score.told
