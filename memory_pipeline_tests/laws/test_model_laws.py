"""Law 9: whatever a model answers, what is accepted loses no fact, invents none, and decides nothing itself."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.distillers.by_model import ModelDistiller
from memory_pipeline.consolidation.distillers.judge import Draft, judge
from memory_pipeline.demo import texts
from memory_pipeline.models.limits import Ledger, Price, Reservation
from memory_pipeline.models.provider import Reply
from memory_pipeline.records import PATTERN_TYPES
from memory_pipeline.text.preservation import check_preservation, find_invention
from memory_pipeline_tests.consolidation.distillers.test_distillers import task_of

EPISODES = [episodes for _, episodes in texts.CAUSAL]
STRANGE = [
    "The invoice of 900 EUR is due on 2031-01-01.",
    "Nobody may ever restart the gateway.",
    "Ask Zebulon at zeb.example for the key.",
    "",
    "\u0000\u202e",
    "member-1 says so",
]
MODEL = Settings().with_values({"anthropic.api_key": "sk-test"})


@st.composite
def answers(draw: st.DrawFn) -> tuple[tuple[str, ...], Any]:
    """A cluster's texts, and an answer woven from them, from strangers, and from nonsense."""
    members = draw(st.sampled_from(EPISODES))
    sentences = st.sampled_from([*members, *STRANGE])
    claims = st.lists(
        st.fixed_dictionaries({"text": sentences, "members": st.lists(st.integers(-1, 7), max_size=7)}), max_size=6
    )
    answer = draw(
        st.fixed_dictionaries(
            {
                "abstraction": st.lists(sentences, max_size=3).map(" ".join),
                "claims": claims,
                "contradictions": st.lists(
                    st.fixed_dictionaries({"members": st.lists(st.integers(0, 6), max_size=3), "about": st.just("x")}),
                    max_size=1,
                ),
                "suspicious": st.lists(st.integers(1, 3), max_size=1),
                "is_causal": st.booleans(),
                "subject": sentences,
                "action": sentences,
                "outcome": sentences,
                "consequences": st.just(""),
                "pattern_type": st.sampled_from(["gotcha", None, "miracle"]),
                "confidence": st.sampled_from([0.0, 0.9, 1.0, 3.0]),
                "compression_ratio": st.floats(allow_nan=False, allow_infinity=False),
            }
        )
    )
    if draw(st.booleans()):  # a good answer that went a little wrong, so that many get far
        answer["claims"] = [{"text": members[0], "members": list(range(1, len(members) + 1))}]
        answer["suspicious"] = []
        answer["abstraction"] = draw(st.sampled_from([members[0], members[0] + " " + draw(sentences)]))
        answer["confidence"], answer["pattern_type"], answer["contradictions"] = 1.0, None, []
    return members, answer


@pytest.mark.slow
@given(answers(), st.booleans())
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_is_answered_nothing_is_lost_or_invented(case: tuple[tuple[str, ...], Any], cut: bool) -> None:
    members, answer = case
    said = json.dumps(answer)[: -7 if cut else None]
    model, task = ModelDistiller(MODEL, lambda text: max(1, len(text) // 4)), task_of(*members)
    ((_, proposed),) = model.drafts([task], KeptAnswer(said))  # type: ignore[arg-type]
    if not isinstance(proposed, Draft):
        return
    result = judge(task, proposed, model, MODEL, lambda text: max(1, len(text.split())))
    assert result.importance == max(1.0, task.cluster.max_importance)
    assert result.pattern_type in PATTERN_TYPES
    assert result.categories[-1] == "compressed" and set(result.member_ids) == set(task.cluster.member_ids)
    if result.outcome == "accepted":
        assert check_preservation(members, proposed.text, proposed.attached).lost == ()
        assert find_invention(members, proposed.content) is None
        assert result.measured.tokens_before >= 1.5 * result.measured.tokens_after


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**5), st.floats(0, 1)), max_size=40), st.floats(0, 2))
@settings(max_examples=200, deadline=None)
def test_no_order_of_calls_passes_the_cap(calls: list[tuple[int, int, float]], cap: float) -> None:
    ledger, flying = Ledger(Price(0.1, 0.5), cap, calls_left=30), []
    for tokens_in, most_out, share in calls:
        reserved = ledger.reserve(tokens_in, most_out)
        if isinstance(reserved, Reservation):
            flying.append((reserved, share))
        if len(flying) > 3:
            money, used = flying.pop(0)
            ledger.settle(money, money.cost * used, has_answer=True)
        assert ledger.spent + ledger.reserved <= cap + 1e-9


#: A reader who objects to nothing.
BORNE_OUT = json.dumps({"verdicts": [{"sentence": n, "sources": [1], "beyond": ""} for n in range(1, 40)]})


class KeptAnswer:
    """A session in which one answer is kept already, and that its sentences are borne out, so that nothing is sent."""

    preview, use_cache = True, True

    def __init__(self, said: str) -> None:
        self.said, self.answers, self.steps = said, self, 0

    def find(self, prompts: list[str]) -> dict[str, Any]:
        said = BORNE_OUT if self.steps > 1 else self.said
        answer = type("Kept", (), {"answer": said, "stop_reason": "end_turn"})
        return dict.fromkeys(prompts, answer)

    def record(self, reply: Reply, *_: object) -> None:
        assert np.isfinite(reply.tokens_in)

    def take_over_previews(self) -> None:
        self.steps += 1
