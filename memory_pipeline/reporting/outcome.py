"""The outcome of a run, read from the rows in the store however the run ended; results of its steps add only what no
row has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_pipeline.consolidation.plan import NightPlan
from memory_pipeline.consolidation.review.resolution import CONFLICT_POLICY
from memory_pipeline.records import (
    READ,
    REFUSED,
    REPEATED,
    Archive,
    AtomDecision,
    Cluster,
    Contribution,
    Distillation,
    DuplicateGroup,
    EligibleMemory,
    LogRow,
    Measured,
    Memory,
)
from memory_pipeline.records.drafts import DUPLICATE_POLICY
from memory_pipeline.store import Store, Transaction
from memory_pipeline.text.preservation import check_preservation

#: Log rows with these policies concern single memories, not clusters.
_NO_CLUSTERS = (DUPLICATE_POLICY, CONFLICT_POLICY, READ, REFUSED, REPEATED)
#: Lineage of a memory that was archived, but not as a source of a cluster.
_NO_SOURCES = ("duplicate", "superseded", "extracted", "replaced")


@dataclass(frozen=True, slots=True)
class NightOutcome:
    """The results of a night's steps. `archives`: of every policy; `clusters` and `distillations`: of the patterns;
    `guidance`: the new contents of the playbook. For a night that broke off, the results so far."""

    duplicates: Sequence[DuplicateGroup] = ()
    eligible: Sequence[EligibleMemory] = ()
    clusters: Sequence[Cluster] = ()
    distillations: Sequence[Distillation] = ()
    archives: Sequence[Archive] = ()
    atoms: Sequence[AtomDecision] = ()
    guidance: Sequence[Contribution] = ()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> NightOutcome:
        """Collect the results of a night's steps, by their names, as far as they exist."""
        levels = ("series", "readings", "merges", "canonical_entries", "archives")
        return cls(
            duplicates=values.get("exact_duplicates", ()),
            eligible=values.get("eligible_memories", ()),
            clusters=values.get("clusters", ()),
            distillations=values.get("distillations", ()),
            archives=[archive for name in levels for archive in values.get(name, ())],
            atoms=values.get("atoms", ()),
            guidance=values.get("playbook", ()),
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """The outcome of a run: every cluster, the exact copies and all memories that it archived, waiting proposals,
    the atoms and guidance, and the active tokens before it, after it, and if nothing had ever been archived."""

    archives: tuple[Archive, ...]
    copies: tuple[str, ...]
    archived: tuple[str, ...]
    proposed: int
    atoms: tuple[AtomDecision, ...]
    guidance: tuple[Contribution, ...]
    active: int
    tokens_before: int
    tokens_after: int
    tokens_without: int


def tally_of(store: Store, plan: NightPlan, outcome: NightOutcome) -> Tally:
    """The outcome of the run according to its rows."""
    with store.reading() as tx:
        return _by_rows(tx, plan.run_id, outcome)


def _by_rows(tx: Transaction, run_id: str, outcome: NightOutcome) -> Tally:
    rows = tx.runs.archived_by(run_id)
    before, after = tx.runs.tokens_around(run_id)
    mine = [proposal for proposal in tx.proposals.list() if proposal.run_id == run_id]
    waiting = sum(archive.status == "proposed" for archive in outcome.archives)
    waiting += sum(group.proposed for group in outcome.duplicates)
    return Tally(
        archives=tuple(_clusters(tx, run_id, {row.memory_id for row in rows}, outcome.archives)),
        copies=tuple(row.memory_id for row in rows if row.relation == "duplicate"),
        archived=tuple(row.memory_id for row in rows),
        proposed=max(waiting, len(mine)),
        atoms=tuple(outcome.atoms or tx.atoms.decisions_of(run_id)),
        guidance=tuple(outcome.guidance or tx.playbook.contributions_of(run_id)),
        active=tx.contents.facts()["active"],
        tokens_before=before,
        tokens_after=after,
        tokens_without=tx.runs.tokens_without(),
    )


def _clusters(tx: Transaction, run_id: str, archived: set[str], told: Sequence[Archive]) -> list[Archive]:
    """The clusters of a run. The log decides which ones are compressed, whatever the steps returned; other results
    come from the steps, and from the log for clusters that only the log has."""
    logged = {(row.policy, row.cluster_fingerprint): row for row in tx.journal.log_of(run_id)}
    found = [
        archive
        for archive in told
        if archive.status != "compressed"
        or _status(logged.get((archive.cluster.policy, archive.cluster.fingerprint))) == "compressed"
    ]
    known = {(archive.cluster.policy, archive.cluster.fingerprint) for archive in found}
    missing = [row for key, row in logged.items() if key not in known and row.policy not in _NO_CLUSTERS]
    return [*found, *(_from_log(tx, row, archived) for row in missing)]


def _status(row: LogRow | None) -> str | None:
    return row.status if row else None


def _from_log(tx: Transaction, row: LogRow, archived: set[str]) -> Archive:
    """A cluster according to its row and lineage; one that was not compressed has no members there."""
    made = (
        tx.memories.read([row.compressed_memory_id]).get(row.compressed_memory_id) if row.compressed_memory_id else None
    )
    links = [link for link in tx.lineage.of([made.id] if made else []) if link.relation not in _NO_SOURCES]
    members = tx.memories.read([link.source_id for link in links])
    told = tx.memories.read(tx.lineage.told_by([made.id]).get(made.id, [])) if made else {}
    kept = check_preservation([memory.content for memory in told.values()], made.content, ()) if made else None
    measured = Measured.of(
        sum(memory.token_count for memory in members.values()),
        made.token_count if made else 0,
        *((kept.found, kept.kept, kept.attached) if kept else (0, 0, 0)),
    )
    return Archive(
        _cluster_of(row, made, list(members.values()), [link.similarity for link in links]),
        row.status,
        row.reason,
        row.compressed_memory_id,
        archived_ids=tuple(sorted(members.keys() & archived)),
        measured=measured,
    )


def _cluster_of(row: LogRow, made: Memory | None, members: Sequence[Memory], similarities: Sequence[float]) -> Cluster:
    """A cluster according to its log row and its members."""
    dates = [memory.created_at for memory in members] or [row.created_at]
    return Cluster(
        cluster_id=made.id if made else row.cluster_fingerprint[:12],
        fingerprint=row.cluster_fingerprint,
        policy=row.policy,
        project_id=made.project_id if made else "",
        member_ids=tuple(sorted(memory.id for memory in members)),
        member_count=len(members),
        avg_similarity=sum(similarities) / len(similarities) if similarities else 0.0,
        min_similarity=min(similarities, default=0.0),
        dominant_category=made.categories[0] if made and made.categories else "",
        top_categories=made.categories[:2] if made else (),
        total_tokens=sum(memory.token_count for memory in members),
        max_importance=max((memory.importance for memory in members), default=0.0),
        oldest_member_at=min(dates),
        newest_member_at=max(dates),
    )
