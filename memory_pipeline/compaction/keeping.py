"""Writes what is kept of a session into its project's daily logs, each between marks of its own."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from datetime import date
from pathlib import Path

from memory_pipeline.compaction.flush import Flush, flush_text
from memory_pipeline.compaction.transcripts import Session
from memory_pipeline.config.settings import Settings
from memory_pipeline.conversations.places import Places, places_of
from memory_pipeline.errors import StoreBusyError
from memory_pipeline.files import directories
from memory_pipeline.ingest.sources import with_known_projects
from memory_pipeline.markers import with_block
from memory_pipeline.shared_files import Written, change_text
from memory_pipeline.store import Store

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


def write_block(file: Path, name: str, body: str) -> Written:
    """Put a block into a file that others write too; a missing file is made for a body that is not empty."""
    return write_file(file, lambda text: with_block(text, name, body))


def write_file(file: Path, change: Callable[[str], str]) -> Written:
    """Change a file that others write too; a missing one is made if it is not to be empty."""
    if not file.exists() and not change(""):
        return "unchanged"
    with directories(file.parent):
        return change_text(file, change)


def write_flush(flush: Flush, places: Places) -> dict[date, tuple[Path, Written]]:
    """Write a flush into the log of each day on which something of it was said."""
    name = block_name(flush.session)
    done = {}
    for day in flush.days:
        file = places.daily_log(day)
        done[day] = (file, write_block(file, name, flush_text(flush, day)))
    return done
