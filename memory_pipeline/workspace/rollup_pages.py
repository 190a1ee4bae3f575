"""Rollups as pages, each between markers: the rest of a file is somebody else's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from pathlib import Path

from memory_pipeline.markers import HEAD, block_in, start_of
from memory_pipeline.records.rollup import Rollup
from memory_pipeline.shared_blocks import Body
from memory_pipeline.wording.quoting import plain
from memory_pipeline.workspace.conversation_blocks import DECISIONS
from memory_pipeline.workspace.places import ROLLUP_FOLDERS

#: The name of the block in every file.
BLOCK = "rollup"
#: The heading of what was decided.
DECISIONS_HEADING = "Decisions"
_BY_WHOM = re.compile(r" \(by the (?:agent|human)\)$")


def rollup_page(level: str, period: str) -> str:
    """The page in which a period stands."""
    return f"{ROLLUP_FOLDERS[level]}/{period}.md"


def rollup_blocks(rollups: Iterable[Rollup]) -> dict[tuple[str, str], Body]:
    """By page, what rollups say. A decision that stands in a page already, as one of its conversations, stands there
    once."""
    return {(rollup_page(one.level, one.period), BLOCK): partial(_told_once, one.content) for one in rollups}


def gone_rollups(directory: Path, project: str, known: Collection[tuple[str, str]]) -> dict[tuple[str, str], Body]:
    """By page, that nothing is said of periods of a project that stand in a directory and are not known."""
    mark = re.compile(rf"{re.escape(start_of(BLOCK)[:-3])}[^\n]*\n{re.escape(f'{HEAD}{plain(project)}:')}")
    found: dict[tuple[str, str], Body] = {}
    for folder in ROLLUP_FOLDERS.values():
        for path in sorted((directory / folder).glob("*.md")):
            where = f"{folder}/{path.name}", BLOCK
            if where not in known and path.is_file() and mark.search(path.read_text("utf-8", "replace")):
                found[where] = ""
    return found


def _told_once(content: str, text: str) -> str:
    """The content without the decisions that the block of a day's conversations has in the same file."""
    decided = [line for line in (block_in(text, DECISIONS) or "").split("\n") if line.startswith("- ")]
    before, found, rest = content.partition(f"\n\n### {DECISIONS_HEADING}\n\n")
    if not decided or not found:
        return content
    said, gap, after = rest.partition("\n\n")
    left = [line for line in said.split("\n") if not _is_among(line, decided)]
    return before + (found + "\n".join(left) if left else "") + gap + after


def _is_among(line: str, decided: Sequence[str]) -> bool:
    words = _BY_WHOM.sub("", line)
    return any(other == words or other.startswith(f"{words} (") for other in decided)
