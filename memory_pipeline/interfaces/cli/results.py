"""What commands print with `--json` where the command itself puts it together; the rest is a document of its maker."""

from __future__ import annotations

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.reporting.model import Report, StoreFacts
from memory_pipeline.store import Finding, Recovery


class NightResult(Report):
    """A night with its closing line."""

    result: str = Field(description="The closing line: COMPLETE, SKIPPED or BLOCKED.")


class BackfillResult(Document):
    """The nights of several days."""

    nights: int = Field(description="The number of nights that were run.")
    failed: tuple[str, ...] = Field(
        description="What failed: the days of nights, and weekly or monthly jobs as `JOB PARTITION`."
    )
    reports: tuple[Report, ...] = Field(description="The report of each night, in order.")
    result: str = Field(description="The closing line: COMPLETE or BLOCKED.")


class ExportResult(Document):
    """A file that was exported."""

    exported: int = Field(description="The number of memories in the file.")
    path: str = Field(description="The file.")


class ExportedReadings(Document):
    """A file with the readings of series."""

    exported: int = Field(description="The number of values in the file, one a row.")
    path: str = Field(description="The file.")


class CheckResult(StoreFacts):
    """Whether a store is sound, with its row counts."""

    sound: bool = Field(description="Whether there is no finding.")
    findings: tuple[Finding, ...] = Field(description="What is wrong, at most twenty for each rule.")
    warnings: tuple[Finding, ...] = Field(
        description="What is not wrong but needs a decision, with the same fields as a finding; only with `--deep`."
    )
    active_hash: str = Field(
        description="SHA-256 over the active memories and their lineage: a rollback brings back the one before the run."
    )
    hash: str = Field(
        description="SHA-256 over all memories, archived and retired ones included, and all lineage; not over "
        "`updated_at`. Two stores with equal hashes hold the same memories."
    )


class RestoredSnapshot(Document):
    """A snapshot that was restored."""

    restored: str = Field(description="The name of the snapshot.")
    to: str = Field(description="The file that it was restored to.")
    kept: tuple[str, ...] = Field(description="The names under which the previous store is kept next to it.")


class VerifiedSnapshot(Document):
    """A snapshot that is whole."""

    name: str = Field(description="The name of the snapshot.")
    verified: bool = Field(description="Always true; a snapshot that is not whole is an error.")


class RecoveryResult(Recovery):
    """A recovery, with the files that it kept."""

    kept: tuple[str, ...] = Field(description="The names under which the damaged files are kept next to the store.")


class ApiAddress(Document):
    """Where the HTTP API is."""

    url: str = Field(description="The address of the HTTP API.")


class UiAddress(Document):
    """Where the Dagster UI is."""

    url: str = Field(description="The address to open in a browser.")
