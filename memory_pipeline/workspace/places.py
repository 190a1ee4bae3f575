"""Where what is written about a project's conversations and days stands: in its workspace, or beside the store.

Every file is shared with people and other programs: what is written stands between markers (`markers.py`), and is never
read back as a memory.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from memory_pipeline.config.conversations import BLOCK_TOKENS
from memory_pipeline.config.settings import Settings

_WORKSPACE = "openclaw"
_UNSAFE = re.compile(r"[^\w-]+")
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one project. `user`, `relational` and `soul` are None where the settings name none, and hold at most
    `block_tokens` of ours; `is_workspace` tells whether they stand where an agent works."""

    root: Path
    is_workspace: bool
    user: Path | None
    relational: Path | None
    soul: Path | None
    block_tokens: int = BLOCK_TOKENS

    @property
    def memory(self) -> Path:
        """What an agent loads at every start."""
        return self.root / "MEMORY.md"

    def daily_log(self, day: date) -> Path:
        """The log of a day."""
        return self.root / "DailyLogs" / f"{day}.md"

    def daily_summary(self, day: date) -> Path:
        """What was kept of a day's conversations."""
        return self.root / "daily" / f"{day}.md"

    def weekly(self, day: date) -> Path:
        """The rollup of the week of a day, by the calendar of ISO 8601: weeks begin on Monday."""
        year, week, _ = day.isocalendar()
        return self.root / "weekly" / f"{year}-W{week:02}.md"

    def monthly(self, day: date) -> Path:
        """The rollup of the month of a day."""
        return self.root / "monthly" / f"{day:%Y-%m}.md"

    def yearly(self, day: date) -> Path:
        """The rollup of the year of a day."""
        return self.root / "yearly" / f"{day:%Y}.md"


def places_of(settings: Settings, project_id: str) -> Places:
    """The places of a project: in the directory of its first enabled source of the format `openclaw`, else in
    `connectors.workspace` if that is the project's, else in `conversations/PROJECT` beside the store.

    A source of which the project follows from what it brought needs `with_known_projects` first. No directory has to
    exist.
    """
    workspace = _workspace_of(settings, project_id)
    root = workspace or Path(settings.store.path).parent / "conversations" / folder_of(project_id)
    names = settings.compression.destinations
    user, relational, soul = (root / name if name else None for name in (names.user, names.relational, names.soul))
    return Places(root, workspace is not None, user, relational, soul, settings.conversations.block_tokens)


def folder_of(project_id: str) -> str:
    """A project as the name of a directory: different projects have different ones, whatever they are called."""
    safe = _UNSAFE.sub("-", project_id.casefold()).strip("-_")[:_LONGEST_NAME]
    if safe and safe == project_id:
        return safe
    return f"{safe or 'project'}-{hashlib.sha256(project_id.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _workspace_of(settings: Settings, project_id: str) -> Path | None:
    # Importers take long to load, and a night without conversations asks for no place.
    from memory_pipeline.ingest.foreign import project_of_directory
    from memory_pipeline.ingest.sources import project_of

    for source in settings.sources_of_store:
        if source.format == _WORKSPACE and project_of(source) == project_id:
            return Path(source.path)
    named = settings.connectors.workspace
    if named and project_of_directory(Path(named)) == project_id:
        return Path(named).expanduser()
    return None
