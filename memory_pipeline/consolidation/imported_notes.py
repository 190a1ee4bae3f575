"""The first step of a night: every source is read as of the night, through the same door as an import.

A source that cannot be read costs only itself, and is announced. What is imported is not part of the run: a rollback
takes back what the night made of it, never the user's own notes.

Edited and removed words of a source: their memories stay, are marked, and give way to the words that replaced them. A
memory is compared with what stands in its file now. Words that are gone are paired with new words of the same file
that are like them; the old memory is archived into the new one, unless it is critical or pinned. That happens as soon
as the new words are read, so that two versions of a line never stand beside each other; words without a successor are
gone from the first night on that ends after the file was changed. Words that still stand in another place have only
moved: nothing replaces them. Words that come back are active again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import TYPE_CHECKING

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import next_night, night_of
from memory_pipeline.errors import MemoryPipelineError, in_words
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.records import LineageLink, Memory, SourceEntry, SourceReading, derived_id
from memory_pipeline.store import Store, Transaction
from memory_pipeline.store.sources import Words, words_of
from memory_pipeline.text.normalise import one_line

if TYPE_CHECKING:
    from memory_pipeline.ingest.candidates import ImportSummary
    from memory_pipeline.ingest.sources import SourceContents
    from memory_pipeline.models.embedders.missing import Progress

#: Old and new words are one entry, edited, if at least this share of their words is the same, in order.
_ALIKE = 0.5
#: With more pairs than this, a file was rewritten rather than edited.
_MOST_PAIRS = 40_000
#: Of a long entry, the first words are compared.
_MOST_WORDS = 200


@dataclass
class Edits:
    """The changes in the files of a source: memories whose words are gone, with those that replaced them; those whose
    words stand in another place instead (`moved`); earlier ones of these whose words were edited there (`twins`, with
    what replaced them); words that are back; and the files whose removals a later night has to date, with their times
    and how many those are."""

    gone: dict[str, str | None] = field(default_factory=dict)
    moved: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    twins: dict[str, str] = field(default_factory=dict)
    likeness: dict[str, float] = field(default_factory=dict)
    open_since: dict[str, datetime] = field(default_factory=dict)
    waiting: int = 0

    @property
    def changed(self) -> int:
        """The number of entries that were edited."""
        return sum(by is not None for by in self.gone.values())


def find_edits(
    known: Sequence[SourceEntry],
    contents: SourceContents,
    memories: Mapping[str, Memory],
    as_of: datetime | None,
    now: datetime,
    elsewhere: Set[Words] = frozenset(),
    moved_before: Mapping[Words, Sequence[str]] = MappingProxyType({}),
) -> Edits:
    """Compare what stands in the files with the memories that came from them.

    `elsewhere`: words that stand in other files of the sources. `moved_before`: by words, the memories that moved in an
    earlier night; what replaces the words replaces these too. A removal without new words is dated by its file: a
    night as of an earlier time leaves it. When a file vanished is not known, so only the newest night takes that.
    Without `as_of`, all of these are left.
    """
    edits = Edits()
    was_known = {entry.memory_id for entry in known}
    of_file: dict[str, list[SourceEntry]] = {}
    for entry in known:
        of_file.setdefault(entry.file, []).append(entry)
    # Words of files that vanished, and those of files that no night has read: a file may have another name now.
    lost: list[str] = []
    stayed: set[Words] = set()
    fresh_files: list[str] = []
    everywhere = {memory_id for ids in contents.standing.values() for memory_id in ids}
    stands = elsewhere | contents.words | {words_of(memories[i]) for i in everywhere if i in memories}
    for file in [*contents.standing, *contents.vanished]:
        if file in contents.lasting:
            continue
        standing = contents.standing.get(file, [])
        mine = of_file.get(file, [])
        gone = [e.memory_id for e in mine if e.gone_at is None and e.memory_id not in everywhere]
        back = [e.memory_id for e in mine if e.gone_at is not None and e.memory_id in standing]
        if not mine:
            fresh_files += standing
        if not gone and not back:
            continue
        moved = [i for i in gone if i in memories and words_of(memories[i]) in stands]
        gone = [i for i in gone if i not in set(moved)]
        fresh = [memory_id for memory_id in standing if memory_id not in was_known] + back
        edits.back += back
        for old, new, score in _pairs(gone, fresh, memories):
            edits.gone[old], edits.likeness[old] = new, score
        gone = [i for i in gone if i not in edits.gone]
        if not gone and not moved:
            continue
        changed = contents.modified(file) or now - timedelta(days=1)
        if as_of is None or changed >= as_of:
            edits.open_since[file] = changed
            edits.waiting += len(gone)
            continue
        edits.moved += moved
        edits.gone |= dict.fromkeys(gone)
        if file in contents.vanished:
            lost += gone
            stayed |= {words_of(memories[i]) for i in moved}
    by_words = {words_of(memories[i]): i for i in fresh_files if i in memories}  # what moved as it was replaces nothing
    renamed = [i for words, i in by_words.items() if words not in stayed]
    old_words = {words_of(memories[i]): i for i in lost if i in memories}
    for old, new, score in _pairs(list(old_words.values()), renamed, memories):
        edits.gone[old], edits.likeness[old] = new, score
    for old, by in edits.gone.items():
        if by is None:
            continue
        for twin in moved_before.get(words_of(memories[old]), ()):
            if twin not in edits.gone and twin != by:
                edits.twins[twin], edits.likeness[twin] = by, edits.likeness[old]
    return edits


def _pairs(gone: Sequence[str], fresh: Sequence[str], memories: Mapping[str, Memory]) -> list[tuple[str, str, float]]:
    """Old and new words that are one entry, the most alike first; each is in one pair."""
    if len(gone) * len(fresh) > _MOST_PAIRS:
        return []
    words = {
        i: one_line(memories[i].content).casefold().split()[:_MOST_WORDS] for i in (*gone, *fresh) if i in memories
    }

    def likeness(old: str, new: str) -> float:
        if new.startswith(f"{old}@"):
            return 1.0  # the next version of a row with an id of its own
        return SequenceMatcher(None, words[old], words[new], autojunk=False).ratio()

    scored = sorted(
        (-likeness(old, new), order, order_of_new, old, new)
        for order, old in enumerate(gone)
        for order_of_new, new in enumerate(fresh)
        if old in words and new in words and memories[old].project_id == memories[new].project_id
    )
    pairs: list[tuple[str, str, float]] = []
    taken: set[str] = set()
    for score, _, _, old, new in scored:
        if -score >= _ALIKE and not {old, new} & taken:
            pairs.append((old, new, -score))
            taken |= {old, new}
    return pairs


def apply_edits(
    tx: Transaction,
    source: str,
    edits: Edits,
    settings: Settings,
    at: datetime,
    run_id: str,
    may_touch: Callable[[str], bool],
) -> None:
    """Mark and archive what is gone, and take back what is there again."""
    if edits.back:
        tx.memories.take_back(edits.back, at=at)
        tx.sources.mark_back(source, edits.back, run_id)
    gone = edits.gone | dict.fromkeys(edits.moved) | edits.twins
    if gone:
        tx.sources.mark_gone(source, gone, at, run_id)
    pairs = {old: new for old, new in gone.items() if new is not None}
    memories = tx.memories.read([*pairs, *pairs.values()])
    stands_for = tx.lineage.replacements_of(list(pairs.values()))
    floor = settings.compression.critical_floor
    for old, new in pairs.items():
        into, by = stands_for[new], derived_id("edit", old, new)
        if into == old or not may_touch(memories[old].project_id):
            continue
        if tx.memories.supersede(old, winner=into, archived_by=by, at=at, critical_floor=floor):
            tx.lineage.add([LineageLink(into, old, "superseded", round(edits.likeness[old], 4))])
    tx.rollups.mark_stale([*pairs, *pairs.values(), *edits.back], only_rollups=True)


#: What the steps of an import are called in a night's progress.
_STEPS = {"import": "entries of the sources"}


def import_notes(night: Night) -> list[SourceReading]:
    """Read every enabled source of the store; returns what was read of each."""
    readings = []
    for broken in night.settings.broken("sources"):  # whose table in the settings cannot be used
        readings.append(SourceReading(broken.name, "failed", broken.told[:1000]))
        _keep(night, readings[-1])
    sources = night.settings.sources_of_store
    for number, source in enumerate(sources):
        night.hold_lease()
        try:
            reading = _read(night, source)
        except Exception as error:  # one source never costs the others, or the night
            if not isinstance(error, MemoryPipelineError):
                night.log.error("reading source %s", source.name, exc_info=error)
            reading = SourceReading(source.name, "failed", in_words(error)[:1000])
        _keep(night, reading)
        readings.append(reading)
        night.progress("sources", number + 1, len(sources))
    return readings


def _keep(night: Night, reading: SourceReading) -> None:
    if reading.error:
        night.note_error("", "sources", f"source '{reading.source}': {reading.error}")
    with night.writing() as tx:
        tx.sources.keep_reading(night.run_id, reading)


def _read(night: Night, source: SourceTable) -> SourceReading:
    from memory_pipeline.ingest.sources import read_source

    now = datetime.now(UTC)
    contents = read_source(
        night.store,
        night.settings,
        source,
        as_of=night.as_of,
        now=now,
        embedder=lambda: night.embedder,
        progress=lambda step, done, total: night.progress(_STEPS.get(step, step), done, total),
    )
    # A run as of now only imports: during a day, words are still being written.
    as_of = night.as_of if night.options.moment is None else None
    edits = edits_of(night.store, night.settings, source, contents, now, as_of)
    _record(night.store, source, contents, edits)
    if edits.gone or edits.moved or edits.back:
        with night.writing() as tx:
            apply_edits(tx, source.name, edits, night.settings, night.as_of, night.run_id, night.may_touch)
    unreadable = "; ".join(f"{file}: {why}" for file, why in sorted(contents.unreadable.items()))
    summary = contents.summary
    return SourceReading(
        source=source.name,
        status="read" if contents.read else "failed" if unreadable else "unchanged",
        error=unreadable[:1000] or None,
        files=len(contents.files),
        files_read=len(contents.read),
        rows_read=summary.read if summary else 0,
        new=max(0, summary.imported - edits.changed) if summary else 0,
        changed=edits.changed,
        gone=len(edits.gone),
        quarantined=summary.quarantined if summary else 0,
        masked=summary.masked.total() if summary else 0,
        later=len(contents.pending),
        edits_later=edits.waiting,
        waits_for=_find_next_night(night, contents, edits),
    )


def _find_next_night(night: Night, contents: SourceContents, edits: Edits) -> str | None:
    """The first night that takes something of what this one left."""
    left = [*contents.pending.values(), *edits.open_since.values()]
    if not left:
        return None
    # A run as of now comes before the night that runs next; any other one is a night, which the next day's follows.
    is_night = night.options.moment is None
    following = night.options.partition + timedelta(days=1) if is_night else next_night(night.store, night.as_of)
    return night_of(min(left), following).isoformat()


def import_source(store: Store, settings: Settings, source: SourceTable, progress: Progress) -> ImportSummary:
    """Import everything that a source holds now, outside a night; returns what the import did."""
    from memory_pipeline.ingest.candidates import ImportSummary
    from memory_pipeline.ingest.sources import read_source

    now = datetime.now(UTC)
    contents = read_source(
        store,
        settings,
        source,
        as_of=now,
        now=now,
        embedder=lambda: choose_embedder(settings),
        everything=True,
        progress=progress,
    )
    edits = edits_of(store, settings, source, contents, now)
    _record(store, source, contents, edits)
    if edits.gone or edits.back:
        with store.writing(f"source {source.name}") as tx:
            apply_edits(tx, source.name, edits, settings, now, "", settings.is_consolidated)
    return contents.summary or ImportSummary()


def edits_of(
    store: Store,
    settings: Settings,
    source: SourceTable,
    contents: SourceContents,
    now: datetime,
    as_of: datetime | None = None,
) -> Edits:
    """The edits and removals in what was read of a source, of which a night as of some time takes those before it;
    nothing is recorded."""
    if not contents.standing and not contents.vanished:
        return Edits()
    compared = [*contents.standing, *contents.vanished]
    with store.reading() as tx:
        known = tx.sources.entries(source.name, compared)
        if not known:
            return find_edits(known, contents, {}, as_of, now)
        ids = {entry.memory_id for entry in known} | {i for standing in contents.standing.values() for i in standing}
        memories = tx.memories.read(ids)
        elsewhere = tx.sources.standing_elsewhere(
            [entry.memory_id for entry in known],
            [each.name for each in settings.sources_of_store],
            source.name,
            compared,
        )
        moved_before = tx.sources.moved(source.name, [entry.memory_id for entry in known])
    return find_edits(known, contents, memories, as_of, now, elsewhere, moved_before)


def _record(store: Store, source: SourceTable, contents: SourceContents, edits: Edits) -> None:
    """Keep the state of the files that were read, and the memories from them."""
    if not contents.read and not contents.vanished:
        return
    entries = [
        SourceEntry(source.name, memory_id, state.file)
        for state in contents.read
        for memory_id in contents.standing[state.file]
    ]
    with store.writing(f"source {source.name}") as tx:
        tx.sources.keep_entries(entries)
        tx.sources.keep_files(
            [  # a later night reads a file again for the removals that this one could not take
                replace(state, pending_from=min(since, state.pending_from or since)) if since else state
                for state in contents.read
                for since in (edits.open_since.get(state.file),)
            ]
        )
        tx.sources.keep_pending(source.name, contents.pending)
        tx.sources.forget_files(source.name, [file for file in contents.vanished if file not in edits.open_since])
