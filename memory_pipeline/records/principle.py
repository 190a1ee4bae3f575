"""What related patterns have in common."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrincipleResult:
    """What became of one group of related patterns: `created`; with a `reason`: `skipped`, `failed`, `deferred` (no
    answer could be had; taken up next week), or `settled`."""

    group_id: str
    project_id: str
    pattern_ids: tuple[str, ...]
    status: str
    reason: str | None
    principle_id: str | None
    content: str
    replaces: tuple[str, ...]
    avg_similarity: float
    fingerprint: str
