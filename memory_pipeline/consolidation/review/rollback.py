"""Rolls back runs: under the lease, with a snapshot first, in one transaction, on record."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from pydantic import Field

from memory_pipeline.config.exports import LOGS, PROMOTIONS
from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document, optional
from memory_pipeline.errors import AlreadyRolledBackError, InputError
from memory_pipeline.killpoints import reached
from memory_pipeline.periods.running import renew_stale
from memory_pipeline.store import RollbackPlan, Store, Transaction, create_snapshot
from memory_pipeline.text.counts import how_many
from memory_pipeline.workspace.conversation_pages import write_files
from memory_pipeline.workspace.exporting import ExportResult, problems_of, run_changed
from memory_pipeline.workspace.session_pages import (
    SessionRun,
    TakenBackFile,
    find_run,
    mend_session_pages,
    session_runs,
    take_back_sessions,
)

_HOLDER = "memory-pipeline rollback"
_WORDS = 160


@dataclass(frozen=True, slots=True)
class RollbackScope:
    """The scope of a rollback: exactly one of a run, every run since a time, or one abstraction."""

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


class RolledBackMemory(Document):
    """A memory that a rollback restores or retires."""

    id: str = Field(description="The memory.")
    content: str = Field(description=f"Its first {_WORDS} characters.")


class DependentMemory(Document):
    """A memory that was made later of what a rollback takes back."""

    memory_id: str = Field(description="The memory.")
    why: str = Field(description="How it depends on it.")


class RollbackResult(Document):
    """The changes that a rollback made or would make."""

    rollback_id: str | None = Field(description="The id of the rollback; null in a dry run.")
    dry_run: bool = Field(description="Whether nothing was written.")
    scope: str = Field(description="What was rolled back, in words.")
    run_ids: tuple[str, ...] = Field(description="The runs that were rolled back.")
    other_runs: tuple[str, ...] = optional(
        "Of a night: other runs of its day, with their kind; each is undone by its id alone.", ()
    )
    restored: tuple[RolledBackMemory, ...] = Field(description="Archived memories that are active again.")
    retired: tuple[RolledBackMemory, ...] = Field(description="Memories made by the runs; they stay on record.")
    dependents: tuple[DependentMemory, ...] = Field(
        description="Memories that depend on the retired ones; rolled back only with `--cascade`."
    )
    problems: tuple[str, ...] = optional("Pages and exports that could not be written; the next night writes them.", ())
    moved: tuple[str, ...] = optional(
        "Lines that a person wrote between our marks, and the files in which they stand below them now.", ()
    )
    files: tuple[TakenBackFile, ...] = optional("Files that a flush or a compaction wrote.", ())
    days: tuple[date, ...] = optional(
        "Days of conversations whose reading is taken back; no night reads them until it is asked to.", ()
    )
    rollups: tuple[str, ...] = Field(
        default=(), description="Summaries of days, weeks, months and years that say these memories; made again."
    )
    renewed: tuple[str, ...] = optional("The exports that are made again, or would be: their directories.", ())
    snapshot: str | None = optional("The snapshot taken first; not in a dry run.")
    active_hash: str | None = optional(
        "SHA-256 over the active memories and their lineage afterwards, by which they can be compared with "
        "those before the run; not in a dry run. `check` gives it too."
    )


def preview_rollback(
    store: Store, settings: Settings, scope: RollbackScope, *, cascade: bool = False
) -> RollbackResult:
    """Previews what a rollback would restore, retire and break; nothing is written."""
    of_files = _find_file_runs(store, scope)
    if of_files and not (scope.since and store.exists()):
        return _take_back_files(settings, of_files, scope, preview=True)
    with store.reading() as tx:
        plan = scope.plan(tx, cascade=cascade)
        result = _result(tx, plan, None)
    if not plan.dependents and not plan.is_empty:
        result = result.model_copy(update={"renewed": tuple(export.path for export in settings.exports_of_store)})
    return _with_files(result, _take_back_files(settings, of_files, scope, preview=True)) if of_files else result


def roll_back(store: Store, settings: Settings, scope: RollbackScope, *, cascade: bool = False) -> RollbackResult:
    """Undo runs or an abstraction and return the effects. A flush or a compaction needs no store for that.

    Raises InputError while later memories depend on it (`cascade` includes them), StoreBusyError while a night runs.
    """
    try:
        of_files = _find_file_runs(store, scope)
        if of_files and not (scope.since and store.exists()):
            return _take_back_files(settings, of_files, scope, preview=False)
        with store.kept_open():
            result = _roll_back_store(store, settings, scope, cascade=cascade)
    except AlreadyRolledBackError:  # by a process that may have been killed before the files were right
        _mend(store, settings)
        raise
    return _with_files(result, _take_back_files(settings, of_files, scope, preview=False)) if of_files else result


def _mend(store: Store, settings: Settings) -> None:
    mend_session_pages(settings)
    if not store.exists():
        return
    run_id = str(uuid.uuid4())
    with store.leased(run_id, _HOLDER):
        write_files(store, settings, _HOLDER, run_id)
        renew_stale(store, settings, holder=_HOLDER, run_id=run_id)


def _find_file_runs(store: Store, scope: RollbackScope) -> list[SessionRun]:
    """The flushes and compactions of a scope, the newest first."""
    if scope.run_id:
        run = find_run(store.path, scope.run_id)
        return [run] if run else []
    since = scope.since
    return [run for run in session_runs(store.path) if since and run.at >= since and not run.undone_at][::-1]


def _take_back_files(
    settings: Settings, runs: Sequence[SessionRun], scope: RollbackScope, *, preview: bool
) -> RollbackResult:
    """Take back the pages and exports of flushes and compactions, or preview it."""
    files = take_back_sessions(settings, runs, preview=preview)
    exports: list[ExportResult] = []
    if not preview:
        for project in dict.fromkeys(run.project for run in runs):
            exports += run_changed(Store.of(settings), settings, project, (LOGS, PROMOTIONS))
    what = f"since {scope.since.isoformat()}" if scope.since else f"run {runs[0].run_id}, {runs[0].what}"
    return RollbackResult(
        rollback_id=None if preview else runs[0].run_id,
        dry_run=preview,
        scope=what,
        run_ids=tuple(run.run_id for run in runs),
        restored=(),
        retired=(),
        dependents=(),
        files=tuple(files),
        problems=tuple(problems_of(exports)),
        renewed=tuple(export.path for export in exports),
    )


def _with_files(result: RollbackResult, files: RollbackResult) -> RollbackResult:
    both = ("run_ids", "files", "problems", "renewed")
    return result.model_copy(update={name: (*getattr(result, name), *getattr(files, name)) for name in both})


def _roll_back_store(store: Store, settings: Settings, scope: RollbackScope, *, cascade: bool) -> RollbackResult:
    with store.reading() as tx:
        scope.plan(tx, cascade=cascade).check_no_dependents()  # a refused rollback must not cost a snapshot
    rollback_id = str(uuid.uuid4())
    with store.leased(rollback_id, _HOLDER):
        now = datetime.now(UTC)
        snapshot = create_snapshot(store, "rollback", now, settings.store.snapshots_kept)
        with store.writing(_HOLDER) as tx:
            plan = scope.plan(tx, cascade=cascade)
            days = _read_days(tx, plan)
            tx.rollbacks.apply(plan, rollback_id, now, _HOLDER)
        reached("rollback.committed")
        written = write_files(store, settings, _HOLDER, rollback_id)
        exports, failed = renew_stale(store, settings, holder=_HOLDER, run_id=rollback_id)
        with store.reading() as tx:
            return _result(tx, plan, rollback_id).model_copy(
                update={
                    "snapshot": snapshot.name,
                    "active_hash": tx.contents.digest(active_only=True),
                    "problems": (*written.problems, *failed),
                    "renewed": tuple(export.path for export in exports),
                    "moved": written.moved,
                    "days": days,
                }
            )


def _result(tx: Transaction, plan: RollbackPlan, rollback_id: str | None) -> RollbackResult:
    memories = tx.memories.read([*plan.restored_ids, *plan.retired_ids])
    rollups = tx.rollups.about(list(memories)) if memories else []  # that say these memories, or are of their days
    restored, retired = (
        tuple(RolledBackMemory(id=i, content=memories[i].content[:_WORDS]) for i in ids)
        for ids in (plan.restored_ids, plan.retired_ids)
    )
    return RollbackResult(
        rollback_id=rollback_id,
        dry_run=rollback_id is None,
        scope=plan.scope,
        run_ids=plan.run_ids,
        other_runs=plan.other_runs,
        restored=restored,
        retired=retired,
        dependents=tuple(DependentMemory(memory_id=i, why=why) for i, why in plan.dependents.items()),
        days=_read_days(tx, plan),
        rollups=tuple(f"{rollup.project_id} {rollup.period}" for rollup in rollups),
    )


def _read_days(tx: Transaction, plan: RollbackPlan) -> tuple[date, ...]:
    """The days of conversations of which what these runs read stands."""
    return tuple(sorted({day for days in tx.conversations.read_by_runs(plan.run_ids).values() for day in days}))


def as_text(result: RollbackResult, most: int = 20) -> str:
    would = "would be " if result.dry_run else ""
    lines = [f"Rollback of {result.scope}" + (" (dry run)" if result.dry_run else "")]
    if result.files:
        lines += [f"{file.file}: {would}{file.outcome}{f' ({file.why})' if file.why else ''}" for file in result.files]
        if not (result.restored or result.retired):
            return "\n".join(lines)
    for rows, verb in ((result.restored, f"{would}restored"), (result.retired, f"{would}retired")):
        lines.append(f"{how_many(len(rows), 'memory')} {verb}:" if rows else f"No memory {verb}.")
        lines += [f"  {row.id}  {' '.join(row.content.split())}" for row in rows[:most]]
        lines += [f"  ... and {len(rows) - most} more"] if len(rows) > most else []
    lines += [f"Could not be written: {problem}" for problem in result.problems]
    lines += [f"Note: {note}." for note in result.moved]
    lines += [f"{file} {'would be' if result.dry_run else 'was'} made again." for file in result.renewed]
    if result.rollups:
        rollups = ", ".join(result.rollups[:most]) + (", ..." if len(result.rollups) > most else "")
        lines.append(f"Summaries {would}made again: {rollups}.")
    if result.active_hash and result.restored:
        lines.append("The next night may make the same of them; with compression.review = 'manual' it asks you first.")
    if result.days:
        named = ", ".join(str(day) for day in result.days[:most]) + (", ..." if len(result.days) > most else "")
        lines.append(f"Conversations of {named} stay taken back; 'conversations run --date DAY' reads a day again.")
    if result.active_hash:
        lines.append(f"Hash of the active memories, as 'check' prints it: {result.active_hash[:16]}")
    if result.other_runs:
        lines.append(f"Other runs of that day, each undone by its id: {', '.join(result.other_runs)}")
    if result.dependents:
        number = len(result.dependents)
        depend = f"{how_many(number, 'memory')} depend{'s' if number == 1 else ''}"
        lines.append(f"{depend} on these; without --cascade, the rollback is refused:")
        lines += [f"  {dependent.memory_id}  {dependent.why}" for dependent in result.dependents[:most]]
    return "\n".join(lines)
