"""Memories and their vectors as a night sees them, including those that only wait for a person's approval."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from memory_pipeline.consolidation.abstractions import abstraction_id, make_abstraction, vectors_of_abstractions
from memory_pipeline.consolidation.plan import NightPlan
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import Distillation, Memory
from memory_pipeline.records.drafts import drafts_of
from memory_pipeline.store import Store, Transaction

#: Memories that are read with one query, so that a waiting process soon has its turn.
PAGE = 4000
_VECTORS_AT_ONCE = 16_384


@dataclass(frozen=True)
class NightReader:
    """Reads memories, and vectors of the current model. `choose_embedder` returns that model; it is called only if
    vectors are needed."""

    store: Store
    plan: NightPlan
    choose_embedder: Callable[[], Embedder]

    @property
    def embedder(self) -> Embedder:
        """The embedding model of the night."""
        return self.choose_embedder()

    def memories(self, ids: Iterable[str]) -> dict[str, Memory]:
        """These memories by id, including proposed ones."""
        wanted = set(ids)
        with self.store.reading() as tx:
            found = tx.memories.read(wanted)
            missing = wanted - found.keys()
            return {**found, **self._proposed(tx, missing)} if missing else found

    def contents(self, ids: Collection[str]) -> dict[str, tuple[str, str]]:
        """The project and the content of these memories by id, including proposed ones."""
        with self.store.reading() as tx:
            found = tx.memories.contents(ids)
            missing = set(ids) - found.keys()
            proposed = self._proposed(tx, missing) if missing else {}
        return {**found, **{i: (memory.project_id, memory.content) for i, memory in proposed.items()}}

    def _proposed(self, tx: Transaction, ids: Collection[str]) -> dict[str, Memory]:
        """The proposed memories, which no store has yet: a pattern may depend on a proposed merge."""
        drafts = self._proposed_drafts(tx)
        return {i: make_abstraction(drafts[i], self.plan.as_of) for i in ids if i in drafts}

    def _proposed_drafts(self, tx: Transaction) -> dict[str, Distillation]:
        drafts = drafts_of(tx.proposals.list()).values()
        return {abstraction_id(draft): draft for draft in drafts if isinstance(draft, Distillation)}

    def witnesses(self, ids: Iterable[str]) -> dict[str, list[Memory]]:
        """By memory, the raw ones that it was made from, including proposed ones; raw memories are omitted."""
        wanted = set(ids)
        with self.store.reading() as tx:
            made = {i: set(sources) for i, sources in tx.lineage.witnesses_of(wanted).items()}
            missing = wanted - made.keys() - tx.memories.read(wanted).keys()
            drafts = self._proposed_drafts(tx) if missing else {}
            made |= {i: self._raw_behind(tx, drafts, i) for i in missing & drafts.keys()}
            memories = tx.memories.read({i for sources in made.values() for i in sources})
        return {i: [memories[source] for source in sorted(sources)] for i, sources in made.items()}

    def _raw_behind(self, tx: Transaction, drafts: Mapping[str, Distillation], memory_id: str) -> set[str]:
        if memory_id not in drafts:
            return set(tx.lineage.witnesses_of([memory_id]).get(memory_id, [memory_id]))
        return {raw for source in drafts[memory_id].member_ids for raw in self._raw_behind(tx, drafts, source)}

    def vectors_of(self, ids: Sequence[str]) -> tuple[list[str], Vectors]:
        """Sorted ids and float32 (n, dimension) vectors of those memories that have one, or will have one after
        approval."""
        found, vectors = self._kept_vectors(sorted(set(ids)))
        missing = set(ids) - set(found)
        drafts = self._drafts_that_wait() if missing else {}
        extra = sorted(missing & drafts.keys())
        if not extra:
            return found, vectors
        everything = found + extra
        order = sorted(range(len(everything)), key=everything.__getitem__)
        proposed = vectors_of_abstractions([drafts[i] for i in extra], self.embedder, self.vectors_of)
        stacked = np.concatenate([vectors, proposed])
        return [everything[i] for i in order], cast(Vectors, stacked[order])

    def _kept_vectors(self, ids: Sequence[str]) -> tuple[list[str], Vectors]:
        """The memories that the store has, read in pages."""
        found: list[str] = []
        parts = [np.empty((0, self.embedder.dimension), dtype=np.float32)]
        for start in range(0, len(ids), _VECTORS_AT_ONCE):
            with self.store.reading() as tx:
                page = ids[start : start + _VECTORS_AT_ONCE]
                some, vectors = tx.vectors.read(page, self.embedder.name, self.embedder.dimension)
            found += some
            parts.append(vectors)
        return found, np.concatenate(parts)

    def _drafts_that_wait(self) -> dict[str, Distillation]:
        with self.store.reading() as tx:
            return self._proposed_drafts(tx)

    def vectors_in_order(self, ids: Sequence[str]) -> Vectors:
        """Float32 (n, dimension) vectors of memories in the order of `ids`. Raises KeyError if one has none."""
        found, vectors = self.vectors_of(ids)
        rows = {memory_id: row for row, memory_id in enumerate(found)}
        return vectors[[rows[memory_id] for memory_id in ids]]

    def with_vector(self, tx: Transaction, ids: Sequence[str]) -> set[str]:
        """Those of these memories that have a vector of the current model."""
        return tx.vectors.embedded(ids, self.embedder.name, self.embedder.dimension)
