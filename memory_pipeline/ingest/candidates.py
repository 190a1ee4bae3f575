"""What a reader hands to the door: a candidate memory, or a row that it had to reject."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from memory_pipeline.records import MemoryBase


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(MemoryBase):
    """A memory as a source tells it. What is None falls back at the door.

    What nights do to a memory (`archived_*` and the like) is only set by rows that this program exported, `token_count`
    only by its exports of everything. `source_links`: id, relation and similarity of each direct source. `masked`
    counts what a reader masked before it cut its file into entries.
    """

    native_id: str | None = None
    project_id: str | None = None
    created_at: datetime | None = None
    effective_date: datetime | None = None
    source_links: tuple[tuple[str, str, float], ...] = ()
    embedding: tuple[float, ...] | None = None
    embedding_model: str | None = None
    masked: tuple[tuple[str, int], ...] = ()
    token_count: int | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line or row that cannot become a memory, and why."""

    file: str
    line: int
    reason: str
    excerpt: str = ""

    @classmethod
    def of(cls, file: str, line: int, reason: str, content: str) -> Rejected:
        """With the beginning of the content: more than is kept, so that a secret in it is whole when it is masked."""
        if len(content) > _BEGINNING:
            content = content[:_BEGINNING].rpartition(" ")[0] or content[:_BEGINNING]
        return cls(file, line, reason, content)


#: Characters of a rejected row that go to the door, which masks them and keeps the first of them.
_BEGINNING = 2000


@dataclass
class Skipped:
    """What a reader left out on purpose, counted by why."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, why: str, number: int = 1) -> None:
        """Count some more."""
        self.counts[why] = self.counts.get(why, 0) + number


Reading = Iterator[Candidate | Rejected]


class RowError(ValueError):
    """A row's value cannot be used; the message says which and why."""
