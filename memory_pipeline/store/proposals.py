"""Proposals: what nights would have done in projects that a person reviews."""

from __future__ import annotations

from dataclasses import astuple
from datetime import datetime

from memory_pipeline.records import Proposal
from memory_pipeline.store.identifiers import only_one
from memory_pipeline.store.rows import from_utc, to_utc
from memory_pipeline.store.sql import Sql

#: Why a night leaves a cluster alone that waits for a person's decision, or that a person has rejected.
AWAITS_REVIEW, REJECTED = "awaits review", "rejected in review"
_REASONS = {"pending": AWAITS_REVIEW, "rejected": REJECTED}


class Proposals:
    """Waiting and decided proposals."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def keep(self, proposal: Proposal) -> bool:
        """Store a proposal; returns False if it is already waiting or was decided. A withdrawn one waits again."""
        status = self._sql.value("select status from proposals where id = $1", [proposal.id])
        if status is None:
            row = [to_utc(value) if isinstance(value, datetime) else value for value in astuple(proposal)]
            self._sql.run("insert into proposals values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)", row)
            return True
        if status != "withdrawn":
            return False
        self._sql.run(
            """
            update proposals
            set status = 'pending', run_id = $2, partition_date = $3, draft = $4, proposed_at = $5,
                decided_at = null, decided_by = null, reason = null
            where id = $1
            """,
            [proposal.id, proposal.run_id, proposal.partition, proposal.draft, to_utc(proposal.proposed_at)],
        )
        return True

    def list(self, status: str | None = "pending") -> list[Proposal]:
        """The proposals of a status (or all), by night and id."""
        rows = self._sql.rows(
            "select * from proposals where $1 is null or status = $1 order by partition_date, id", [status]
        )
        return [Proposal(*[*row[:8], from_utc(row[8]), from_utc(row[9]), *row[10:]]) for row in rows]

    def read(self, proposal_id: str) -> Proposal:
        """The proposal with an id, or the only one whose id starts with it. Raises InputError if there is none or
        several."""
        proposals = {proposal.id: proposal for proposal in self.list(None)}
        mend = "'memory-pipeline proposals list --all' shows every proposal"
        return only_one(proposals, proposal_id, "proposal", mend)

    def decide(self, proposal_id: str, status: str, at: datetime, decided_by: str, reason: str | None = None) -> None:
        """Record a person's decision."""
        self._sql.run(
            "update proposals set status = $2, decided_at = $3, decided_by = $4, reason = $5 where id = $1",
            [proposal_id, status, to_utc(at), decided_by, reason],
        )

    def reviewed_fingerprints(self) -> dict[tuple[str, str], str]:
        """Policies and fingerprints that wait for a person or were rejected by one, with the reason for leaving them
        alone."""
        rows = self._sql.rows(
            """
            select policy, cluster_fingerprint, status
            from proposals
            where status in ('pending', 'rejected')
            """
        )
        return {(str(policy), str(fingerprint)): _REASONS[status] for policy, fingerprint, status in rows}
