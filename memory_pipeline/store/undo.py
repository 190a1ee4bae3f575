"""Undo: what a rollback would bring back, what depends on it, and doing it in one transaction.

A rollback restores the sources that its runs archived, retires the abstractions that they made (kept,
marked, never active again unless a night makes them again), takes back links, atoms and playbook
contributions, and frees the fingerprints. The audit log says which run did what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_pipeline.errors import InputError
from memory_pipeline.records import MADE
from memory_pipeline.store.atoms import withdraw_candidates
from memory_pipeline.store.memories import to_utc
from memory_pipeline.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Dependent:
    """A memory that something later made of what a rollback would take away, and how."""

    memory_id: str
    why: str


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """What a rollback does. `dependents` would be broken by it; with `cascade` they are part of it."""

    scope: str
    run_ids: tuple[str, ...]
    restored_ids: tuple[str, ...]
    retired_ids: tuple[str, ...]
    dependents: tuple[Dependent, ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to bring back."""
        return not (self.restored_ids or self.retired_ids)


def plan_run_rollback(tx: Transaction, run_id: str, *, cascade: bool = False) -> RollbackPlan:
    """Undo the run with an id, or with the only id that begins so.

    Raises InputError for a run that the audit log does not know, for several, and for one that was rolled back already.
    """
    run_id = _find_run(tx, run_id)
    plan = _plan(tx, f"run {run_id}", [run_id], cascade=cascade)
    already = tx.runs.rolled_back_at(run_id)
    if plan.is_empty and already:
        raise InputError(f"run '{run_id}' was rolled back on {already:%Y-%m-%d %H:%M:%S} UTC already")
    return plan


def _find_run(tx: Transaction, run_id: str) -> str:
    rows = tx.execute("select distinct run_id from audit_log where starts_with(run_id, $1)", [run_id]).fetchall()
    found = {str(row[0]) for row in rows}
    if run_id in found:
        return run_id
    if len(found) != 1:
        which = f"{len(found)} runs begin with" if found else "there is no run"
        raise InputError(f"{which} '{run_id}' in the store's log; 'memory-pipeline report' names the latest")
    return found.pop()


def plan_rollback_since(tx: Transaction, since: datetime, *, cascade: bool = False) -> RollbackPlan:
    """Undo every run that wrote at or after a time, each as a whole."""
    rows = tx.execute(
        "select distinct run_id from audit_log where happened_at >= $1 and run_id is not null order by 1",
        [to_utc(since)],
    ).fetchall()
    return _plan(tx, f"since {since.isoformat()}", [str(row[0]) for row in rows], cascade=cascade)


def plan_abstraction_rollback(tx: Transaction, memory_id: str, *, cascade: bool = False) -> RollbackPlan:
    """Undo one abstraction. Raises InputError when it is none, or is rolled back already."""
    row = tx.execute("select source_connector, rolled_back_at from memories where id = $1", [memory_id]).fetchone()
    if row is None:
        raise InputError(f"there is no memory '{memory_id}'")
    if row[0] != MADE:
        raise InputError(f"memory '{memory_id}' was made from nothing else; name an abstraction")
    if row[1] is not None:
        raise InputError(f"abstraction '{memory_id}' was rolled back on {row[1]:%Y-%m-%d %H:%M:%S} UTC already")
    sources = tx.execute(
        "select m.id from memories m join lineage l on l.source_id = m.id and l.memory_id = $1 "
        "where m.consolidated_into_id = $1 and l.relation not in ('duplicate', 'superseded')",
        [memory_id],
    ).fetchall()
    restored, retired = {str(source[0]) for source in sources}, {memory_id}
    return _with_dependents(tx, f"abstraction {memory_id}", (), restored, retired, cascade=cascade)


