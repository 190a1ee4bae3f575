"""Memories that say different things in nearly the same words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories that say different things in nearly the same words."""

    project_id: str
    a: str
    b: str
    kind: str
    detail: str
    score: float


@dataclass(frozen=True, slots=True)
class ConflictCase:
    """A conflict with its history. `resolution`: None while it is open, `keep_newer`, `keep_one` or `keep_both` by a
    person, `series` by the pipeline; the scopes say where each side holds."""

    id: str
    conflict: Conflict
    found_at: datetime
    resolution: str | None = None
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    kept_id: str | None = None
    scope_a: str | None = None
    scope_b: str | None = None
    note: str | None = None
    resolution_run: str | None = None
