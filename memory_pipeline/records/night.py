"""What a night leaves for a person: errors, notices, and proposals to decide."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Literal

from memory_pipeline.records.columns import Column

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