def apply_rollback(tx: Transaction, plan: RollbackPlan, rollback_id: str, at: datetime, actor: str) -> None:
    """Carry a plan out, within the caller's transaction. Raises InputError while it has dependents."""
    if plan.dependents:
        named = "; ".join(f"'{d.memory_id}' {d.why}" for d in plan.dependents[:10])
        more = f" and {len(plan.dependents) - 10} more" if len(plan.dependents) > 10 else ""
        raise InputError(
            f"{len(plan.dependents)} memories depend on what {plan.scope} made: {named}{more}; add --cascade to roll "
            f"them back too"
        )
    restored, retired, now = list(plan.restored_ids), list(plan.retired_ids), to_utc(at)
    tx.execute(
        "update memories set importance = coalesce(importance_before, importance), importance_before = null, "
        "archived_by = null, archived_at = null, consolidated_into_id = null, updated_at = $2 "
        "where id in (select unnest($1::text[]))",
        [restored, now],
    )
    tx.execute(
        "update memories set importance_before = coalesce(importance_before, importance), importance = 0.5, "
        "archived_by = $2, archived_at = $3, consolidated_into_id = null, rolled_back_at = $3, updated_at = $3 "
        "where id in (select unnest($1::text[]))",
        [retired, f"rollback:{rollback_id}", now],
    )
    tx.execute(
        "delete from lineage where memory_id in (select unnest($1::text[])) or (relation in ('duplicate', "
        "'superseded') and source_id in (select unnest($2::text[])))",
        [retired, restored],
    )
    tx.execute(
        "update compression_log set rolled_back_at = $3 where rolled_back_at is null and "
        "(run_id in (select unnest($1::text[])) or compressed_memory_id in (select unnest($2::text[])))",
        [list(plan.run_ids), retired, now],
    )
    tx.execute(
        "update proposals set status = 'withdrawn', decided_at = $2, decided_by = $3, reason = 'rolled back' "
        "where (status = 'pending' and run_id in (select unnest($1::text[]))) or (status = 'approved' and "
        "cluster_fingerprint in (select cluster_fingerprint from compression_log where rolled_back_at = $2))",
        [list(plan.run_ids), now, actor],
    )
    tx.execute("delete from compared where memory_id in (select unnest($1::text[]))", [restored + retired])
    tx.conflicts.reopen(plan.run_ids, restored)
    withdraw_candidates(tx, retired, plan.run_ids, at)
    tx.playbook.withdraw(retired, at)
    tx.execute(
        "insert into rollbacks values ($1, $2, $3, $4, $5, $6, $7)",
        [rollback_id, now, actor, plan.scope, list(plan.run_ids), restored, retired],
    )


def revive_memories(tx: Transaction, memory_ids: Sequence[str]) -> None:
    """Make abstractions that were rolled back active again, as they were."""
    if not memory_ids:
        return
    tx.execute(
        "update memories set importance = importance_before, importance_before = null, archived_by = null, "
        "archived_at = null, rolled_back_at = null "
        "where id in (select unnest($1::text[])) and rolled_back_at is not null",
        [list(memory_ids)],
    )


def _plan(tx: Transaction, scope: str, run_ids: list[str], *, cascade: bool) -> RollbackPlan:
    """What these runs archived and made, as far as nothing has undone it since."""
    restored = tx.execute(
        "with last as (select row_id, max_by(run_id, sequence) as run_id from audit_log "
        "where table_name = 'memories' and action = 'update' and before_state ->> 'archived_at' is null "
        "and after_state ->> 'archived_at' is not null group by 1) "
        "select m.id from memories m join last on last.row_id = m.id "
        "where last.run_id in (select unnest($1::text[])) and m.archived_at is not null and m.rolled_back_at is null",
        [run_ids],
    ).fetchall()
    retired = tx.execute(
        "with birth as (select row_id, max_by(run_id, sequence) as run_id from audit_log "
        "where table_name = 'memories' and (action = 'insert' or (before_state ->> 'rolled_back_at' is not null "
        "and after_state ->> 'rolled_back_at' is null)) group by 1) "
        "select m.id from memories m join birth on birth.row_id = m.id "
        "where birth.run_id in (select unnest($1::text[])) and m.source_connector = 'night' "
        "and m.rolled_back_at is null",
        [run_ids],
    ).fetchall()
    restored_ids, retired_ids = {str(row[0]) for row in restored}, {str(row[0]) for row in retired}
    return _with_dependents(tx, scope, tuple(run_ids), restored_ids, retired_ids, cascade=cascade)


def _with_dependents(
    tx: Transaction, scope: str, run_ids: tuple[str, ...], restored: set[str], retired: set[str], *, cascade: bool
) -> RollbackPlan:
    while True:
        dependents = _dependents(tx, restored - retired, retired)
        if not dependents or not cascade:
            break
        for memory_id, (_, is_abstraction) in dependents.items():
            (retired if is_abstraction else restored).add(memory_id)
    return RollbackPlan(
        scope=scope,
        run_ids=run_ids,
        restored_ids=tuple(sorted(restored - retired)),
        retired_ids=tuple(sorted(retired)),
        dependents=tuple(Dependent(memory_id, why) for memory_id, (why, _) in sorted(dependents.items())),
    )


def _dependents(tx: Transaction, restored: set[str], retired: set[str]) -> dict[str, tuple[str, bool]]:
    """By id, how it depends on what goes and whether it was made from it (else archived into it)."""
    gone = list(retired)
    made = tx.execute(
        "select distinct m.id, l.source_id from lineage l join memories m on m.id = l.memory_id "
        "where l.relation not in ('duplicate', 'superseded') and m.rolled_back_at is null "
        "and (l.source_id in (select unnest($1::text[])) "
        "or l.source_id in (select unnest($2::text[])))",
        [gone, list(restored)],
    ).fetchall()
    archived = tx.execute(
        "select id, consolidated_into_id from memories where archived_at is not null and rolled_back_at is null "
        "and consolidated_into_id in (select unnest($1::text[]))",
        [gone],
    ).fetchall()
    found = {str(i): (f"was archived into '{into}'", False) for i, into in archived if i not in restored | retired}
    return found | {str(i): (f"was made from '{source}'", True) for i, source in made if i not in retired}
