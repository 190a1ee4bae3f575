"""The results of a reader: candidate memories, and rows that it had to reject; and the summary of their import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import ConfigDict, Field

from memory_pipeline.documents import Document
from memory_pipeline.moments import minutes_ahead
from memory_pipeline.records import Causal, MemoryBase
from memory_pipeline.text.counts import how_many


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(MemoryBase):
    """A memory as a source describes it. The importer fills in fields that are None.

    The fields that nights set (`archived_*` and the like) are only given by rows that this program exported, and
    `token_count` only by its exports of everything. `source_links`: id, relation and similarity of each direct
    source. `typed_under`: what its source names as its type or heading, if that is none of the memory types; its
    wording tells the type then. None if the type is given. `own_words`: what the entry says without its lead-in, on
    which its id depends; None if that is its content.
    """

    native_id: str | None = None
    project_id: str | None = None
    created_at: datetime | None = None
    effective_date: datetime | None = None
    source_links: tuple[tuple[str, str, float], ...] = ()
    embedding: tuple[float, ...] | None = None
    embedding_model: str | None = None
    token_count: int | None = None
    typed_under: tuple[str, ...] | None = None
    own_words: str | None = None


def dated(moment: datetime | None, quality: str = "exact") -> dict[str, Any]:
    """The fields of a candidate that tell when it was created; the time of the import stands for None."""
    if moment is None:
        return {"created_at_quality": "import"}
    return {"created_at": moment.astimezone(UTC), "utc_offset": minutes_ahead(moment), "created_at_quality": quality}


#: How the reason begins if a whole file could not be opened or decoded.
UNREADABLE = "the file cannot be read"


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line or row that cannot become a memory, with the reason."""

    file: str
    line: int
    reason: str
    excerpt: str = ""

    @classmethod
    def of(cls, file: str, line: int, reason: str, content: object) -> Rejected:
        """Attach the start of a text, and more of it than is kept: a secret has to be complete when it is masked."""
        content = content if isinstance(content, str) else ""
        if len(content) > _BEGINNING:
            content = content[:_BEGINNING].rpartition(" ")[0] or content[:_BEGINNING]
        return cls(file, line, reason, content)


#: Characters of a rejected row that are passed on to be masked; only the first of them are kept.
_BEGINNING = 2000


@dataclass
class Skipped:
    """Counts of what a reader skipped on purpose, by what it is, in the plural; of what it read in another way; of
    secrets that it masked; and of long entries that it split. `silent`: by reason, the files that gave no memory."""

    counts: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)
    masked: Counter[str] = field(default_factory=Counter)
    split: int = 0
    silent: dict[str, list[str]] = field(default_factory=dict)

    def add_file(self, why: str, file: str) -> None:
        """Note a file that gives no memory, with the reason and what reads it, as the end of `1 file: ...`."""
        self.silent.setdefault(why, []).append(file)

    def add(self, why: str, number: int = 1) -> None:
        """Add to a count; nothing, if there is nothing to be counted."""
        if number:
            self.counts[why] += number

    def note(self, what: str) -> None:
        """Count something that was read, and about which its user should know."""
        self.noted[what] += 1


_PLURALS = (("that have ", "that has "), ("that were ", "that was "), ("that are ", "that is "))


def in_numbers(counts: Mapping[str, int]) -> str:
    """The counts of what was skipped, in words: `1 link out of the workspace, 12 lines of code dumps`."""
    phrases = []
    for what, number in sorted(counts.items()):
        noun, _, rest = what.partition(" ")
        singular = f"{noun.removesuffix('ies')}y" if noun.endswith("ies") else noun.removesuffix("s")
        for several, single in _PLURALS if number == 1 else ():
            rest = rest.replace(several, single, 1)
        phrases.append(f"{how_many(number, singular)} {rest}".rstrip())
    return ", ".join(phrases)


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause and its effect as a source states it, with its id there, and the memories and the file behind it."""

    native_id: str
    causal: Causal
    confidence: float
    created_at: datetime
    stated_by: str
    source_ids: tuple[str, ...]
    file: str


#: What a reader passes on, one after the other.
Item = Candidate | Rejected | Finding
Reading = Iterator[Item]


class RowError(ValueError):
    """A value in a row cannot be used; the message says which and why."""


_MOST_SHOWN = 100
#: Why an entry is left out that a person has had forgotten.
FORGOTTEN_BEFORE = "entries that were forgotten ('memory-pipeline forget')"


class RejectedRow(Document):
    """A row that could not be imported."""

    file: str = Field(description="The file.")
    line: int = Field(description="The line or row in it; 0 if the whole file was refused.")
    reason: str = Field(description="Why.")
    excerpt: str = Field(description="The start of its content, with secrets masked.")


class ImportSummary(Document):
    """The result of an import, which grows with it."""

    model_config = ConfigDict(frozen=False)

    read: int = Field(0, description="Entries that were read.")
    imported: int = Field(0, description="Entries that became memories.")
    unchanged: int = Field(0, description="Entries that the store already had.")
    new_versions: int = Field(
        0, description="Imported entries whose id the store had with other content; each became a memory of its own."
    )
    replaced: int = Field(
        0, description="Memories that were archived because the import has other words under their id."
    )
    expired: int = Field(
        0, description="Entries whose time is over in their source: archived, and found at half weight."
    )
    embedded: int = Field(0, description="Memories that were given a vector.")
    quarantined: int = Field(0, description="Entries that could not be imported.")
    rejected: tuple[RejectedRow, ...] = Field(
        (), description=f"The first {_MOST_SHOWN} entries that could not be imported; the store keeps all."
    )
    masked: Counter[str] = Field(
        default_factory=Counter, description="How many secrets, addresses and phone numbers were masked, by kind."
    )
    dates: Counter[str] = Field(
        default_factory=Counter,
        description="How many imported memories have which kind of creation time: `exact` (day and time were given), "
        "`date` (only a day), `mtime` (the time of the file), `import` (the time of the import, because nothing else "
        "was known).",
    )
    projects: Counter[str] = Field(
        default_factory=Counter, description="How many memories were imported into which project."
    )
    skipped: Counter[str] = Field(default_factory=Counter, description="How much was left out on purpose, by reason.")
    silent_files: dict[str, list[str]] = Field(
        default_factory=dict, description="The files that gave no memory, by the reason, which says what reads them."
    )
    split: int = Field(0, description="Long entries that became several memories, split between sentences.")
    embedding_error: str | None = Field(None, description="Why not everything has a vector, or null.")
    notes: list[str] = Field(default_factory=list, description="Sentences about the import as a whole.")

    def note_skipped(self, skipped: Skipped) -> None:
        """Take over what the reader skipped, masked and split."""
        self.skipped, self.split, self.silent_files = self.skipped + skipped.counts, skipped.split, skipped.silent
        self.masked += skipped.masked
        self.notes += [f"Note: {in_numbers({what: number})}." for what, number in sorted(skipped.noted.items())]

    def add(self, other: ImportSummary) -> None:
        for name in type(self).model_fields.keys() - {"silent_files", "embedding_error"}:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for why, files in other.silent_files.items():
            self.silent_files[why] = [*self.silent_files.get(why, []), *files]
        self.embedding_error = self.embedding_error or other.embedding_error

    def reject(self, rejected: list[Rejected]) -> None:
        """Count quarantined rows and keep the first ones to show."""
        self.quarantined += len(rejected)
        examples = rejected[: max(0, _MOST_SHOWN - len(self.rejected))]
        self.rejected += tuple(RejectedRow.model_validate(row, from_attributes=True) for row in examples)
