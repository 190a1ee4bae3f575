"""What every step of a night is given: the store, the settings, which night it is, and the models.

A partition's *as-of* time is the end of its day; every step uses it instead of the clock, so that a
night does the same whenever it runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
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
from memory_pipeline.night.abstractions import abstraction_id, make_abstraction, vectors_of_abstractions
from memory_pipeline.records import Distillation, Memory, NightError, Stage
from memory_pipeline.review.drafts import drafted
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
    """One run of the nightly pipeline on one store.

    A dry run is the same run on a copy of the store that is thrown away: see `on_its_store`. `previews` is then the
    store itself, where the answers of models are kept. `keep_going` is called between two pieces of work; whoever
    wants the run to end raises there what is no ordinary Exception.
    """

    store: Store
    settings: Settings
    options: NightOptions
    holder: str = "night"
    progress: Progress = lambda step, done, total: None
    keep_going: Callable[[], None] = lambda: None
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("memory_pipeline.night"))
    errors: list[NightError] = field(default_factory=list)
    previews: Store | None = None
    _lease_renewed_at: float = -inf

    def __post_init__(self) -> None:
        if self.options.dry_run and self.previews is None:
            self.store = self.store.for_reading_alone()

    @property
    def as_of(self) -> datetime:
        """The logical time of the night."""
        return self.options.as_of

    def of_last_week(self) -> Night:
        """The same run as of the end of the last week, Sunday to Saturday UTC, that had ended by its as-of time."""
        sunday = self.as_of.date() - timedelta(days=self.as_of.isoweekday() % 7)
        return replace(self, options=replace(self.options, partition=sunday - timedelta(days=1), moment=None))

    @property
    def is_preview(self) -> bool:
        """Whether nothing of the run may leave its store: no snapshot, no file but the report, no notice."""
        return self.options.dry_run

    @contextmanager
    def on_its_store(self) -> Iterator[Night]:
        """The night on the store that it writes to. That of a dry run is a copy, which is gone afterwards; the store
        itself can only be read through a dry run."""
        if not self.options.dry_run or self.previews is not None:
            yield self
            return
        with self.store.thrown_away() as scratch:
            preview = copy(self)
            preview.store, preview.previews = scratch, self.store
            yield preview

    @property
    def fresh_after(self) -> datetime:
        """Memories created after this time are too fresh to touch."""
        return self.as_of - timedelta(hours=self.settings.compression.freshness_hours)

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
        """These memories by id, those that are only proposed included."""
        wanted = set(ids)
        with self.store.reading() as tx:
            found = tx.memories.read(wanted)
            missing = wanted - found.keys()
            return {**found, **self._proposed(tx, missing)} if missing else found

    def _proposed(self, tx: Transaction, ids: Collection[str]) -> dict[str, Memory]:
        """What waits for a person and stands in no store yet: a pattern may rest on a merge that is proposed."""
        drafts = self._proposed_drafts(tx)
        return {i: make_abstraction(drafts[i], self.as_of) for i in ids if i in drafts}

    def _proposed_drafts(self, tx: Transaction) -> dict[str, Distillation]:
        drafts = (drafted(proposal) for proposal in tx.proposals.list())
        return {abstraction_id(draft): draft for draft in drafts if isinstance(draft, Distillation)}

    def witnesses(self, ids: Iterable[str]) -> dict[str, list[Memory]]:
        """By memory, the raw ones that it was made from, what is only proposed included; raw memories are left out."""
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

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model, loaded when first used."""
        return choose_embedder(self.settings)

    @cached_property
    def distiller(self) -> DistillationModel:
        """What turns a cluster into one memory."""
        return choose_distiller(self.settings)

    def hold_lease(self) -> None:
        """Take this run's lease on the store that it writes to, or renew it when it is due."""
        self.keep_going()
        due = self._lease_renewed_at + self.settings.store.lease_expiry_s / 12
        if monotonic() < due:
            return
        self.store.take_lease(self.options.run_id, self.holder, self.settings.store.lease_expiry_s)
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
        with self.store.writing(self.holder, self.options.run_id) as tx:
            tx.journal.keep_error(self.options.run_id, found)

    def embed_missing(self) -> None:
        """Embed every memory without a vector of the current model, page by page, and keep the vectors.

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
            self.hold_lease()
            with self.store.writing(self.holder, self.options.run_id) as tx:
                tx.vectors.add(ids, vectors, model)
            done, after = done + len(ids), ids[-1]
            self.progress("embedding", done, total)

    def with_vector(self, tx: Transaction, ids: Sequence[str]) -> set[str]:
        """Those of these memories that have a vector of the current model."""
        return tx.vectors.embedded(ids, self.embedder.name, self.embedder.dimension)

    def vectors_of(self, ids: Sequence[str]) -> tuple[list[str], Vectors]:
        """Sorted ids and float32 (n, dimension) vectors of those memories that have one, or will have when they are
        approved."""
        with self.store.reading() as tx:
            found, vectors = tx.vectors.read(ids, self.embedder.name, self.embedder.dimension)
            missing = set(ids) - set(found)
            drafts = self._proposed_drafts(tx) if missing else {}
        extra = sorted(missing & drafts.keys())
        if not extra:
            return found, vectors
        everything = found + extra
        order = sorted(range(len(everything)), key=everything.__getitem__)
        proposed = vectors_of_abstractions([drafts[i] for i in extra], self.embedder, self.vectors_of)
        stacked = np.concatenate([vectors, proposed])
        return [everything[i] for i in order], cast(Vectors, stacked[order])

    def vectors_in_order(self, ids: Sequence[str]) -> Vectors:
        """Float32 (n, dimension) vectors of memories in the order of `ids`. Raises KeyError where one has none."""
        found, vectors = self.vectors_of(ids)
        rows = {memory_id: row for row, memory_id in enumerate(found)}
        return vectors[[rows[memory_id] for memory_id in ids]]
