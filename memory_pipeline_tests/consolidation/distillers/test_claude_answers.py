"""What is believed of a model's answers, over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from memory_pipeline.consolidation.distillation import session_of
from memory_pipeline.consolidation.distillers.by_model import ModelDistiller
from memory_pipeline.consolidation.distillers.judge import Draft
from memory_pipeline.models import Declined
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson, night_of
from memory_pipeline_tests.consolidation.distillers.claude_nights import (
    DAY,
    abstractions,
    claude_settings,
    night,
    serving,
)
from memory_pipeline_tests.consolidation.distillers.test_distillers import task_of
from memory_pipeline_tests.messages_server import Body, Reaction, Said, faithful

Asking = Callable[[Callable[[Body, int], Reaction]], Draft | Declined | Exception]


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Asking:
    """Asks about one cluster of four, without a night around it, and returns what is proposed."""
    store = Store(tmp_path_factory.mktemp("asking") / "store.duckdb")
    fill(store, lesson(4))

    def ask(script: Callable[[Body, int], Reaction]) -> Draft | Declined | Exception:
        with serving(script) as server:
            settings = claude_settings(store, server)
            night = night_of(store, DAY, settings, no_cache=True)
            session = session_of(night)
            ((_, proposed),) = ModelDistiller(settings, night.embedder.count_tokens).drafts(
                [task_of(*(note.content for note in lesson(4)))], session
            )
            return proposed

    return ask


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"abstraction": " "}, "the members say nothing in common"),
        ({"confidence": 7}, "malformed answer"),
        ({"claims": []}, "unsupported"),
        ({"claims": [{"text": "Restart the payment gateway.", "members": [9]}]}, "unsupported"),
        ({"claims": [{"text": "The gateway costs 900 EUR a month.", "members": [1]}]}, "unsupported"),
        ({"claims": [{"text": "Never restart the payment gateway on every node after rotating its API key.",
                      "members": [1, 2]}]}, "unsupported"),
        ({"abstraction": "Restart the payment gateway on every node after 2031-01-01."}, "unsupported"),
        ({"suspicious": [2]}, "the model found instructions in a member"),
        ({"contradictions": [{"members": [1, 44], "about": "x"}]}, "malformed answer"),
        ({"surprise": True}, "malformed answer"),
        ({"pattern_type": "miracle"}, "malformed answer"),
    ],
)  # fmt: skip
def test_answers_that_the_sources_do_not_bear_out_are_refused(
    asking: Asking, changes: dict[str, Any], reason: str
) -> None:
    declined = asking(lambda body, number: faithful(body, **changes))
    assert isinstance(declined, Declined) and declined.reason.startswith(reason) and not declined.again


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Said("I would rather not."), "malformed answer"),
        (Said('{"abstraction": "Restart'), "malformed answer"),
        (Said(""), "malformed answer"),
        (Said("[" * 50_000), "malformed answer"),
        (Said("", stop_reason="refusal"), "the model declined to answer"),
        (Said('{"abstraction": "Resta', stop_reason="max_tokens"), "the model's answer was cut short"),
    ],
)
def test_refusals_and_broken_answers_are_declined(asking: Asking, said: Said, reason: str) -> None:
    declined = asking(lambda body, number: said)
    assert isinstance(declined, Declined) and declined.reason.startswith(reason)


def test_what_was_declined_is_counted_billed_and_leaves_the_sources(store: Store) -> None:
    fill(store, lesson(4))
    with serving(lambda body, number: Said("", stop_reason="refusal")) as server:
        report = night(store, server)
    assert report.refusals == {"the model declined to answer": 1} and abstractions(store) == []
    assert report.total_llm_calls == 1 and report.estimated_cost_usd > 0 and report.errors == ()


def test_what_an_answer_leaves_out_is_added_in_whole_sentences_of_the_sources(asking: Asking) -> None:
    proposed = asking(faithful)
    assert isinstance(proposed, Draft) and proposed.attached == ()
    assert " A reload signal is not enough." in proposed.text  # no figure in it, and hardly a word of it in the answer
    assert " The old key stays cached for 15 minutes." in proposed.text
    assert proposed.text.count("Restart the payment gateway") == 1


def test_a_fenced_answer_is_forgiven(store: Store) -> None:
    fill(store, lesson(4))
    with serving(lambda body, number: Said(f"```json\n{faithful(body).text}\n```")) as server:
        assert night(store, server).clusters_compressed == 1


def test_a_contradiction_is_quoted_and_linked_and_never_averaged(store: Store) -> None:
    fill(store, lesson(5))
    disagree = {"contradictions": [{"members": [1, 3], "about": "whether the health page helps"}]}

    def silent_about_both(body: Body, number: int) -> Said:
        said = faithful(body, **disagree).text
        for detail in ("The old key stays cached for 15 minutes.", "The health page shows green meanwhile."):
            said = said.replace(f" {detail}", "", 1)
        answer = json.loads(said)
        answer["claims"] = [claim for claim in answer["claims"] if claim["text"] in answer["abstraction"]]
        return Said(json.dumps(answer))

    with serving(silent_about_both) as server:
        report = night(store, server)
    (content,) = abstractions(store)
    assert "contradiction: '" in content and report.clusters_compressed == 1
    with store.reading() as tx:
        (conflict,) = tx.conflicts.open()
        assert tx.integrity.check(deep=True) == []
    assert (conflict.a, conflict.b, conflict.kind) == ("gateway-0", "gateway-2", "contradiction")
