"""What every step of a night is given: the store, the settings, which night it is, and the models.

A partition's *as-of* time is the end of its day; every step uses it instead of the clock, so that a
night does the same whenever it runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from math import inf
from time import monotonic
from typing import cast

import numpy as np

from memory_pipeline.config.policies import Policy
from memory_pipeline.config.settings import Settings
from memory_pipeline.distillers import DistillationModel, choose_distiller
from memory_pipeline.embedding import Embedder, check_vectors, choose_embedder
from memory_pipeline.embedding.model import Vectors
from memory_pipeline.errors import InputError, in_words
from memory_pipeline.records import Memory, NightError, Stage
from memory_pipeline.store import Store, Transaction
from memory_pipeline.wording.normalise import embedding_text

Progress = Callable[[str, int, int], None]
#: The longest look back that `--days` may ask for: older memories than these there are none.
MOST_DAYS = 18_250
#: Memories that are embedded before their vectors are kept: what an interruption can lose.
_PAGE = 256


@dataclass(frozen=True, slots=True)
class NightOptions:
    """Which night, and how: `threshold` and `days` override for this run, `cluster_id` picks one cluster, and
    `no_cache` asks the model again for what it has answered.

    `projects`, `memory_types`, `first_day`, `last_day` (by creation, both included) and `unconsolidated_only`
    narrow what the run looks at; a project that is named is taken though it has not opted in. `moment` is the
    logical time of a run that a person starts for now. With `whole_weeks` a job forms principles as of the last week
    that has ended, as the weekly asset does, instead of its day.
    """

    partition: date
    run_id: str
    dry_run: bool = False
    threshold: float | None = None
    days: int | None = None
    cluster_id: str | None = None
    no_cache: bool = False
    projects: tuple[str, ...] = ()
    memory_types: tuple[str, ...] = ()
    first_day: date | None = None
    last_day: date | None = None
    unconsolidated_only: bool = False
    moment: datetime | None = None
    whole_weeks: bool = False

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0.5 <= self.threshold <= 1.0:
            raise InputError(f"--threshold is {self.threshold}; use a cosine between 0.5 and 1.0")
        if self.days is not None and not 1 <= self.days <= MOST_DAYS:
            raise InputError(f"--days is {self.days}; use 1 to {MOST_DAYS}")

    @property
    def as_of(self) -> datetime:
        """The logical time of the night: the end of its day, UTC, or the moment that was named."""
        return self.moment or datetime.combine(self.partition + timedelta(days=1), time(), UTC)


@dataclass
class Night:
    """One run of the nightly pipeline on one store. In a dry run nothing is written.

    `keep_going` is called between two pieces of work; whoever wants the run to end raises there what is no
    ordinary Exception.
    """

    store: Store
    settings: Settings
    options: NightOptions
    holder: str = "night"
    progress: Progress = lambda step, done, total: None
    keep_going: Callable[[], None] = lambda: None
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("memory_pipeline.night"))
    errors: list[NightError] = field(default_factory=list)
    _unsaved: dict[str, Vectors] = field(default_factory=dict)
    _drafted: dict[str, Memory] = field(default_factory=dict)
    _draft_sources: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _lease_renewed_at: float = -inf

    @property
    def as_of(self) -> datetime:
        """The logical time of the night."""
        return self.options.as_of

    def of_last_week(self) -> Night:
        """The same run as of the end of the last week, Sunday to Saturday UTC, that had ended by its as-of time."""
        sunday = self.as_of.date() - timedelta(days=self.as_of.isoweekday() % 7)
        return replace(self, options=replace(self.options, partition=sunday - timedelta(days=1), moment=None))

    @property
    def fresh_after(self) -> datetime:
        """Memories created after this time are too fresh to touch."""
        return self.as_of - timedelta(hours=self.settings.freshness_hours)

    @cached_property
    def policies(self) -> tuple[Policy, ...]:
        """The cuts of the night, in their order."""
        return self.settings.night_policies(self.options.threshold)

    def threshold_of(self, project_id: str) -> float:
        """The cosine from which memories of a project are distilled as one tonight."""
        mine = [p for policy in self.policies if policy.method == "distill" and (p := policy.of_project(project_id))]
        return min((policy.threshold for policy in mine), default=1.0)

    def floor_of(self, project_id: str) -> float:
        """The lowest threshold in use for a project, from which its pairs are computed and kept."""
        mine = (policy.of_project(project_id) for policy in (*self.policies, *self.settings.night_policies()))
        return min((policy.threshold for policy in mine if policy), default=1.0)

    def may_touch(self, project_id: str) -> bool:
        """Whether the run works on a project."""
        if self.options.projects:
            return project_id in self.options.projects
        return self.settings.is_consolidated(project_id)

    def memories(self, ids: Iterable[str]) -> dict[str, Memory]:
        """These memories by id, those that are only drafted included."""
        wanted = list(ids)
        with self.store.reading() as tx:
            found = tx.memories.read(wanted)
        return {**found, **{i: self._drafted[i] for i in wanted if i in self._drafted}}

    @property
    def drafted_ids(self) -> frozenset[str]:
        """What stands in no store yet: drafted by a dry run, or waiting for a person."""
        return frozenset(self._drafted)

    def witnesses(self, ids: Iterable[str]) -> dict[str, list[Memory]]:
        """By memory, the raw ones that it was made from, what is only drafted included; raw memories are left out."""
        wanted = set(ids)
        with self.store.reading() as tx:
            drafted = {i: self._raw_behind(tx, i) for i in wanted & self._draft_sources.keys()}
            made = {**tx.lineage.witnesses_of(wanted), **drafted}
            memories = tx.memories.read({i for sources in made.values() for i in sources})
        return {i: [memories[source] for source in sorted(sources)] for i, sources in made.items()}

    def _raw_behind(self, tx: Transaction, memory_id: str) -> set[str]:
        if memory_id not in self._draft_sources:
            return set(tx.lineage.witnesses_of([memory_id]).get(memory_id, [memory_id]))
        return {raw for source in self._draft_sources[memory_id] for raw in self._raw_behind(tx, source)}

    def keep_draft(self, memory: Memory, vector: Vectors, sources: Iterable[str] = ()) -> None:
        """Hold on to a memory that a dry run, or a night whose proposals a person decides, would have written.

        `vector`: (dimension,), unit length; `sources`: the members that it was made from.
        """
        self._drafted[memory.id] = memory
        self._draft_sources[memory.id] = tuple(sources)
        self._unsaved[memory.id] = vector

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model, loaded when first used."""
        return choose_embedder(self.settings)

    @cached_property
    def distiller(self) -> DistillationModel:
        """What turns a cluster into one memory."""
        return choose_distiller(self.settings)

    def hold_lease(self) -> None:
        """Take this run's lease on the store, or renew it when it is due; a dry run needs none."""
        self.keep_going()
        due = self._lease_renewed_at + self.settings.lease_expiry_s / 12
        if self.options.dry_run or monotonic() < due:
            return
        self.store.take_lease(self.options.run_id, self.holder, self.settings.lease_expiry_s)
        self._lease_renewed_at = monotonic()

    def note_error(self, cluster_id: str, stage: Stage, error: Exception | str, *, tell: bool = True) -> None:
        """Record what went wrong with one cluster, or (`cluster_id` empty) with a step; the night goes on.

        `tell`: in the log too, unless somebody else does.
        """
        text = error if isinstance(error, str) else in_words(error)
        found = NightError(cluster_id, stage, text[:2000], datetime.now(UTC))
        self.errors.append(found)
        if tell:
            self.log.warning("step %s failed%s: %s", stage, f" for {cluster_id}" if cluster_id else "", text)
        if not self.options.dry_run:
            with self.store.writing(self.holder, self.options.run_id) as tx:
                tx.journal.keep_error(self.options.run_id, found)

    def embed_missing(self) -> None:
        """Embed every memory without a vector of the current model, page by page, and keep the vectors
        in the store or, in a dry run, in memory.

        Raises EmbeddingError when the model fails; the pages before stay, so that the next try goes on there.
        """
        model = self.embedder.name
        with self.store.reading() as tx:
            total = tx.vectors.count_missing(model)
        if total:
            self.log.info("embedding %d memories with %s", total, model)
        done, after = 0, ""
        while done < total:
            with self.store.reading() as tx:
                page = tx.vectors.missing(model, after, _PAGE)
            if not page:
                return
            ids = [memory_id for memory_id, _ in page]
            vectors = self.embedder.embed([embedding_text(content) for _, content in page])
            check_vectors(vectors, ids, self.embedder.dimension, model)
            if self.options.dry_run:
                self._unsaved.update(zip(ids, vectors, strict=True))
            else:
                self.hold_lease()
                with self.store.writing(self.holder, self.options.run_id) as tx:
                    tx.vectors.add(ids, vectors, model)
            done, after = done + len(ids), ids[-1]
            self.progress("embedding", done, total)

    def with_vector(self, tx: Transaction, ids: Sequence[str]) -> set[str]:
        """Those of these memories that have a vector of the current model."""
        found = tx.vectors.embedded(ids, self.embedder.name, self.embedder.dimension)
        return found | (set(ids) & self._unsaved.keys())

    def vectors_of(self, ids: Sequence[str]) -> tuple[list[str], Vectors]:
        """Sorted ids and float32 (n, dimension) vectors of those memories that have one."""
        with self.store.reading() as tx:
            found, vectors = tx.vectors.read(ids, self.embedder.name, self.embedder.dimension)
        extra = sorted(set(ids) & self._unsaved.keys() - set(found))
        if not extra:
            return found, vectors
        everything = found + extra
        order = sorted(range(len(everything)), key=everything.__getitem__)
        stacked = np.concatenate([vectors, np.stack([self._unsaved[memory_id] for memory_id in extra])])
        return [everything[i] for i in order], cast(Vectors, stacked[order])

    def vectors_in_order(self, ids: Sequence[str]) -> Vectors:
        """Float32 (n, dimension) vectors of memories in the order of `ids`. Raises KeyError where one has none."""
        found, vectors = self.vectors_of(ids)
        rows = {memory_id: row for row, memory_id in enumerate(found)}
        return vectors[[rows[memory_id] for memory_id in ids]]
