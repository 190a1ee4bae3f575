"""Writes rollups into files that people and agents read, between markers: the rest of them is somebody else's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import OutputError
from memory_pipeline.markers import HEAD, block_in
from memory_pipeline.places import check_is_free
from memory_pipeline.rollups.entries import DECISION, SECTIONS
from memory_pipeline.rollups.periods import Period
from memory_pipeline.shared_blocks import SharedBlocks, WrittenBlock
from memory_pipeline.store import Store
from memory_pipeline.workspace import Exported, export_to
from memory_pipeline.workspace.conversation_blocks import DECISIONS
from memory_pipeline.workspace.places import Places, places_of

#: The name of the block in every file.
BLOCK = "rollup"
_BY_WHOM = re.compile(r" \(by the (?:agent|human)\)$")


class RollupFiles:
    """The files of the rollups of one project."""

    def __init__(self, store: Store, settings: Settings, project: str) -> None:
        self._store = store
        self.places = _places_of(store, settings, project)

    def path_of(self, period: Period) -> Path:
        """The file in which a period stands."""
        places = self.places
        if period.level == "day":
            return places.daily_log(period.first)
        of_level = {"week": places.weekly, "month": places.monthly, "year": places.yearly}[period.level]
        return of_level(period.last)

    def write(self, period: Period, content: str) -> WrittenBlock:
        """Give the file of a period this content between our markers; an empty one takes out what stands there.

        A decision that stands in the file already, as one of its conversations, stands there once. Raises OutputError
        if the file cannot be written, or if the block there is of another project.
        """
        path = self.path_of(period)
        if not content and not path.is_file():
            return WrittenBlock("unchanged")
        check_is_free(path, self._store.path)
        return SharedBlocks(self._store.path).write(
            path, BLOCK, lambda text: _told_once(text, _checked(text, content)), removes=True
        )


def rebuild_memory(store: Store, settings: Settings, project: str, *, budget: int | None = None) -> Exported:
    """Make `MEMORY.md` of a project again from its promoted memories, best first and in their places, within a budget
    of tokens (by default `export.budget_tokens`); beside it the playbook and the series, to which it leads.

    Every byte outside of our markers stays. Raises OutputError if a file cannot be written.
    """
    root = _places_of(store, settings, project).root
    root.mkdir(parents=True, exist_ok=True)
    return export_to(store, settings, "openclaw", root, project=project, budget=budget)


def _places_of(store: Store, settings: Settings, project: str) -> Places:
    from memory_pipeline.ingest.sources import with_known_projects  # the importers, which a quiet night never needs

    return places_of(with_known_projects(settings, store), project)


def _checked(text: str, content: str) -> str:
    """The content, if the block in a text may have it."""
    before = (block_in(text, BLOCK) or "").split("\n", 1)[0]
    after = content.split("\n", 1)[0]
    if content and before.startswith(HEAD) and before.split(":")[0] != after.split(":")[0]:
        raise OutputError(f"it holds the summary of another project ({before[2:]}); take that block out first")
    return content


def _told_once(text: str, content: str) -> str:
    """The content without the decisions that the block of a day's conversations has in the same file."""
    decided = [line for line in (block_in(text, DECISIONS) or "").split("\n") if line.startswith("- ")]
    heading = f"### {SECTIONS[DECISION][0]}"
    before, found, rest = content.partition(f"\n\n{heading}\n\n")
    if not decided or not found:
        return content
    said, gap, after = rest.partition("\n\n")
    left = [line for line in said.split("\n") if not _is_among(line, decided)]
    return before + (found + "\n".join(left) if left else "") + gap + after


def _is_among(line: str, decided: Sequence[str]) -> bool:
    words = _BY_WHOM.sub("", line)
    return any(other == words or other.startswith(f"{words} (") for other in decided)
