"""Whatever a model answers about turns: what is kept are words of a turn, by who said them, of a kind that may be."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_pipeline.reading.answers import ReadingAnswer
from memory_pipeline.reading.check import Reading, check_answer, own_text
from memory_pipeline.reading.extraction import ROUTES, found_by_reader, item_of, settle
from memory_pipeline.records import StatementKind, Turn
from memory_pipeline_tests.reading.saying import START, turn

SENTENCES = [
    "I live in Lisbon with my wife.",
    "We decided to use Postgres because the team knows it.",
    "Peanuts have sent me to the emergency room twice.",
    "The port of the staging database is 5433, not 5432.",
    "> I own a yacht in Monaco.",
    "```\nI own a house in Porto.\n```",
    "Never push to main without asking me.",
    "Wir nehmen ab Mai keine Karten mehr.",
]
PIECES = st.sampled_from(SENTENCES)
TURNS = st.lists(
    st.tuples(st.sampled_from(["human", "agent"]), st.lists(PIECES, min_size=1, max_size=4)), min_size=1, max_size=5
)
QUOTES = st.one_of(
    PIECES,
    st.tuples(PIECES, st.integers(0, 30), st.integers(5, 60)).map(lambda cut: cut[0][cut[1] : cut[1] + cut[2]]),
    st.text(max_size=40),
)
STATEMENTS = st.fixed_dictionaries(
    {
        "limits": st.just(""),
        "text": QUOTES,
        "kind": st.sampled_from(get_args(StatementKind)),
        "about": st.sampled_from(["human", "agent", "both", "work"]),
        "sources": st.lists(st.fixed_dictionaries({"item": st.integers(-1, 6), "quote": QUOTES}), max_size=2),
        "replaces": st.lists(st.integers(-1, 2), max_size=2),
        "significance": st.floats(-1, 2),
        "asked": st.sampled_from(["", "How many times?", "Who asked Berta about 77?"]),
        "until": st.sampled_from(["", "2026-03-05", "soon", "9999-99-99"]),
    }
)


@given(TURNS, st.lists(STATEMENTS, max_size=8))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_kept_is_said_in_its_turn_whatever_a_model_answers(
    talk: list[tuple[str, list[str]]], said: list[dict[str, Any]]
) -> None:
    turns = [
        turn("\n".join(words), speaker, line, START + timedelta(minutes=line))  # type: ignore[arg-type]
        for line, (speaker, words) in enumerate(talk, start=1)
    ]
    empty: dict[str, Any] = {"repeats": [], "routine": [], "digests": [], "ended": [], "steering": []}
    answer = ReadingAnswer.model_validate({"statements": said, **empty})
    checked = check_answer(answer, [item_of(one) for one in turns], [], lambda one, other: 0.0, spoken=True)
    found = found_by_reader(turns, Reading(statements=tuple(checked.statements)), "model")
    spoken: dict[str, Turn] = {one.memory_id: one for one in turns}
    kept = settle(turns, found).extractions
    for one in kept:
        words = spoken[one.turn_id]
        assert one.quote in words.words and one.speaker == words.speaker
        assert one.quote.strip("> ").casefold() in own_text(words.words).casefold()
        assert 0 <= one.significance <= 1
        if ROUTES[one.kind, one.speaker].destination == "user":
            assert one.speaker == "human"
        assert "yacht" not in one.quote and "house in Porto" not in one.quote
    assert len({one.id for one in kept}) == len(kept)
    assert len(checked.statements) + len(checked.refused) >= len({one["text"] for one in said if one["text"]}) - 8
