"""The steps of a night in their order, as the Dagster assets run them; a whole night in one call, for previews, tests
and scripts; and a consolidation job: the levels of a scope, phase by phase. Each phase is independent and finds what is
left to do, so that a stopped, cancelled or retried job continues where it ended."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from memory_pipeline.config.policies import Method
from memory_pipeline.consolidation.archive import archive_distillations
from memory_pipeline.consolidation.atoms import grow_atoms
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.conversations import read_conversations
from memory_pipeline.consolidation.counting import NO_OUTCOME, NightOutcome
from memory_pipeline.consolidation.distillation import consolidate, distill_clusters, not_made_since, what_is_left
from memory_pipeline.consolidation.duplicates import archive_duplicates
from memory_pipeline.consolidation.eligibility import select_eligible
from memory_pipeline.consolidation.growth import cluster_memories
from memory_pipeline.consolidation.imported_notes import import_notes
from memory_pipeline.consolidation.playbook import update_playbook
from memory_pipeline.consolidation.principles import form_principles
from memory_pipeline.consolidation.readings import read_notes
from memory_pipeline.consolidation.report import report_run
from memory_pipeline.consolidation.series import update_series
from memory_pipeline.consolidation.similarity import find_similar
from memory_pipeline.errors import in_words
from memory_pipeline.records import Archive, Cluster, ConversationDay, EligibleMemory, PrincipleResult
from memory_pipeline.reporting.model import Kind, Report
from memory_pipeline.store import create_snapshot


def take_snapshot(night: Night) -> str | None:
    """The snapshot before the night, taken once; None in a dry run, whose store is already a copy."""
    if night.options.dry_run or night.snapshot:
        return night.snapshot
    night.hold_lease()
    snapshots_kept = night.settings.store.snapshots_kept
    night.snapshot = create_snapshot(night.store, "night", datetime.now(UTC), snapshots_kept).name
    return night.snapshot


def run_night(night: Night) -> Report:
    """Run every step in order and return the report. The lease is released however the night ends.

    A night that breaks off is reported with what it had done, and raises the error that ended it. Raises
    StoreBusyError, without a report, if another run holds the store.
    """
    with night.on_its_store() as tonight, tonight.store.kept_open():
        try:
            tonight.hold_lease()
            started, outcome = datetime.now(UTC), NO_OUTCOME
            try:
                take_snapshot(tonight)
                for values in run_steps(tonight):
                    outcome = NightOutcome.of(values)
                return report_run(tonight, "night", started, outcome)
            except Exception as error:
                report_failure(tonight, error, started, outcome)
                raise
        finally:
            tonight.store.release_lease(tonight.options.run_id)


def report_failure(
    night: Night, error: Exception, started: datetime, outcome: NightOutcome = NO_OUTCOME, kind: Kind = "night"
) -> None:
    """Report a run that an error ended. If the store cannot store the report, this is logged, and the original error
    is still the one that is raised."""
    try:
        report_run(night, kind, started, outcome, in_words(error))
    except Exception:
        night.log.exception("the run could not be reported")


def run_week(night: Night) -> list[PrincipleResult]:
    """The weekly step as of the end of a week: its principles, and their contributions to the playbook."""
    results = form_principles(night)
    update_playbook(night)
    return results


@dataclass(slots=True)
class Step:
    """One step of a night. Its name is also that of its asset.

    `needs`: the earlier steps whose values `run` takes after the night, in its order; `after`: the steps that must
    have run, although it reads their results from the store.
    """

    name: str
    run: Callable[..., Any]
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


# The files of assets are checked against the type that the function of their step returns.
def _conversations(night: Night) -> list[ConversationDay]:
    return [day.kept for day in read_conversations(night)]


def _merges(night: Night, eligible: list[EligibleMemory], edges: pa.Table) -> list[Archive]:
    return run_level(night, eligible, edges, method="merge")


def _canonical(night: Night, eligible: list[EligibleMemory], edges: pa.Table, merges: list[Archive]) -> list[Archive]:
    return run_level(night, eligible, edges, merges, method="canonical")


def run_level(
    night: Night, eligible: list[EligibleMemory], edges: pa.Table, earlier: Sequence[Archive] = (), *, method: Method
) -> list[Archive]:
    """Every policy of one method, in order, each on what the previous ones left."""
    done: list[Archive] = []
    for policy in night.policies:
        if policy.method == method:
            left, pairs = _left(night, eligible, edges, [*earlier, *done])
            done += consolidate(night, policy, not_made_since(night, left, policy), pairs)
    return done


def _left(
    night: Night, eligible: list[EligibleMemory], edges: pa.Table, earlier: list[Archive]
) -> tuple[list[EligibleMemory], pa.Table]:
    """The memories left by earlier results, and their pairs: a memory that was just made is compared as well."""
    left = what_is_left(night, eligible, earlier)
    return left, (edges if left is eligible else find_similar(night, left))


def _clusters(
    night: Night, eligible: list[EligibleMemory], edges: pa.Table, merges: list[Archive], canonical: list[Archive]
) -> list[Cluster]:
    return cluster_memories(night, *_left(night, eligible, edges, [*merges, *canonical]))


ORDER: tuple[Step, ...] = (
    Step("imported_notes", import_notes),
    Step("routed_updates", _conversations, after=("imported_notes",)),
    Step("exact_duplicates", archive_duplicates, after=("routed_updates",)),
    Step("series", update_series, ("exact_duplicates",)),
    Step("readings", read_notes, ("exact_duplicates",), after=("series",)),
    Step("eligible_memories", select_eligible, ("exact_duplicates",), after=("readings",)),
    Step("similarity_batches", find_similar, ("eligible_memories",)),
    Step("merges", _merges, ("eligible_memories", "similarity_batches")),
    Step("canonical_entries", _canonical, ("eligible_memories", "similarity_batches", "merges")),
    Step("clusters", _clusters, ("eligible_memories", "similarity_batches", "merges", "canonical_entries")),
    Step("distillations", distill_clusters, ("clusters",)),
    Step("archives", archive_distillations, ("distillations",)),
    Step("atoms", grow_atoms, after=("distillations", "archives")),
    Step("playbook", update_playbook, after=("archives",)),
)
STEPS: Mapping[str, Step] = {step.name: step for step in ORDER}


def find_last_steps(names: Collection[str]) -> list[str]:
    """Those of some steps that no other of them builds on: what builds on these comes after all of them."""
    return [name for name in names if not any(name in _before(later) for later in names)]


def _before(name: str) -> set[str]:
    """All steps that a step builds on, directly or through others."""
    direct = {*STEPS[name].needs, *STEPS[name].after}
    return direct.union(*map(_before, direct))


def run_steps(night: Night, names: Collection[str] = tuple(STEPS)) -> Iterator[dict[str, Any]]:
    """Run steps in the order of a night; yields, after each, the values of all steps so far, by name.

    `names`: the steps to run. A step that takes the value of a step outside `names` gets an empty one.
    """
    values: dict[str, Any] = {}
    for step in ORDER:
        if step.name in names:
            values[step.name] = step.run(night, *(values.get(name, []) for name in step.needs))
            yield dict(values)


Metrics = dict[str, int]
_COMPARED = ("eligible_memories", "similarity_batches")


def run_phase(night: Night, phase: str) -> Metrics:
    """Run one phase of PHASES and return its figures. Raises InputError and other errors as the night's steps do."""
    night.hold_lease()
    return PHASES[phase](night)


