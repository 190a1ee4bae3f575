"""Principles that Claude writes, over real HTTP: what it is told, and what of its answers is believed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory_pipeline.night.principles import form_principles, misplaced_patterns
from memory_pipeline.records import PrincipleResult
from memory_pipeline.review.conflicts import list_conflicts
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, loosely_related, night_of
from memory_pipeline_tests.distillers.claude_nights import claude_settings, serving
from memory_pipeline_tests.messages_server import Body, Failure, MessagesServer, Said, faithful, members_of
from memory_pipeline_tests.night.test_principles import WEEK, pattern, related

RULE = "Restart a service after changing its configuration file, because it reads the settings only once at the start."
WATER = "Water the {} in the greenhouse every Monday morning before the sun reaches the glass."


def ruling(rule: str = RULE, behind: tuple[int, ...] = (1, 2, 3), **changes: Any) -> Callable[[Body, int], Said]:
    """A model that answers with one rule, claimed of some members."""
    claims = [{"text": rule, "members": list(behind)}] if rule else []
    return lambda body, number: faithful(body, abstraction=rule, claims=claims, **changes)


def form(store: Store, server: MessagesServer, run_id: str = "week", **changes: Any) -> list[PrincipleResult]:
    options = {"dry_run": changes.pop("dry_run", False)}
    settings = claude_settings(store, server, **changes)
    with night_of(store, WEEK, settings, run_id=run_id, **options).on_its_store() as night:
        with loosely_related():
            results = form_principles(night)
        night.store.release_lease(run_id)
        with night.store.reading() as tx:
            assert tx.integrity.check(deep=True) == []
        assert misplaced_patterns(night.store, results) == []
    return results


def test_claude_is_told_what_a_principle_is_and_shown_no_attached_details(store: Store) -> None:
    fill(store, related())
    with serving(ruling()) as server:
        (result,) = form(store, server)
    assert (result.status, result.content) == ("created", RULE)
    (body,) = server.requests
    assert "the one principle behind them" in body["system"] and "at least 3 of them" in body["system"]
    assert len(members_of(body)) == 3 and not any("Details" in text for text in members_of(body))
    with store.reading() as tx:
        made = {memory.id: memory for memory in tx.memories.all(include_archived=False)}
        (row,) = tx.journal.log_of("week")
    assert made[result.principle_id or ""].consolidation_method == "llm" and {"p0", "p1", "p2"} < made.keys()
    assert (row.policy, row.status) == ("principle", "compressed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "says"),
    [
        (ruling(behind=(1, 2)), "claim 1 is supported by 2 members; 3 are required"),
        (ruling("The mail relay needs a restart after changing its file."), "claim 1 is supported by 1 members"),
        (ruling("Restart a service within 30 minutes after changing its file."), "no source has the number"),
        (
            ruling("Restart a service before changing its configuration file, because it reads the settings."),
            "contradicts a source",
        ),
        (ruling(confidence=0.4), "confidence 0.40 is below 0.7"),
        (ruling(""), "the patterns share no rule"),
    ],
)
def test_a_rule_that_three_patterns_do_not_bear_out_is_no_principle(
    store: Store, script: Callable[[Body, int], Said], says: str
) -> None:
    fill(store, related())
    with serving(script) as server:
        (result,) = form(store, server)
        assert (result.status, result.principle_id) == ("skipped", None) and says in (result.reason or "")
        (again,) = form(store, server, "again")
    assert again.status == "settled" and len(server.requests) <= 2  # what is wrong is told once


def test_patterns_that_claude_finds_to_contradict_are_linked(store: Store) -> None:
    fill(store, [pattern(f"p{n}", note.content.split("\n")[0]) for n, note in enumerate(related())])
    found = [{"members": [1, 3], "about": "when to restart"}]
    with serving(ruling(contradictions=found)) as server:
        (result,) = form(store, server)
    assert result.reason == "1 pairs of its patterns contradict each other"
    shown = {(c.kind, c.a.id, c.b.id) for c in list_conflicts(store, each=True)}
    assert ("contradiction", "p0", "p2") in shown


@pytest.mark.slow
def test_without_an_answer_nothing_is_decided_and_the_next_week_asks_again(store: Store) -> None:
    fill(store, related())
    with serving(lambda body, number: Failure(401, "authentication_error", "invalid x-api-key")) as server:
        (failed,) = form(store, server)
        (capped,) = form(store, server, "capped", model__cost_cap_usd=0.0)
    assert (failed.status, capped.status, capped.reason) == ("failed", "deferred", "cost cap")
    with store.reading() as tx:
        assert tx.journal.log_of("week") == tx.journal.log_of("capped") == []
    with serving(ruling()) as server:
        (result,) = form(store, server, "later")
    assert result.status == "created"


@pytest.mark.slow
@pytest.mark.parametrize("calling", ["live", "batch"])
def test_all_groups_are_asked_about_at_once(store: Store, calling: str) -> None:
    garden = [pattern(f"g{n}", WATER.format(plant)) for n, plant in enumerate(("tomatoes", "peppers", "cucumbers"))]
    fill(store, [*related(), *garden])

    def answer(body: Body, number: int) -> Said:
        water = WATER.format("plants")
        return ruling(water if "greenhouse" in members_of(body)[0] else RULE)(body, number)

    with serving(answer) as server:
        before = store.path.read_bytes()
        assert [result.status for result in form(store, server, "dry", dry_run=True)] == ["created"] * 2
        assert store.path.read_bytes() == before
        results = form(store, server, model__calling=calling)
    assert sorted(result.content for result in results) == [RULE, WATER.format("plants")]
    assert len(server.requests) == 2
