"""A consolidation job: the levels of a scope, phase by phase. Each phase is independent and finds what is left to
do, so that a stopped, cancelled or retried job continues where it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.duplicates import archive_duplicates
from memory_pipeline.consolidation.playbook import update_playbook
from memory_pipeline.consolidation.principles import form_principles
from memory_pipeline.consolidation.run import run_steps
from memory_pipeline.records import Archive

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


def _clusters(night: Night, name: str, *steps: str) -> Metrics:
    """Run steps of a night; the figures are those of the clusters of the last one."""
    return _figures(_last(night, *steps)[steps[-1]], name)


def _patterns(night: Night) -> Metrics:
    """Distil clusters into patterns, with the resulting atoms."""
    values = _last(night, *_COMPARED, "clusters", "distillations", "archives", "atoms")
    return {
        **_figures(values["archives"], "pattern"),
        "atoms_created": sum(atom.status == "created" for atom in values["atoms"]),
        "atoms_strengthened": sum(atom.status == "strengthened" for atom in values["atoms"]),
    }


def _last(night: Night, *names: str) -> dict[str, Any]:
    """The values of these steps of a night, after all have run."""
    *_, values = run_steps(night, names)
    return values


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
    "series": lambda night: _clusters(night, "series", "series"),
    "merge": lambda night: _clusters(night, "merge", *_COMPARED, "merges"),
    "canonical": lambda night: _clusters(night, "canonical", *_COMPARED, "canonical_entries"),
    "patterns": _patterns,
    "principles": _principles,
    "playbook": _playbook,
}
