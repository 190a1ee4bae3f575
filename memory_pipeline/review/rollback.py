"""Rolls back runs: under the lease, with a snapshot first, in one transaction, on record."""

from __future__ import annotations

import uuid
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.store import RollbackPlan, Store, Transaction, create_snapshot

_HOLDER = "memory-pipeline rollback"
_WORDS = 160


@dataclass(frozen=True, slots=True)
class RollbackScope:
    """What to undo: exactly one of a run, every run since a time, or one abstraction."""

    run_id: str | None = None
    since: datetime | None = None
    abstraction: str | None = None

    def __post_init__(self) -> None:
        given = [name for name in ("run_id", "since", "abstraction") if getattr(self, name)]
        if len(given) != 1:
            raise InputError("give exactly one of --run-id, --since and --abstraction")

    def plan(self, tx: Transaction, *, cascade: bool) -> RollbackPlan:
        """The effects of the rollback. Raises InputError for a run or memory that does not exist."""
        if self.run_id:
            return tx.rollbacks.plan_run(self.run_id, cascade=cascade)
        if self.since:
            return tx.rollbacks.plan_since(self.since, cascade=cascade)
        assert self.abstraction is not None
        return tx.rollbacks.plan_abstraction(self.abstraction, cascade=cascade)


def preview_rollback(store: Store, scope: RollbackScope, *, cascade: bool = False) -> dict[str, Any]:
    """What a rollback would restore, retire and break; nothing is written."""
    with store.reading() as tx:
        plan = scope.plan(tx, cascade=cascade)
        return {"rollback_id": None, "dry_run": True, **_described(tx, plan)}


def roll_back(store: Store, settings: Settings, scope: RollbackScope, *, cascade: bool = False) -> dict[str, Any]:
    """Undo runs or an abstraction and return the effects.

    Raises InputError while later memories depend on it (`cascade` includes them), StoreBusyError while a night runs.
    """
    with store.reading() as tx:
        scope.plan(tx, cascade=cascade)  # a wrong name must not cost a snapshot
    rollback_id = str(uuid.uuid4())
    store.take_lease(rollback_id, _HOLDER, settings.store.lease_expiry_s)
    try:
        now = datetime.now(UTC)
        snapshot = create_snapshot(store, "rollback", now, settings.store.snapshots_kept)
        with store.writing(_HOLDER) as tx:
            plan = scope.plan(tx, cascade=cascade)
            tx.rollbacks.apply(plan, rollback_id, now, _HOLDER)
        with store.reading() as tx:
            done = {"rollback_id": rollback_id, "dry_run": False, **_described(tx, plan)}
            return {**done, "snapshot": snapshot.name, "active_hash": tx.contents.digest(active_only=True)}
    finally:
        store.release_lease(rollback_id)


def _described(tx: Transaction, plan: RollbackPlan) -> dict[str, Any]:
    words = {
        memory.id: memory.content[:_WORDS]
        for memory in tx.memories.read([*plan.restored_ids, *plan.retired_ids]).values()
    }
    return {
        "scope": plan.scope,
        "run_ids": list(plan.run_ids),
        "restored": [{"id": i, "content": words[i]} for i in plan.restored_ids],
        "retired": [{"id": i, "content": words[i]} for i in plan.retired_ids],
        "dependents": [asdict(dependent) for dependent in plan.dependents],
    }


def as_text(result: dict[str, Any], most: int = 20) -> str:
    """The effects of a rollback as text."""
    would = "would be " if result["dry_run"] else ""
    lines = [f"Rollback of {result['scope']}" + (" (dry run)" if result["dry_run"] else "")]
    for name, verb in (("restored", f"{would}restored"), ("retired", f"{would}retired")):
        rows = result[name]
        count = "1 memory" if len(rows) == 1 else f"{len(rows)} memories"
        lines.append(f"{count} {verb}:" if rows else f"No memory {verb}.")
        lines += [f"  {row['id']}  {' '.join(row['content'].split())}" for row in rows[:most]]
        lines += [f"  ... and {len(rows) - most} more"] if len(rows) > most else []
    if result["dependents"]:
        lines.append(
            f"{len(result['dependents'])} memories depend on these; without --cascade, the rollback is refused:"
        )
        lines += [f"  {row['memory_id']}  {row['why']}" for row in result["dependents"][:most]]
    return "\n".join(lines)
