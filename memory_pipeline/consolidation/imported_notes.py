"""The first step of a night: every source is read as of the night, through the same door as an import.

A source that cannot be read costs only itself, and is announced. What is imported is not part of the run: a rollback
takes back what the night made of it, never the user's own notes.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from memory_pipeline.config.exports import BrokenSource, SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.edits import Edits, apply_edits, find_edits
from memory_pipeline.consolidation.plan import next_night, night_of
from memory_pipeline.errors import MemoryPipelineError, in_words
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.records import SourceEntry, SourceFile, SourceReading
from memory_pipeline.store import Store

if TYPE_CHECKING:  # importers and masking are loaded by a night that has a source
    from memory_pipeline.ingest.candidates import ImportSummary
    from memory_pipeline.ingest.sources import SourceContents
    from memory_pipeline.models.embedders.missing import Progress


#: What the steps of an import are called in a night's progress.
_STEPS = {"import": "entries of the sources"}


def import_notes(night: Night) -> list[SourceReading]:
    """Read every enabled source of the store; returns what was read of each."""
    readings = [_left_out(night, broken) for broken in night.settings.broken_sources]
    sources = night.settings.sources_of_store
    for number, source in enumerate(sources):
        night.hold_lease()
        try:
            reading = _read(night, source)
        except Exception as error:  # one source never costs the others, or the night
            if not isinstance(error, MemoryPipelineError):
                night.log.error("reading source %s", source.name, exc_info=error)
            reading = SourceReading(source.name, "failed", in_words(error)[:1000])
        if reading.error:
            night.note_error("", "sources", f"source '{source.name}': {reading.error}")
        with night.writing() as tx:
            tx.sources.keep_reading(night.options.run_id, reading)
        readings.append(reading)
        night.progress("sources", number + 1, len(sources))
    return readings


def _left_out(night: Night, broken: BrokenSource) -> SourceReading:
    """The reading of a source whose table in the settings cannot be used."""
    reading = SourceReading(broken.name, "failed", broken.told[:1000])
    night.note_error("", "sources", f"source '{broken.name}': {reading.error}")
    with night.writing() as tx:
        tx.sources.keep_reading(night.options.run_id, reading)
    return reading


def _read(night: Night, source: SourceTable) -> SourceReading:
    from memory_pipeline.ingest.sources import overlaps, read_source

    now = datetime.now(UTC)
    for problem in overlaps(source, night.settings):
        night.log.warning("%s", problem)
    contents = read_source(
        night.store,
        night.settings,
        source,
        as_of=night.as_of,
        now=now,
        embedder=lambda: night.embedder,
        progress=lambda step, done, total: night.progress(_STEPS.get(step, step), done, total),
    )
    edits = _follow(night, source, contents, now)
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
        later=contents.later,
        edits_later=edits.waiting,
        waits_for=_waits_for(night, contents, edits),
    )


def _waits_for(night: Night, contents: SourceContents, edits: Edits) -> str | None:
    """The first night that takes something of what this one left."""
    left = [*contents.pending.values(), *edits.open_since.values()]
    if not left:
        return None
    # A run as of now comes before the night that runs next; any other one is a night, which the next day's follows.
    is_night = night.options.moment is None
    following = night.options.partition + timedelta(days=1) if is_night else next_night(night.store, night.as_of)
    return night_of(min(left), following).isoformat()


def waiting_edits(
    store: Store, settings: Settings, source: SourceTable, contents: SourceContents, now: datetime
) -> Edits:
    """The edits and removals in what was read of a source, which its next night takes; nothing is recorded."""
    return _edits_of(store, settings, source, contents, None, now)


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
    _record(store, source, contents, _edits_of(store, settings, source, contents, None, now))
    return contents.summary or ImportSummary()


def _follow(night: Night, source: SourceTable, contents: SourceContents, now: datetime) -> Edits:
    """Record what was read, and follow what was edited and removed. A run as of now only imports: during a day, words
    are still being written."""
    follow = night.options.moment is None
    edits = _edits_of(night.store, night.settings, source, contents, night.as_of if follow else None, now)
    _record(night.store, source, contents, edits)
    if edits.gone or edits.moved or edits.back:
        with night.writing() as tx:
            apply_edits(night, tx, source.name, edits)
    return edits


def _edits_of(
    store: Store,
    settings: Settings,
    source: SourceTable,
    contents: SourceContents,
    as_of: datetime | None,
    now: datetime,
) -> Edits:
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
            [entry.memory_id for entry in known], [one.name for one in settings.sources_of_store], source.name, compared
        )
        moved_before = tx.sources.moved(source.name, [entry.memory_id for entry in known])
    return find_edits(known, contents, memories, as_of, now, elsewhere, moved_before)


def _record(store: Store, source: SourceTable, contents: SourceContents, edits: Edits) -> None:
    """Keep the state of the files that were read, and the memories from them. Beside removals that are still open, new
    words stay unrecorded, so that the night that takes the removals can pair them."""
    if not contents.read and not contents.vanished:
        return
    entries = [
        SourceEntry(source.name, memory_id, state.file)
        for state in contents.read
        if state.file not in edits.open_since
        for memory_id in contents.standing[state.file]
    ]
    with store.writing(f"source {source.name}") as tx:
        tx.sources.keep_entries(entries)
        tx.sources.keep_files([_until_followed(state, edits) for state in contents.read])
        tx.sources.keep_pending(source.name, contents.pending)
        tx.sources.forget_files(source.name, [file for file in contents.vanished if file not in edits.open_since])


def _until_followed(state: SourceFile, edits: Edits) -> SourceFile:
    """The state of a file; one with removals that this night could not take is read again by a later one."""
    since = edits.open_since.get(state.file)
    return state if since is None else replace(state, pending_from=min(since, state.pending_from or since))
