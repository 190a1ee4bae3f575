"""Last step: what the night did, computed from the rows it wrote - JSON, a page to read, and a notice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from memory_pipeline.killpoints import reached
from memory_pipeline.night import pages
from memory_pipeline.night.conflicts import group_conflicts
from memory_pipeline.night.context import Night
from memory_pipeline.night.distillation import answer_book
from memory_pipeline.night.eligibility import too_few
from memory_pipeline.night.notices import deliver_notice, make_notice
from memory_pipeline.night.preservation_check import measure_preservation
from memory_pipeline.night.recall_check import RECALL_FLOOR, check_recall
from memory_pipeline.records import (
    Archive,
    AtomDecision,
    Cluster,
    Conflict,
    Contribution,
    Distillation,
    DuplicateGroup,
    EligibleMemory,
    ModelCall,
    Verdict,
    derived_id,
)
from memory_pipeline.store import (
    active_totals,
    errors_of_run,
    keep_notice,
    keep_report,
    open_conflicts,
    read_memories,
    report_history,
    sources_fingerprint,
    store_facts,
)

Report = dict[str, Any]
_EXAMPLES = 20
_OUTCOMES = ("compressed", "skipped", "failed", "proposed")


@dataclass(frozen=True, slots=True)
class NightOutcome:
    """What the steps of a night came to. `archives`: of every policy; `clusters` and `distillations`: of the
    patterns; `guidance`: what went into the playbook."""

    duplicates: Sequence[DuplicateGroup] = ()
    eligible: Sequence[EligibleMemory] = ()
    clusters: Sequence[Cluster] = ()
    distillations: Sequence[Distillation] = ()
    archives: Sequence[Archive] = ()
    atoms: Sequence[AtomDecision] = ()
    guidance: Sequence[Contribution] = ()


def report_night(night: Night, outcome: NightOutcome, started_at: datetime) -> Report:
    """Count, judge, write and announce the night. Returns the report of requirement 7.1."""
    night.hold_lease()
    archived = [memory_id for archive in outcome.archives for memory_id in archive.archived_ids]
    copies = [i for group in outcome.duplicates if not group.proposed for i in group.duplicate_ids]
    found, sampled = check_recall(night, archived + copies)
    with night.store.reading():
        report = _count(night, outcome, started_at)
        report["largest_clusters"] = _examples(night, outcome.clusters, outcome.distillations, outcome.archives)
    report["recall_found"], report["recall_sampled"] = found, sampled
    report["recall_rate"] = rate = round(found / sampled, 4) if sampled else None
    if rate is not None and rate < RECALL_FLOOR and report["verdict"] == "PASS":
        report["verdict"] = "PARTIAL"
        report["verdict_reason"] += f", but only {found} of {sampled} archived memories can be found again"
    finish_report(night, report)
    return report


def finish_report(night: Night, report: Report) -> None:
    """Stamp the end, and in a real night keep the report, write its files, send the notice."""
    finished = datetime.now(UTC)
    report["finished_at"] = finished.isoformat()
    report["duration_ms"] = int((finished - datetime.fromisoformat(report["started_at"])).total_seconds() * 1000)
    directory = night.settings.reports_path
    if night.options.dry_run:
        write_report_files(directory, report, [])
        return
    with night.store.writing(night.holder, night.options.run_id) as tx:
        keep_report(tx, night.options.run_id, night.options.partition, report["verdict"], report, finished)
        notice = make_notice(report, finished)
        is_new = keep_notice(tx, notice)
        history = report_history(tx)
    write_report_files(directory, report, history)
    if is_new:
        deliver_notice(night, notice)


def failed_night(night: Night, error: str, started_at: datetime) -> Report:
    """The report of a night that a fatal error ended: verdict FAIL, whatever was archived before it kept."""
    night.note_error("", "night", error)
    report = _count(night, NightOutcome(), started_at)
    report["verdict"], report["verdict_reason"] = "FAIL", f"fatal error: {error}"[:500]
    report["recall_found"] = report["recall_sampled"] = 0
    report["recall_rate"], report["largest_clusters"] = None, []
    finish_report(night, report)
    return report


def decide_verdict(
    compressed: int, found: int, settled: int, errors: int, *, eligible: int, strict: bool, proposed: int = 0
) -> tuple[Verdict, str]:
    """PASS, PARTIAL, FAIL or IDLE, and why (requirement 7.2).

    `settled` clusters were decided on an earlier night and count as not found; `proposed` ones wait for
    a person, which is no failure.
    """
    if compressed:
        return (
            ("PARTIAL", f"{compressed} clusters compressed, {errors} errors")
            if errors
            else (
                "PASS",
                f"{compressed} clusters compressed",
            )
        )
    if errors:
        return "FAIL", f"no cluster compressed, {errors} errors"
    if proposed:
        return "IDLE", f"{proposed} proposals await review"
    if found > settled:
        return "FAIL", f"none of {found - settled} clusters could be compressed"
    why = "no memory was eligible" if not eligible else "no cluster was found"
    if settled:
        why = f"all {settled} clusters were decided on an earlier night"
    return ("FAIL" if strict else "IDLE"), why


def _count(night: Night, outcome: NightOutcome, started_at: datetime) -> Report:
    duplicates, clusters, archives = outcome.duplicates, outcome.clusters, outcome.archives
    eligible, atoms = outcome.eligible, outcome.atoms
    compressed = [archive for archive in archives if archive.status == "compressed"]
    with night.store.reading() as tx:
        active, tokens_now = active_totals(tx, night.as_of)
        copies = read_memories(tx, [i for group in duplicates if not group.proposed for i in group.duplicate_ids])
        errors = errors_of_run(tx, night.options.run_id) if not night.options.dry_run else list(night.errors)
        facts = store_facts(tx)
        conflicts = open_conflicts(tx)
        sources = sources_fingerprint(tx)
    saved = sum(a.tokens_before - a.tokens_after for a in compressed) + sum(m.token_count for m in copies.values())
    before, after = (tokens_now, tokens_now - saved) if night.options.dry_run else (tokens_now + saved, tokens_now)
    settled_patterns = sum(cluster.settled is not None for cluster in clusters)
    settled = settled_patterns + sum(archive.status == "settled" for archive in archives)
    found = settled_patterns + len(archives)
    proposed = sum(archive.status == "proposed" for archive in archives) + sum(group.proposed for group in duplicates)
    skipped = settled + sum(archive.status == "skipped" for archive in archives)
    patterns = {policy.name for policy in night.policies if policy.method == "distill"}
    ratios = [archive.compression_ratio for archive in compressed if archive.policy in patterns]
    verdict, reason = decide_verdict(
        len(compressed),
        found,
        settled,
        len(errors),
        proposed=proposed,
        eligible=len(eligible),
        strict=night.settings.strict_verdict,
    )
    if not eligible and not errors:
        reason = too_few(night) or reason
    preserved = measure_preservation(night, compressed, outcome.distillations)
    return {
        "run_id": night.options.run_id,
        "partition": night.options.partition.isoformat(),
        "as_of": night.as_of.isoformat(),
        "dry_run": night.options.dry_run,
        "started_at": started_at.isoformat(),
        "finished_at": started_at.isoformat(),
        "duration_ms": 0,
        "memories_scanned": len(eligible),
        "clusters_found": found,
        "clusters_skipped": skipped,
        "clusters_settled": settled,
        "clusters_compressed": len(compressed),
        "clusters_failed": sum(archive.status == "failed" for archive in archives),
        "duplicates_archived": len(copies),
        "proposals": proposed,
        "memories_archived": sum(len(archive.archived_ids) for archive in compressed) + len(copies),
        "abstractions_created": len(compressed),
        "patterns_created": len(ratios),
        "policies": _by_policy(night, clusters, archives),
        "atoms_created": sum(decision.status == "created" for decision in atoms),
        "atoms_enriched": sum(decision.status == "strengthened" for decision in atoms),
        "atoms_skipped": sum(decision.status == "skipped" for decision in atoms),
        "atoms_not_causal": sum(decision.status == "not_causal" for decision in atoms),
        "atoms": [_atom_words(decision) for decision in atoms if decision.causal][:_EXAMPLES],
        "playbook_created": sum(c.status == "created" for c in outcome.guidance),
        "playbook_updated": sum(c.status == "updated" for c in outcome.guidance),
        "active_memories": active,
        "tokens_before": before,
        "tokens_after": after,
        "token_reduction_pct": round(100 * (before - after) / before, 2) if before else 0.0,
        "avg_compression_ratio": round(sum(ratios) / len(ratios), 2) if ratios else 0.0,
        "max_compression_ratio": round(max(ratios, default=0.0), 2),
        "min_compression_ratio": round(min(ratios, default=0.0), 2),
        **_bill(answer_book(night).calls()),
        "facts_found": preserved.found,
        "facts_kept": preserved.kept,
        "facts_attached": preserved.attached,
        "facts_lost": list(preserved.lost[:_EXAMPLES]),
        "preservation_rate": preserved.rate,
        "conflicts_known": len(conflicts),
        "conflicts": _conflict_words(night, conflicts),
        "refusals": _refusals(archives),
        "sources_sha256": sources,
        "store": facts,
        "errors": [
            {
                "cluster_id": error.cluster_id,
                "stage": error.stage,
                "error": error.error,
                "timestamp": error.timestamp.isoformat(),
            }
            for error in errors
        ],
        "verdict": verdict,
        "verdict_reason": reason,
    }


def _by_policy(night: Night, clusters: Sequence[Cluster], archives: Sequence[Archive]) -> list[Report]:
    """One section a policy, in the order in which they ran."""
    sections = []
    for policy in night.policies:
        mine = [archive for archive in archives if archive.policy == policy.name]
        settled = sum(archive.status == "settled" for archive in mine)
        settled += sum(cluster.settled is not None for cluster in clusters if cluster.policy == policy.name)
        done = [archive for archive in mine if archive.status == "compressed"]
        sections.append(
            {
                "policy": policy.name,
                "method": policy.method,
                "threshold": policy.threshold,
                "group_by": policy.group_by,
                "enabled": policy.enabled,
                "clusters_found": settled + sum(archive.status != "settled" for archive in mine),
                "settled": settled,
                **{name: sum(archive.status == name for archive in mine) for name in _OUTCOMES},
                "memories_archived": sum(len(archive.archived_ids) for archive in done),
                "tokens_before": sum(archive.tokens_before for archive in done),
                "tokens_after": sum(archive.tokens_after for archive in done),
            }
        )
    return sections


def _conflict_words(night: Night, conflicts: Sequence[Conflict]) -> list[Report]:
    groups = group_conflicts(conflicts)[:_EXAMPLES]
    memories = night.memories({i for group in groups for i in (group[0].a, group[0].b)})
    return [
        {
            "id": derived_id("conflict", conflict.a, conflict.b),
            **asdict(conflict),
            "a_says": memories[conflict.a].content,
            "b_says": memories[conflict.b].content,
            "alike": len(group) - 1,
        }
        for group in groups
        for conflict in group[:1]
    ]


def _refusals(archives: Sequence[Archive]) -> dict[str, int]:
    """How often each kind of reason stopped a cluster; the kind is the reason up to its first figure."""
    counts: dict[str, int] = {}
    for archive in archives:
        if archive.status not in ("compressed", "settled") and archive.reason:
            kind = archive.reason.split(":")[0].split(" (")[0]
            kind = "compression ratio too low" if kind.startswith("compression ratio") else kind
            kind = "confidence too low" if kind.startswith("confidence") else kind
            counts[kind] = counts.get(kind, 0) + 1
    return dict(sorted(counts.items()))


def _bill(calls: Sequence[ModelCall]) -> Report:
    """What the model was asked and what it cost, from the recorded calls; a kept answer is no call."""
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
        "masked_secrets": sum(call.masked_secrets for call in sent),
        "masked_personal": sum(call.masked_personal for call in sent),
    }


def _atom_words(decision: AtomDecision) -> dict[str, Any]:
    names = ("subject", "action", "outcome", "consequences")
    return {
        "status": decision.status,
        "reason": decision.reason,
        "atom_id": decision.atom_id,
        **dict(zip(names, decision.causal, strict=True)),
    }


def _examples(
    night: Night, clusters: Sequence[Cluster], distillations: Sequence[Distillation], archives: Sequence[Archive]
) -> list[dict[str, Any]]:
    """The largest clusters with their members' words and what became of them, for a reader."""
    scores = {cluster.cluster_id: (cluster.avg_similarity, cluster.min_similarity) for cluster in clusters}
    drafts = {distillation.cluster_id: distillation.content for distillation in distillations}
    worked_on = [archive for archive in archives if archive.status != "settled"]
    shown = sorted(worked_on, key=lambda archive: (-len(archive.member_ids), archive.fingerprint))[:_EXAMPLES]
    made = {archive.abstraction_id for archive in shown if archive.abstraction_id}
    memories = night.memories(made | {i for archive in shown for i in archive.member_ids})
    examples = []
    for archive in shown:
        average, least = scores.get(archive.cluster_id, (archive.avg_similarity, archive.min_similarity))
        made_of_it = memories.get(archive.abstraction_id or "")
        examples.append(
            {
                "cluster_id": archive.cluster_id,
                "project_id": archive.project_id,
                "policy": archive.policy,
                "members": [memories[i].content for i in archive.member_ids],
                "member_count": len(archive.member_ids),
                "avg_similarity": round(average, 3),
                "min_similarity": round(least, 3),
                "status": archive.status,
                "reason": archive.reason,
                "abstraction": drafts.get(archive.cluster_id) or (made_of_it.content if made_of_it else ""),
                "compression_ratio": round(archive.compression_ratio, 2),
                "facts": f"{archive.facts_kept}+{archive.facts_attached}/{archive.facts_found}",
            }
        )
    return examples


