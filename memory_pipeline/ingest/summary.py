"""The result of an import, counted as it proceeds and shown at its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field

from memory_pipeline.ingest.candidates import Rejected

_SHOWN = 100
_COUNTS = ("read", "imported", "unchanged", "new_versions", "embedded", "quarantined")


@dataclass
class ImportSummary:
    """The result of an import. `dates` counts the origins of creation times; `masked` what was masked, by kind.

    `rejected` has the first quarantined rows; the store keeps all. `notes` are sentences for a person.
    """

    read: int = 0
    imported: int = 0
    unchanged: int = 0
    new_versions: int = 0
    embedded: int = 0
    quarantined: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    masked: Counter[str] = field(default_factory=Counter)
    dates: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, int] = field(default_factory=dict)
    embedding_error: str | None = None
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """The summary for `--json`."""
        return {
            **{name: getattr(self, name) for name in _COUNTS},
            "rejected": [asdict(rejected) for rejected in self.rejected],
            "masked": dict(self.masked),
            "dates": dict(self.dates),
            "skipped": self.skipped,
            "embedding_error": self.embedding_error,
            "notes": self.notes,
        }

    def add(self, other: ImportSummary) -> None:
        """Add the summary of another import."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.rejected += other.rejected
        self.masked += other.masked
        self.dates += other.dates
        self.skipped = dict(Counter(self.skipped) + Counter(other.skipped))
        self.embedding_error = self.embedding_error or other.embedding_error
        self.notes += other.notes

    def reject(self, rejected: list[Rejected]) -> None:
        """Count quarantined rows and keep the first ones to show."""
        self.quarantined += len(rejected)
        self.rejected += rejected[: max(0, _SHOWN - len(self.rejected))]
