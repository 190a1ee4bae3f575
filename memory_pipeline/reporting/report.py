"""Last step: what the night did, computed from the rows it wrote - JSON, a page to read, and a notice.

Jobs, the duplicates alone and approvals have reports of the same fields, each of its own `kind`. A run that breaks off
is reported too, and a file that cannot be written is an error in the report, not the end of the run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal

from memory_pipeline.errors import OutputError
from memory_pipeline.files import begins_with, directories, write_text
from memory_pipeline.night.context import Night
from memory_pipeline.night.distillation import answer_book
from memory_pipeline.night.eligibility import too_few
from memory_pipeline.night.preservation_check import measure_preservation
from memory_pipeline.night.recall_check import RECALL_FLOOR, check_recall
from memory_pipeline.records import (
    Archive,
    AtomDecision,
    Cluster,
    Conflict,
    Distillation,
    ModelCall,
    NightError,
    derived_id,
)
from memory_pipeline.reporting import rendering
from memory_pipeline.reporting.notices import deliver_notice, make_notice
from memory_pipeline.reporting.outcome import NightOutcome, Tally, tally_of
from memory_pipeline.reporting.verdict import closing_line, decide_verdict
from memory_pipeline.review.conflicts import group_conflicts
from memory_pipeline.store import (
    errors_of_run,
    keep_notice,
    keep_report,
    open_conflicts,
    report_history,
    sources_fingerprint,
    store_facts,
)
from memory_pipeline.wording.hidden import visible

Report = dict[str, Any]
_EXAMPLES = 20
_OUTCOMES = ("compressed", "skipped", "failed", "proposed")


Kind = Literal["night", "duplicates", "job", "review", "canonical", "principles"]

__all__ = [
    "Kind",
    "NightOutcome",
    "Report",
    "closing_line",
    "decide_verdict",
    "failed_night",
    "latest_complete_day",
    "report_night",
    "report_run",
    "safe_name",
    "write_report_files",
]


def report_night(night: Night, outcome: NightOutcome, started_at: datetime) -> Report:
    """Count, judge, write and announce the night. Returns the report of requirement 7.1."""
    return _report(night, "night", outcome, started_at)


def report_run(
    night: Night, kind: Kind, started_at: datetime, outcome: NightOutcome | None = None, fatal: str | None = None
) -> Report:
    """The report of a run that is no night, with the same fields, kept and announced in the same way.

    Of a run that changed nothing and met no error nothing is kept or told. `fatal`: what ended it before its end.
    """
    return _report(night, kind, outcome or NightOutcome(), started_at, fatal)


def failed_night(
    night: Night, error: str, started_at: datetime, outcome: NightOutcome | None = None, kind: Kind = "night"
) -> Report:
    """The report of a night that a fatal error ended: verdict FAIL, and whatever it had done before, by the rows.

    `outcome`: what its steps had handed on by then. Whoever ends the run tells of the error.
    """
    night.note_error("", "night", error, tell=False)
    return _report(night, kind, outcome or NightOutcome(), started_at, error)


def _report(night: Night, kind: Kind, outcome: NightOutcome, started_at: datetime, fatal: str | None = None) -> Report:
    if fatal is None:
        night.hold_lease()
    tally = tally_of(night, outcome)
    found, sampled = _recall(night, tally)
    with night.store.reading() as tx:
        errors = errors_of_run(tx, night.options.run_id) if not night.options.dry_run else list(night.errors)
        report = _count(night, kind, outcome, tally, started_at)
        report["largest_clusters"] = _examples(night, outcome.clusters, outcome.distillations, tally.archives)
    report["recall_found"], report["recall_sampled"] = found, sampled
    report["recall_rate"] = round(found / sampled, 4) if sampled else None
    _judge(night, report, errors, fatal)
    _finish(night, report, fatal)
    return report


def _recall(night: Night, tally: Tally) -> tuple[int, int]:
    if any(error.stage == "embed" for error in night.errors):
        return 0, 0  # what cannot be asked is not checked; why it cannot is in the report
    try:
        return check_recall(night, tally.archived)
    except Exception as error:  # a check never costs the report; it is in it
        night.log.exception("checking whether what was archived is still found")
        night.note_error("", "recall", error)
        return 0, 0


def _judge(night: Night, report: Report, errors: Sequence[NightError], fatal: str | None) -> None:
    """Put the errors into the report, and the verdict that the figures and they give."""
    report["errors"] = [
        {
            "cluster_id": error.cluster_id,
            "stage": error.stage,
            "error": error.error,
            "timestamp": error.timestamp.isoformat(),
        }
        for error in errors
    ]
    verdict, reason = decide_verdict(
        compressed=report["clusters_compressed"],
        copies=report["duplicates_archived"],
        found=report["clusters_found"],
        settled=report["clusters_settled"],
        errors=len(errors),
        eligible=report["memories_scanned"],
        strict=night.settings.strict_verdict and report["kind"] == "night",
        proposed=report["proposals"],
        refusals=report["refusals"],
        fatal=fatal,
    )
    if (
        not report["memories_scanned"]
        and not errors
        and verdict not in ("PASS", "PARTIAL")
        and report["kind"] == "night"
    ):
        reason = too_few(night) or reason
    rate = report["recall_rate"]
    if rate is not None and rate < RECALL_FLOOR and verdict == "PASS":
        verdict = "PARTIAL"
        found, sampled = report["recall_found"], report["recall_sampled"]
        reason += f", but only {found} of {sampled} archived memories can be found again"
    report["verdict"], report["verdict_reason"] = verdict, reason


def _finish(night: Night, report: Report, fatal: str | None) -> None:
    """Stamp the end; in a real run write the files, keep the report, send the notice.

    The files come first, so that one that cannot be written stands in the report that is kept.
    """
    finished = datetime.now(UTC)
    report["finished_at"] = finished.isoformat()
    report["duration_ms"] = int((finished - datetime.fromisoformat(report["started_at"])).total_seconds() * 1000)
    dry, run_id = night.options.dry_run, night.options.run_id
    if report["kind"] != "night" and report["verdict"] == "IDLE":
        return
    history: list[Report] = []
    if not dry:
        with night.store.reading() as tx:
            history = [known for known in report_history(tx) if known["partition"] != report["partition"]]
        history = sorted([*history, report], key=lambda known: str(known["partition"]))
    try:
        write_report_files(night.settings.reports_path, report, history)
    except (OSError, OutputError) as error:
        night.note_error(
            "", "report", f"the report's files cannot be written to {night.settings.reports_path}: {error}"
        )
        _judge(night, report, night.errors if dry else _errors_of(night), fatal)
    if dry:
        return
    notice = make_notice(report, finished)
    with night.store.writing(night.holder, run_id) as tx:
        keep_report(tx, run_id, night.options.partition, report["verdict"], report, finished)
        is_new = keep_notice(tx, notice)
    if is_new:
        deliver_notice(night, notice)


def _errors_of(night: Night) -> list[NightError]:
    with night.store.reading() as tx:
        return errors_of_run(tx, night.options.run_id)


def _count(night: Night, kind: Kind, outcome: NightOutcome, tally: Tally, started_at: datetime) -> Report:
    clusters, archives, atoms = outcome.clusters, tally.archives, tally.atoms
    compressed = [archive for archive in archives if archive.status == "compressed"]
    with night.store.reading() as tx:
        facts = store_facts(tx)
        conflicts = open_conflicts(tx)
        sources = sources_fingerprint(tx)
    before, after = tally.tokens_before, tally.tokens_after
    settled_patterns = sum(cluster.settled is not None for cluster in clusters)
    settled = settled_patterns + sum(archive.status == "settled" for archive in archives)
    patterns = {policy.name for policy in night.policies if policy.method == "distill"}
    ratios = [archive.compression_ratio for archive in compressed if archive.policy in patterns]
    preserved = measure_preservation(night, compressed, outcome.distillations)
    return {
        "run_id": night.options.run_id,
        "kind": kind,
        "partition": night.options.partition.isoformat(),
        "as_of": night.as_of.isoformat(),
        "dry_run": night.options.dry_run,
        "started_at": started_at.isoformat(),
        "finished_at": started_at.isoformat(),
        "duration_ms": 0,
        "rolled_back_at": None,
        "memories_scanned": len(outcome.eligible),
        "clusters_found": settled_patterns + len(archives),
        "clusters_skipped": settled + sum(archive.status == "skipped" for archive in archives),
        "clusters_settled": settled,
        "clusters_compressed": len(compressed),
        "clusters_failed": sum(archive.status == "failed" for archive in archives),
        "duplicates_archived": len(tally.copies),
        "proposals": tally.proposed,
        "memories_archived": len(tally.archived),
        "abstractions_created": len(compressed),
        "patterns_created": len(ratios),
        "policies": _by_policy(night, clusters, archives),
        "atoms_created": sum(decision.status == "created" for decision in atoms),
        "atoms_enriched": sum(decision.status == "strengthened" for decision in atoms),
        "atoms_skipped": sum(decision.status == "skipped" for decision in atoms),
        "atoms_not_causal": sum(decision.status == "not_causal" for decision in atoms),
        "atoms": [_atom_words(decision) for decision in atoms if decision.causal][:_EXAMPLES],
        "playbook_created": sum(c.status == "created" for c in tally.guidance),
        "playbook_updated": sum(c.status == "updated" for c in tally.guidance),
        "active_memories": tally.active,
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
            "a_says": visible(memories[conflict.a].content),
            "b_says": visible(memories[conflict.b].content),
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
        "memory_id": decision.memory_id,
        **dict(zip(names, map(visible, decision.causal), strict=True)),
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
                "member_ids": list(archive.member_ids),
                "members": [visible(memories[i].content) for i in archive.member_ids],
                "member_count": len(archive.member_ids),
                "avg_similarity": round(average, 3),
                "min_similarity": round(least, 3),
                "status": archive.status,
                "reason": archive.reason,
                "abstraction_id": archive.abstraction_id,
                "abstraction": visible(drafts.get(archive.cluster_id) or (made_of_it.content if made_of_it else "")),
                "compression_ratio": round(archive.compression_ratio, 2),
                "facts": f"{archive.facts_kept}+{archive.facts_attached}/{archive.facts_found}",
            }
        )
    return examples


def write_report_files(directory: Path, report: Report, history: Sequence[Report]) -> Path:
    """Write the report as JSON, Markdown and HTML, each whole or not at all; return the JSON's path."""
    stem = f"compression-{safe_name(report['run_id'])}"
    files = {
        f"{stem}.json": (json.dumps(report, indent=2, sort_keys=True, ensure_ascii=False), _is_report),
        f"{stem}.md": (
            rendering.as_markdown(report),
            begins_with(*(f"# {title} " for title in rendering.TITLES.values())),
        ),
        f"{stem}.html": (rendering.as_html(report, history), begins_with(rendering.HTML_START)),
    }
    with directories(directory):
        for name, (text, is_ours) in files.items():
            write_text(directory / name, text, is_ours, place="report.written")
    return directory / f"{stem}.json"


def _is_report(path: Path) -> bool:
    """Whether a file is the JSON of an earlier report."""
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and {"run_id", "verdict"} <= found.keys()


def safe_name(run_id: str) -> str:
    """A run id as part of a file name: letters, digits, hyphens and underscores only."""
    return "".join(c if (c.isalnum() and c.isascii()) or c in "-_" else "_" for c in run_id)[:100]


def latest_complete_day(now: datetime) -> date:
    """The newest UTC day that has ended at `now`."""
    return date.fromordinal(now.astimezone(UTC).date().toordinal() - 1)
