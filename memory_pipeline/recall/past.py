"""Past states of the memories: on a day, at a moment, around a run, in a snapshot."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.distillers import marked
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.knowledge.contradictions import superseded_ids
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.moments import check_has_come, read_day, read_moment
from memory_pipeline.recall.documents import MOST_RESULTS, Filters
from memory_pipeline.recall.search import Hit, SearchIndex
from memory_pipeline.records import Memory
from memory_pipeline.store import Store, Transaction, list_snapshots, snapshot_path
from memory_pipeline.wording.subject import with_subject

_HELP = (
    "use 'now', a day (YYYY-MM-DD), a moment (2026-03-14T09:30Z), 'night:YYYY-MM-DD' or a run id for the state after "
    "it, 'before:night:YYYY-MM-DD' or 'before:RUN_ID' for the state before it, or the name of a snapshot"
)


@dataclass(frozen=True, slots=True)
class PastState:
    """The memories in use at some point, including archived ones, ordered by creation time and id."""

    label: str
    memories: tuple[Memory, ...]

    @property
    def active(self) -> dict[str, Memory]:
        """The memories that were not archived, by id."""
        return {memory.id: memory for memory in self.memories if memory.archived_at is None}


class ListedMemory(Document):
    """A memory of a past state, as a list shows it."""

    id: str = Field(description="The memory.")
    project: str = Field(description="Its project.")
    created: date = Field(description="The day it was created, by the clock of its source.")
    importance: float = Field(description="0 to 3.")
    archived: bool = Field(description="Whether it was archived then.")
    content: str = Field(description="Its content.")


class StateListing(Document):
    """The memories of a past state."""

    as_of: str = Field(description="The state, in words.")
    memories: tuple[ListedMemory, ...] = Field(description="Its memories, ordered by creation time and id.")


class FoundMemory(Document):
    """A memory that a search found."""

    score: float = Field(description="Relevance, fused from word and vector scores.")
    id: str = Field(description="The memory.")
    archived: bool = Field(description="Whether it was archived then.")
    superseded_by: str | None = Field(
        default=None, description="The newer memory that supersedes it, as a later value of a setting does."
    )
    content: str = Field(description="Its content.")


class StateSearch(Document):
    """The results of a search in a past state."""

    as_of: str = Field(description="The state, in words.")
    results: tuple[FoundMemory, ...] = Field(description="The memories found, best first.")


def list_state(state: PastState, memories: Sequence[Memory]) -> StateListing:
    """The memories of a state, for display."""
    return StateListing(
        as_of=state.label,
        memories=tuple(
            ListedMemory(
                id=memory.id,
                project=memory.project_id,
                created=memory.created_on,
                importance=memory.importance,
                archived=memory.archived_at is not None,
                content=marked(memory, with_subject(memory)),
            )
            for memory in memories
        ),
    )


def describe_hits(state: PastState, hits: Sequence[Hit[Memory]]) -> StateSearch:
    """The results of a search in a state, for display."""
    return StateSearch(
        as_of=state.label,
        results=tuple(
            FoundMemory(
                score=round(hit.score, 4),
                id=hit.memory.id,
                archived=hit.memory.archived_at is not None,
                superseded_by=hit.superseded_by,
                content=marked(hit.memory, with_subject(hit.memory)),
            )
            for hit in hits
        ),
    )


def read_state(store: Store, when: str) -> PastState:
    """The memories as of `when`.

    A day uses the memories' own time, so that backfilled nights count too; a moment, a run and a snapshot use what
    the store actually contained. Raises InputError for anything else.
    """
    text = when.strip()
    if text in {snapshot.name for snapshot in list_snapshots(store)}:
        return PastState(f"snapshot {text}", tuple(_of_snapshot(store, text)))
    with store.reading() as tx:
        if text == "now":
            return PastState("now", tuple(tx.memories.all()))
        before = text.startswith("before:")
        name = text.removeprefix("before:")
        if name.startswith("night:"):
            name = tx.runs.of_night(_night(name))
        elif not before and (day := _as_day(name)):
            return PastState(f"the end of {day}", tuple(tx.history.memories_on(day)))
        elif not before and (moment := _as_moment(name)):
            return PastState(moment.isoformat(), tuple(tx.history.memories_at(moment)))
        try:
            first, last = tx.runs.span(name)
        except InputError:
            raise InputError(f"'{when}' is not a day, moment, night, run or snapshot of this store; {_HELP}") from None
        label = f"{'before' if before else 'after'} {_run_in_words(tx, name)}"
        return PastState(label, tuple(tx.history.memories_after(first if before else last)))


#: What each kind of run is called before its day.
_RUNS = {
    "night": "the night of",
    "duplicates": "the exact duplicates of",
    "job": "the consolidation job as of",
    "review": "the proposals approved up to the night of",
    "canonical": "the knowledge base as of",
    "principles": "the principles of the week to",
}


def _run_in_words(tx: Transaction, run_id: str) -> str:
    """A run by its kind and day, with the start of its id; one without a report by its id."""
    report = tx.journal.report(run_id) or {}
    kind, day = _RUNS.get(report.get("kind", "night")), report.get("partition")
    return f"{kind} {day} (run {run_id[:8]})" if kind and day else f"run {run_id}"


def search_state(
    store: Store,
    state: PastState,
    embedder: Embedder,
    query: str,
    project: str | None,
    limit: int,
    settings: Settings,
    filters: Filters | None = None,
) -> list[Hit[Memory]]:
    """The best memories of a state for a query.

    Raises InputError if the state has several projects and none is given.
    """
    projects = sorted({memory.project_id for memory in state.memories})
    if project is None and len(projects) > 1:
        raise InputError(f"give one project with --project: {', '.join(projects)}")
    chosen = project or "".join(projects)
    memories = [memory for memory in state.memories if memory.project_id == chosen]
    there = {memory.id: memory for memory in memories}
    with store.reading() as tx:
        superseded = superseded_ids((c for c in tx.conflicts.open() if {c.a, c.b} <= there.keys()), there)
        withdrawn = tx.recallable.withdrawn(chosen)
        superseded |= {old: new for old, new in withdrawn.items() if {old, new} <= there.keys()}
        ids, vectors = tx.vectors.read([memory.id for memory in memories], embedder.name, embedder.dimension)
    known = dict(zip(ids, vectors, strict=True))
    weight = settings.compression.archived_weight
    index = SearchIndex(memories, known, embedder.embed, weight, superseded, settings.recall)
    hits = index.search(query, MOST_RESULTS if filters else limit)
    return [hit for hit in hits if filters is None or filters.admits(hit.memory)][:limit]


def _of_snapshot(store: Store, name: str) -> list[Memory]:
    """Reads a copy: an older snapshot would be migrated, and a snapshot must never change."""
    with tempfile.TemporaryDirectory() as directory:
        copy = Store(shutil.copyfile(snapshot_path(store, name), Path(directory) / "snapshot.duckdb"))
        with copy.reading() as tx:
            return tx.memories.all()


def _as_day(text: str) -> date | None:
    """Parse a day that is not in the future; None for text that is not a day."""
    try:
        date.fromisoformat(text)
    except ValueError:
        return None
    if len(text) != 10:
        return None
    day = read_day(text, "the day")
    check_has_come(day, text, datetime.now(UTC))
    return day


def _night(text: str) -> date:
    day = _as_day(text.removeprefix("night:"))
    if day is None:
        raise InputError(f"'{text}' is not a day; write it as night:YYYY-MM-DD")
    return day


def _as_moment(text: str) -> datetime | None:
    """Parse a moment that is not in the future; None for text that is not a moment."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = read_moment(text, "the moment")
    check_has_come(moment.date(), text, datetime.now(UTC))
    return moment
