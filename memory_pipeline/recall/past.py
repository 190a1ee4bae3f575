"""The past: what was known at a time, and what has changed between two."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path

from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.moments import check_has_come, read_day, read_moment
from memory_pipeline.recall.documents import Filters
from memory_pipeline.recall.search import Match, SearchIndex
from memory_pipeline.records import EXPIRED, Memory
from memory_pipeline.store import Store, Transaction, list_snapshots, snapshot_path
from memory_pipeline.text.quoting import clipped
from memory_pipeline.text.steering import marked
from memory_pipeline.text.subject import with_subject
from memory_pipeline.text.superseding import superseded_ids

_ALL = Filters()
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
    newer: bool = Field(
        default=False, description="Whether it stands before a better score because it is the later word on one thing."
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
            ListedMemory.of_record(
                memory,
                project=memory.project_id,
                created=memory.created_on,
                archived=memory.archived_at is not None,
                content=marked(memory, with_subject(memory)),
            )
            for memory in memories
        ),
    )


def describe_hits(state: PastState, hits: Sequence[Match]) -> StateSearch:
    """The results of a search in a state, for display."""
    return StateSearch(
        as_of=state.label,
        results=tuple(
            FoundMemory.of_record(
                hit,
                score=round(hit.score, 4),
                id=hit.memory.id,
                archived=hit.memory.archived_at is not None,
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
        return PastState(f"snapshot {text}", tuple(_read_snapshot(store, text)))
    with store.reading() as tx:
        if text == "now":
            return PastState("now", tuple(tx.memories.all()))
        before = text.startswith("before:")
        name = text.removeprefix("before:")
        if name.startswith("night:"):
            name = tx.runs.of_night(_read_night(name))
        elif not before and (time := _as_time(name)):
            if isinstance(time, datetime):
                return PastState(time.isoformat(), tuple(tx.history.memories_at(time)))
            return PastState(f"the end of {time}", tuple(tx.history.memories_on(time)))
        try:
            name = tx.runs.whole_id(name)
        except InputError as error:
            raise InputError(
                f"'{when}' is not a day, moment, night, run or snapshot of this store: {error}; {_HELP}"
            ) from None
        first, last = tx.runs.span(name)
        label = f"{'before' if before else 'after'} {_describe_run(tx, name)}"
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


def _describe_run(tx: Transaction, run_id: str) -> str:
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
    limit: int | None,
    settings: Settings,
    filters: Filters = _ALL,
    *,
    sources_too: bool = True,
) -> list[Match]:
    """The best memories of a state for a query; without a limit, all that match. `sources_too`: also archived ones that
    others stand for.

    Raises InputError if the state has several projects and none is given.
    """
    projects = sorted({memory.project_id for memory in state.memories})
    if project is None and len(projects) > 1:
        raise InputError(f"give one project with --project: {', '.join(projects)}")
    chosen = project or "".join(projects)
    memories = [memory for memory in state.memories if memory.project_id == chosen]
    with store.reading() as tx:
        copies = tx.recallable.copies(chosen)
        superseded = superseded_among(tx, chosen, memories, copies)
        ids, vectors = tx.vectors.read([memory.id for memory in memories], embedder.name, embedder.dimension)
    known = dict(zip(ids, vectors, strict=True))
    index = SearchIndex(memories, known, embedder.embed, superseded, settings.recall.language, copies)
    filters = filters.model_copy(update={"as_of": None})
    return index.search(query, limit, few=not filters.narrows, filters=filters, sources_too=sources_too)


def superseded_among(
    tx: Transaction, project: str, memories: Sequence[Memory], copies: Collection[str]
) -> dict[str, str]:
    """By memory of a project that a newer one of those given supersedes, this one. `copies`: as in Beside."""
    there = _as_last_told(memories, copies)
    superseded = superseded_ids((c for c in tx.conflicts.open() if {c.a, c.b} <= there.keys()), there)
    withdrawn = tx.recallable.withdrawn(project)
    return superseded | {old: new for old, new in withdrawn.items() if {old, new} <= there.keys()}


def _as_last_told(memories: Sequence[Memory], copies: Collection[str]) -> dict[str, Memory]:
    """The memories of a state by id, each with the time of the last copy that was archived into it."""
    there = {memory.id: memory for memory in memories}
    for copy in (memory for memory in memories if memory.id in copies):
        into = there.get(copy.consolidated_into_id or "")
        if into is not None and copy.effective_date > into.effective_date and not copy.undated:
            there[into.id] = replace(into, effective_date=copy.effective_date, utc_offset=copy.utc_offset)
    return there


def _read_snapshot(store: Store, name: str) -> list[Memory]:
    """Reads a copy: an older snapshot would be migrated, and a snapshot must never change."""
    with tempfile.TemporaryDirectory() as directory:
        copy = Store(shutil.copyfile(snapshot_path(store, name), Path(directory) / "snapshot.duckdb"))
        with copy.reading() as tx:
            return tx.memories.all()


def _as_time(text: str) -> date | datetime | None:
    """Parse a day or a moment that is not in the future; None for text that is neither."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return None
    time = read_day(text, "the day") if len(text) == len("YYYY-MM-DD") else read_moment(text, "the moment")
    check_has_come(time.date() if isinstance(time, datetime) else time, text, datetime.now(UTC))
    return time


