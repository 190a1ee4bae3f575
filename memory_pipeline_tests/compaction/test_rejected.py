"""What a human rejects directly afterwards is not kept; what only looks like a rejection changes nothing."""

from __future__ import annotations

import pytest

from memory_pipeline.compaction.rejected import is_rejected, rejected_in
from memory_pipeline_tests.conversations.saying import turn


@pytest.mark.parametrize(
    ("said", "answer", "is_gone"),
    [
        (
            "I decided to use pgbouncer because the app opens 300 connections.",
            "No, not pgbouncer. We use a pooler.",
            True,
        ),
        ("I set STRIPE_TIMEOUT to 25.", "No, revert that.", True),
        ("I'll cache sessions in Redis.", "Please don't. No Redis.", True),
        ("The root cause is a race in worker.py.", "That's not the cause.", True),
        ("We decided to use SQLite.", "Actually no, let's use Postgres.", True),
        ("I set the port to 5433.", "Never mind that.", True),
        ("I set the port to 5433.", "No problem, thanks.", False),
        ("I set the port to 5433.", "No, that's fine.", False),
        ("I set the port to 5433.", "No, the logo stays blue.", False),
        ("I will add the header.", "Don't forget the footer.", False),
        ("I set the port to 5433.", "Good. Now the tests.", False),
    ],
)
def test_a_rejection_is_of_what_it_names_or_of_the_whole_turn(said: str, answer: str, is_gone: bool) -> None:
    turns = [turn(said, "agent", 1), turn(answer, line=2)]
    assert is_rejected(said, rejected_in(turns).get(turns[0].line, ())) is is_gone


def test_what_a_human_says_of_earlier_turns_leaves_them_alone() -> None:
    said = "I set the port to 5433."
    answers = ("Good.", "Next.", "No, the port is free.")
    turns = [turn(said, "agent", 1), *(turn(words, line=n) for n, words in enumerate(answers, start=2))]
    assert turns[0].line not in rejected_in(turns)
