"""The result of an import, counted as it proceeds and shown at its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.ingest.candidates import Rejected, Skipped, in_numbers

_SHOWN = 100
#: Why an entry is left out that a person has had forgotten.
FORGOTTEN_BEFORE = "entries that were forgotten ('memory-pipeline forget')"
_COUNTS = ("read", "imported", "unchanged", "new_versions", "replaced", "embedded", "quarantined", "split", "expired")


class RejectedRow(Document):
    """A row that could not be imported."""

    file: str = Field(description="The file.")
    line: int = Field(description="The line or row in it; 0 if the whole file was refused.")
    reason: str = Field(description="Why.")
    excerpt: str = Field(description="The start of its content, with secrets masked.")


class ImportReport(Document):
    """The result of an import."""

    read: int = Field(description="Entries that were read.")
    imported: int = Field(description="Entries that became memories.")
    unchanged: int = Field(description="Entries that the store already had.")
    new_versions: int = Field(
        description="Imported entries whose id the store had with other content; each became a memory of its own."
    )
    replaced: int = Field(description="Memories that were archived because the import has other words under their id.")
    expired: int = Field(description="Entries whose time is over in their source: archived, and found at half weight.")
    embedded: int = Field(description="Memories that were given a vector.")
    quarantined: int = Field(description="Entries that could not be imported.")
    rejected: tuple[RejectedRow, ...] = Field(
        description=f"The first {_SHOWN} entries that could not be imported; the store keeps all."
    )
    masked: dict[str, int] = Field(description="How many secrets, addresses and phone numbers were masked, by kind.")
    dates: dict[str, int] = Field(
        description="How many imported memories have which kind of creation time: `exact` (day and time were given), "
        "`date` (only a day), `mtime` (the time of the file), `import` (the time of the import, because nothing else "
        "was known)."
    )
    projects: dict[str, int] = Field(description="How many memories were imported into which project.")
    skipped: dict[str, int] = Field(description="How much was left out on purpose, by reason.")
    silent_files: dict[str, tuple[str, ...]] = Field(
        description="The files that gave no memory, by the reason, which says what reads them."
    )
    split: int = Field(description="Long entries that became several memories, split between sentences.")
    embedding_error: str | None = Field(description="Why not everything has a vector, or null.")
    notes: tuple[str, ...] = Field(description="Sentences about the import as a whole.")


@dataclass
class ImportSummary:
    """The result of an import. `dates` counts the origins of creation times; `masked` what was masked, by kind.

    `rejected` has the first quarantined rows; the store keeps all. `notes` are sentences for a person.
    """

    read: int = 0
    imported: int = 0
    unchanged: int = 0
    new_versions: int = 0
    replaced: int = 0
    expired: int = 0
    embedded: int = 0
    quarantined: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    masked: Counter[str] = field(default_factory=Counter)
    dates: Counter[str] = field(default_factory=Counter)
    projects: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, int] = field(default_factory=dict)
    silent_files: dict[str, list[str]] = field(default_factory=dict)
    split: int = 0
    embedding_error: str | None = None
    notes: list[str] = field(default_factory=list)

    def skipped_forgotten(self, number: int) -> None:
        """Count entries that a person has had forgotten."""
        if number:
            self.skipped[FORGOTTEN_BEFORE] = self.skipped.get(FORGOTTEN_BEFORE, 0) + number

    def as_report(self) -> ImportReport:
        """The summary as it stands now, as `--json` prints it."""
        return ImportReport.model_validate(self, from_attributes=True)

    def note_skipped(self, skipped: Skipped) -> None:
        """Take over what the reader skipped and split."""
        self.skipped, self.split, self.silent_files = skipped.counts, skipped.split, skipped.silent
        self.notes += [f"Note: {in_numbers({what: number})}." for what, number in sorted(skipped.noted.items())]

    def add(self, other: ImportSummary) -> None:
        """Add the summary of another import."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.rejected += other.rejected
        self.masked += other.masked
        self.dates += other.dates
        self.projects += other.projects
        self.skipped = dict(Counter(self.skipped) + Counter(other.skipped))
        for why, files in other.silent_files.items():
            self.silent_files[why] = [*self.silent_files.get(why, []), *files]
        self.embedding_error = self.embedding_error or other.embedding_error
        self.notes += other.notes

    def reject(self, rejected: list[Rejected]) -> None:
        """Count quarantined rows and keep the first ones to show."""
        self.quarantined += len(rejected)
        self.rejected += rejected[: max(0, _SHOWN - len(self.rejected))]
