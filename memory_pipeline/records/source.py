"""Sources: what a night has read of them, and which of their words are gone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from memory_pipeline.records.columns import Column

_LARGEST = 2**63 - 1
SourceStatus = Literal["read", "unchanged", "failed"]


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
    """What a night read of one source."""

    source: Annotated[str, Column("The name of the source.")]
    status: Annotated[
        SourceStatus, Column("`read`, `unchanged` (nothing in it is new), or `failed` (it could not be read).")
    ]
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
    edits_later: Annotated[int, Column("Edits and removals that a later night takes: one that ends after them.")] = 0
    waits_for: Annotated[
        str | None, Column("The first night that takes what was left, as YYYY-MM-DD; null if nothing was.")
    ] = None
