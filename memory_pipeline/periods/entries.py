"""One thing that a rollup says, and the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date

from memory_pipeline.records import Memory
from memory_pipeline.workspace.playbook_pages import DECISIONS_HEADING

#: What an entry can be, in the order in which a rollup says them, with the heading and the share of the budget that is
#: kept free for it.
DECISION, PATTERN, FACT, SAID, THREAD, CLOSED, FIGURE, NOTE = (
    "decision", "pattern", "fact", "said", "thread", "closed", "figure", "note",
)  # fmt: skip
SECTIONS: dict[str, tuple[str, float]] = {
    DECISION: (DECISIONS_HEADING, 0.25),
    PATTERN: ("Patterns and principles", 0.2),
    FACT: ("Facts and lessons", 0.2),
    SAID: ("Said in conversations", 0.1),
    THREAD: ("Open threads", 0.1),
    CLOSED: ("Closed threads", 0.05),
    FIGURE: ("Figures", 0.1),
    NOTE: ("Also noted", 0.0),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a rollup says.

    `day`: the day that it is of; `memory_id`: the memory that says it; `weight`: what it is worth beside others of its
    kind; `place`: where it stands among others of its day: as in its source.
    """

    kind: str
    words: str
    day: date
    memory_id: str
    weight: float
    place: str = ""


def as_json(entries: Sequence[Entry]) -> str:
    """Entries as JSON."""
    rows = [{**asdict(entry), "day": entry.day.isoformat()} for entry in entries]
    return json.dumps(rows, ensure_ascii=False, sort_keys=True)


def from_json(text: str) -> list[Entry]:
    """The entries of a rollup."""
    return [Entry(**{**row, "day": date.fromisoformat(row["day"])}) for row in json.loads(text)]


def place_of(memory: Memory) -> str:
    """Where a memory stands among others of its day: by its time, and by file and line where many have one time."""
    return f"{memory.said_at:%H:%M} {memory.source.file or ''}:{memory.source.line or 0:06}"


def best_of_each_kind(entries: Sequence[Entry]) -> list[Entry]:
    """The entry of each kind that is worth most, in the order of kinds."""
    best: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda one: (-one.weight, -one.day.toordinal(), one.memory_id, one.words)):
        best.setdefault(entry.kind, entry)
    return [best[kind] for kind in SECTIONS if kind in best]
