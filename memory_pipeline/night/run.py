"""A whole night in one call: the same steps that the Dagster assets run, for previews, tests and scripts."""

from __future__ import annotations

from datetime import UTC, datetime

from memory_pipeline.errors import in_words
from memory_pipeline.night.context import Night
from memory_pipeline.night.order import run_steps
from memory_pipeline.night.playbook import update_playbook
from memory_pipeline.night.principles import form_principles
from memory_pipeline.records import PrincipleResult
from memory_pipeline.reporting.report import Kind, NightOutcome, Report, failed_night, report_night
from memory_pipeline.store import create_snapshot


def take_snapshot(night: Night) -> str | None:
    """The snapshot before the night, taken once; None in a dry run, whose store is already a copy."""
    if night.is_preview or night.snapshot:
        return night.snapshot
    night.hold_lease()
    kept = night.settings.store.snapshots_kept
    night.snapshot = create_snapshot(night.store, "night", datetime.now(UTC), kept).name
    return night.snapshot


def run_night(night: Night) -> Report:
    """Run every step in order and return the report. The lease is released however the night ends.

    A night that breaks off is reported with what it had done, and raises the error that ended it. Raises
    StoreBusyError, without a report, if another run holds the store.
    """
    with night.on_its_store() as tonight, tonight.store.kept_open():
        try:
            tonight.hold_lease()
            return _reported(tonight)
        finally:
            tonight.store.release_lease(tonight.options.run_id)


def _reported(night: Night) -> Report:
    started, outcome = datetime.now(UTC), NightOutcome()
    try:
        take_snapshot(night)
        for values in run_steps(night):
            outcome = NightOutcome.of(values)
        return report_night(night, outcome, started)
    except Exception as error:
        report_failure(night, error, started, outcome)
        raise


def report_failure(
    night: Night, error: Exception, started: datetime, outcome: NightOutcome | None = None, kind: Kind = "night"
) -> None:
    """Report a run that an error ended. If the store cannot store the report, this is logged, and the original error
    is still the one that is raised."""
    try:
        failed_night(night, in_words(error), started, outcome, kind)
    except Exception:
        night.log.exception("the run could not be reported")


def run_week(night: Night) -> list[PrincipleResult]:
    """The weekly step as of the end of a week: its principles, and their contributions to the playbook."""
    results = form_principles(night)
    update_playbook(night)
    return results
