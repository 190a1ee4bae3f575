"""Creates the report of a run, with a verdict, computed from the rows it wrote: JSON, a page to read, and a notice.

Jobs, duplicate-only runs and approvals have reports with the same fields and their own `kind`. A run that breaks off
is reported too, and a file that cannot be written is an error in the report, not the end of the run.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from memory_pipeline.config.night import RECALL_FLOOR
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.counting import NO_OUTCOME, NightOutcome, count_run
from memory_pipeline.consolidation.eligibility import too_few
from memory_pipeline.errors import OutputError
from memory_pipeline.files.writing import append_line, directories
from memory_pipeline.killpoints import reached
from memory_pipeline.records import NightError, Notice, Verdict, derived_id
from memory_pipeline.reporting.model import CountedRun, ErrorReport, Kind, NightFigures, Report
from memory_pipeline.reporting.pages import write_report_files
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.quoting import clipped

RECIPIENT = "all"
LONG_RUN_MS = 30 * 60 * 1000
_KINDS_TOLD, _MOST_ERROR = 3, 200
#: Steps beside the compression: what fails there costs itself, and is told. Without any result, it is no failure of the
#: night.
_BESIDE: Mapping[str, Callable[[Sequence[NightError]], str]] = {
    "conversations": lambda errors: f"{how_many(len(errors), 'file or day', 'files or days')} of conversations failed",
    "sources": lambda errors: f"{how_many(len(errors), 'source')} could not be read",
}
#: Steps that fail if the model cannot be asked, by what it then has not read.
_OF_MODEL = {"extraction": "conversations", "read": "notes"}


def report_run(
    night: Night, kind: Kind, started_at: datetime, outcome: NightOutcome = NO_OUTCOME, fatal: str | None = None
) -> Report:
    """Count and judge a run; unless it is a dry run, write the files, store the report and send the notice.

    The files come first, so that an error while writing them is in the stored report. A run that is no night, changed
    nothing and had no error is neither stored nor announced. `fatal`: the error that ended it early, which the caller
    prints; then the verdict is FAIL, and everything done before is reported according to the rows.
    """
    if fatal is None:
        night.hold_lease()
    else:
        night.note_error("", "night", fatal, is_logged=False)
    report = _judged(night, count_run(night, kind, outcome, started_at), fatal)
    finished = datetime.now(UTC)
    took = int((finished - started_at).total_seconds() * 1000)
    report = report.model_copy(update={"finished_at": finished, "duration_ms": took})
    if kind != "night" and report.verdict == "IDLE":
        return report
    history = _history(night.store, report)
    try:
        write_report_files(night.settings.reports_path, report, history)
    except (OSError, OutputError) as error:
        night.note_error("", "report", f"cannot write the report's files to {night.settings.reports_path}: {error}")
        report = _judged(night, report, fatal)
    notice = make_notice(report, finished)
    with night.writing() as tx:
        tx.journal.keep_report(report.run_id, report.partition, report.verdict, report.as_json(), finished)
        is_new = tx.journal.keep_notice(notice)
    if is_new and not night.options.dry_run:
        deliver_notice(night, notice)
    return report


def render_changed_reports(store: Store, directory: Path, sign: str) -> None:
    """Write the pages of every report again whose JSON holds some words, as after they were put into it."""
    for path in sorted(directory.glob("compression-*.json")):
        text = path.read_text(encoding="utf-8")
        if sign in text:
            report = Report.read_kept(json.loads(text))
            write_report_files(directory, report, _history(store, report))


def _history(store: Store, report: Report) -> list[NightFigures]:
    """The values to plot: the last nights and this run, by day."""
    with store.reading() as tx:
        known = [NightFigures.read_kept(row) for row in tx.journal.reports()]
    nights = [night for night in known if night.partition != report.partition]
    return sorted([*nights, NightFigures.of_record(report)], key=lambda night: night.partition)


def _judged(night: Night, counted: CountedRun, fatal: str | None) -> Report:
    """The report: the figures, the errors, and the resulting verdict."""
    with night.store.reading() as tx:
        errors = tx.journal.errors_of(counted.run_id)
    is_night = counted.kind == "night"
    by_stage = {stage: [error for error in errors if error.stage == stage] for stage in _BESIDE}
    is_done = counted.clusters_compressed or counted.duplicates_archived or counted.entries_changed
    counted_errors = len(errors) if is_done else sum(error.stage not in _BESIDE for error in errors)
    strict = night.settings.report.strict_verdict and is_night
    verdict, reason = decide_verdict(counted, counted_errors, strict=strict, fatal=fatal)
    if is_night and not counted.memories_scanned and not counted_errors and verdict not in ("PASS", "PARTIAL"):
        reason = too_few(night) or reason
    if verdict in ("IDLE", "FAIL") and counted.turns_read:
        reason += f"; {how_many(counted.turns_read, 'turn')} of conversations read, {counted.extractions_kept:,} kept"
    for stage, what in _OF_MODEL.items():
        if unasked := [error for error in errors if error.stage == stage]:
            why = clipped(unasked[0].error, _MOST_ERROR).rstrip(".")
            reason += f"; the model could not be asked about {what}: {why}"
    if not counted_errors:
        reason += "".join(f", and {_BESIDE[stage](some)}" for stage, some in sorted(by_stage.items()) if some)
    rate = counted.recall_rate
    if rate is not None and rate < RECALL_FLOOR and verdict == "PASS":
        verdict = "PARTIAL"
        subject = "that it would archive could" if counted.dry_run else "archived memories can"
        reason += f", but only {counted.recall_found} of {counted.recall_sampled} {subject} be found again"
    error_reports = tuple(map(ErrorReport.of_record, errors))
    return Report.of_record(counted, errors=error_reports, verdict=verdict, verdict_reason=reason)


def decide_verdict(counted: CountedRun, errors: int, *, strict: bool, fatal: str | None = None) -> tuple[Verdict, str]:
    """PASS, PARTIAL, FAIL or IDLE, with the reason.

    Exact duplicates and entries of sources that have new words count as compressed. Clusters that were decided on an
    earlier night count as not found, and being declined is not an error. `fatal`: the error that ended the run early.
    The reason of a dry run says what would be done.
    """
    would = "would be " if counted.dry_run else ""
    compressed, copies, edits = counted.clusters_compressed, counted.duplicates_archived, counted.entries_changed
    parts = [f"{how_many(compressed, 'cluster')} {would}compressed"] if compressed else []
    parts += [f"{how_many(copies, 'exact duplicate')} {would}archived"] if copies else []
    parts += [f"{how_many(edits, 'edit')} of a source {would}followed"] if edits else []
    done = ", ".join(parts)
    if fatal:
        return "FAIL", f"fatal error: {fatal}"[:500]
    if done:
        return ("PARTIAL", f"{done}, {how_many(errors, 'error')}") if errors else ("PASS", done)
    if errors:
        return "FAIL", f"no cluster compressed, {how_many(errors, 'error')}"
    return ("FAIL" if strict else "IDLE"), _idle(counted)


def _idle(counted: CountedRun) -> str:
    clusters, settled, proposed = counted.clusters_found, counted.clusters_settled, counted.proposals
    if proposed:
        return f"{how_many(proposed, 'proposal')} await{'s' if proposed == 1 else ''} review"
    if clusters > settled:
        refusals = sorted(counted.refusals.items(), key=lambda item: (-item[1], item[0]))
        words = ", ".join(f"{kind} ({number})" for kind, number in refusals[:_KINDS_TOLD])
        more = f" and {len(refusals) - _KINDS_TOLD} other reasons" if len(refusals) > _KINDS_TOLD else ""
        return f"{how_many(clusters - settled, 'cluster')} declined: {words or 'no reason was given'}{more}"
    if settled:
        which = {1: "the only cluster was", 2: "both clusters were"}.get(settled, f"all {settled} clusters were")
        return f"{which} decided on an earlier night"
    return "no memory was eligible" if not counted.memories_scanned else "no cluster was found"


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


def make_notice(report: Report, at: datetime) -> Notice:
    """The notice of a night: it asks for action if the night requires it."""
    grew = report.token_reduction_pct < 0 and not report.turns_read  # what is kept of turns stands beside them
    needs_action = report.errors or report.verdict == "FAIL" or grew or report.duration_ms > LONG_RUN_MS
    return Notice(
        id=derived_id("notice", report.run_id, report.verdict),
        run_id=report.run_id,
        recipient=RECIPIENT,
        priority="action" if needs_action else "info",
        subject=f"COMPRESSION RUN {report.verdict}: {report.abstractions_created} abstractions, "
        f"{report.token_reduction_pct}% token reduction",
        body=f"{report.verdict_reason}. {report.read_by} Partition {report.partition}, "
        f"{report.memories_archived} memories archived, {len(report.errors)} errors."
        + (f" The first: {report.errors[0].stage}: {report.errors[0].error[:500]}" if report.errors else ""),
        created_at=at,
    )


def announce_failed_run(night: Night, name: str, message: str) -> None:
    """Announce a failed run that is not a night, unless it has a report or was announced."""
    with night.store.reading() as tx:
        if tx.journal.report(night.run_id) is not None:
            return
    notice = Notice(
        id=derived_id("notice", night.run_id, "failed"),
        run_id=night.run_id,
        recipient=RECIPIENT,
        priority="action",
        subject=f"RUN FAILED: {name}",
        body=f"{message[:1000]}. What it had committed stays; see the run in Dagster.",
        created_at=datetime.now(UTC),
    )
    with night.writing() as tx:
        is_new = tx.journal.keep_notice(notice)
    if is_new:
        deliver_notice(night, notice)


def deliver_notice(night: Night, notice: Notice) -> None:
    """Add a notice from the outbox to the file, then try the URLs; a failed delivery never fails the night."""
    line = json.dumps({**asdict(notice), "created_at": notice.created_at.isoformat()}, sort_keys=True)
    path, problems = night.settings.reports_path / "notices.jsonl", []
    try:
        with directories(path.parent):
            append_line(path, line)
    except OutputError as error:  # the notice stays in the outbox, with the reason
        problems.append(str(error))
        night.log.warning("the notice is only in the store's outbox: %s", error)
    reached("notice.written")
    if night.settings.notices.urls:
        problems += filter(None, [_deliver(night.settings.notices.urls, notice)])
    if problems or night.settings.notices.urls:
        with night.store.writing(night.holder, notice.run_id) as tx:
            tx.journal.note_delivery(notice.id, datetime.now(UTC), "; ".join(problems) or None)


def _deliver(urls: tuple[str, ...], notice: Notice) -> str | None:
    """Delivers the notice. Returns the reason why it was not delivered, or None. URLs may contain secrets, so they are
    never repeated here."""
    import apprise

    channel = apprise.Apprise()
    refused = sum(not channel.add(url) for url in urls)
    sent = bool(len(channel)) and channel.notify(title=notice.subject, body=notice.body)
    if sent and not refused:
        return None
    why, mend = "a channel did not accept it", "check the setting notices.urls and the channel itself"
    if refused:
        why, mend = f"invalid: {refused} of {how_many(len(urls), 'URL')}", "check the setting notices.urls"
    error = f"the notice was not delivered everywhere ({why}); {mend}"
    logging.getLogger(__name__).warning("%s", error)
    return error
