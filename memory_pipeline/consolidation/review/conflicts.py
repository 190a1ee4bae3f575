"""The linked conflicts for display, clearest first, with those of the same memories together; and how a person settles
one: one side is kept, or both, with the scope in which each applies if they would contradict each other without it. The
decision can be reversed."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import chain
from typing import Literal

from pydantic import Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.merging import says_again
from memory_pipeline.consolidation.review.rollback import RollbackResult, RollbackScope, roll_back
from memory_pipeline.documents import Document, Moment, optional
from memory_pipeline.errors import InputError
from memory_pipeline.records import LIKELY, ConflictCase, LineageLink, LogRow, Memory, derived_id, fingerprint_of
from memory_pipeline.store import Store, Transaction, create_snapshot
from memory_pipeline.text.subject import with_subject
from memory_pipeline.text.superseding import group_conflicts, later_of, plainness

Keep = Literal["newer", "newest", "a", "b", "both"]
CONFLICT_POLICY = "conflict"
_HOLDER = "memory-pipeline conflicts"
_KEEP_NEWER, _KEEP_BOTH = "--keep newer", "--keep both"
_RESOLUTIONS = {"newer": "keep_newer", "newest": "keep_newer", "a": "keep_one", "b": "keep_one", "both": "keep_both"}


class ConflictSide(Document):
    """One of two memories that contradict each other."""

    id: str = Field(description="The memory.")
    content: str = Field(description="Its content.")
    effective_date: Moment = Field(description="The time that it refers to.")
    day: date | None = Field(description="Its day by the calendar of its source; null if nobody knows it.")
    importance: float = Field(description="0 to 3.")
    abstraction_level: int = Field(description="0 for a raw memory, 1 to 3 for an abstraction.")
    archived_into: str | None = Field(description="The memory that replaces it, if it is archived.")
    scope: str | None = Field(description="Where it applies, if a person kept both sides.")


class DescribedConflict(Document):
    """A contradiction for display: both sides with their content and times, and how it was settled."""

    id: str = Field(description="The conflict.")
    project_id: str = Field(description="The project of both sides.")
    kind: str = Field(description="`contradiction`, or `likely`; of earlier versions also how they differ.")
    detail: str = Field(description="The differing words.")
    similarity: float = Field(description="The cosine of the two memories.")
    found_at: Moment = Field(description="When it was found.")
    status: str = Field(
        description="`open`, `likely`, or how it was settled: `keep_newer`, `keep_one`, `keep_both`, `series`."
    )
    newer_id: str | None = Field(
        default=None,
        description="The side of the later day; nothing if both are of one day, or if nobody knows the day of one.",
    )
    a: ConflictSide = Field(description="One side.")
    b: ConflictSide = Field(description="The other side.")
    resolved_at: Moment | None = Field(description="When it was settled.")
    resolved_by: str | None = Field(description="Who settled it.")
    kept_id: str | None = Field(description="The side that won, unless both were kept.")
    note: str | None = Field(description="The person's note.")
    run_id: str | None = Field(description="The run that settled it.")
    alike: int | None = optional("In a list: how many further conflicts the same memories have.")


def sides_of(cases: Iterable[ConflictCase]) -> list[str]:
    """The memories that contradict each other in some conflicts."""
    return sorted({side for case in cases for side in (case.conflict.a, case.conflict.b)})


def open_groups(tx: Transaction, project: str | None = None) -> list[list[ConflictCase]]:
    """The conflicts that await a decision, as a person is asked about them and as every screen counts them: those of
    the same memories in one group, the clearest of them first, and of equals that of the newest memories."""
    cases = tx.conflicts.cases(project_id=project)
    by_pair = {(case.conflict.a, case.conflict.b): case for case in cases}
    newest_first = _newest_pairs_first(cases, tx.memories.read(sides_of(cases)))
    groups = group_conflicts([case.conflict for case in newest_first])
    return [[by_pair[conflict.a, conflict.b] for conflict in group] for group in groups]


def _newest_pairs_first(cases: Sequence[ConflictCase], sides: Mapping[str, Memory]) -> list[ConflictCase]:
    """The conflicts, those between the newest memories first, by the newer and then by the older side: of three values
    of one thing, whoever keeps the newer one of the two oldest keeps what holds no more. `sides`: by id."""

    def times(case: ConflictCase) -> list[datetime]:
        return sorted((sides[side].effective_date for side in (case.conflict.a, case.conflict.b)), reverse=True)

    return sorted(cases, key=times, reverse=True)


def list_conflicts(
    store: Store, *, settled: bool = False, project: str | None = None, each: bool = False
) -> list[DescribedConflict]:
    """The conflicts that await a decision, or, with `settled`, all of them; equals are newest first.

    Only the clearest of a group is shown, with the number that are `alike`; with `each`, and with `settled`, all.
    """
    with store.reading() as tx:
        if each or settled:
            cases = tx.conflicts.cases(settled=settled, project_id=project)
            groups = [[case] for case in sorted(cases, key=lambda case: plainness(case.conflict))]
        else:
            groups = open_groups(tx, project)
        descriptions = describe_conflicts(tx, [group[0] for group in groups])
    return [
        conflict.model_copy(update={"alike": len(group) - 1})
        for conflict, group in zip(descriptions, groups, strict=True)
    ]


def describe_conflicts(tx: Transaction, cases: Sequence[ConflictCase]) -> list[DescribedConflict]:
    """Conflicts for display: both sides with their content and times, and how each was settled."""
    memories = tx.memories.read_as_last_told(sides_of(cases))
    return [_described(case, memories) for case in cases]


def describe_choices(
    tx: Transaction, groups: Sequence[Sequence[ConflictCase]], critical_floor: float
) -> list[tuple[DescribedConflict, list[ConflictSide], str]]:
    """What a person is asked about each group: its clearest conflict, the memories of all of it by day, and the options
    with which it is settled most likely. Where the days do not say which is the newest, or an older one must not be
    archived, it is the clearest conflict alone."""
    memories = tx.memories.read_as_last_told(sides_of(chain.from_iterable(groups)))
    return [_describe_choice(group, memories, critical_floor) for group in groups]


def _describe_choice(
    group: Sequence[ConflictCase], memories: Mapping[str, Memory], critical_floor: float
) -> tuple[DescribedConflict, list[ConflictSide], str]:
    options = [_options(memories[case.conflict.a], memories[case.conflict.b], critical_floor) for case in group]
    is_by_day = all(option == _KEEP_NEWER for option in options)
    asked = [_described(case, memories) for case in (group if is_by_day else group[:1])]
    sides = {side.id: side for each in asked for side in (each.a, each.b)}
    if asked[0].newer_id is None:
        return asked[0], list(sides.values()), options[0]
    by_day = sorted(sides.values(), key=lambda side: (side.effective_date, side.id))
    return asked[0], by_day, "--keep newest" if len(asked) > 1 else options[0]


def _options(a: Memory, b: Memory, critical_floor: float) -> str:
    """The options with which a conflict is settled most likely. By them no side loses that must not be archived, and of
    one day neither."""
    newer = later_of(a, b)
    loser = b if newer is a else a
    may_lose = loser.archived_at is None and not loser.pinned and loser.importance < critical_floor
    return _KEEP_NEWER if newer and may_lose else _KEEP_BOTH


def _described(case: ConflictCase, memories: Mapping[str, Memory]) -> DescribedConflict:
    conflict = case.conflict
    return DescribedConflict.of_record(
        case,
        project_id=conflict.project_id,
        kind=conflict.kind,
        detail=conflict.detail,
        similarity=round(conflict.score, 4),
        status=case.resolution or (LIKELY if conflict.kind == LIKELY else "open"),
        newer_id=newer.id if (newer := later_of(memories[conflict.a], memories[conflict.b])) else None,
        a=_side(memories[conflict.a], case.scope_a),
        b=_side(memories[conflict.b], case.scope_b),
        run_id=case.resolution_run,
    )


def _side(memory: Memory, scope: str | None) -> ConflictSide:
    return ConflictSide.of_record(
        memory,
        content=with_subject(memory),
        day=None if memory.undated else memory.day,
        archived_into=memory.consolidated_into_id,
        scope=scope,
    )


def conflict_text(conflict: DescribedConflict) -> str:
    """A described conflict as plain text, one side below the other."""
    lines = [f"{conflict.id}  {conflict.kind}: {conflict.detail} (project {conflict.project_id}, {conflict.status})"]
    for name, side in (("a", conflict.a), ("b", conflict.b)):
        scope = f" [applies: {side.scope}]" if side.scope else ""
        gone = f" [archived into {side.archived_into}]" if side.archived_into else ""
        gone += " [newer]" if side.id == conflict.newer_id else ""
        lines.append(f"  {name}  {side.day or 'undated'!s:<10}  {' '.join(side.content.split())}{scope}{gone}")
        lines.append(f"     {side.id}")
    if conflict.resolved_by and conflict.resolved_at:
        lines.append(
            f"  settled by {conflict.resolved_by} on {conflict.resolved_at.isoformat()[:16]}"
            + (f": {conflict.note}" if conflict.note else "")
        )
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision: which side to keep, or `both`, since they contradict nothing or each applies elsewhere;
    `newest`: the later side of this conflict and of every other that shares memories with it, so that what no later one
    contradicts stays. `note` gives the reason."""

    keep: Keep
    by: str
    scope_a: str | None = None
    scope_b: str | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        if self.keep not in _RESOLUTIONS:
            raise InputError(f"--keep is '{self.keep}'; use newer, newest, a, b or both")
        scoped = bool(self.scope_a and self.scope_a.strip()), bool(self.scope_b and self.scope_b.strip())
        if self.keep != "both" and any(scoped):
            raise InputError(f"a scope is for --keep both; with --keep {self.keep} one side is archived")
        if any(scoped) and not all(scoped):
            raise InputError("a scope says where each side applies: give --scope-a and --scope-b, or neither")


