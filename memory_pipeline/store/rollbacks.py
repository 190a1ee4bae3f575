"""Rollbacks: what one would restore, what depends on it, and its execution in one transaction.

A rollback restores the sources that its runs archived, retires the abstractions that they made (kept, marked, and
never active again unless a night makes them again), removes links, atoms, playbook contributions and marks of words
that are gone, and frees the fingerprints. What a run imported is the user's and stays. The audit log records which run
did what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime

from memory_pipeline.errors import AlreadyRolledBackError, InputError
from memory_pipeline.records import MADE
from memory_pipeline.store.conversations import Conversations
from memory_pipeline.store.decisions import Conflicts
from memory_pipeline.store.knowledge import Atoms, Playbook
from memory_pipeline.store.memories import RESTORED
from memory_pipeline.store.rollups import Rollups
from memory_pipeline.store.rows import Statements
from memory_pipeline.store.runs import Runs
from memory_pipeline.store.sources import Sources
from memory_pipeline.text.counts import how_many


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """The changes that a rollback makes. `dependents`: the memories that were made later of what it would remove, each
    with how; with `cascade` they are part of it."""

    scope: str
    run_ids: tuple[str, ...]
    restored_ids: tuple[str, ...]
    retired_ids: tuple[str, ...]
    dependents: Mapping[str, str]
    #: Other runs of the day that have something to undo, with their kind.
    other_runs: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to restore."""
        return not (self.restored_ids or self.retired_ids)

    def check_no_dependents(self) -> None:
        """Raises InputError, which names the dependents, if there are any."""
        if self.dependents:
            count = len(self.dependents)
            named = "; ".join(f"'{memory_id}' {why}" for memory_id, why in [*self.dependents.items()][:10])
            more = f" and {count - 10} more" if count > 10 else ""
            depend, them = ("depends", "it") if count == 1 else ("depend", "them")
            raise InputError(
                f"{how_many(count, 'memory')} {depend} on what {self.scope} made: {named}{more}; add --cascade to roll "
                f"{them} back too"
            )


