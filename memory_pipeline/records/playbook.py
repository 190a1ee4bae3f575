"""Guidance, and the patterns and principles it is based on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from memory_pipeline.records.columns import Column


@dataclass(frozen=True, slots=True)
class PlaybookEntry:
    """A piece of guidance, in the words of its source with the highest level and confidence."""

    id: Annotated[str, Column("Derived from the memory that came first.")]
    project_id: Annotated[str, Column("The project in which it applies.")]
    category: Annotated[str, Column("What it is about.")]
    content: Annotated[str, Column("The guidance.")]
    confidence: Annotated[float, Column("The confidence of its most reliable source, 0 to 1.")]
    source_ids: Annotated[tuple[str, ...], Column("The patterns and principles that support it.")]
    created_at: Annotated[datetime, Column("When the first of them was created.")]
    updated_at: Annotated[datetime, Column("When the last of them was created or archived.")]


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one pattern or principle did to the playbook: it `created` an entry or `updated` one."""

    memory_id: Annotated[str, Column("The pattern or principle.")]
    entry_id: Annotated[str, Column("The entry of the playbook.")]
    guidance: Annotated[str, Column("What the pattern or principle advises, in its words.")]
    category: Annotated[str, Column("What it is about.")]
    confidence: Annotated[float, Column("Its confidence, 0 to 1.")]
    level: Annotated[int, Column("Its abstraction level.")]
    status: Annotated[
        Literal["created", "updated"], Column("Whether it created an entry, or updated one with the same guidance.")
    ]