def resolve_conflict(store: Store, settings: Settings, conflict_id: str, decision: Decision) -> ConflictCase:
    """Settle a conflict, or with `newest` all that share memories with it, in one transaction, with a snapshot first,
    and return the updated conflict. With a side that is kept go the conflicts that it has with what says the same as
    the other side.

    The side that is not kept is archived into the other one, or into the pattern that the other was distilled into;
    nothing is deleted. Raises InputError for a conflict that is already settled, or a side that must not be
    archived; StoreBusyError while a night runs.
    """
    with store.reading() as tx:
        tx.conflicts.read(conflict_id)  # a wrong name must not cost a snapshot
    run_id = f"resolve-{uuid.uuid4()}"
    with store.leased(run_id, _HOLDER):
        now = datetime.now(UTC)
        create_snapshot(store, "conflict", now, settings.store.snapshots_kept)
        with store.writing(_HOLDER, run_id) as tx:
            case = tx.conflicts.read(conflict_id)
            if case.resolution is not None:
                by = f" by {case.resolved_by}" if case.resolved_by else ""
                raise InputError(f"conflict '{case.id}' was settled{by} ({case.resolution}); reopen it first")
            return _settle(tx, settings, case, decision, run_id, now)


def _sides_kept(
    case: ConflictCase, group: Sequence[ConflictCase], memories: Mapping[str, Memory], keep: Keep
) -> dict[str, str | None]:
    """By conflict of a group that a decision about one of it settles, the side that is kept; None if both are. What is
    later than the newer side, as where a value came back, is decided on its own."""
    if keep == "both":
        return {case.id: None}
    if keep == "newest":
        return {each.id: _choose(memories[each.conflict.a], memories[each.conflict.b], keep)[0].id for each in group}
    winner, loser = _choose(memories[case.conflict.a], memories[case.conflict.b], keep)
    kept: dict[str, str | None] = {case.id: winner.id}
    for each in group:
        others = {each.conflict.a, each.conflict.b} - {winner.id}
        if each.id not in kept and len(others) == 1:
            other = memories[others.pop()]
            stays = keep == "newer" and later_of(winner, other) is not winner
            if not stays and says_again(loser.content, other.content):
                kept[each.id] = winner.id
    return kept


