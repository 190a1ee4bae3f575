"""Guidance, and the patterns and principles that it follows from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from memory_pipeline.records.columns import Column


@dataclass(frozen=True, slots=True)
class PlaybookEntry:
    """A piece of guidance: what its surest and highest source says."""

    id: Annotated[str, Column("Derived from the memory that came first.")]
    project_id: Annotated[str, Column("The project that it holds in.")]
    category: Annotated[str, Column("What it is about.")]
    content: Annotated[str, Column("The guidance.")]
    confidence: Annotated[float, Column("How sure its surest source is, 0 to 1.")]
    source_ids: Annotated[tuple[str, ...], Column("The patterns and principles that say so.")]
    created_at: Annotated[datetime, Column("When the first of them was made.")]
    updated_at: Annotated[datetime, Column("When the last of them was made or archived.")]


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one pattern or principle did in the playbook: it `created` an entry or `updated` one."""

    memory_id: Annotated[str, Column("The pattern or principle.")]
    entry_id: Annotated[str, Column("The entry of the playbook.")]
    guidance: Annotated[str, Column("What the pattern or principle says, without attached facts.")]
    category: Annotated[str, Column("What it is about.")]
    confidence: Annotated[float, Column("How sure it is, 0 to 1.")]
    level: Annotated[int, Column("Its abstraction level.")]
    status: Annotated[
        Literal["created", "updated"], Column("created an entry, or updated one that gives the same guidance.")
    ]
