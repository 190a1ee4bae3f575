"""What people say of their lives in passing is kept, by how the sentence is built; what only looks like it is not."""

from __future__ import annotations

import pytest

from memory_pipeline_tests.conversations.saying import found


def kinds_of(said: str) -> list[str]:
    """The kinds of what is extracted of one turn."""
    return [kind for kind, _ in found(said)]


@pytest.mark.parametrize(
    "said",
    [
        "I prune the vines every third Sunday.",
        "I drink two glasses of water before breakfast.",
        "We bank with Argenta.",
        "I take 20 mg of citalopram with dinner, daily.",
        "I see doctor Maes for my knee.",
        "I get up at 6:15 on school days.",
        "I use Strava for my rides.",
        "My lease ends on 31 August.",
        "Our accountant's number is 052 33 41 7.",
        "My sister Ines is expecting her first child in May.",
        "Dad's in the Saint Anna care home.",
        "I'm with Orange for the phone.",
        "I'm a member of the chess club in Gent.",
        "I can't drink milk.",
        "I've got a mortgage of 180,000 euros.",
        "We're flying to Madeira from 2 to 9 April.",
        "I'm trying to eat less bread on weekdays.",
        "I'm saving 300 euros a month for a piano.",
        "I do the payroll on the 25th of every month.",
        "My son has violin on Wednesday afternoons.",
    ],
)
def test_a_life_is_a_fact(said: str) -> None:
    assert kinds_of(said) in (["fact"], ["context"])


@pytest.mark.parametrize(
    "said",
    [
        "I get a timeout every morning since the upgrade.",
        "I meet Paul at work.",
        "I share your view on Mondays.",
        "My son needs the file every week.",
        "I call the garage after lunch.",
        "I use the old key here, as you see in line 12.",
        "I use Anna's laptop.",
        "I use Tuesday to catch up.",
        "If I drink two glasses before breakfast, is that enough?",
        "My uncle says we bank with Argenta.",
        "My laptop is at 4 percent.",
        "My guess is 30 June.",
        "My order is 4412.",
        "My appointment is on Tuesday.",
        "Our neighbours' daughter starts school in August.",
        "My wife Ann is calling me.",
        "Dad's at the door.",
        "I'm with Lisa for the weekend.",
        "I'm part of the problem.",
        "I can't have the meeting at 3, make it 4.",
        "I've got a bill of 300 euros.",
        "We're going to Ikea for my desk.",
        "I'm trying to save 3 files.",
        "Move every photo of 2019 into the trash.",
        "Put every receipt of May into the trash.",
        "When you write to Henrik, add the invoice.",
        "I want a report on the meeting on Monday morning.",
    ],
)
def test_what_looks_like_a_life_is_none(said: str) -> None:
    assert kinds_of(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "When you write to tenants for me, begin with the flat number.",
        "Whenever you book trains, choose the quiet car.",
        "Sign my letters with the full name.",
        "File every invoice in the Taxes folder.",
        "Add page numbers to your summaries.",
        "I want a weekly overview on Friday evening.",
    ],
)
def test_an_order_for_every_such_occasion_is_kept(said: str) -> None:
    assert kinds_of(said) == ["dynamic"]


def test_a_permission_to_read_what_is_the_humans() -> None:
    assert kinds_of("You may read my inbox.") == ["trust"]
    assert kinds_of("I prefer the aisle seat on flights.") == ["preference"]
