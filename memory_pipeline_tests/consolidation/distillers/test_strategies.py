"""Strategies: who takes which cluster, what it asks, what it refuses, and what happens to a broken one."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.distillers import strategies
from memory_pipeline.consolidation.distillers.judge import Draft
from memory_pipeline.consolidation.distillers.strategies import (
    CausalStrategy,
    DefaultStrategy,
    TradingStrategy,
    choose_strategy,
    load_strategies,
)
from memory_pipeline.errors import ModelError, StrategyError
from memory_pipeline.models import Prompt
from memory_pipeline.reading.instructions import FAITHFULNESS_VERSION
from memory_pipeline.records import Causal, Cluster, Memory
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, lesson, sql_rows
from memory_pipeline_tests.consolidation.distillers.claude_nights import night, serving
from memory_pipeline_tests.consolidation.distillers.test_distillers import task_of


class Shouting(DefaultStrategy):
    """A strategy of somebody's own."""

    name = "shouting"

    def matches(self, cluster: Cluster) -> bool:
        return cluster.project_id == "p"

    def build_prompt(self, cluster: Cluster, memories: list[Memory]) -> Prompt:  # type: ignore[override]
        prompt = super().build_prompt(cluster, memories)
        return Prompt(prompt.system + "\nSHOUT.", prompt.user)

    def validate(self, result: Draft) -> str | None:
        return None if "gateway" in result.text else "nothing about the gateway"


class Incomplete:
    """Lacks almost everything."""

    name = "incomplete"


OWN = f"{__name__}:Shouting"


def settings_with(*names: str) -> Settings:
    return Settings().with_values({"distillation.strategies": names})


def draft(text: str, causal: Causal | None = None) -> Draft:
    return Draft(text, "test", causal=causal)


def test_those_of_the_setting_come_in_their_order_and_the_default_last() -> None:
    found = load_strategies(settings_with("trading", "causal"))
    assert [strategy.name for strategy in found] == ["trading", "causal", "default"]
    cluster = task_of("a", "b").cluster
    assert choose_strategy(found, cluster).name == "default"


@pytest.mark.parametrize(("category", "name"), [("Signals", "trading"), ("incident", "causal"), ("deploy", "default")])
def test_the_first_that_matches_wins(category: str, name: str) -> None:
    cluster = task_of("a", "b").cluster
    object.__setattr__(cluster, "top_categories", (category,))
    assert choose_strategy(load_strategies(settings_with("trading", "causal")), cluster).name == name


def test_the_examples_refuse_what_their_kind_must_not_say() -> None:
    assert TradingStrategy().validate(draft("RSI below 30 held in 7 of 9 cases.")) is None
    assert "figure" in (TradingStrategy().validate(draft("Buy when it is low.")) or "")
    assert "promise" in (TradingStrategy().validate(draft("A guaranteed 9% a month.")) or "")
    assert CausalStrategy().validate(draft("x", Causal("a", "b", "c"))) is None
    assert "cause" in (CausalStrategy().validate(draft("x")) or "")


def test_a_prompt_names_the_length_that_is_wanted_and_shows_members_as_json() -> None:
    task = task_of("Restart the gateway. " * 40, "Restart it \u200bnow.")
    prompt = DefaultStrategy().build_prompt(task.cluster, [member.memory for member in task.members])
    budget = int(0.3 * sum(member.memory.token_count for member in task.members))
    assert f"at most {budget} tokens" in prompt.system and "{budget}" not in prompt.system
    assert json.loads(prompt.user)["members"][1]["content"] == "Restart it now."


@pytest.mark.slow
def test_a_strategy_of_ones_own_is_named_in_the_setting_and_enters_the_id(store: Store) -> None:
    fill(store, lesson(4))
    with serving() as server:
        report = night(store, server, distillation__strategies=(OWN,))
    assert server.requests[0]["system"].endswith("SHOUT.") and report.clusters_compressed == 1
    with store.reading() as tx:
        rows = sql_rows(tx, "select prompt_version from model_answers")
        assert {version for (version,) in rows} == {"claude-6-shouting", FAITHFULNESS_VERSION}
        assert any(memory.compressed_from for memory in tx.memories.all())


