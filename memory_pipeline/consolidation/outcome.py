"""The outcome of a run, read from the rows in the store however the run ended; results of its steps add only what no
row has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_pipeline.config.night import RECALL_FLOOR
from memory_pipeline.consolidation.eligibility import too_few
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
    NightError,
    Verdict,
)
from memory_pipeline.records.drafts import DUPLICATE_POLICY
from memory_pipeline.reporting.model import CountedRun, ErrorReport, Report
from memory_pipeline.store import Store, Transaction
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.preservation import check_preservation
from memory_pipeline.text.quoting import clipped

_KINDS_TOLD, _MOST_ERROR = 3, 200
#: Steps beside the compression: what fails there costs itself, and is told. Without any result, it is no failure of the
#: night.
_BESIDE: Mapping[str, Callable[[Sequence[NightError]], str]] = {
    "conversations": lambda errors: f"{how_many(len(errors), 'file or day', 'files or days')} of conversations failed",
    "sources": lambda errors: f"{how_many(len(errors), 'source')} could not be read",
}
#: Steps that fail if the model cannot be asked, by what it then has not read.
_OF_MODEL = {"extraction": "conversations", "read": "notes"}


def judge(
    store: Store, plan: NightPlan, counted: CountedRun, errors: Sequence[NightError], fatal: str | None
) -> Report:
    """The report: the figures, the errors, and the resulting verdict."""
    is_night = counted.kind == "night"
    beside = {stage: [error for error in errors if error.stage == stage] for stage in _BESIDE}
    is_done = counted.clusters_compressed or counted.duplicates_archived
    told_errors = len(errors) if is_done else sum(error.stage not in _BESIDE for error in errors)
    verdict, reason = decide_verdict(
        compressed=counted.clusters_compressed,
        copies=counted.duplicates_archived,
        found=counted.clusters_found,
        settled=counted.clusters_settled,
        errors=told_errors,
        eligible=counted.memories_scanned,
        strict=plan.settings.report.strict_verdict and is_night,
        proposed=counted.proposals,
        refusals=counted.refusals,
        fatal=fatal,
        dry_run=counted.dry_run,
    )
    if is_night and not counted.memories_scanned and not told_errors and verdict not in ("PASS", "PARTIAL"):
        reason = too_few(store, plan) or reason
    if verdict in ("IDLE", "FAIL") and counted.turns_read:
        reason += f"; {how_many(counted.turns_read, 'turn')} of conversations read, {counted.extractions_kept:,} kept"
    for stage, what in _OF_MODEL.items():
        if unasked := [error for error in errors if error.stage == stage]:
            reason += (
                f"; the model could not be asked about {what}: {clipped(unasked[0].error, _MOST_ERROR).rstrip('.')}"
            )
    if not told_errors:
        reason += "".join(f", and {_BESIDE[stage](some)}" for stage, some in sorted(beside.items()) if some)
    rate = counted.recall_rate
    if rate is not None and rate < RECALL_FLOOR and verdict == "PASS":
        verdict = "PARTIAL"
        only = f"only {counted.recall_found} of {counted.recall_sampled}"
        found = (
            "that it would archive could be found again" if counted.dry_run else "archived memories can be found again"
        )
        reason += f", but {only} {found}"
    figures = {name: getattr(counted, name) for name in CountedRun.model_fields}
    told = tuple(
        ErrorReport(cluster_id=e.cluster_id, stage=e.stage, error=e.error, timestamp=e.timestamp) for e in errors
    )
    return Report(**figures, errors=told, verdict=verdict, verdict_reason=reason)


def decide_verdict(
    *,
    compressed: int,
    copies: int,
    found: int,
    settled: int,
    errors: int,
    eligible: int,
    strict: bool,
    proposed: int = 0,
    refusals: Mapping[str, int] | None = None,
    fatal: str | None = None,
    dry_run: bool = False,
) -> tuple[Verdict, str]:
    """PASS, PARTIAL, FAIL or IDLE, with the reason.

    `copies`: exact duplicates archived, which count as compressed. `settled` clusters were decided on an earlier
    night and count as not found; `proposed` ones wait for a person. `refusals`: how often each kind of reason left a
    cluster alone; being declined is not an error. `fatal`: the error that ended the run early. The reason of a
    `dry_run` says what would be done.
    """
    done = _done(compressed, copies, "would be " if dry_run else "")
    if fatal:
        return "FAIL", f"fatal error: {fatal}"[:500]
    if compressed or copies:
        return ("PARTIAL", f"{done}, {how_many(errors, 'error')}") if errors else ("PASS", done)
    if errors:
        return "FAIL", f"no cluster compressed, {how_many(errors, 'error')}"
    return ("FAIL" if strict else "IDLE"), _idle(found, settled, eligible, proposed, refusals or {})


def _idle(found: int, settled: int, eligible: int, proposed: int, refusals: Mapping[str, int]) -> str:
    if proposed:
        return f"{how_many(proposed, 'proposal')} await{'s' if proposed == 1 else ''} review"
    if found > settled:
        told = sorted(refusals.items(), key=lambda item: (-item[1], item[0]))
        words = ", ".join(f"{kind} ({number})" for kind, number in told[:_KINDS_TOLD])
        more = f" and {len(told) - _KINDS_TOLD} other reasons" if len(told) > _KINDS_TOLD else ""
        return f"{how_many(found - settled, 'cluster')} declined: {words or 'no reason was given'}{more}"
    if settled:
        which = {1: "the only cluster was", 2: "both clusters were"}.get(settled, f"all {settled} clusters were")
        return f"{which} decided on an earlier night"
    return "no memory was eligible" if not eligible else "no cluster was found"


def _done(compressed: int, copies: int, would: str) -> str:
    parts = [f"{how_many(compressed, 'cluster')} {would}compressed"] if compressed else []
    parts += [f"{how_many(copies, 'exact duplicate')} {would}archived"] if copies else []
    return ", ".join(parts)


def closing_line(report: Report) -> str:
    """The last line that the command line prints."""
    if report.verdict == "FAIL":
        return f"COMPRESSION BLOCKED: {report.verdict_reason}"
    if report.dry_run and (report.clusters_found or report.memories_archived):
        return (
            f"COMPRESSION COMPLETE (DRY RUN): {report.clusters_compressed} potential clusters, "
            f"{report.memories_archived} entries would be archived"
        )
    if report.verdict == "IDLE":
        return f"COMPRESSION SKIPPED: {report.verdict_reason}"
    return (
        f"COMPRESSION COMPLETE: {report.abstractions_created} clusters, {report.memories_archived} archived, "
        f"{report.tokens_before - report.tokens_after} tokens saved"
    )


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
