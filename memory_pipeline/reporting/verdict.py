"""The verdict of a run and the last line of the command line, based on figures that were read from its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memory_pipeline.config.night import RECALL_FLOOR
from memory_pipeline.consolidation.eligibility import too_few
from memory_pipeline.consolidation.plan import NightPlan
from memory_pipeline.records import NightError, Verdict
from memory_pipeline.reporting.model import CountedRun, ErrorReport, Report
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many
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
