"""What a day, a week, a month or a year amounts to, as the store keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from memory_pipeline.records.columns import Column

#: From the finest to the coarsest; each is made from those before it.
ROLLUP_LEVELS = ("day", "week", "month", "year")
_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Rollup:
    """The summary of one period of a project."""

    id: Annotated[str, Column("Derived from project, level and period.")]
    project_id: Annotated[str, Column("The project.", is_id=True)]
    level: Annotated[str, Column("What is summed up.", choices=ROLLUP_LEVELS)]
    period: Annotated[str, Column("`2026-03-14`, `2026-W11`, `2026-03` or `2026`.")]
    starts_at: Annotated[datetime, Column("When the period begins.")]
    ends_at: Annotated[datetime, Column("When it ends: the time as of which it is told.")]
    content: Annotated[str, Column("The summary, as Markdown.", changes=True)]
    entries: Annotated[
        str, Column("What stands in it, as JSON: the next level is made from these.", is_json=True, changes=True)
    ]
    below_ids: Annotated[tuple[str, ...], Column("The rollups that it is made from.", changes=True)]
    memory_ids: Annotated[tuple[str, ...], Column("The memories that its entries say.", changes=True)]
    notes: Annotated[int, Column("Memories of the period.", changes=True, low=0, high=_MOST)]
    token_count: Annotated[int, Column("Tokens of the summary.", changes=True, low=1, high=_MOST)]
    budget_tokens: Annotated[int, Column("The most tokens that it could have.", changes=True, low=1, high=_MOST)]
    rules_version: Annotated[int, Column("The version of the rules that it was made by.", changes=True, low=1)]
