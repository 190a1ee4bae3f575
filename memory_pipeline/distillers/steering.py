"""One rule for what tries to steer its reader, whichever door it would go out by.

What guides leaves it out: contexts, exports, the playbook, atoms, rollups, flushes, questions to a model. What shows a
memory that was asked for marks it.
"""

from __future__ import annotations

from collections.abc import Iterable

from memory_pipeline.distillers.injections.by_human import attempt_by
from memory_pipeline.distillers.injections.detect import attempt_in
from memory_pipeline.records import EXTRACTED, Memory, PlaybookEntry

#: Stands before the words of a memory that is shown although it tries to steer its reader.
MARK = "[tries to steer its reader]"


def may_guide(memory: Memory) -> bool:
    """Whether a memory may stand where its reader looks for guidance. A rule that a human gave their agent may."""
    said_by_human = memory.source.connector == EXTRACTED or (
        memory.memory_type == "conversation" and "human" in memory.tags
    )
    return attempt_by("human" if said_by_human else "agent", memory.content) is None


def marked(memory: Memory) -> str:
    """What a memory says, as it is shown: behind a mark if it tries to steer its reader."""
    return memory.content if may_guide(memory) else f"{MARK} {memory.content}"


def guiding_entries(entries: Iterable[PlaybookEntry]) -> list[PlaybookEntry]:
    """The entries of a playbook without those that try to steer their reader: an earlier version let them in."""
    return [entry for entry in entries if attempt_in(entry.content) is None]
