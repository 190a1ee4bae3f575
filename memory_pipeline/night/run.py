"""A whole night in one call: the same steps that the Dagster assets run, for previews, tests and scripts."""

from __future__ import annotations

from datetime import UTC, datetime

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
from memory_pipeline.night.report import NightOutcome, Report, report_night
from memory_pipeline.night.similarity import find_similar
from memory_pipeline.records import PrincipleResult
from memory_pipeline.store import create_snapshot, release_lease


def take_snapshot(night: Night) -> str | None:
    """The snapshot before the night; None in a dry run."""
    if night.options.dry_run:
        return None
    night.hold_lease()
    kept = night.settings.store_snapshots_kept
    return create_snapshot(night.store, "night", datetime.now(UTC), kept).name


def run_night(night: Night) -> Report:
    """Run every step in order and return the report. The lease goes back however the night ends."""
    started = datetime.now(UTC)
    try:
        take_snapshot(night)
        duplicates = archive_duplicates(night)
        eligible = select_eligible(night, duplicates)
        edges = find_similar(night, eligible)
        merges = consolidate(night, "merge", eligible, edges)
        canonical = consolidate(night, "canonical", eligible, edges, merges)
        clusters = cluster_memories(night, *what_is_left(night, eligible, edges, [*merges, *canonical]))
        distillations = distill_clusters(night, clusters)
        archives = archive_distillations(night, distillations)
        atoms = grow_atoms(night, distillations, archives)
        guidance = update_playbook(night)
        outcome = NightOutcome(
            duplicates, eligible, clusters, distillations, [*merges, *canonical, *archives], atoms, guidance
        )
        return report_night(night, outcome, started)
    finally:
        if not night.options.dry_run:
            release_lease(night.store, night.options.run_id)


def run_week(night: Night) -> list[PrincipleResult]:
    """What is made of a week as of its end: its principles, and what they add to the playbook."""
    results = form_principles(night)
    update_playbook(night)
    return results
