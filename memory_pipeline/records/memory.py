"""What an agent knows, one piece at a time, and where it came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

MEMORY_TYPES = (
    "error_fix",
    "discovery",
    "decision",
    "learning",
    "warning",
    "codebase_knowledge",
    "fact",
    "lesson",
    "feedback",
    "conversation",
    "other",
)
PATTERN_TYPES = ("success", "failure", "decision", "workflow", "gotcha")
CONSOLIDATION_METHODS = ("llm", "heuristic", "hybrid")

#: Connector of what the pipeline itself makes of other memories; everything else is raw.
MADE = "night"
LEVEL_RAW, LEVEL_MERGED, LEVEL_PATTERN, LEVEL_PRINCIPLE = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory was read: the connector's name, the file relative to its root, and the line or row."""

    connector: str = "api"
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing that an agent knows.

    `importance` lies in 0-3; `confidence_score` in 0-1. `effective_date` is the time that the content
    speaks of (for an abstraction its newest source's), `created_at` the time the memory came into being.
    `importance_before` keeps the importance that archiving replaced; `rolled_back_at` says when an
    abstraction was retired by a rollback. `content_hash` is the same for exact
    duplicates, `shape_hash` for texts that differ in figures alone.
    """

    id: str
    project_id: str
    content: str
    memory_type: str
    created_at: datetime
    effective_date: datetime
    content_hash: str
    shape_hash: str
    token_count: int
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    importance: float = 1.0
    abstraction_level: int = LEVEL_RAW
    pattern_type: str | None = None
    confidence_score: float | None = None
    consolidation_method: str | None = None
    created_at_quality: str = "exact"
    updated_at: datetime | None = None
    source: Source = field(default_factory=Source)
    archived_by: str | None = None
    archived_at: datetime | None = None
    consolidated_into_id: str | None = None
    compressed_from: str | None = None
    importance_before: float | None = None
    rolled_back_at: datetime | None = None
    is_canonical: bool = False
    pinned: bool = False
    reuse_count: int = 0
    useful_count: int = 0


@dataclass(frozen=True, slots=True)
class LineageLink:
    """One direct source of a memory. `relation`: `duplicate`, `merged`, `canonical`, `distilled`, `principle` or
    `superseded` (a person settled a conflict for the other side)."""

    memory_id: str
    source_id: str
    relation: str
    similarity: float


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Memories of one project whose normalised content is the same; the survivor is the oldest.

    `proposed`: a person has to approve it before the copies are archived.
    """

    project_id: str
    content_hash: str
    survivor_id: str
    duplicate_ids: tuple[str, ...]
    proposed: bool = False


@dataclass(frozen=True, slots=True)
class EligibleMemory:
    """A memory that tonight's clustering may use; the fields that clustering needs, without the content.

    `stands_for`: how many raw memories it was merged from (1 for a raw one); `is_entry`: it is an entry of the
    knowledge base.
    """

    id: str
    project_id: str
    memory_type: str
    categories: tuple[str, ...]
    importance: float
    token_count: int
    created_at: datetime
    effective_date: datetime
    stands_for: int = 1
    is_entry: bool = False
