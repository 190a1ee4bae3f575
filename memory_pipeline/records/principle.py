"""Principles: the common rule of related patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from memory_pipeline.records.cluster import Cluster
from memory_pipeline.records.columns import Column

#: The status of a group of related patterns.
PrincipleStatus = Literal["created", "skipped", "failed", "deferred", "settled"]


@dataclass(frozen=True, slots=True)
class PrincipleResult:
    """The result for one group of related patterns."""

    group: Annotated[Cluster, Column("The related patterns; they stay active.")]
    status: Annotated[
        PrincipleStatus,
        Column("created; skipped, failed or deferred (see reason; no answer was available, tried again next week); or "
               "settled."),
    ]  # fmt: skip
    reason: Annotated[str | None, Column("Why it was refused or failed.")] = None
    principle_id: Annotated[str | None, Column("The memory of level 3 that was written.")] = None
    content: Annotated[str, Column("The principle, or nothing.")] = ""
    replaces: Annotated[
        tuple[str, ...], Column("Earlier principles from some of these patterns, archived into it.")
    ] = ()

    @property
    def pattern_ids(self) -> tuple[str, ...]:
        """The memories of the group, sorted."""
        return self.group.member_ids
