"""The knowledge of an agent, one piece at a time, the source that it came from, and what of it is gone there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Annotated, Literal

from memory_pipeline.records.columns import MOST_COUNT, Column

_LARGEST = 2**63 - 1
SourceStatus = Literal["read", "unchanged", "failed"]
MEMORY_TYPES = (
    "error_fix", "discovery", "decision", "learning", "warning", "codebase_knowledge", "fact", "lesson", "feedback",
    "conversation", "other",
)  # fmt: skip
PATTERN_TYPES = ("success", "failure", "decision", "workflow", "gotcha")
CONSOLIDATION_METHODS = ("llm", "heuristic", "hybrid")
#: How exactly the time of a memory is known: to the second, to the day, by its file's time, or only by its import's.
TIME_QUALITIES = ("exact", "date", "mtime", "import")
#: Of these nobody knows when it was said: what has another day is neither older nor newer.
UNDATED = ("mtime", "import")

#: Connector of memories that the pipeline makes from others; everything else is raw.
MADE = "night"
#: The connector of memories that say one thing of a turn of a conversation.
EXTRACTED = "conversations"
#: What archived a memory whose time was over in its source; nothing replaces it.
EXPIRED = "expired"
LEVEL_RAW, LEVEL_MERGED, LEVEL_PATTERN, LEVEL_PRINCIPLE = 0, 1, 2, 3
#: Related patterns that make a principle.
LEAST_PATTERNS = 3

#: How one memory may be a source of another.
RELATIONS = (
    "duplicate", "merged", "canonical", "distilled", "principle", "superseded", "series", "extracted",
    "stated", "repeated", "routine", "replaced", "established",
)  # fmt: skip
#: Relations of memories that are linked to a memory but that it was not made from.
BESIDE = ("duplicate", "superseded", "extracted", "replaced")
#: Relations of memories that were archived into one that said the same before.
AGAIN = ("duplicate", "repeated")

#: In minutes; Kiribati has the largest offset from UTC.
MOST_OFFSET = 14 * 60


@dataclass(frozen=True, slots=True)
class Source:
    """The place where a memory was read."""

    connector: Annotated[
        str,
        Column(
            "The connector that read it; `night` for memories made by the pipeline, `conversations` for what was "
            "extracted from turns."
        ),
    ] = "api"
    file: Annotated[str | None, Column("The file, relative to its root.")] = None
    line: Annotated[int | None, Column("The line or row in the file.", low=0, high=MOST_COUNT)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBase:
    """A memory as its source gives it; the store keeps it so."""

    content: Annotated[str, Column("What is known, in words.")]
    memory_type: Annotated[str, Column("The kind of knowledge.", choices=MEMORY_TYPES)] = "other"
    categories: Annotated[tuple[str, ...], Column("The subjects it is about.")] = ()
    tags: Annotated[tuple[str, ...], Column("Further labels.")] = ()
    headings: Annotated[
        tuple[str, ...],
        Column("The headings above it in its source, the outermost first, as they are written.", changes=True,
               unlogged=True),
    ] = ()  # fmt: skip
    lead_in: Annotated[
        str,
        Column("The words that lead in to it in its source; its content begins with them where the two are one.",
               changes=True, unlogged=True),
    ] = ""  # fmt: skip
    importance: Annotated[
        float,
        Column("0 to 3; memories of 2.5 and above are critical and never touched.", changes=True, low=0.0, high=3.0),
    ] = 1.0
    abstraction_level: Annotated[int, Column("0 raw, 1 merged, 2 a pattern, 3 a principle.", low=0, high=3)] = LEVEL_RAW
    pattern_type: Annotated[str | None, Column("The kind of pattern.", choices=PATTERN_TYPES)] = None
    confidence_score: Annotated[float | None, Column("Confidence of an abstraction, 0 to 1.", low=0.0, high=1.0)] = None
    consolidation_method: Annotated[
        str | None, Column("How an abstraction was made.", choices=CONSOLIDATION_METHODS)
    ] = None
    created_at_quality: Annotated[
        str,
        Column("How exactly `created_at` is known: exact, by its date, its file's time or its import.",
               choices=TIME_QUALITIES),
    ] = "exact"  # fmt: skip
    utc_offset: Annotated[
        int,
        Column("How many minutes the clock of its source was ahead of UTC; texts give days by that clock.",
               low=-MOST_OFFSET, high=MOST_OFFSET),
    ] = 0  # fmt: skip
    source: Annotated[Source, Column("Where it was read: connector, file and line.", prefix="source_")] = field(
        default_factory=Source
    )
    archived_by: Annotated[str | None, Column("What archived it: a night, a rollback, a person.", changes=True)] = None
    archived_at: Annotated[datetime | None, Column("When it was archived, as of the night.", changes=True)] = None
    consolidated_into_id: Annotated[str | None, Column("The memory that replaced it.", changes=True, is_id=True)] = None
    compressed_from: Annotated[str | None, Column("What an abstraction was made from, as JSON.", is_json=True)] = None
    importance_before: Annotated[
        float | None, Column("The importance before archiving.", changes=True, low=0.0, high=3.0)
    ] = None
    is_canonical: Annotated[bool, Column("Whether it is the canonical form of knowledge-base entries.")] = False
    pinned: Annotated[bool, Column("Whether a person wants it left alone.", changes=True)] = False
    reuse_count: Annotated[int, Column("How often it was recalled.", changes=True, low=0, high=MOST_COUNT)] = 0
    useful_count: Annotated[int, Column("How often it was useful.", changes=True, low=0, high=MOST_COUNT)] = 0
    rolled_back_at: Annotated[datetime | None, Column("When a rollback retired this abstraction.", changes=True)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(MemoryBase):
    """One thing that an agent knows.

    Once written, only the fields that nights, rollbacks and recalls set can change, never what it says (law 1).
    """

    id: Annotated[str, Column("Its id in the source, or one derived from it.", is_id=True)]
    project_id: Annotated[
        str, Column("The project it belongs to; memories of different projects are never compared.", is_id=True)
    ]
    created_at: Annotated[datetime, Column("When it was created.")]
    effective_date: Annotated[
        datetime, Column("The time that the content refers to; for an abstraction, that of its newest source.")
    ]
    content_hash: Annotated[
        str, Column("SHA-256 of the normalised content: equal for exact duplicates.", export="none")
    ]
    shape_hash: Annotated[str, Column("Equal for texts that differ only in figures.", export="none")]
    token_count: Annotated[int, Column("Number of tokens of the content.", low=1, high=MOST_COUNT, export="everything")]
    updated_at: Annotated[
        datetime | None,
        Column("When a night or a rollback last changed it.", changes=True, unlogged=True, export="everything"),
    ] = None

    @property
    def counts_from(self) -> datetime:
        """The time from which nights count it: that of its creation. What is dated by its file alone was written by
        then, whoever saved the file that day: it counts from the end of the day before, by UTC."""
        if self.created_at_quality != "mtime":
            return self.created_at
        day = self.created_at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return day - timedelta(microseconds=1)

    @property
    def undated(self) -> bool:
        """True if nobody knows when it was said: only the time of its file, or of its import, is known."""
        return self.created_at_quality in UNDATED

    @property
    def said_at(self) -> datetime:
        """The time that the content refers to, by the clock of its source."""
        return self.effective_date.astimezone(self._clock)

    @property
    def day(self) -> date:
        """The day that the content refers to, by the calendar of its source."""
        return self.said_at.date()

    @property
    def created_on(self) -> date:
        """The day of its creation, by the calendar of its source."""
        return self.created_at.astimezone(self._clock).date()

    @property
    def _clock(self) -> timezone:
        return timezone(timedelta(minutes=self.utc_offset))


def offset_of_newest(memories: Iterable[Memory]) -> int:
    """The `utc_offset` of the newest of some memories, by what they refer to."""
    return max(memories, key=lambda memory: (memory.effective_date, memory.utc_offset)).utc_offset


@dataclass(frozen=True, slots=True)
class LineageLink:
    """One direct source of a memory."""

    memory_id: Annotated[str, Column("The memory that was made, or that replaced the other.", is_id=True)]
    source_id: Annotated[str, Column("The memory it was made from.", is_id=True)]
    relation: Annotated[
        str,
        Column("How it was made from it; `superseded`: a person settled a conflict in favour of the other side; "
               "`part`: it said more of a series of an earlier form; `extracted`: it says one thing of that turn of a "
               "conversation; `stated`: a reader found it in that note; `repeated`: that note only says it again; "
               "`routine`: that note is among what a day's digest stands for; `replaced`: it took the place of that "
               "statement.",
               choices=RELATIONS),
    ]  # fmt: skip
    similarity: Annotated[float, Column("Cosine of the source to the memory.", low=-1.0001, high=1.0001)]


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Memories of one project with the same normalised content; the survivor is the oldest."""

    project_id: str
    content_hash: str
    survivor_id: Annotated[str, Column("The oldest copy, or the memory that replaced it.")]
    duplicate_ids: Annotated[tuple[str, ...], Column("Copies that were archived into the survivor.")]
    proposed: Annotated[bool, Column("Whether a person must approve it before the copies are archived.")] = False


