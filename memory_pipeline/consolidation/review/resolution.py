"""Settles a conflict: a person keeps one side, or both with the scope in which each applies. The decision can be
reversed."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.review.rollback import RollbackResult, RollbackScope, roll_back
from memory_pipeline.errors import InputError
from memory_pipeline.records import ConflictCase, LineageLink, LogRow, derived_id, fingerprint_of
from memory_pipeline.store import Store, Transaction, create_snapshot

Keep = Literal["newer", "a", "b", "both"]
CONFLICT_POLICY = "conflict"
_HOLDER = "memory-pipeline conflicts"
_RESOLUTIONS = {"newer": "keep_newer", "a": "keep_one", "b": "keep_one", "both": "keep_both"}


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision: which side to keep, or with `both` where each applies; `note` gives the reason."""

    keep: Keep
    by: str
    scope_a: str | None = None
    scope_b: str | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        if self.keep not in _RESOLUTIONS:
            raise InputError(f"--keep is '{self.keep}'; use newer, a, b or both")
        scoped = bool(self.scope_a and self.scope_a.strip()), bool(self.scope_b and self.scope_b.strip())
        if self.keep == "both" and not all(scoped):
            raise InputError("keeping both requires the scope in which each applies: add --scope-a and --scope-b")
        if self.keep != "both" and any(scoped):
            raise InputError(f"a scope is for --keep both; with --keep {self.keep} one side is archived")


def resolve_conflict(store: Store, settings: Settings, conflict_id: str, decision: Decision) -> ConflictCase:
    """Settle a conflict in one transaction, with a snapshot first, and return the updated conflict.

    The side that is not kept is archived into the other one, or into the pattern that the other was distilled into;
    nothing is deleted. Raises InputError for a conflict that is already settled, or a side that must not be
    archived; StoreBusyError while a night runs.
    """
    with store.reading() as tx:
        tx.conflicts.read(conflict_id)  # a wrong name must not cost a snapshot
    run_id = f"resolve-{uuid.uuid4()}"
    store.take_lease(run_id, _HOLDER)
    try:
        now = datetime.now(UTC)
        create_snapshot(store, "conflict", now, settings.store.snapshots_kept)
        with store.writing(_HOLDER, run_id) as tx:
            case = tx.conflicts.read(conflict_id)
            if case.resolution is not None:
                by = f" by {case.resolved_by}" if case.resolved_by else ""
                raise InputError(f"conflict '{case.id}' was settled{by} ({case.resolution}); reopen it first")
            kept = None if decision.keep == "both" else _archive_other(tx, settings, case, decision, run_id, now)
            settled = replace(
                case,
                resolution=_RESOLUTIONS[decision.keep],
                resolved_at=now,
                resolved_by=decision.by,
                kept_id=kept,
                scope_a=decision.scope_a,
                scope_b=decision.scope_b,
                note=decision.note,
                resolution_run=run_id,
            )
            tx.conflicts.settle(settled)
        return settled
    finally:
        store.release_lease(run_id)


def reopen_conflict(store: Store, settings: Settings, conflict_id: str) -> RollbackResult:
    """Reverse a decision: what it archived is active again, and the conflict is open.

    Raises InputError if no person settled it, or if later memories depend on the kept side.
    """
    with store.reading() as tx:
        case = tx.conflicts.read(conflict_id)
    if case.resolution_run is None:
        if case.resolution is None:
            raise InputError(
                f"conflict '{case.id}' is still open, so there is no decision to reverse; settle it with "
                "'memory-pipeline conflicts resolve'"
            )
        words = {"series": "a series of readings", "compatible": "that both sides can be true"}
        found = words.get(case.resolution, case.resolution)
        raise InputError(
            f"conflict '{case.id}' was settled by a night, which found {found}; only a person's decision can be "
            "reversed"
        )
    return roll_back(store, settings, RollbackScope(run_id=case.resolution_run))


def _archive_other(
    tx: Transaction, settings: Settings, case: ConflictCase, decision: Decision, run_id: str, now: datetime
) -> str:
    """Archive the side that is not kept into the current replacement of the other; returns the kept side."""
    keep, memories = decision.keep, tx.memories.read_as_last_told([case.conflict.a, case.conflict.b])
    sides = {"a": memories[case.conflict.a], "b": memories[case.conflict.b]}
    if keep == "newer":
        if sides["a"].effective_date == sides["b"].effective_date:
            raise InputError("both sides have the same time; say which one to keep with --keep a or --keep b")
        keep = "a" if sides["a"].effective_date > sides["b"].effective_date else "b"
    winner, loser = sides[keep], sides["b" if keep == "a" else "a"]
    if loser.archived_at is not None:
        into = tx.lineage.replacement_of(loser.id)
        raise InputError(
            f"memory '{loser.id}' is already archived into '{into}', which says it too; take that back with "
            f"'memory-pipeline rollback --abstraction {into}' and settle this again before the next night, which then "
            "makes it anew without this side; or keep both with their scope"
        )
    floor, stands = settings.compression.critical_floor, tx.lineage.replacement_of(winner.id)
    if stands == loser.id:
        raise InputError(
            f"memory '{winner.id}' is itself archived into '{loser.id}', which this would archive too; keep "
            f"'{loser.id}', or first undo what archived '{winner.id}' ('memory-pipeline conflicts reopen' for a "
            "decision, 'memory-pipeline rollback' for a night)"
        )
    if not tx.memories.supersede(loser.id, winner=stands, archived_by=case.id, at=now, critical_floor=floor):
        why = (
            "pinned, and a pinned memory is never archived"
            if loser.pinned
            else (
                f"critical (its importance is {loser.importance:g}; memories of {floor:g} and above are never archived)"
            )
        )
        raise InputError(
            f"memory '{loser.id}' is {why}; keep it, or keep both with --keep both --scope-a ... --scope-b ..."
        )
    tx.lineage.add([LineageLink(stands, loser.id, "superseded", case.conflict.score)])
    fingerprint = fingerprint_of((winner.id, loser.id))
    tx.journal.log(
        [
            LogRow(
                id=derived_id("log", CONFLICT_POLICY, fingerprint, run_id),
                cluster_fingerprint=fingerprint,
                policy=CONFLICT_POLICY,
                compressed_memory_id=stands,
                status="compressed",
                reason=f"conflict settled by {decision.by}",
                member_count=2,
                compression_ratio=None,
                run_id=run_id,
                created_at=now,
            )
        ]
    )
    return winner.id
