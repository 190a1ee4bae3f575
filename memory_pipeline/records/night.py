"""What a night leaves for a person: errors, notices, proposals to decide, and rollups."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Literal

from memory_pipeline.records.columns import Column

#: From the finest to the coarsest; each is made from those before it.
ROLLUP_LEVELS = ("day", "week", "month", "year")
_MOST = 2**31 - 1
Verdict = Literal["PASS", "PARTIAL", "FAIL", "IDLE"]
Stage = Literal[
    "sources",
    "conversations",
    "extraction",
    "embed",
    "read",
    "distill",
    "write",
    "archive",
    "enrich",
    "recall",
    "export",
    "report",
    "night",
    "moved",
]
#: The stage of what is no error: where lines of a person stand now.
MOVED: Stage = "moved"


@dataclass(frozen=True, slots=True)
class NightError:
    """An error in one cluster, which did not stop the others."""

    cluster_id: str
    stage: Stage
    error: str
    timestamp: datetime


#: Whether someone has to do something about it.
Priority = Literal["action", "info"]


@dataclass(frozen=True, slots=True)
class Notice:
    """A message about a run, as the outbox keeps it."""

    id: Annotated[str, Column("Derived from the run and its result.")]
    run_id: Annotated[str, Column("The run.")]
    recipient: Annotated[str, Column("Who should read it.")]
    priority: Annotated[Priority, Column("`action` if someone has to do something, else `info`.")]
    subject: Annotated[str, Column("The subject line.")]
    body: Annotated[str, Column("The text.")]
    created_at: Annotated[datetime, Column("When it was written.")]


ProposalStatus = Literal["pending", "approved", "rejected", "withdrawn"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a night would have done, for a person to decide.

    `draft` is the JSON of a Distillation or, for the policy `duplicate`, of a DuplicateGroup; the id is that of the
    cluster.
    """

    id: str
    project_id: str
    cluster_fingerprint: str
    policy: str
    run_id: str
    partition: date
    draft: str
    status: ProposalStatus
    proposed_at: datetime
    decided_at: datetime | None = None
    decided_by: str | None = None
    reason: str | None = None


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
