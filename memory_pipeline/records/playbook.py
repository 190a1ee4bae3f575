"""Guidance, and the patterns and principles that it follows from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class PlaybookEntry:
    """A piece of guidance: what its surest and highest source says. `source_ids`: patterns and principles."""

    id: str
    project_id: str
    category: str
    content: str
    confidence: float
    source_ids: tuple[str, ...]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one pattern or principle did in the playbook: it `created` an entry or `updated` one."""

    memory_id: str
    entry_id: str
    guidance: str
    category: str
    confidence: float
    level: int
    status: str
