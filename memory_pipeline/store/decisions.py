"""What a person decided: proposals, opinions on extractions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import astuple
from datetime import datetime

from memory_pipeline.records import ExtractionFeedback, KeptExtraction, PatternDecision, Proposal
from memory_pipeline.store.conversations import ExtractedMemories
from memory_pipeline.store.rows import RowsOf, Statements, from_utc, only_one

#: Why a night leaves a cluster alone that waits for a person's decision, or that a person has rejected.
AWAITS_REVIEW, REJECTED = "awaits review", "rejected in review"
_REASONS = {"pending": AWAITS_REVIEW, "rejected": REJECTED}


class Proposals(Statements):
    """Waiting and decided proposals."""

    def keep(self, proposal: Proposal) -> bool:
        """Store a proposal; returns False if it is already waiting or was decided. A withdrawn one waits again."""
        status = self._sql.value("select status from proposals where id = $1", [proposal.id])
        if status is None:
            places = ", ".join(f"${place}" for place in range(1, 13))
            self._sql.run(f"insert into proposals values ({places})", astuple(proposal))
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
            [proposal.id, proposal.run_id, proposal.partition, proposal.draft, proposal.proposed_at],
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
            [proposal_id, status, at, decided_by, reason],
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


_DECISIONS = RowsOf(PatternDecision, "relationship_patterns")
_FEEDBACK = RowsOf(ExtractionFeedback, "extraction_feedback")
#: So many voices for and against count as none: few say little about the use of a kind.
_VOICES = 4


class Opinions(Statements):
    """Decisions about patterns and extractions, and how useful each kind was called."""

    def decisions(self, project_id: str) -> dict[str, PatternDecision]:
        """What people decided about the patterns of a project, by pattern."""
        return {one.id: one for one in _DECISIONS.select(self._sql, "where project_id = $1 order by id", [project_id])}

    def decide(self, decision: PatternDecision) -> None:
        """Keep what a person decided about a pattern, in place of what was decided before."""
        _DECISIONS.put(self._sql, [decision])

    def add_feedback(self, feedback: ExtractionFeedback) -> None:
        """Keep what was said about the use of something that was extracted."""
        _FEEDBACK.insert(self._sql, [feedback])

    def utility(self, project_id: str, before: datetime) -> dict[str, float]:
        """By kind, how useful extractions were called before a time, from -1 to 1."""
        return self._sql.mapping(
            f"""
            select kind, round(sum(case when was_useful then 1 else -1 end) / (count(*) + {_VOICES}), 3)::double
            from extraction_feedback
            where project_id = $1 and said_at < $2
            group by 1
            """,
            [project_id, before],
        )


_EXTRACTIONS = RowsOf(KeptExtraction, "extractions")


class Refusals(Statements):
    """What was extracted and refused by a person; kept beside what people decided about patterns."""

    def known(self) -> list[KeptExtraction]:
        """All that stands and was kept somewhere, refused or not, in the order in which it was said."""
        which = "where gone_at is null and destination <> 'drop' order by night, day, conversation, line, id"
        return _EXTRACTIONS.select(self._sql, which)

    def of(self, project_id: str) -> set[str]:
        """The ids of what a person refused of a project."""
        return self._sql.string_set(
            """
            select d.id
            from relationship_patterns d
            join extractions e on e.id = d.id
            where d.project_id = $1 and d.decision = 'rejected'
            """,
            [project_id],
        )

    def decide(self, one: KeptExtraction, decision: PatternDecision) -> None:
        """Keep what a person decided about an extraction, and take its memory out of use, or let it be used again; the
        files of its day are to be written."""
        Opinions(self._sql).decide(decision)
        extracted = ExtractedMemories(self._sql)
        if one.memory_id and decision.decision == "rejected":
            extracted.retire([one.memory_id], decision.decided_at, f"refused:{decision.decided_by}")
        elif one.memory_id:
            extracted.put_in_use({one.memory_id: one.turn_id})
        self._sql.run(
            """
            update conversation_days
            set is_written = false
            where project_id = $1 and night = $2 and gone_at is null and is_written
            """,
            [one.project_id, one.night],
        )

    def active(self, memory_ids: Collection[str]) -> list[str]:
        """Those of some memories that are in use, or say what a memory in use was made of."""
        return self._sql.strings(
            "select id from memories where id in (select unnest($1::text[])) and rolled_back_at is null order by 1",
            [memory_ids],
        )
