"""Proposals: what a night would have done, for a person to decide."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

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