def _settle(
    tx: Transaction, settings: Settings, case: ConflictCase, decision: Decision, run_id: str, now: datetime
) -> ConflictCase:
    """Settle a conflict and what is decided with it, that of the newest memories first, so that each older memory is
    archived into what stays at the end, also where the side that won loses against a later one. Returns the conflict
    as it is then."""
    group = next((group for group in open_groups(tx, case.conflict.project_id) if case in group), [case])
    if decision.keep not in ("both", "newest"):
        group = [*group, *(each for each in _likely_beside(tx, case) if each not in group)]
    memories = tx.memories.read_as_last_told(sides_of(group))
    kept = _sides_kept(case, group, memories, decision.keep)
    settled: dict[str, ConflictCase] = {}
    archived: set[str] = set()
    for each in _newest_pairs_first([each for each in group if each.id in kept], memories):
        kept_id = kept[each.id]
        if kept_id is not None:
            loser = memories[each.conflict.b if kept_id == each.conflict.a else each.conflict.a]
            if loser.id not in archived:
                _archive(tx, settings, each, memories[kept_id], loser, decision, run_id, now)
                archived.add(loser.id)
        settled[each.id] = replace(
            each,
            resolution=_RESOLUTIONS[decision.keep],
            resolved_at=now,
            resolved_by=decision.by,
            kept_id=kept_id,
            scope_a=decision.scope_a,
            scope_b=decision.scope_b,
            note=decision.note,
            resolution_run=run_id,
        )
        tx.conflicts.settle(settled[each.id])
    return settled[case.id]


