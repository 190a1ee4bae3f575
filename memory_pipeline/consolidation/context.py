"""The context of every step of a night: the store, the settings, the night's date, and the models.

The *as-of* time of a partition is the end of its day. Every step uses it instead of the clock, so that a night gives
the same result whenever it runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from math import inf
from time import monotonic

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.distillers.by_model import choose_distiller
from memory_pipeline.consolidation.distillers.evidence import DistillationModel
from memory_pipeline.consolidation.plan import NightOptions, NightPlan
from memory_pipeline.consolidation.reading import NightReader
from memory_pipeline.errors import in_words
from memory_pipeline.models.embedders import Embedder, choose_embedder
from memory_pipeline.models.embedders.missing import embed_missing
from memory_pipeline.records import MOVED, NightError, Stage
from memory_pipeline.store import Store, Transaction
from memory_pipeline.store.runs import LEASE_EXPIRY_S

Progress = Callable[[str, int, int], None]


@dataclass
class Night:
    """One run of the nightly pipeline on one store.

    A dry run is the same run on a temporary copy of the store: see `on_its_store`. `previews` is then the store
    itself, where the answers of models are kept. `snapshot`: the one that was taken before the run. `keep_going` is
    called between two units of work; to end the run, it raises an error that is not an ordinary Exception.
    """

    store: Store
    settings: Settings
    options: NightOptions
    holder: str = "night"
    progress: Progress = lambda step, done, total: None
    keep_going: Callable[[], None] = lambda: None
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("memory_pipeline.consolidation"))
    errors: list[NightError] = field(default_factory=list)
    previews: Store | None = None
    snapshot: str | None = None
    _lease_renewed_at: float = -inf

    def __post_init__(self) -> None:
        if self.options.dry_run and self.previews is None:
            self.store = self.store.for_reading_alone()

    @property
    def as_of(self) -> datetime:
        """The logical time of the night."""
        return self.options.as_of

    def of_last_week(self) -> Night:
        """The same run as of the end of the last week (Sunday to Saturday, UTC) that had ended by its as-of time."""
        sunday = self.as_of.date() - timedelta(days=self.as_of.isoweekday() % 7)
        return replace(self, options=replace(self.options, partition=sunday - timedelta(days=1), moment=None))

    @cached_property
    def plan(self) -> NightPlan:
        """The memories that the night works on, and its thresholds."""
        return NightPlan(self.settings, self.options)

    @property
    def reader(self) -> NightReader:
        """Memories and vectors as the night sees them."""
        return NightReader(self.store, self.plan, lambda: self.embedder)

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction of this run on the store that it writes to."""
        with self.store.writing(self.holder, self.options.run_id) as tx:
            yield tx

    @property
    def is_preview(self) -> bool:
        """Whether the run must leave nothing outside its store: no snapshot, no file except the report, no notice."""
        return self.options.dry_run

    @contextmanager
    def on_its_store(self) -> Iterator[Night]:
        """The night on the store that it writes to. For a dry run, that is a copy, which is removed afterwards; the
        store itself is read-only."""
        if not self.options.dry_run or self.previews is not None:
            yield self
            return
        with self.store.thrown_away() as scratch:
            preview = copy(self)
            preview.store, preview.previews = scratch, self.store
            yield preview

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model, loaded on first use."""
        return choose_embedder(self.settings)

    @cached_property
    def distiller(self) -> DistillationModel:
        """The model that turns a cluster into one memory."""
        return choose_distiller(self.settings, lambda text: self.embedder.count_tokens(text))

    def hold_lease(self) -> None:
        """Take this run's lease on the store that it writes to, or renew it if due."""
        self.keep_going()
        due = self._lease_renewed_at + LEASE_EXPIRY_S / 12
        if monotonic() < due:
            return
        self.store.take_lease(self.options.run_id, self.holder)
        self._lease_renewed_at = monotonic()

    def note_error(self, cluster_id: str, stage: Stage, error: Exception | str, *, tell: bool = True) -> None:
        """Record an error in one cluster, or (with an empty `cluster_id`) in a step; the night continues.

        `tell`: also log it, unless the caller does.
        """
        text = error if isinstance(error, str) else in_words(error)
        found = NightError(cluster_id, stage, text[:2000], datetime.now(UTC))
        self.errors.append(found)
        if tell:
            self.log.warning("step %s failed%s: %s", stage, f" for {cluster_id}" if cluster_id else "", text)
        with self.writing() as tx:
            tx.journal.keep_error(self.options.run_id, found)

    def note_moved(self, told: str) -> None:
        """Record where lines of a person stand now, for the report."""
        self.log.warning("%s", told)
        with self.writing() as tx:
            tx.journal.keep_error(self.options.run_id, NightError("", MOVED, told[:2000], datetime.now(UTC)))

    def embed_missing(self) -> None:
        """Embed every memory without a vector of the current model, page by page, and store the vectors.

        Raises OtherModelError if they have vectors of another model, and EmbeddingError if the model fails; earlier
        pages stay, so that the next attempt continues there.
        """
        embed_missing(self.store, self.embedder, self._writing_vectors, self.progress)

    @contextmanager
    def _writing_vectors(self) -> Iterator[Transaction]:
        self.hold_lease()
        with self.writing() as tx:
            yield tx
