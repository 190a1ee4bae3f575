"""The figures of `/metrics`, for Prometheus. No label holds the name of a project or a memory."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.interfaces.served import ServedMemories

#: Seconds: a search takes milliseconds, and the time limit ends what takes longest.
_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)


class Figures:
    """The figures of one server."""

    def __init__(self, memories: ServedMemories) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_OfStore(memories))
        self._requests = Counter(
            "memory_pipeline_requests", "Requests.", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "memory_pipeline_request_seconds",
            "Time from a request to its answer.",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._search = Histogram(
            "memory_pipeline_search_seconds",
            "Time of a search, without what HTTP adds.",
            buckets=_BUCKETS,
            registry=self._registry,
        )

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request; `route` is its pattern, not its path."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def count_search(self, seconds: float) -> None:
        """Count a search."""
        self._search.observe(seconds)

    def text(self) -> bytes:
        """All figures in Prometheus' text format."""
        return generate_latest(self._registry)


class _OfStore(Collector):
    """What the store says when it is asked."""

    def __init__(self, memories: ServedMemories) -> None:
        self._memories = memories

    def describe(self) -> Iterator[Metric]:
        """Nothing: the store is not read before it is asked."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Memories, their tokens, the index, nights and model calls; nothing while the store cannot be read."""
        try:
            with self._memories.store.reading() as tx:
                facts, nights = tx.contents.facts(), tx.journal.nights_by_verdict()
                asked = tx.models.calls_by_outcome()
            generation = self._memories.generation()
        except MemoryPipelineError:
            return
        memories = GaugeMetricFamily("memory_pipeline_memories", "Memories in the store.", labels=["state"])
        for state in ("active", "archived"):
            memories.add_metric([state], facts[state])
        yield memories
        yield GaugeMetricFamily(
            "memory_pipeline_active_tokens", "Tokens of the active memories.", value=facts["active_tokens"]
        )
        if generation is not None:
            yield GaugeMetricFamily(
                "memory_pipeline_index_generation",
                "Position in the audit log that the indexes in memory stand for, the oldest of them.",
                value=generation,
            )
        ended = CounterMetricFamily("memory_pipeline_nights", "Nights that have ended.", labels=["verdict"])
        for verdict, count in nights.items():
            ended.add_metric([verdict], count)
        yield ended
        calls = CounterMetricFamily(
            "memory_pipeline_model_calls",
            "Calls to a model: by nights, for conversations, flushes and rollups.",
            labels=["outcome"],
        )
        for outcome, (count, _) in asked.items():
            calls.add_metric([outcome], count)
        yield calls
        cost = sum(dollars for _, dollars in asked.values())
        yield CounterMetricFamily("memory_pipeline_model_cost_usd", "What these calls cost in US dollars.", value=cost)
