"""Decisions of a person: on contradictions, which stay linked until then, proposals, and opinions on extractions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime

import pyarrow as pa

from memory_pipeline.records import (
    Conflict,
    ConflictCase,
    ExtractionFeedback,
    KeptExtraction,
    PatternDecision,
    Proposal,
)
from memory_pipeline.store.conversations import Conversations
from memory_pipeline.store.rows import RowsOf, Statements, only_one, put_values
from memory_pipeline.store.series import shape_table
from memory_pipeline.text.superseding import group_conflicts

_CONFLICTS, _CASES = RowsOf(Conflict, "conflicts"), RowsOf(ConflictCase, "conflicts")
#: Whether a conflict `c` is open. One with a side that was archived into something nearly equal is linked again through
#: its replacement; one with a side that was rolled back waits until a night makes that again.
AWAITS_DECISION = """
    (resolution is null and kind <> 'likely' and not exists (
        select 1
        from memories m
        left join lineage l on l.memory_id = m.consolidated_into_id and l.source_id = m.id
        where m.id in (c.a, c.b)
          and (m.rolled_back_at is not null
               or (m.archived_at is not null and l.relation in ('duplicate', 'merged', 'canonical', 'superseded')))))
    """


class Conflicts(Statements):
    """The linked pairs, both waiting for a decision and settled."""

    def record(self, conflicts: Sequence[Conflict], found_at: datetime) -> None:
        """Link conflicting pairs; a pair that is already linked stays unchanged."""
        _CONFLICTS(self._sql).insert(conflicts, "on conflict do nothing", found_at=found_at)

    def resolve(self, pairs: Sequence[tuple[str, str]], resolution: str) -> None:
        """Record how these conflicts were settled; conflicts that are already settled stay unchanged."""
        if not pairs:
            return
        self._sql(resolution, settled=pa.table({"a": [a for a, _ in pairs], "b": [b for _, b in pairs]})).run("""
            update conflicts
            set resolution = $1
            where resolution is null and (a, b) in (select (a, b) from settled)
            """)

    def of_readings(self, readings: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
        """The pairs of every open conflict in which both sides are readings (by project and shape)."""
        if not readings:
            return []
        return self._sql(readings=shape_table(readings)).rows("""
            select c.a, c.b
            from conflicts c
            join memories m on m.id = c.a
            join memories n on n.id = c.b
            join line_shapes o on o.memory_id = m.id
            join line_shapes p on p.memory_id = n.id
            join readings r on r.project_id = m.project_id and r.shape = o.shape
            join readings s on s.project_id = n.project_id and s.shape = p.shape
            where c.resolution is null
            order by 1, 2
            """)

    def series_shapes(self, project_id: str) -> set[str]:
        """The shapes of lines of which two that contradict each other were settled as a series."""
        return self._sql(project_id).string_set("""
            select distinct o.shape
            from conflicts c
            join line_shapes o on o.memory_id = c.a
            join line_shapes p on p.memory_id = c.b and p.shape = o.shape
            where c.resolution = 'series' and c.project_id = $1
            """)

    def settle_within(self, memory_ids: Sequence[str], resolution: str) -> None:
        """Record how every open conflict between two of these memories was settled."""
        self._sql(memory_ids, resolution).run("""
            update conflicts
            set resolution = $2
            where resolution is null and a in (select unnest($1::text[])) and b in (select unnest($1::text[]))
            """)

    def open(self) -> list[Conflict]:
        """Every linked conflict that awaits a decision, by pair. A conflict with a merged side is linked again
        through the merged memory."""
        return _CONFLICTS(self._sql).select(f"c where {AWAITS_DECISION} order by a, b")

    def likely(self, project_id: str) -> list[tuple[str, str]]:
        """The pairs of a project that are likely contradictions, of which no person is asked."""
        return self._sql(project_id).rows(
            "select a, b from conflicts where resolution is null and kind = 'likely' and project_id = $1 order by a, b"
        )

    def count_open(self) -> int:
        """How many contradictions await a decision, as a person is asked about them: those that share memories once."""
        return len(group_conflicts(self.open()))

    def cases(self, *, settled: bool = False, project_id: str | None = None) -> list[ConflictCase]:
        """Conflicts with their history, newest first: those that await a decision, or with `settled` all."""
        return _CASES(self._sql(settled, project_id)).select(f"""
            c where ($2 is null or project_id = $2) and ($1 or {AWAITS_DECISION})
            order by found_at desc, a, b
            """)

    def read(self, conflict_id: str) -> ConflictCase:
        """The conflict with an id, or the only one whose id starts with it. Raises InputError if there is none or
        several."""
        cases = {case.id: case for case in self.cases(settled=True)}
        mend = "'memory-pipeline conflicts list --all' shows every conflict"
        return only_one(cases, conflict_id, "conflict", mend)

    def settle(self, case: ConflictCase) -> None:
        """Store a person's decision: all fields of the case from `resolution` on."""
        _CASES(self._sql).put([case])

    def reopen(self, run_ids: Sequence[str], restored_ids: Sequence[str]) -> None:
        """Undo the decisions of these runs, and those against a side that is active again."""
        self._sql(run_ids, restored_ids).run("""
            update conflicts
            set resolution = null, resolved_at = null, resolved_by = null, kept_id = null, scope_a = null,
                scope_b = null, note = null, resolution_run = null
            where resolution_run in (select unnest($1::text[]))
               or (resolution_run is not null
                   and case when kept_id = a then b when kept_id = b then a end in (select unnest($2::text[])))
            """)

    def scopes_of(self, memory_ids: Sequence[str] | None = None) -> dict[str, list[str]]:
        """The scope in which each of these memories, or of all, applies, if a person kept both sides of a conflict.
        Words that were edited in their source apply where the earlier ones did."""
        return self._sql(memory_ids).mapping("""
            with recursive scopes(id, scope) as (
                select a, scope_a from conflicts where scope_a is not null
                union
                select b, scope_b from conflicts where scope_b is not null
                union
                select e.superseded_by, s.scope
                from scopes s
                join source_entries e on e.memory_id = s.id
                where e.superseded_by is not null
            )
            select id, list(scope order by scope)
            from scopes
            where $1 is null or id in (select unnest($1::text[]))
            group by id
            """)


