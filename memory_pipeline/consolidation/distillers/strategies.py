"""Strategies: how clusters are asked about, and what their answers must satisfy besides the common checks.

Your own strategy is a class with a `name`, `matches`, `build_prompt` and `validate`; most derive from
`DefaultStrategy`. Name it in the setting `distillation.strategies` as `package.module:Class`, or register it under
the entry point group `memory_pipeline.strategies`. The first one that matches is used; the default comes last.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, runtime_checkable

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.distillers.judge import Draft
from memory_pipeline.consolidation.distillers.prompts import read_prompt
from memory_pipeline.errors import StrategyError
from memory_pipeline.models import Prompt
from memory_pipeline.records import Cluster, Memory
from memory_pipeline.text.facts import find_facts
from memory_pipeline.text.hidden import as_read
from memory_pipeline.text.subject import subject_beside

ENTRY_POINTS = "memory_pipeline.strategies"
#: Requested maximum length of an abstraction, as a share of the total length of its members.
LENGTH_SHARE = 0.3
_LEAST_BUDGET = 40


@runtime_checkable
class DistillationStrategy(Protocol):
    """The way in which one kind of cluster is distilled."""

    name: str

    def matches(self, cluster: Cluster) -> bool:
        """True if this strategy handles the cluster."""

    def build_prompt(self, cluster: Cluster, memories: Sequence[Memory]) -> Prompt:
        """The prompt. Secrets in the memories are already masked; they are data, not instructions."""

    def validate(self, result: Draft) -> str | None:
        """The reason to refuse the draft, or None."""


class DefaultStrategy:
    """The strategy for every cluster, or with `categories` for those of one of these."""

    name = "default"
    categories: frozenset[str] = frozenset()

    def matches(self, cluster: Cluster) -> bool:
        """Takes every cluster, or those of its categories."""
        return not self.categories or bool(self.categories & {category.lower() for category in cluster.top_categories})

    def guidance(self) -> str:
        """Text to add to the system prompt; empty for the default."""
        return ""

    def build_prompt(self, cluster: Cluster, memories: Sequence[Memory]) -> Prompt:
        """The system prompt with the requested length, and the members as JSON."""
        budget = max(_LEAST_BUDGET, int(LENGTH_SHARE * sum(memory.token_count for memory in memories)))
        system = read_prompt("distill").replace("{budget}", str(budget))
        members = [
            {
                "number": number,
                "day": str(memory.day),
                "importance": memory.importance,
                **({"under": as_read(subject)} if (subject := subject_beside(memory)) else {}),
                "content": as_read(memory.content),
            }
            for number, memory in enumerate(memories, start=1)
        ]
        about = {"size": len(members), "category": cluster.dominant_category, "members": members}
        return Prompt("\n".join(filter(None, (system, self.guidance()))), json.dumps(about, ensure_ascii=False))

    def validate(self, result: Draft) -> str | None:
        """The judge's checks are sufficient."""
        return None


class TradingStrategy(DefaultStrategy):
    """Example: trading signals keep their figures, and promise nothing."""

    name = "trading"
    categories = frozenset(("trading", "trade", "trades", "signal", "signals", "market", "markets", "backtest"))
    _PROMISES = ("guaranteed", "risk-free", "cannot lose", "always profitable", "will certainly")

    def guidance(self) -> str:
        """Says how figures and past results are described."""
        return read_prompt("trading")

    def validate(self, result: Draft) -> str | None:
        """A signal needs a figure, and past results must not be promised."""
        if not any(fact.kind == "number" for fact in find_facts(result.content)):
            return "a trading signal without a figure"
        promise = next((word for word in self._PROMISES if word in result.content.lower()), None)
        return f"a promise ('{promise}') made of past results" if promise else None


class CausalStrategy(DefaultStrategy):
    """Example: clusters about causes must state cause and effect."""

    name = "causal"
    categories = frozenset(("causal", "cause", "causes", "incident", "incidents", "outage", "postmortem", "root-cause"))

    def guidance(self) -> str:
        """Cause first, then effect, then the remedy."""
        return read_prompt("causal")

    def validate(self, result: Draft) -> str | None:
        """Not accepted without a cause and an effect."""
        return None if result.causal else "no cause and effect in a cluster about causes"


SHIPPED: dict[str, type[DefaultStrategy]] = {"trading": TradingStrategy, "causal": CausalStrategy}


def load_strategies(settings: Settings) -> tuple[DistillationStrategy, ...]:
    """The strategies in the order in which they are tried: those of the setting, entry points by name, the default.

    Raises StrategyError for one that cannot be loaded or lacks a method.
    """
    named = [(name, _load_named(name)) for name in settings.distillation.strategies]
    for entry in _registered():
        try:
            named.append((f"{entry.name} ({entry.value})", entry.load()))
        except Exception as error:
            raise StrategyError(
                f"the strategy '{entry.name}' ({entry.value}) cannot be loaded: {error}; fix or uninstall the "
                f"package that registers it"
            ) from error
    return (*[_build_strategy(name, plugin) for name, plugin in named], DefaultStrategy())


@cache
def _registered() -> list[EntryPoint]:
    """What installed packages register, by name. All of them are looked through for it, which is done once."""
    return sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name)


def choose_strategy(strategies: Sequence[DistillationStrategy], cluster: Cluster) -> DistillationStrategy:
    """The first strategy that matches the cluster; the default matches every one."""
    return next(strategy for strategy in strategies if strategy.matches(cluster))


def _load_named(name: str) -> Any:
    if name in SHIPPED:
        return SHIPPED[name]
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise StrategyError(
            f"distillation.strategies names '{name}', which cannot be loaded ({error}); use "
            f"{', '.join(sorted(SHIPPED))} or package.module:Class"
        ) from error


def _build_strategy(name: str, plugin: Any) -> DistillationStrategy:
    try:
        made = plugin() if isinstance(plugin, type) else plugin
    except Exception as error:
        raise StrategyError(f"the strategy '{name}' cannot be created: {type(error).__name__}: {error}") from error
    if not isinstance(made, DistillationStrategy):
        missing = [wanted for wanted in ("name", "matches", "build_prompt", "validate") if not hasattr(made, wanted)]
        raise StrategyError(
            f"the strategy '{name}' lacks {', '.join(missing)}; derive its class from "
            "memory_pipeline.consolidation.distillers.strategies.DefaultStrategy"
        )
    return made