class Rollbacks(Statements):
    """Plans of rollbacks, and their execution."""

    def plan_run(self, run_id: str, *, cascade: bool = False) -> RollbackPlan:
        """Undo the run with an id, the only run whose id starts with it, or the night of a day (YYYY-MM-DD): every run
        of it that still has something to undo, also a week's or month's step and one that was killed before its report,
        if it had decided something; but what a person approved or asked for stays.

        Raises InputError for a run that is not in the audit log, for several, and for what was already rolled back.
        """
        if runs := Runs(self._sql).on(run_id):
            return self._plan_night(run_id, runs, cascade=cascade)
        with suppress(ValueError):
            raise InputError(f"no night of {date.fromisoformat(run_id)} was run on this store; nothing can be undone")
        run_id = Runs(self._sql).whole_id(run_id)
        plan = self._plan(f"run {run_id}", [run_id], cascade=cascade)
        already = Runs(self._sql).rolled_back_at(run_id)
        if plan.is_empty and already:
            raise AlreadyRolledBackError(f"run '{run_id}' was already rolled back on {already:%Y-%m-%d %H:%M:%S} UTC")
        return plan

    def _plan_night(self, day: str, runs: Mapping[str, str], *, cascade: bool) -> RollbackPlan:
        undoable = [
            each
            for each in reversed([*runs])
            if not self._plan("", [each], cascade=False).is_empty or Conversations(self._sql).read_by_runs([each])
        ]
        asked_for = Runs(self._sql).asked_for(runs)
        left = [each for each in undoable if each not in asked_for]
        others = tuple(f"{each} ({runs[each]})" for each in undoable if each not in left)
        if left:
            named = ", ".join(f"{each} ({runs[each]})" for each in left)
            whole = f"the night of {day} ({len(left)} runs, newest first: {named})"
            plan = self._plan(whole if len(left) > 1 else f"run {left[0]}", left, cascade=cascade)
            return replace(plan, other_runs=others)
        also = f"; other runs of that day, each undone by its id: {', '.join(others)}" if others else ""
        nights = [each for each in runs if each not in asked_for]
        if undone := [at for each in nights if (at := Runs(self._sql).rolled_back_at(each))]:
            raise AlreadyRolledBackError(
                f"the night of {day} was already rolled back on {max(undone):%Y-%m-%d %H:%M:%S} UTC{also}"
            )
        raise InputError(
            f"no run of the night of {day} has archived a memory that is archived still, or read conversations of "
            f"which what it made stands; its runs are {', '.join(nights) or 'none'}{also}"
        )

    def plan_since(self, since: datetime, *, cascade: bool = False) -> RollbackPlan:
        """Undo every run that wrote at or after a time, each as a whole."""
        run_ids = self._sql(since).strings(
            "select distinct run_id from audit_log where happened_at >= $1 and run_id is not null order by 1"
        )
        return self._plan(f"since {since.isoformat()}", run_ids, cascade=cascade)

    def plan_abstraction(self, memory_id: str, *, cascade: bool = False) -> RollbackPlan:
        """Undo one abstraction. Raises InputError if it is not one, or was already rolled back."""
        row = self._sql(memory_id).row("select source_connector, rolled_back_at from memories where id = $1")
        if row is None:
            raise InputError(f"there is no memory '{memory_id}'")
        if row[0] != MADE:
            raise InputError(f"memory '{memory_id}' was made from nothing else; name an abstraction")
        if row[1] is not None:
            raise AlreadyRolledBackError(
                f"abstraction '{memory_id}' was already rolled back on {row[1]:%Y-%m-%d %H:%M:%S} UTC"
            )
        sources = self._sql(memory_id).strings("""
            select m.id
            from memories m
            join lineage l on l.source_id = m.id and l.memory_id = $1
            where (m.consolidated_into_id = $1 and l.relation not in ('duplicate', 'superseded'))
               -- A note that several statements carried together is carried no longer.
               or (m.archived_at is not null and m.rolled_back_at is null and l.relation = 'stated')
            """)
        return self._with_dependents(f"abstraction {memory_id}", (), set(sources), {memory_id}, cascade=cascade)

    def plan_without(self, scope: str, ids: Sequence[str], made_ids: Sequence[str]) -> RollbackPlan:
        """Retire these of some memories that nights made, with what was made from them, and restore what was archived
        into any of the memories."""
        restored = self._sql(ids).strings("""
            select id
            from memories
            where archived_at is not null and rolled_back_at is null
              and consolidated_into_id in (select unnest($1::text[])) and id not in (select unnest($1::text[]))
            """)
        return replace(self._with_dependents(scope, (), set(restored), set(made_ids), cascade=True), dependents={})

    def apply(self, plan: RollbackPlan, rollback_id: str, at: datetime, actor: str) -> None:
        """Execute a plan within the caller's transaction. Raises InputError while it has dependents."""
        plan.check_no_dependents()
        restored, retired = plan.restored_ids, plan.retired_ids
        self._sql(restored, at).run(
            f"update memories set {RESTORED}, updated_at = $2 where id in (select unnest($1::text[]))"
        )
        self._sql(retired, f"rollback:{rollback_id}", at).run("""
            update memories
            set importance_before = coalesce(importance_before, importance), importance = 0.5, archived_by = $2,
                archived_at = $3, consolidated_into_id = null, rolled_back_at = $3, updated_at = $3
            where id in (select unnest($1::text[]))
            """)
        self._sql(retired, restored).run("""
            delete from lineage
            where memory_id in (select unnest($1::text[]))
               or (relation in ('duplicate', 'superseded', 'repeated', 'replaced')
                   and source_id in (select unnest($2::text[])))
            """)
        self._sql(plan.run_ids, retired, at).run("""
            update compression_log
            set rolled_back_at = $3
            where rolled_back_at is null
              and (run_id in (select unnest($1::text[])) or compressed_memory_id in (select unnest($2::text[])))
            """)
        self._sql(plan.run_ids, at, actor).run("""
            update proposals
            set status = 'withdrawn', decided_at = $2, decided_by = $3, reason = 'rolled back'
            where (status = 'pending' and run_id in (select unnest($1::text[])))
               or (status = 'approved'
                   and cluster_fingerprint in (
                       select cluster_fingerprint from compression_log where rolled_back_at = $2))
            """)
        self._sql(restored + retired).run("delete from compared where memory_id in (select unnest($1::text[]))")
        Conflicts(self._sql).reopen(plan.run_ids, restored)
        Atoms(self._sql).withdraw(retired, plan.run_ids, at)
        Playbook(self._sql).withdraw(retired, at)
        Sources(self._sql).withdraw(plan.run_ids)
        Conversations(self._sql).withdraw(plan.run_ids, rollback_id, at)
        Rollups(self._sql).mark_stale([*restored, *retired])
        self._sql(rollback_id, at, actor, plan.scope, plan.run_ids, restored, retired).run(
            "insert into rollbacks values ($1, $2, $3, $4, $5, $6, $7)"
        )

    def _plan(self, scope: str, run_ids: list[str], *, cascade: bool) -> RollbackPlan:
        """Plans to take back what these runs archived and made, unless something has undone it since."""
        restored = self._sql(run_ids).strings("""
            with last as (
                select row_id, max_by(run_id, sequence) as run_id
                from audit_log
                where table_name = 'memories' and action = 'update'
                  and before_state ->> 'archived_at' is null and after_state ->> 'archived_at' is not null
                group by 1
            )
            select m.id
            from memories m
            join last on last.row_id = m.id
            where last.run_id in (select unnest($1::text[])) and m.archived_at is not null
              and m.rolled_back_at is null
            """)
        retired = self._sql(run_ids).strings("""
            with birth as (
                select row_id, max_by(run_id, sequence) as run_id
                from audit_log
                where table_name = 'memories'
                  and (action = 'insert'
                       or (before_state ->> 'rolled_back_at' is not null
                           and after_state ->> 'rolled_back_at' is null))
                group by 1
            )
            select m.id
            from memories m
            join birth on birth.row_id = m.id
            where birth.run_id in (select unnest($1::text[])) and m.rolled_back_at is null
              and (m.source_connector = 'night'
                   or (m.source_connector = 'conversations'
                       -- A later run made the same of that day.
                       and not exists (
                           select 1
                           from extractions e
                           where e.memory_id = m.id and e.gone_at is null
                             and e.run_id not in (select unnest($1::text[])))))
            """)
        return self._with_dependents(scope, tuple(run_ids), set(restored), set(retired), cascade=cascade)

    def _with_dependents(
        self, scope: str, run_ids: tuple[str, ...], restored: set[str], retired: set[str], *, cascade: bool
    ) -> RollbackPlan:
        while True:
            dependents = self._find_dependents(restored - retired, retired)
            if not dependents or not cascade:
                break
            for memory_id, (_, is_abstraction) in dependents.items():
                (retired if is_abstraction else restored).add(memory_id)
        return RollbackPlan(
            scope=scope,
            run_ids=run_ids,
            restored_ids=tuple(sorted(restored - retired)),
            retired_ids=tuple(sorted(retired)),
            dependents={memory_id: why for memory_id, (why, _) in sorted(dependents.items())},
        )

    def _find_dependents(self, restored: set[str], retired: set[str]) -> dict[str, tuple[str, bool]]:
        """By id, how a memory depends on the removed ones, and whether it was made from one (or archived into one)."""
        gone = list(retired)
        made = self._sql(gone, restored).rows("""
            select distinct m.id, l.source_id
            from lineage l
            join memories m on m.id = l.memory_id
            where l.relation not in ('duplicate', 'superseded', 'extracted', 'replaced') and m.rolled_back_at is null
              and (l.source_id in (select unnest($1::text[]))
                   or (l.relation not in ('principle', 'stated', 'routine', 'repeated', 'established')
                       and l.source_id in (select unnest($2::text[]))))
            union
            -- A note that repeated a statement is evidence of the pattern that the statement became.
            select m.id, r.source_id
            from lineage r
            join lineage l on l.source_id = r.memory_id and l.relation = 'established'
            join memories m on m.id = l.memory_id
            where r.relation = 'repeated' and m.rolled_back_at is null and r.source_id in (select unnest($2::text[]))
            """)
        archived = self._sql(gone).rows("""
            select id, consolidated_into_id
            from memories
            where archived_at is not null and rolled_back_at is null
              and consolidated_into_id in (select unnest($1::text[]))
            """)
        dependents = {
            str(i): (f"was archived into '{into}'", False) for i, into in archived if i not in restored | retired
        }
        return dependents | {str(i): (f"was made from '{source}'", True) for i, source in made if i not in retired}
