"""Writes what is kept of a session into its project's daily logs, each between marks of its own."""

from __future__ import annotations

import hashlib
import logging
from datetime import date
from pathlib import Path

from memory_pipeline.compaction.file_runs import FileRun
from memory_pipeline.compaction.flush import Flush, flush_text
from memory_pipeline.compaction.transcripts import Session
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import StoreBusyError
from memory_pipeline.ingest.sources import with_known_projects
from memory_pipeline.shared_blocks import WrittenBlock
from memory_pipeline.store import Store
from memory_pipeline.workspace.places import Places, places_of

_log = logging.getLogger(__name__)


def places_for(settings: Settings, project: str) -> Places:
    """The places of a project. Where another program holds the store, a source whose directory was renamed counts as
    that of its new name."""
    try:
        settings = with_known_projects(settings, Store.of(settings))
    except StoreBusyError as error:
        _log.warning("the projects of sources are told by their directories, since %s", error)
    return places_of(settings, project)


def block_name(session: Session, what: str = "flush") -> str:
    """The block of a session up to its next compaction: what is flushed again replaces it."""
    digest = hashlib.sha256(f"{session.agent}:{session.name}".encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{what}-{digest}-{session.compactions}"


def write_flush(flush: Flush, places: Places, run: FileRun) -> dict[date, tuple[Path, WrittenBlock]]:
    """Write a flush into the log of each day on which something of it was said."""
    name = block_name(flush.session)
    done = {}
    for day in flush.days:
        file = places.daily_log(day)
        done[day] = (file, run.write(file, name, flush_text(flush, day)))
    return done