def test_what_a_strategy_refuses_is_counted_under_its_name(store: Store) -> None:
    fill(store, lesson(4, topic="printer"))
    with serving() as server:
        report = night(store, server, distillation__strategies=(OWN,))
    assert report.refusals == {"strategy shouting": 1}


@pytest.mark.slow
@pytest.mark.parametrize("breaks", ["matches", "build_prompt", "validate"])
def test_a_strategy_that_breaks_fails_its_own_clusters_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch, breaks: str
) -> None:
    fill(store, [*lesson(4), *lesson(4, topic="printer")])
    work = getattr(Shouting, breaks)

    def sometimes(self: Shouting, *arguments: Any) -> Any:
        if "printer" in str(arguments) or getattr(arguments[0], "member_ids", ("",))[0].startswith("printer"):
            raise KeyError("broken")
        return work(self, *arguments)

    monkeypatch.setattr(Shouting, breaks, sometimes)
    with serving() as server:
        report = night(store, server, distillation__strategies=(OWN,))
    assert (report.clusters_compressed, report.clusters_failed, len(report.errors)) == (1, 1, 1)
    assert report.verdict == "PARTIAL" and "KeyError" in report.errors[0].error


def test_settings_with_which_no_model_can_be_made_end_the_night_with_one_sentence(store: Store) -> None:
    fill(store, lesson(4))
    with serving() as server:
        with pytest.raises(StrategyError, match="names 'horoscope'"):
            night(store, server, distillation__strategies=("horoscope",))
        with pytest.raises(ModelError, match="no price is known"):
            night(store, server, model__name="mine", model__base_url="https://models.example")


def test_a_category_picks_the_example(store: Store) -> None:
    notes = [candidate(note.content, note.created_at, native_id=note.native_id, categories=("incident",))
             for note in lesson(4)]  # fmt: skip
    fill(store, notes)
    with serving() as server:
        report = night(store, server, distillation__strategies=("causal",))
    assert "causes and effects" in server.requests[0]["system"] and report.refusals == {"strategy causal": 1}


def test_an_entry_point_registers_one(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("mine", OWN, strategies.ENTRY_POINTS)
    monkeypatch.setattr(strategies, "_registered", lambda: [entry])
    assert [strategy.name for strategy in load_strategies(Settings())] == ["shouting", "default"]
    broken = EntryPoint("gone", "nowhere.at.all:Thing", strategies.ENTRY_POINTS)
    monkeypatch.setattr(strategies, "_registered", lambda: [broken])
    with pytest.raises(StrategyError, match=r"'gone'.*cannot be loaded"):
        load_strategies(Settings())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("horoscope", "names 'horoscope', which cannot be loaded"),
        ("json:nothing", "names 'json:nothing'"),
        (f"{__name__}:Incomplete", "lacks matches, build_prompt, validate"),
        (f"{__name__}:broken", "cannot be created: ValueError: not today"),
    ],
)
def test_a_strategy_that_cannot_be_used_is_named_with_the_mend(name: str, words: str) -> None:
    with pytest.raises(StrategyError, match=words):
        load_strategies(settings_with(name))


class broken:
    """Cannot be made."""

    def __init__(self) -> None:
        raise ValueError("not today")


def test_the_prompts_and_the_schema_have_not_changed_without_their_version() -> None:
    """Whoever edits a prompt or the answer's schema raises `prompts.VERSION`, then puts the new hashes here."""
    import hashlib

    from memory_pipeline.consolidation.distillers import prompts
    from memory_pipeline.consolidation.distillers.by_model import Answer

    def digest(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    names = ("distill", "trading", "causal")
    shape = json.dumps(Answer.model_json_schema(), sort_keys=True)
    known = {"6": ("e00354a6eddf7591", "233adeb4f05bd0d3")}
    assert known.get(prompts.VERSION) == (digest("".join(map(prompts.read_prompt, names))), digest(shape))