@dataclass(frozen=True, slots=True)
class EligibleMemory:
    """A memory that the night may cluster: the fields that clustering needs, without the content."""

    id: str
    project_id: str
    memory_type: str
    categories: tuple[str, ...]
    importance: float
    token_count: int
    created_at: datetime
    effective_date: datetime
    stands_for: Annotated[int, Column("How many raw memories it was merged from; 1 for a raw one.")] = 1
    is_entry: Annotated[
        bool, Column("Whether it is an entry of the knowledge base: a text with a title and a recommendation.")
    ] = False
    type_is_told: Annotated[
        bool,
        Column("Whether its type is `other` or the one that its wording alone tells, as no source and no heading."),
    ] = False


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source as a night last read it."""

    source: Annotated[str, Column("The source.")]
    file: Annotated[str, Column("The file, relative to the source.")]
    size: Annotated[int, Column("Its size in bytes.", low=0, high=_LARGEST)]
    modified_ns: Annotated[int, Column("Its time of modification, in nanoseconds since 1970.", high=_LARGEST)]
    digest: Annotated[str, Column("SHA-256 of its bytes and of the settings that decide how it is read.")]
    read_as_of: Annotated[datetime, Column("As of when it was read.")]
    pending_from: Annotated[
        datetime | None,
        Column("Before this time nothing in it is new; null if everything was taken. A night as of later reads again."),
    ] = None


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A memory that a source brought, and whether its words still stand there."""

    source: Annotated[str, Column("The source.")]
    memory_id: Annotated[str, Column("The memory.", is_id=True)]
    file: Annotated[str, Column("The file, relative to the source.")]
    gone_at: Annotated[
        datetime | None, Column("As of when its words were found to be no longer in the source.", changes=True)
    ] = None
    superseded_by: Annotated[
        str | None, Column("The memory of the words that stand there instead.", changes=True, is_id=True)
    ] = None
    run_id: Annotated[str | None, Column("The run that found this.", changes=True)] = None