def _likely_beside(tx: Transaction, case: ConflictCase) -> list[ConflictCase]:
    """The likely contradictions of either side of a conflict."""
    sides = set(sides_of([case]))
    return [
        each
        for each in tx.conflicts.cases(settled=True, project_id=case.conflict.project_id)
        if each.conflict.kind == LIKELY and each.resolution is None and not sides.isdisjoint(sides_of([each]))
    ]


def _choose(a: Memory, b: Memory, keep: Keep) -> tuple[Memory, Memory]:
    """The side that is kept, and the other one."""
    if keep in ("newer", "newest"):
        newer = later_of(a, b)
        if newer is None:
            why = "nobody knows the day of one side" if a.undated or b.undated else "both sides are of the same day"
            raise InputError(f"{why}: '{a.id}' and '{b.id}'; say which one to keep with --keep a or --keep b")
        keep = "a" if newer is a else "b"
    return (a, b) if keep == "a" else (b, a)


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
        raise InputError(
            f"conflict '{case.id}' was settled by a night, which found a series of readings; only a person's decision "
            "can be reversed"
        )
    return roll_back(store, settings, RollbackScope(run_id=case.resolution_run))


def _archive(
    tx: Transaction,
    settings: Settings,
    case: ConflictCase,
    winner: Memory,
    loser: Memory,
    decision: Decision,
    run_id: str,
    now: datetime,
) -> None:
    """Archive the side that is not kept into the current replacement of the other."""
    if loser.archived_at is not None:
        into = tx.lineage.replacement_of(loser.id)
        raise InputError(
            f"memory '{loser.id}' is already archived into '{into}', which says it too; take that back with "
            f"'memory-pipeline rollback --abstraction {into}' and settle this again before the next night, which then "
            "makes it anew without this side; or keep both"
        )
    floor, stands = settings.compression.critical_floor, tx.lineage.replacement_of(winner.id)
    if stands == loser.id:
        raise InputError(
            f"memory '{winner.id}' is itself archived into '{loser.id}', which this would archive too; keep "
            f"'{loser.id}', or first undo what archived '{winner.id}' ('memory-pipeline conflicts reopen' for a "
            "decision, 'memory-pipeline rollback' for a night)"
        )
    if not tx.memories.supersede(loser.id, winner=stands, archived_by=case.id, at=now, critical_floor=floor):
        why = f"critical (its importance is {loser.importance:g}; memories of {floor:g} and above are never archived)"
        if loser.pinned:
            why = "pinned, and a pinned memory is never archived"
        raise InputError(
            f"memory '{loser.id}' is {why}; keep it, or keep both with 'memory-pipeline conflicts resolve "
            f"{case.id[:8]} --keep both'"
        )
    tx.lineage.add([LineageLink(stands, loser.id, "superseded", case.conflict.score)])
    fingerprint = fingerprint_of((winner.id, loser.id))
    row_id, reason = derived_id("log", CONFLICT_POLICY, fingerprint, run_id), f"conflict settled by {decision.by}"
    row = LogRow(row_id, fingerprint, CONFLICT_POLICY, stands, "compressed", reason, 2, None, run_id, now)
    tx.journal.log([row])
