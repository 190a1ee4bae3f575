"""Whatever a model answers about turns: what is kept are words of a turn, by who said them, of a kind that may be."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_pipeline.conversations.chunks import chunks_of
from memory_pipeline.conversations.extraction import extract
from memory_pipeline.conversations.own_words import own_sentences
from memory_pipeline.conversations.proposals import Proposals
from memory_pipeline.conversations.questions import Accepted, ProposedKind, TurnsAnswer, questions_about
from memory_pipeline.conversations.routing import ROUTES
from memory_pipeline.records import Turn
from memory_pipeline_tests.build import settings_for
from memory_pipeline_tests.conversations.saying import START, turn

SETTINGS = settings_for(Path("unused.duckdb"))
SENTENCES = [
    "I live in Lisbon with my wife.",
    "We decided to use Postgres because the team knows it.",
    "Peanuts have sent me to the emergency room twice.",
    "If it rains, I never take the bike.",
    "My brother says I am lazy.",
    "Do I have to pay for it?",
    "The port of the staging database is 5433, not 5432.",
    "> I own a yacht in Monaco.",
    "```\nI own a house in Porto.\n```",
    "Translate this: I love every cat in Madrid.",
    "I noticed that my answers were too long.",
    "Mail dana.miller@example.com if I am late.",
]
PIECES = st.sampled_from(SENTENCES)
TURNS = st.lists(
    st.tuples(st.sampled_from(["human", "agent"]), st.lists(PIECES, min_size=1, max_size=4)), min_size=1, max_size=5
)
QUOTES = st.one_of(
    PIECES,
    st.tuples(PIECES, st.integers(0, 30), st.integers(5, 60)).map(lambda cut: cut[0][cut[1] : cut[1] + cut[2]]),
    st.tuples(PIECES, PIECES).map(" ".join),
    st.text(max_size=40),
)
PROPOSED = st.fixed_dictionaries(
    {
        "turn": st.integers(-1, 6),
        "kind": st.sampled_from(get_args(ProposedKind)),
        "quote": QUOTES,
        "text": QUOTES,
        "rationale": QUOTES,
        "significance": st.floats(0, 1),
    }
)


@given(TURNS, st.lists(PROPOSED, max_size=8))
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_kept_is_said_in_its_turn_whatever_a_model_answers(
    talk: list[tuple[str, list[str]]], proposed: list[dict[str, Any]]
) -> None:
    turns = [
        turn("\n".join(said), speaker, line, START + timedelta(minutes=line))  # type: ignore[arg-type]
        for line, (speaker, said) in enumerate(talk, start=1)
    ]
    chunks = chunks_of(turns, 800)
    questions, _ = questions_about(chunks, SETTINGS, lambda text: False)
    by_turn: dict[Any, Any] = {}
    for one in questions:
        found = one.question.check(TurnsAnswer.model_validate({"extractions": proposed, "suspicious": []}))
        assert isinstance(found, Accepted)
        by_turn |= found.by_turn
    alone, together = extract(chunks), extract(chunks, proposed=Proposals(by_turn, len(questions)))
    spoken: dict[str, Turn] = {one.memory_id: one for one in turns}
    for one in together.extractions:
        said = spoken[one.turn_id]
        assert one.quote in said.words and one.speaker == said.speaker
        assert 0 <= one.significance <= 1 and one.rationale.split() == [
            w for w in one.rationale.split() if w in said.words
        ]
        if one.id in together.proposed:
            assert ROUTES[one.kind, one.speaker].destination != "drop"
            own = [sentence.quote for sentence in own_sentences(said.words)]
            assert one.quote in own or any(one.quote.startswith(sentence) for sentence in own)
            assert "yacht" not in one.quote and "house in Porto" not in one.quote and "Madrid" not in one.quote
    ruled = {one.id for one in alone.extractions if one.kind != "repetition"}
    assert ruled <= {one.id for one in together.extractions}
    assert len({one.id for one in together.extractions}) == len(together.extractions)