@dataclass(frozen=True, slots=True)
class SourceReading:
    """A night's reading of one source."""

    source: Annotated[str, Column("The name of the source.")]
    status: Annotated[SourceStatus, Column("`read`, `unchanged` (nothing is new), or `failed` (it could not be read).")]
    error: Annotated[str | None, Column("Why it could not be read, or which files of it could not.")] = None
    files: Annotated[int, Column("Files that it has.")] = 0
    files_read: Annotated[int, Column("Files that were read; the others had nothing new.")] = 0
    rows_read: Annotated[int, Column("Entries or rows in these files.")] = 0
    new: Annotated[int, Column("Entries that became memories.")] = 0
    changed: Annotated[int, Column("Entries whose words were edited: the new ones supersede the old.")] = 0
    gone: Annotated[int, Column("Memories whose words are no longer in the source.")] = 0
    quarantined: Annotated[int, Column("Entries that could not be imported.")] = 0
    masked: Annotated[int, Column("Secrets, addresses and phone numbers that were masked.")] = 0
    later: Annotated[int, Column("Entries of a later time than the night's, left for their own night.")] = 0
    edits_later: Annotated[int, Column("Removals that a later night takes: one that ends after them.")] = 0
    waits_for: Annotated[
        str | None, Column("The first night that takes what was left, as YYYY-MM-DD; null if nothing was.")
    ] = None
