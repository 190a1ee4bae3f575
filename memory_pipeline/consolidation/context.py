"""The context of every step of a night: store, settings, the night's date, its scope and thresholds, models, and
memories with their vectors as the night sees them, including those that only wait for a person's approval.

The *as-of* time of a partition is the end of its day. Every step uses it instead of the clock, so that a night gives
the same result whenever it runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from math import inf
from time import monotonic

import numpy as np

from memory_pipeline.config.policies import Policy
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.abstractions import abstraction_id, make_abstraction, vectors_of_abstractions
from memory_pipeline.consolidation.distillers.by_model import choose_distiller
from memory_pipeline.consolidation.distillers.judge import DistillationModel
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.errors import MemoryPipelineError, in_words
from memory_pipeline.models.embedders import Embedder, choose_embedder
from memory_pipeline.models.embedders.missing import embed_missing
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import (
    MADE,
    MOVED,
    Decided,
    Distillation,
    LineageLink,
    LogRow,
    Memory,
    NightError,
    Stage,
    derived_id,
)
from memory_pipeline.records.drafts import drafts_of
from memory_pipeline.store import Store, Transaction
from memory_pipeline.store.runs import LEASE_EXPIRY_S

#: Memories that are read with one query, so that a waiting process soon has its turn.
PAGE = 4000
_VECTORS_AT_ONCE = 16_384
Progress = Callable[[str, int, int], None]


@dataclass
class Night:
    """One run of the nightly pipeline on one store.

    A dry run is the same run on a temporary copy of the store: see `on_its_store`. It leaves nothing outside of it: no
    snapshot, no file except the report, no notice. `previews` is then the store itself, where the answers of models are
    kept. `snapshot`: the one that was taken before the run. `started_at`: when this process began it. `keep_going` is
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
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
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

    @property
    def run_id(self) -> str:
        return self.options.run_id

    @property
    def critical_floor(self) -> float:
        """The importance from which a memory is never archived."""
        return self.settings.compression.critical_floor

    @property
    def fresh_after(self) -> datetime:
        """Memories created after this time are too recent to touch."""
        return self.as_of - timedelta(hours=self.settings.compression.freshness_hours)

    def ripe_at(self, memory: Memory) -> datetime:
        """The time from which nights may touch a memory. What a night made, or what its file alone dates, is as old as
        the night: it was said before."""
        if memory.source.connector == MADE or memory.created_at_quality == "mtime":
            return memory.counts_from
        return memory.created_at + timedelta(hours=self.settings.compression.freshness_hours)

    @cached_property
    def policies(self) -> tuple[Policy, ...]:
        """The policies of the night, in their order."""
        return self.settings.night_policies(self.options.threshold)

    def floor_of(self, project_id: str) -> float:
        """The lowest threshold in use for a project; its pairs are computed and stored from this value."""
        mine = (policy.of_project(project_id) for policy in (*self.policies, *self.settings.night_policies()))
        return min((policy.threshold for policy in mine if policy), default=1.0)

    def may_touch(self, project_id: str) -> bool:
        """True if a project is in the scope of the run."""
        if self.options.projects:
            return project_id in self.options.projects
        return self.settings.is_consolidated(project_id)

    def log_row(
        self,
        policy: str,
        fingerprint: str,
        status: Decided,
        reason: str | None,
        members: int,
        made: str | None = None,
        ratio: float | None = None,
    ) -> LogRow:
        """The row of the log for a decision of tonight. `made`: the memory that was written."""
        row_id = derived_id("log", policy, fingerprint, self.as_of.isoformat(), status)
        return LogRow(row_id, fingerprint, policy, made, status, reason, members, ratio, self.run_id, self.as_of)

    def supersede(
        self, tx: Transaction, old: str, new: str, by: str, relation: str = "superseded", at: datetime | None = None
    ) -> bool:
        """Archive a memory of any level, with a link, into the one that takes its place; returns False if it is
        critical, pinned or archived. `at`: the time of that, if it is not the night's."""
        at, floor = at or self.as_of, self.critical_floor
        done = tx.memories.supersede(old, winner=new, archived_by=by, at=at, critical_floor=floor)
        if done:
            tx.lineage.add([LineageLink(new, old, relation, 1.0)])
        return done

    def memories(self, ids: Iterable[str]) -> dict[str, Memory]:
        """These memories by id, including proposed ones."""
        wanted = set(ids)
        with self.store.reading() as tx:
            memories = tx.memories.read(wanted)
            return memories | self._proposed(tx, wanted - memories.keys())

    def contents(self, ids: Collection[str]) -> dict[str, tuple[str, str]]:
        """The project and the content of these memories by id, including proposed ones."""
        with self.store.reading() as tx:
            contents = tx.memories.contents(ids)
            proposed = self._proposed(tx, set(ids) - contents.keys())
        return contents | {i: (memory.project_id, memory.content) for i, memory in proposed.items()}

    def _proposed(self, tx: Transaction, ids: Collection[str]) -> dict[str, Memory]:
        """The proposed memories, which no store has yet: a pattern may depend on a proposed merge."""
        drafts = _proposed_drafts(tx) if ids else {}
        return {i: make_abstraction(drafts[i], self.as_of) for i in ids if i in drafts}

    def witnesses(self, ids: Iterable[str]) -> dict[str, list[Memory]]:
        """By memory, the raw ones that it was made from, including proposed ones; raw memories are omitted."""
        wanted = set(ids)
        with self.store.reading() as tx:
            made = {i: set(sources) for i, sources in tx.lineage.witnesses_of(wanted).items()}
            missing = wanted - made.keys() - tx.memories.read(wanted).keys()
            drafts = _proposed_drafts(tx) if missing else {}
            made |= {i: self._raw_behind(tx, drafts, i) for i in missing & drafts.keys()}
            memories = tx.memories.read({i for sources in made.values() for i in sources})
        return {i: [memories[source] for source in sorted(sources)] for i, sources in made.items()}

    def _raw_behind(self, tx: Transaction, drafts: Mapping[str, Distillation], memory_id: str) -> set[str]:
        if memory_id not in drafts:
            return set(tx.lineage.witnesses_of([memory_id]).get(memory_id, [memory_id]))
        return {raw for source in drafts[memory_id].member_ids for raw in self._raw_behind(tx, drafts, source)}

    def vectors_of(self, ids: Sequence[str]) -> tuple[list[str], Vectors]:
        """Sorted ids and float32 (n, dimension) vectors of those memories that have one, or will after approval."""
        embedded_ids: list[str] = []
        parts = [np.empty((0, self.embedder.dimension), dtype=np.float32)]
        wanted = sorted(set(ids))
        for start in range(0, len(wanted), _VECTORS_AT_ONCE):
            page = wanted[start : start + _VECTORS_AT_ONCE]
            with self.store.reading() as tx:
                some, rows = tx.vectors.read(page, self.embedder.name, self.embedder.dimension)
            embedded_ids += some
            parts.append(rows)
        vectors, missing = np.concatenate(parts), set(wanted) - set(embedded_ids)
        with self.store.reading() as tx:
            drafts = _proposed_drafts(tx) if missing else {}
        if not (extra := sorted(missing & drafts.keys())):
            return embedded_ids, vectors
        everything = embedded_ids + extra
        order = sorted(range(len(everything)), key=everything.__getitem__)
        proposed = vectors_of_abstractions([drafts[i] for i in extra], self.embedder, self.vectors_of)
        return [everything[i] for i in order], np.concatenate([vectors, proposed])[order]

    def vectors_in_order(self, ids: Sequence[str]) -> Vectors:
        """Float32 (n, dimension) vectors of memories in the order of `ids`. Raises KeyError if one has none."""
        embedded_ids, vectors = self.vectors_of(ids)
        rows = {memory_id: row for row, memory_id in enumerate(embedded_ids)}
        return vectors[[rows[memory_id] for memory_id in ids]]

    def writing(self) -> AbstractContextManager[Transaction]:
        """A transaction of this run on the store that it writes to."""
        return self.store.writing(self.holder, self.run_id)

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
        if monotonic() < self._lease_renewed_at + LEASE_EXPIRY_S / 12:
            return
        self.store.take_lease(self.options.run_id, self.holder)
        self._lease_renewed_at = monotonic()

    def note_error(
        self, cluster_id: str, stage: Stage, error: Exception | str, *, about: str = "", is_logged: bool = True
    ) -> None:
        """Record an error in one cluster, or (with an empty `cluster_id`) in a step; the night continues.

        `about`: the thing whose error it is, in words; `is_logged`: also log it, unless the caller does; with its
        traceback, if it is none that the user can fix.
        """
        text = error if isinstance(error, str) else in_words(error)
        text = f"{about}: {text}" if about else text
        night_error = NightError(cluster_id, stage, text[:2000], datetime.now(UTC))
        self.errors.append(night_error)
        if is_logged:
            log_args = "step %s failed%s: %s", stage, f" for {cluster_id}" if cluster_id else "", text
            if isinstance(error, str | MemoryPipelineError):
                self.log.warning(*log_args)
            else:
                self.log.error(*log_args, exc_info=error)
        with self.writing() as tx:
            tx.journal.keep_error(self.options.run_id, night_error)

    def note_moved(self, note: str) -> None:
        """Record where lines of a person stand now, for the report."""
        self.log.warning("%s", note)
        with self.writing() as tx:
            tx.journal.keep_error(self.options.run_id, NightError("", MOVED, note[:2000], datetime.now(UTC)))

    def embed_missing(self) -> None:
        """Embed every memory without a vector of the current model, page by page, and store the vectors.

        Raises OtherModelError if they have vectors of another model, and EmbeddingError if the model fails; earlier
        pages stay, so that the next attempt continues there.
        """

        @contextmanager
        def writing() -> Iterator[Transaction]:
            self.hold_lease()
            with self.writing() as tx:
                yield tx

        embed_missing(self.store, self.embedder, writing, self.progress)


def _proposed_drafts(tx: Transaction) -> dict[str, Distillation]:
    """By id, the drafts of the memories that proposals would make."""
    drafts = drafts_of(tx.proposals.list()).values()
    return {abstraction_id(draft): draft for draft in drafts if isinstance(draft, Distillation)}
