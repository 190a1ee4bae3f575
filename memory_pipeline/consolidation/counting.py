"""Counts the figures of a run: from the rows that it wrote, and for a dry run from the results of its steps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillation import session_of
from memory_pipeline.consolidation.readings import ANY_ROOM, find_unread
from memory_pipeline.consolidation.recall_check import RecallCheck, check_recall, measure_preservation
from memory_pipeline.consolidation.review.conflicts import CONFLICT_POLICY, open_groups
from memory_pipeline.models.choose import Waiting, describe_reader, model_reads
from memory_pipeline.records import (
    BESIDE,
    DIGEST,
    ESTABLISHED,
    MADE,
    READ,
    READING,
    REFUSED,
    REPEATED,
    SERIES,
    Archive,
    AtomDecision,
    Causal,
    Cluster,
    ConflictCase,
    Contribution,
    Distillation,
    DuplicateGroup,
    EligibleMemory,
    LogRow,
    Measured,
    Memory,
    ModelCall,
    fingerprint_of,
)
from memory_pipeline.records.drafts import DUPLICATE_POLICY
from memory_pipeline.reporting.model import (
    LARGEST,
    AtomReport,
    ClusterReport,
    ConflictReport,
    CountedRun,
    Kind,
    PolicyReport,
    SeriesReport,
    SourceReport,
    StoreFacts,
)
from memory_pipeline.store import Transaction, facts_in
from memory_pipeline.text.hidden import visible
from memory_pipeline.text.preservation import check_preservation
from memory_pipeline.text.subject import with_subject
from memory_pipeline.text.superseding import later_of

_EXAMPLES = 20
#: A reason that goes on with figures.
_MEASURED = re.compile(r"(compression ratio|confidence).*", re.DOTALL)
_OUTCOMES = ("compressed", "skipped", "failed", "proposed")


#: Log rows with these policies concern single memories, not clusters.
_NO_CLUSTERS = (DUPLICATE_POLICY, CONFLICT_POLICY, READ, REFUSED, REPEATED)


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


NO_OUTCOME = NightOutcome()


def count_run(night: Night, kind: Kind, outcome: NightOutcome, started_at: datetime) -> CountedRun:
    """Every figure of a run, with its largest clusters; the end time is not known yet."""
    run_id, clusters = night.options.run_id, outcome.clusters
    with night.store.reading() as tx:
        rows = tx.runs.archived_by(run_id)
        log = tx.journal.log_of(run_id)
        archives = read_clusters(tx, log, {memory_id for memory_id, _ in rows}, outcome.archives)
        before, after = tx.runs.tokens_around(run_id)
        tokens_without = tx.runs.tokens_without()
        mine = sum(proposal.run_id == run_id for proposal in tx.proposals.list())
        atoms = outcome.atoms or tx.atoms.decisions_of(run_id)
        guidance = outcome.guidance or tx.playbook.contributions_of(run_id)
        facts = tx.contents.facts()
        conflicts = open_groups(tx)
        sources = tx.contents.sources_fingerprint()
        readings = tx.sources.readings(run_id)
        turns, extractions, by_model, unknown = tx.conversations.read_by(run_id)
        again = tx.conversations.read_before(run_id, night.options.partition)
        moved = tx.journal.moved_by(run_id)
        waiting = _count_waiting(night, tx)
        left = sum(day <= night.options.partition for _, day in tx.conversations.taken_back())
    recall = _recall(night, [memory_id for memory_id, _ in rows])
    proposed = sum(archive.status == "proposed" for archive in outcome.archives)
    proposed += sum(group.proposed for group in outcome.duplicates)
    compressed = [archive for archive in archives if archive.status == "compressed"]
    settled_patterns = sum(cluster.settled is not None for cluster in clusters)
    settled = settled_patterns + sum(archive.status == "settled" for archive in archives)
    patterns = {policy.name for policy in night.policies if policy.method == "distill"}
    ratios = [archive.measured.compression_ratio for archive in compressed if archive.cluster.policy in patterns]
    established = sum(archive.cluster.policy == ESTABLISHED for archive in compressed)
    series = _series(night, compressed)
    preserved, lost = measure_preservation(night.store, compressed)
    return CountedRun(
        run_id=run_id,
        kind=kind,
        partition=night.options.partition,
        as_of=night.as_of,
        dry_run=night.options.dry_run,
        started_at=started_at,
        finished_at=started_at,
        duration_ms=0,
        rolled_back_at=None,
        entries_new=sum(reading.new for reading in readings),
        entries_changed=sum(reading.changed for reading in readings),
        entries_gone=sum(reading.gone for reading in readings),
        sources=tuple(map(SourceReport.of_record, readings)),
        **_notes_read(archives, log),
        notes_waiting=waiting.notes,
        turns_waiting=waiting.turns,
        turns_read=turns,
        extractions_kept=extractions,
        extractions_by_model=by_model,
        turns_without_speaker=unknown,
        conversation_days_again=again,
        conversation_days_left=left,
        lines_moved=tuple(moved),
        memories_scanned=len(outcome.eligible),
        clusters_found=settled_patterns + len(archives),
        clusters_skipped=settled + sum(archive.status == "skipped" for archive in archives),
        clusters_settled=settled,
        clusters_compressed=len(compressed),
        clusters_failed=sum(archive.status == "failed" for archive in archives),
        duplicates_archived=sum(relation == "duplicate" for _, relation in rows),
        proposals=max(proposed, mine),
        memories_archived=len(rows),
        abstractions_created=len(compressed),
        patterns_created=len(ratios) + established,
        policies=_count_by_policy(night, clusters, archives),
        series_created=sum(not entry.updated for entry in series),
        series_updated=sum(entry.updated for entry in series),
        readings_archived=sum(entry.archived for entry in series),
        readings_breaking=sum(len(entry.breaking_ids) for entry in series),
        series=series,
        atoms_created=sum(decision.status == "created" for decision in atoms),
        atoms_enriched=sum(decision.status == "strengthened" for decision in atoms),
        atoms_skipped=sum(decision.status == "skipped" for decision in atoms),
        atoms_not_causal=sum(decision.status == "not_causal" for decision in atoms),
        atoms=tuple(_atom_words(decision, decision.causal) for decision in atoms if decision.causal)[:_EXAMPLES],
        playbook_created=sum(c.status == "created" for c in guidance),
        playbook_updated=sum(c.status == "updated" for c in guidance),
        active_memories=facts["active"],
        tokens_before=before,
        tokens_after=after,
        tokens_without=tokens_without,
        token_reduction_pct=round(100 * (before - after) / before, 2) if before else 0.0,
        avg_compression_ratio=round(sum(ratios) / len(ratios), 2) if ratios else 0.0,
        max_compression_ratio=round(max(ratios, default=0.0), 2),
        min_compression_ratio=round(min(ratios, default=0.0), 2),
        **_bill(night.settings, session_of(night).calls(), waiting),
        facts_found=preserved.found,
        facts_kept=preserved.kept,
        facts_attached=preserved.attached,
        facts_lost=tuple(lost[:_EXAMPLES]),
        preservation_rate=(
            round((preserved.kept + preserved.attached) / preserved.found, 4) if preserved.found else None
        ),
        conflicts_known=len(conflicts),
        conflicts=_conflict_words(night, conflicts),
        refusals=_refusals(archives),
        sources_sha256=sources,
        store=StoreFacts.model_validate({**facts, "conflicts": len(conflicts)}),
        largest_clusters=_examples(night, outcome.distillations, archives),
        recall_found=recall.found,
        recall_sampled=recall.asked,
        recall_rate=round(recall.found / recall.asked, 4) if recall.asked else None,
        recall_missed=recall.missed[:_EXAMPLES],
    )


def read_clusters(
    tx: Transaction, log: Sequence[LogRow], archived: set[str], archives: Sequence[Archive] = ()
) -> list[Archive]:
    """The clusters of a run. The log decides which ones are compressed, whatever the steps returned; other results
    come from the steps, and from the log for clusters that only the log has."""
    logged = {(row.policy, row.cluster_fingerprint): row for row in log}
    done = {key for key, row in logged.items() if row.status == "compressed"}
    clusters = [
        archive
        for archive in archives
        if archive.status != "compressed" or (archive.cluster.policy, archive.cluster.fingerprint) in done
    ]
    known = {(archive.cluster.policy, archive.cluster.fingerprint) for archive in clusters}
    missing = [row for key, row in logged.items() if key not in known and row.policy not in _NO_CLUSTERS]
    return [*clusters, *(_from_log(tx, row, archived) for row in missing)]


def _from_log(tx: Transaction, row: LogRow, archived: set[str]) -> Archive:
    """A cluster according to its row and lineage; one that was not compressed has no members there."""
    made = (
        tx.memories.read([row.compressed_memory_id]).get(row.compressed_memory_id) if row.compressed_memory_id else None
    )
    links = [link for link in tx.lineage.of([made.id] if made else []) if link.relation not in BESIDE]
    members = tx.memories.read([link.source_id for link in links])
    sources = tx.memories.read(tx.lineage.told_by([made.id]).get(made.id, [])) if made else {}
    facts = check_preservation([memory.content for memory in sources.values()], made.content, ()) if made else None
    tokens = sum(memory.token_count for memory in members.values())
    kept = (facts.found, facts.kept, facts.attached) if facts else ()
    return Archive(
        _read_cluster(row, made, list(members.values()), [link.similarity for link in links]),
        row.status,
        row.reason,
        row.compressed_memory_id,
        archived_ids=tuple(sorted(members.keys() & archived)),
        measured=Measured.of(tokens, made.token_count if made else 0, *kept),
    )


def _read_cluster(
    row: LogRow, made: Memory | None, members: Sequence[Memory], similarities: Sequence[float]
) -> Cluster:
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


def _count_by_policy(
    night: Night, clusters: Sequence[Cluster], archives: Sequence[Archive]
) -> tuple[PolicyReport, ...]:
    """One section per policy, in the order in which they ran."""
    sections = []
    for policy in night.policies:
        mine = [archive for archive in archives if archive.cluster.policy == policy.name]
        settled = sum(archive.status == "settled" for archive in mine)
        settled += sum(cluster.settled is not None for cluster in clusters if cluster.policy == policy.name)
        done = [archive for archive in mine if archive.status == "compressed"]
        sections.append(
            PolicyReport.of_record(
                policy,
                policy=policy.name,
                clusters_found=settled + sum(archive.status != "settled" for archive in mine),
                settled=settled,
                **{name: sum(archive.status == name for archive in mine) for name in _OUTCOMES},
                memories_archived=sum(len(archive.archived_ids) for archive in done),
                tokens_before=sum(archive.measured.tokens_before for archive in done),
                tokens_after=sum(archive.measured.tokens_after for archive in done),
            )
        )
    return tuple(sections)


def _series(night: Night, compressed: Sequence[Archive]) -> tuple[SeriesReport, ...]:
    """The series memories among the results, with what their rows say."""
    mine = {a.abstraction_id: a for a in compressed if a.abstraction_id and a.cluster.policy == SERIES}
    made = night.memories(mine)
    facts = {i: found for i, memory in made.items() if (found := facts_in(memory.compressed_from or "")) is not None}
    memories = night.memories(
        {i for archive in mine.values() for i in archive.member_ids}
        | {i for series_facts in facts.values() for i in series_facts.breaking_ids}
    )
    return tuple(
        SeriesReport.of_record(
            series_facts,
            memory_id=i,
            project_id=made[i].project_id,
            content=visible(made[i].content),
            updated=any(memories[m].source.connector == MADE for m in mine[i].member_ids if m in memories),
            archived=sum(memories[m].source.connector != MADE for m in mine[i].archived_ids if m in memories),
            breaking=tuple(visible(memories[m].content) for m in series_facts.breaking_ids if m in memories),
        )
        for i, series_facts in sorted(facts.items())
    )


def _conflict_words(night: Night, groups: Sequence[Sequence[ConflictCase]]) -> tuple[ConflictReport, ...]:
    clearest = [(group[0].conflict, group[0].id, len(group) - 1) for group in groups[:_EXAMPLES]]
    with night.store.reading() as tx:
        memories = tx.memories.read_as_last_told(
            {side for conflict, _, _ in clearest for side in (conflict.a, conflict.b)}
        )
    return tuple(
        ConflictReport.of_record(
            conflict,
            id=conflict_id,
            a_says=visible(with_subject(memories[conflict.a])),
            b_says=visible(with_subject(memories[conflict.b])),
            newer=newer.id if (newer := later_of(memories[conflict.a], memories[conflict.b])) else None,
            alike=alike,
        )
        for conflict, conflict_id, alike in clearest
    )


def _refusals(archives: Sequence[Archive]) -> dict[str, int]:
    """The number of stopped clusters by kind of reason; the kind is the reason up to its first figure."""
    reasons = (a.reason for a in archives if a.status not in ("compressed", "settled") and a.reason)
    kinds = (reason.split(":")[0].split(" (")[0] for reason in reasons)
    return dict(sorted(Counter(_MEASURED.sub(r"\1 too low", kind) for kind in kinds).items()))


def _count_waiting(night: Night, tx: Transaction) -> Waiting:
    """The notes and turns that no model has read, though one might; with a model, no notes that are left out for good.
    Of what a preview asks about nothing is written, so that after it nothing is known to wait."""
    if night.options.dry_run and model_reads(night.settings) and session_of(night).calls():
        return Waiting()
    turns, days, spoken = tx.conversations.count_unasked(night.options.partition)
    if model_reads(night.settings):
        unread = find_unread(night, ANY_ROOM)
        notes, tokens = sum(len(group.memories) for group in unread), sum(group.tokens for group in unread)
    else:
        notes, tokens = tx.readings.count_unread(created_before=night.fresh_after, as_of=night.as_of)
    return Waiting(notes, turns, days, tokens + spoken)


def _notes_read(archives: Sequence[Archive], log: Sequence[LogRow]) -> dict[str, int]:
    """Counts the notes that were read, and the statements that were kept of them and left out."""
    mine = [archive for archive in archives if archive.cluster.policy in (READING, DIGEST)]
    read = {row.cluster_fingerprint for row in log if row.policy == READ}
    read |= {fingerprint_of((i,)) for archive in mine for i in archive.member_ids}
    repeated = sum(row.member_count for row in log if row.policy == REPEATED)
    return {
        "notes_read": len(read) + repeated,
        "statements_made": sum(
            archive.cluster.policy == READING and archive.status in ("compressed", "proposed") for archive in mine
        ),
        "statements_refused": sum(row.policy == REFUSED for row in log),
    }


def _bill(settings: Settings, calls: Sequence[ModelCall], waiting: Waiting) -> dict[str, Any]:
    """The model calls and their cost, from the recorded calls; a cached answer is not a call."""
    sent = [call for call in calls if call.mode != "cache"]
    latencies = sorted(call.latency_ms for call in sent if call.outcome == "answered")
    return {
        "total_llm_calls": len(sent),
        "total_llm_input_tokens": sum(call.input_tokens for call in sent),
        "total_llm_output_tokens": sum(call.output_tokens for call in sent),
        "estimated_cost_usd": round(sum(call.cost_usd for call in sent), 6),
        "llm_calls_failed": sum(call.outcome != "answered" for call in sent),
        "llm_answers_reused": sum(call.mode == "cache" for call in calls),
        "llm_latency_ms": latencies[len(latencies) // 2] if latencies else None,
        "llm_models": sorted({call.model for call in sent}),
        "read_by": describe_reader(settings, calls, waiting),
        "masked_secrets": sum(call.masked_secrets for call in sent),
        "masked_personal": sum(call.masked_personal for call in sent),
    }


def _atom_words(decision: AtomDecision, causal: Causal) -> AtomReport:
    return AtomReport.of_record(decision, **{name: visible(text) for name, text in asdict(causal).items()})


def _examples(
    night: Night, distillations: Sequence[Distillation], archives: Sequence[Archive]
) -> tuple[ClusterReport, ...]:
    """The largest clusters and statements, with their members' content and their results; readings of series are told
    as series, and the digests of routine are left out."""
    drafts = {distillation.id: distillation.content for distillation in distillations}
    worked_on = [
        archive
        for archive in archives
        if archive.status != "settled"
        and archive.cluster.policy not in (DIGEST, ESTABLISHED)
        and (archive.cluster.policy, archive.status) != (SERIES, "compressed")
    ]
    largest = sorted(worked_on, key=lambda archive: (-len(archive.member_ids), archive.cluster.fingerprint))[:LARGEST]
    made = {archive.abstraction_id for archive in largest if archive.abstraction_id}
    memories = night.memories(made | {i for archive in largest for i in archive.member_ids})
    examples = []
    for archive in largest:
        measured = archive.measured
        ids = sorted(archive.member_ids, key=lambda i: (memories[i].effective_date, i))
        made_of_it = memories.get(archive.abstraction_id or "")
        examples.append(
            ClusterReport.of_record(
                archive.cluster,
                member_ids=tuple(ids),
                members=tuple(visible(with_subject(memories[i])) for i in ids),
                avg_similarity=round(archive.cluster.avg_similarity, 3),
                min_similarity=round(archive.cluster.min_similarity, 3),
                status=archive.status,
                reason=archive.reason,
                abstraction_id=archive.abstraction_id,
                abstraction=visible(drafts.get(archive.id) or (made_of_it.content if made_of_it else "")),
                compression_ratio=round(measured.compression_ratio, 2),
                facts=f"{measured.facts_kept}+{measured.facts_attached}/{measured.facts_found}",
            )
        )
    return tuple(examples)


def _recall(night: Night, archived: Sequence[str]) -> RecallCheck:
    if any(error.stage == "embed" for error in night.errors):
        return RecallCheck()  # an unreachable query is skipped; the report gives the reason
    try:
        return check_recall(night, archived)
    except Exception as error:  # a failing check never prevents the report; the error is in it
        night.note_error("", "recall", error)
        return RecallCheck()
