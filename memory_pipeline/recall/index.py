"""The index of one project: its memories, ready to be searched, brought up to date when the store has changed."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from memory_pipeline.config.settings import Settings
from memory_pipeline.embedding import Embedder
from memory_pipeline.knowledge.contradictions import superseded_ids
from memory_pipeline.recall.documents import Filters, Mode
from memory_pipeline.recall.search import SearchIndex
from memory_pipeline.records import Memory
from memory_pipeline.store import Store


@dataclass(frozen=True, slots=True)
class Match:
    """A memory that was found, with its score and the newer memory that supersedes it."""

    memory: Memory
    score: float
    superseded_by: str | None = None


class ProjectIndex:
    """The memories of one project. Safe to use from several threads."""

    def __init__(self, store: Store, settings: Settings, project: str, embedder: Embedder) -> None:
        self._store, self._settings, self._project, self._embedder = store, settings, project, embedder
        self._lock = threading.Lock()

    def search(
        self, query: str, *, limit: int, filters: Filters, mode: Mode = "hybrid", sources_too: bool = False
    ) -> tuple[list[Match], int]:
        """The best memories for a query, best first, and how many match at all."""
        with self._store.reading() as tx:
            memories = {m.id: m for m in tx.memories.all() if m.project_id == self._project}
            superseded = superseded_ids((c for c in tx.conflicts.open() if {c.a, c.b} <= memories.keys()), memories)
            ids, vectors = tx.vectors.read(list(memories), self._embedder.name, self._embedder.dimension)
        index = SearchIndex(
            list(memories.values()),
            dict(zip(ids, vectors, strict=True)),
            self._embedder.embed,
            self._settings.compression.archived_weight,
            superseded,
        )
        hits = [hit for hit in index.search(query, 100, mode) if _admits(filters, hit.memory)]
        return [Match(hit.memory, hit.score, hit.superseded_by) for hit in hits[:limit]], len(hits)


def _admits(filters: Filters, memory: Memory) -> bool:
    return (
        (not filters.levels or memory.abstraction_level in filters.levels)
        and (not filters.memory_types or memory.memory_type in filters.memory_types)
        and (not filters.pattern_types or memory.pattern_type in filters.pattern_types)
        and (not filters.categories or not set(filters.categories).isdisjoint(memory.categories))
        and (filters.since is None or memory.day >= filters.since)
        and (filters.until is None or memory.day <= filters.until)
        and (filters.archived is None or (memory.archived_at is not None) == filters.archived)
    )
