"""Makes what was said in a session searchable at once: the turns of a session of a source are imported, if they are not
in the store yet, so that nothing that a compaction leaves out is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from memory_pipeline.compaction.gates import Gate
from memory_pipeline.compaction.transcripts import Session, source_of
from memory_pipeline.config.memory_sources import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.store import Store
from memory_pipeline.wording.counts import how_many


def index_refreshed(settings: Settings, store: Store, session: Session, actor: str) -> Gate:
    """Every turn of the session is in the store; else they are imported, as the next reading of their source would."""
    source = source_of(settings, session.agent, session.place)
    if source is None or not store.exists():
        why = "no source of the store has this session" if source is None else "there is no store yet"
        return Gate("index_refreshed", "after", True, "warns", f"{why}; nothing is indexed")
    try:
        missing = _missing(store, session)
        if missing:
            import_memories(
                store,
                _of_source(source, session),
                project=source.project or session.project,
                embedder=choose_embedder(settings),
                now=datetime.now(UTC),
                mask=settings.import_.redact,
                actor=actor,
            )
            missing = _missing(store, session)
    except MemoryPipelineError as error:
        return Gate("index_refreshed", "after", False, "warns", f"{error}; the next reading of '{source.name}' does it")
    found = (
        f"{how_many(len(missing), 'turn')} could not be imported"
        if missing
        else f"{how_many(len(session.turns), 'turn')} can be searched"
    )
    return Gate("index_refreshed", "after", not missing, "warns", found)


def _missing(store: Store, session: Session) -> list[str]:
    ids = [one.native_id for one in session.said if one.native_id]
    with store.reading() as tx:
        known = tx.memories.existing(ids)
    return [one for one in ids if one not in known]


def _of_source(source: SourceTable, session: Session) -> Iterator[Candidate]:
    """The turns with the file that they would name if their source were read."""
    path, _, part = session.place.partition("#")
    file = Path(path)
    name = file.name if file == Path(source.path) else file.relative_to(source.path).as_posix()
    for one in session.said:
        yield replace(one, source=replace(one.source, file=f"{name}#{part}" if part else name))