def write_report_files(directory: Path, report: Report, history: Sequence[Report]) -> Path:
    """Write the report as JSON, Markdown and HTML, each whole or not at all; return the JSON's path."""
    directory.mkdir(parents=True, exist_ok=True)
    stem = f"compression-{safe_name(report['run_id'])}"
    files = {
        f"{stem}.json": json.dumps(report, indent=2, sort_keys=True, ensure_ascii=False),
        f"{stem}.md": pages.as_markdown(report),
        f"{stem}.html": pages.as_html(report, history),
    }
    for name, text in files.items():
        partial = directory / f".{name}.partial"
        partial.write_text(text, encoding="utf-8")
        reached("report.written")
        partial.replace(directory / name)
    return directory / f"{stem}.json"


def safe_name(run_id: str) -> str:
    """A run id as part of a file name: letters, digits, hyphens and underscores only."""
    return "".join(c if (c.isalnum() and c.isascii()) or c in "-_" else "_" for c in run_id)[:100]


def closing_line(report: Report) -> str:
    """The last line that the command line prints (requirement 7.5)."""
    if report["dry_run"] and report["clusters_found"]:
        return (
            f"COMPRESSION COMPLETE (DRY RUN): {report['clusters_compressed']} potential clusters, "
            f"{report['memories_archived']} entries would be archived"
        )
    if report["verdict"] == "IDLE" and not report["memories_archived"]:
        return f"COMPRESSION SKIPPED: {report['verdict_reason']}"
    if report["verdict"] == "FAIL" and report["errors"]:
        return f"COMPRESSION BLOCKED: {report['verdict_reason']}"
    return (
        f"COMPRESSION COMPLETE: {report['abstractions_created']} clusters, {report['memories_archived']} archived, "
        f"{report['tokens_before'] - report['tokens_after']} tokens saved"
    )


def latest_complete_day(now: datetime) -> date:
    """The newest UTC day that has ended at `now`."""
    return date.fromordinal(now.astimezone(UTC).date().toordinal() - 1)
