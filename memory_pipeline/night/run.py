"""A whole night in one call: the same steps that the Dagster assets run, for previews, tests and scripts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from memory_pipeline.errors import in_words
from memory_pipeline.night.archive import archive_distillations
from memory_pipeline.night.atoms import grow_atoms
from memory_pipeline.night.clustering import cluster_memories
from memory_pipeline.night.context import Night
from memory_pipeline.night.distillation import distill_clusters
from memory_pipeline.night.duplicates import archive_duplicates
from memory_pipeline.night.eligibility import select_eligible
from memory_pipeline.night.levels import consolidate, what_is_left
from memory_pipeline.night.playbook import update_playbook
from memory_pipeline.night.principles import form_principles
from memory_pipeline.night.similarity import find_similar
from memory_pipeline.records import PrincipleResult
from memory_pipeline.reporting.report import Kind, NightOutcome, Report, failed_night, report_night
from memory_pipeline.store import create_snapshot


def take_snapshot(night: Night) -> str | None:
    """The snapshot before the night; None in a dry run, whose store is a copy already."""
    if night.is_preview:
        return None
    night.hold_lease()
    kept = night.settings.store.snapshots_kept
    return create_snapshot(night.store, "night", datetime.now(UTC), kept).name


def run_night(night: Night) -> Report:
    """Run every step in order and return the report. The lease goes back however the night ends.

    A night that breaks off is reported with what it had done, and raises what ended it. Raises StoreBusyError, without
    a report, when another run holds the store.
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
        for outcome in _steps(night):  # noqa: B007 - the last one that was reached is reported
            pass
        return report_night(night, outcome, started)
    except Exception as error:
        report_failure(night, error, started, outcome)
        raise


def report_failure(
    night: Night, error: Exception, started: datetime, outcome: NightOutcome | None = None, kind: Kind = "night"
) -> None:
    """Report a run that an error ended. Where the store cannot take the report, the log says so, and the error that
    ended the run stays the one that is raised."""
    try:
        failed_night(night, in_words(error), started, outcome, kind)
    except Exception:
        night.log.exception("the run could not be reported")


def _steps(night: Night) -> Iterator[NightOutcome]:
    """The steps of a night; after each, what the steps so far handed on."""
    take_snapshot(night)
    done = NightOutcome(duplicates=(duplicates := archive_duplicates(night)))
    yield done
    done = replace(done, eligible=(eligible := select_eligible(night, duplicates)))
    yield done
    edges = find_similar(night, eligible)
    merges = consolidate(night, "merge", eligible, edges)
    yield (done := replace(done, archives=merges))
    canonical = consolidate(night, "canonical", eligible, edges, merges)
    yield (done := replace(done, archives=[*merges, *canonical]))
    clusters = cluster_memories(night, *what_is_left(night, eligible, edges, [*merges, *canonical]))
    distillations = distill_clusters(night, clusters)
    yield (done := replace(done, clusters=clusters, distillations=distillations))
    archives = archive_distillations(night, distillations)
    yield (done := replace(done, archives=[*merges, *canonical, *archives]))
    yield (done := replace(done, atoms=grow_atoms(night)))
    yield replace(done, guidance=update_playbook(night))


def run_week(night: Night) -> list[PrincipleResult]:
    """What is made of a week as of its end: its principles, and what they add to the playbook."""
    results = form_principles(night)
    update_playbook(night)
    return results
