"""The order of a night, written once: its steps by name, what each takes of the ones before it, and what it does.

The assets, the jobs, a dry run and a night in one call all go through it. The values pass from step to step by name;
what must survive a night is in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from memory_pipeline.night.archive import archive_distillations
from memory_pipeline.night.atoms import grow_atoms
from memory_pipeline.night.clustering import cluster_memories
from memory_pipeline.night.context import Night
from memory_pipeline.night.distillation import distill_clusters
from memory_pipeline.night.duplicates import archive_duplicates
from memory_pipeline.night.eligibility import select_eligible
from memory_pipeline.night.levels import consolidate, what_is_left
from memory_pipeline.night.playbook import update_playbook
from memory_pipeline.night.similarity import find_similar
from memory_pipeline.records import Archive, Cluster, Distillation, DuplicateGroup, EligibleMemory


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a night. Its name is that of its asset too.

    `needs`: the earlier steps whose values `run` takes after the night, in its order; `after`: those that must have
    run, though it reads what they did from the store.
    """

    name: str
    run: Callable[..., Any]
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def _duplicates(night: Night) -> list[DuplicateGroup]:
    return archive_duplicates(night)


def _eligible(night: Night, duplicates: list[DuplicateGroup]) -> list[EligibleMemory]:
    return select_eligible(night, duplicates)


def _similar(night: Night, eligible: list[EligibleMemory]) -> pa.Table:
    return find_similar(night, eligible)


def _merges(night: Night, eligible: list[EligibleMemory], edges: pa.Table) -> list[Archive]:
    return consolidate(night, "merge", eligible, edges)


def _canonical(night: Night, eligible: list[EligibleMemory], edges: pa.Table, merges: list[Archive]) -> list[Archive]:
    return consolidate(night, "canonical", eligible, edges, merges)


def _clusters(
    night: Night,
    eligible: list[EligibleMemory],
    edges: pa.Table,
    merges: list[Archive],
    canonical: list[Archive],
) -> list[Cluster]:
    return cluster_memories(night, *what_is_left(night, eligible, edges, [*merges, *canonical]))


def _distillations(night: Night, clusters: list[Cluster]) -> list[Distillation]:
    return distill_clusters(night, clusters)


def _archives(night: Night, distillations: list[Distillation]) -> list[Archive]:
    return archive_distillations(night, distillations)


ORDER: tuple[Step, ...] = (
    Step("exact_duplicates", _duplicates),
    Step("eligible_memories", _eligible, ("exact_duplicates",)),
    Step("similarity_batches", _similar, ("eligible_memories",)),
    Step("merges", _merges, ("eligible_memories", "similarity_batches")),
    Step("canonical_entries", _canonical, ("eligible_memories", "similarity_batches", "merges")),
    Step("clusters", _clusters, ("eligible_memories", "similarity_batches", "merges", "canonical_entries")),
    Step("distillations", _distillations, ("clusters",)),
    Step("archives", _archives, ("distillations",)),
    Step("atoms", lambda night: grow_atoms(night), after=("distillations", "archives")),
    Step("playbook", lambda night: update_playbook(night), after=("archives",)),
)
STEPS: Mapping[str, Step] = {step.name: step for step in ORDER}


def run_steps(night: Night, names: Collection[str] = tuple(STEPS)) -> Iterator[dict[str, Any]]:
    """Run steps in the order of a night; after each, the values of all so far, by name.

    `names`: the steps to run. A step that takes the value of one that is not among them takes an empty one.
    """
    values: dict[str, Any] = {}
    for step in ORDER:
        if step.name in names:
            values[step.name] = step.run(night, *(values.get(name, []) for name in step.needs))
            yield dict(values)
