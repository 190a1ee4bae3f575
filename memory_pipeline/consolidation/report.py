"""Creates the report of a night, computed from the rows it wrote: JSON, a page to read, and a notice.

Jobs, duplicate-only runs and approvals have reports with the same fields and their own `kind`. A run that breaks off
is reported too, and a file that cannot be written is an error in the report, not the end of the run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.counting import count_run
from memory_pipeline.consolidation.notices import deliver_notice, make_notice
from memory_pipeline.consolidation.outcome import NightOutcome, closing_line, decide_verdict, judge, tally_of
from memory_pipeline.consolidation.plan import NightPlan
from memory_pipeline.errors import OutputError
from memory_pipeline.records import NightError
from memory_pipeline.reporting.model import Kind, NightFigures, Report
from memory_pipeline.reporting.pages import safe_name, write_report_files
from memory_pipeline.store import Store

__all__ = [
    "Kind",
    "NightOutcome",
    "Report",
    "closing_line",
    "decide_verdict",
    "failed_night",
    "report_night",
    "report_run",
    "safe_name",
    "write_report_files",
]


def report_night(night: Night, outcome: NightOutcome, started_at: datetime) -> Report:
    """Count, judge, write and announce the night. Returns the report."""
    return _report(night, "night", outcome, started_at)


def report_run(
    night: Night, kind: Kind, started_at: datetime, outcome: NightOutcome | None = None, fatal: str | None = None
) -> Report:
    """The report of a run that is not a night, with the same fields, stored and announced in the same way.

    A run that changed nothing and had no error is neither stored nor announced. `fatal`: the error that ended it
    early.
    """
    return _report(night, kind, outcome or NightOutcome(), started_at, fatal)


def failed_night(
    night: Night, error: str, started_at: datetime, outcome: NightOutcome | None = None, kind: Kind = "night"
) -> Report:
    """The report of a night that a fatal error ended: verdict FAIL, and everything done before, according to the
    rows.

    `outcome`: the results of its steps so far. The caller prints the error.
    """
    night.note_error("", "night", error, tell=False)
    return _report(night, kind, outcome or NightOutcome(), started_at, error)


def _report(night: Night, kind: Kind, outcome: NightOutcome, started_at: datetime, fatal: str | None = None) -> Report:
    """Count and judge the run; unless it is a dry run, write the files, store the report and send the notice.

    The files come first, so that an error while writing them is in the stored report.
    """
    if fatal is None:
        night.hold_lease()
    counted = count_run(night, kind, outcome, tally_of(night.store, night.plan, outcome), started_at)
    report = judge(night.store, night.plan, counted, _errors_of(night.store, night.plan), fatal)
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
        report = judge(night.store, night.plan, report, _errors_of(night.store, night.plan), fatal)
    _keep(night, report)
    return report


def _errors_of(store: Store, plan: NightPlan) -> Sequence[NightError]:
    with store.reading() as tx:
        return tx.journal.errors_of(plan.run_id)


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
        known = [NightFigures.read_kept(kept) for kept in tx.journal.reports()]
    nights = [night for night in known if night.partition != report.partition]
    return sorted([*nights, NightFigures.of(report)], key=lambda night: night.partition)


def _keep(night: Night, report: Report) -> None:
    """Store the report, and announce it unless that was done before; a dry run is not announced."""
    run_id, finished = night.options.run_id, report.finished_at
    notice = make_notice(report, finished)
    with night.store.writing(night.holder, run_id) as tx:
        tx.journal.keep_report(run_id, night.options.partition, report.verdict, report.as_json(), finished)
        is_new = tx.journal.keep_notice(notice)
    if is_new and not night.is_preview:
        deliver_notice(night, notice)