def _duplicates(night: Night) -> Metrics:
    """Archive exact copies in the scope's projects. A copy may have any type and day, so a scope that is narrower
    than projects leaves them to the nights."""
    if night.options.memory_types or night.options.first_day or night.options.last_day:
        return {"duplicates_archived": 0}
    groups = [group for group in archive_duplicates(night) if not group.proposed]
    return {"duplicates_archived": sum(len(group.duplicate_ids) for group in groups)}


def _run_steps(night: Night, name: str, *steps: str) -> Metrics:
    """Run steps of a night; the figures are those of the clusters of the last one."""
    *_, values = run_steps(night, steps)
    return _figures(values[steps[-1]], name)


def _patterns(night: Night) -> Metrics:
    """Distil clusters into patterns, with the resulting atoms."""
    *_, values = run_steps(night, (*_COMPARED, "clusters", "distillations", "archives", "atoms"))
    return {
        **_figures(values["archives"], "pattern"),
        "atoms_created": sum(atom.status == "created" for atom in values["atoms"]),
        "atoms_strengthened": sum(atom.status == "strengthened" for atom in values["atoms"]),
    }


def _principles(night: Night) -> Metrics:
    """Derive the principle behind at least three related patterns; the patterns stay."""
    results = form_principles(night.of_last_week() if night.options.whole_weeks else night)
    return {
        f"principles_{status}": sum(r.status == status for r in results) for status in ("created", "skipped", "failed")
    }


def _playbook(night: Night) -> Metrics:
    """Create or update the guidance of patterns and principles."""
    done = update_playbook(night)
    return {f"playbook_{status}": sum(c.status == status for c in done) for status in ("created", "updated")}


def _figures(archives: list[Archive], name: str) -> Metrics:
    done = [archive for archive in archives if archive.status == "compressed"]
    return {
        f"{name}_clusters": len(archives),
        f"{name}_created": len(done),
        f"{name}_archived": sum(len(archive.archived_ids) for archive in done),
        f"{name}_failed": sum(archive.status == "failed" for archive in archives),
        f"{name}_proposed": sum(archive.status == "proposed" for archive in archives),
        f"{name}_tokens_saved": sum(archive.measured.tokens_before - archive.measured.tokens_after for archive in done),
    }


#: The order of the phases of a job.
PHASES: Mapping[str, Callable[[Night], Metrics]] = {
    "duplicates": _duplicates,
    "series": lambda night: _run_steps(night, "series", "series"),
    "merge": lambda night: _run_steps(night, "merge", *_COMPARED, "merges"),
    "canonical": lambda night: _run_steps(night, "canonical", *_COMPARED, "canonical_entries"),
    "patterns": _patterns,
    "principles": _principles,
    "playbook": _playbook,
}