#: Why a night leaves a cluster alone that waits for a person's decision, or that a person has rejected.
AWAITS_REVIEW, REJECTED = "awaits review", "rejected in review"
_REASONS = {"pending": AWAITS_REVIEW, "rejected": REJECTED}


class Proposals(Statements):
    """Waiting and decided proposals."""

    def keep(self, proposal: Proposal) -> None:
        """Store a proposal, unless it is already waiting or was decided. A withdrawn one waits again."""
        if self._sql(proposal.id).value("select status from proposals where id = $1") not in (None, "withdrawn"):
            return
        row = asdict(proposal)
        row["partition_date"] = row.pop("partition")
        put_values(self._sql, "proposals", [row])

    def list(self, status: str | None = "pending") -> list[Proposal]:
        """The proposals of a status (or all), by night and id."""
        rows = self._sql(status).rows(
            "select * from proposals where $1 is null or status = $1 order by partition_date, id"
        )
        return [Proposal(*row) for row in rows]

    def read(self, proposal_id: str) -> Proposal:
        """The proposal with an id, or the only one whose id starts with it. Raises InputError if there is none or
        several."""
        proposals = {proposal.id: proposal for proposal in self.list(None)}
        mend = "'memory-pipeline proposals list --all' shows every proposal"
        return only_one(proposals, proposal_id, "proposal", mend)

    def decide(self, proposal_id: str, status: str, at: datetime, decided_by: str, reason: str | None = None) -> None:
        """Record a person's decision."""
        self._sql(proposal_id, status, at, decided_by, reason).run(
            "update proposals set status = $2, decided_at = $3, decided_by = $4, reason = $5 where id = $1"
        )

    def reviewed_fingerprints(self) -> dict[tuple[str, str], str]:
        """Policies and fingerprints that wait for a person or were rejected, with the reason for leaving them alone."""
        rows = self._sql.rows("""
            select policy, cluster_fingerprint, status
            from proposals
            where status in ('pending', 'rejected')
            """)
        return {(str(policy), str(fingerprint)): _REASONS[status] for policy, fingerprint, status in rows}


_DECISIONS = RowsOf(PatternDecision, "relationship_patterns")
_EXTRACTIONS = RowsOf(KeptExtraction, "extractions")
_FEEDBACK = RowsOf(ExtractionFeedback, "extraction_feedback")
#: So many voices for and against count as none: few say little about the use of a kind.
_VOICES = 4


class Opinions(Statements):
    """Decisions about patterns and extractions (what was refused among them), and how useful each kind was called."""

    def decisions(self, project_id: str) -> dict[str, PatternDecision]:
        """The decisions about the patterns of a project, by pattern."""
        return {
            decision.id: decision
            for decision in _DECISIONS(self._sql(project_id)).select("where project_id = $1 order by id")
        }

    def decide(self, decision: PatternDecision) -> None:
        """Keep what a person decided about a pattern, in place of what was decided before."""
        _DECISIONS(self._sql).put([decision])

    def add_feedback(self, feedback: ExtractionFeedback) -> None:
        """Keep what was said about the use of something that was extracted."""
        _FEEDBACK(self._sql).insert([feedback])

    def utility(self, project_id: str, before: datetime) -> dict[str, float]:
        """By kind, how useful extractions were called before a time, from -1 to 1."""
        return self._sql(project_id, before).mapping(f"""
            select kind, round(sum(case when was_useful then 1 else -1 end) / (count(*) + {_VOICES}), 3)::double
            from extraction_feedback
            where project_id = $1 and said_at < $2
            group by 1
            """)

    def known(self) -> list[KeptExtraction]:
        """All that stands and was kept somewhere, refused or not, in the order in which it was said."""
        which = "where gone_at is null and destination <> 'drop' order by night, day, conversation, line, id"
        return _EXTRACTIONS(self._sql).select(which)

    def refused(self, project_id: str) -> set[str]:
        """The ids of what a person refused of a project."""
        return self._sql(project_id).string_set("""
            select d.id
            from relationship_patterns d
            join extractions e on e.id = d.id
            where d.project_id = $1 and d.decision = 'rejected'
            """)

    def decide_extraction(self, extraction: KeptExtraction, decision: PatternDecision) -> None:
        """Keep what a person decided about an extraction, and take its memory out of use, or let it be used again; the
        files of its day are to be written."""
        self.decide(decision)
        extracted = Conversations(self._sql)
        if extraction.memory_id and decision.decision == "rejected":
            extracted.retire([extraction.memory_id], decision.decided_at, f"refused:{decision.decided_by}")
        elif extraction.memory_id:
            extracted.put_in_use({extraction.memory_id: extraction.turn_id})
        self._sql(extraction.project_id, extraction.night).run("""
            update conversation_days
            set is_written = false
            where project_id = $1 and night = $2 and gone_at is null and is_written
            """)

    def active(self, memory_ids: Collection[str]) -> list[str]:
        """Those of some memories that are in use, or say what a memory in use was made of."""
        return self._sql(memory_ids).strings(
            "select id from memories where id in (select unnest($1::text[])) and rolled_back_at is null order by 1"
        )