def _read_night(text: str) -> date:
    day = _as_time(text.removeprefix("night:"))
    if day is None or isinstance(day, datetime):
        raise InputError(f"'{text}' is not a day; write it as night:YYYY-MM-DD")
    return day


class CameMemory(Document):
    """A memory that is active only in the later state."""

    id: str = Field(description="The memory.")
    content: str = Field(description="Its content.")


class WentMemory(CameMemory):
    """A memory that is active only in the earlier state."""

    why: str = Field(description="What it was archived into, or that it is no longer in use.")
    into: str | None = Field(description="The memory that it was archived into; null if it is no longer in use.")


class ChangedMemory(CameMemory):
    """A memory that is active in both states and differs between them."""

    what: str = Field(description="Each field that changed, with its values.")


class Difference(Document):
    """The changes of the active memory from one state to another."""

    before: str = Field(alias="from", description="The earlier state, in words.")
    after: str = Field(alias="to", description="The later state, in words.")
    added: tuple[CameMemory, ...] = Field(description="Memories that were added, by id.")
    gone: tuple[WentMemory, ...] = Field(description="Memories that are no longer active, and why, by id.")
    changed: tuple[ChangedMemory, ...] = Field(description="Memories that changed, with the changes, by id.")
    tokens_before: int = Field(description="Tokens of the active memories in the earlier state.")
    tokens_after: int = Field(description="Tokens of the active memories in the later state.")


def diff_states(before: PastState, after: PastState) -> Difference:
    """The memories that are active in only one of two states, and the changes of those that are active in both."""
    old, new = before.active, after.active
    later = {memory.id: memory for memory in after.memories}
    gone = []
    for memory_id in sorted(old.keys() - new.keys()):
        now = later.get(memory_id)
        into = now.consolidated_into_id if now else None
        expired = now is not None and now.archived_by == EXPIRED
        why = f"archived into {into}" if into else "its time was over in its source" if expired else "no longer in use"
        gone.append(WentMemory(id=memory_id, content=old[memory_id].content, why=why, into=into))
    changed = []
    for memory_id in sorted(old.keys() & new.keys()):
        what = [
            f"{name} {getattr(old[memory_id], name)} -> {getattr(new[memory_id], name)}"
            for name in ("importance", "pinned", "reuse_count", "useful_count")
            if getattr(old[memory_id], name) != getattr(new[memory_id], name)
        ]
        if what:
            changed.append(ChangedMemory(id=memory_id, content=new[memory_id].content, what=", ".join(what)))
    return Difference(
        before=before.label,
        after=after.label,
        added=tuple(CameMemory(id=i, content=new[i].content) for i in sorted(new.keys() - old.keys())),
        gone=tuple(gone),
        changed=tuple(changed),
        tokens_before=sum(memory.token_count for memory in old.values()),
        tokens_after=sum(memory.token_count for memory in new.values()),
    )


def replaced(difference: Difference) -> list[tuple[CameMemory, list[WentMemory]]]:
    """Each new memory with what it replaced; those that replaced most come first, then those that replaced nothing."""
    gone: dict[str | None, list[WentMemory]] = {}
    for memory in difference.gone:
        gone.setdefault(memory.into, []).append(memory)
    pairs = [(memory, gone.get(memory.id, [])) for memory in difference.added]
    return sorted(pairs, key=lambda pair: (-len(pair[1]), pair[0].id))


def headline(difference: Difference) -> str:
    """The counts of a difference in one sentence."""
    return (
        f"From {difference.before} to {difference.after}: {len(difference.added)} added, {len(difference.gone)} "
        f"removed, {len(difference.changed)} changed; {difference.tokens_before} -> {difference.tokens_after} active "
        "tokens"
    )


def diff_text(difference: Difference) -> str:
    """A difference as lines: `+` added, `-` removed, with the words of what it was archived into, `~` changed."""
    words = {memory.id: memory.content for memory in (*difference.added, *difference.changed)}
    lines = [headline(difference)]
    lines += [f"+ {memory.id}  {_flat(memory)}" for memory in difference.added]
    lines += [f"- {memory.id}  {_flat(memory)}  ({_why(memory, words)})" for memory in difference.gone]
    lines += [f"~ {memory.id}  {_flat(memory)}  ({memory.what})" for memory in difference.changed]
    return "\n".join(lines)


def _why(memory: WentMemory, words: Mapping[str, str]) -> str:
    if memory.into is None or memory.into not in words:
        return memory.why
    return f"archived into “{clipped(words[memory.into], 60)}”, {memory.into[:8]}"


def _flat(memory: CameMemory) -> str:
    return clipped(memory.content, 160)
