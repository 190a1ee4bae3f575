"""The linked conflicts for display: clearest first, with those of the same memories together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

import numpy as np
from pydantic import Field

from memory_pipeline.consolidation.clustering import connected_components
from memory_pipeline.documents import Document, Moment
from memory_pipeline.errors import InputError
from memory_pipeline.records import UNDATED, Conflict, ConflictCase, Memory
from memory_pipeline.store import Store, Transaction
from memory_pipeline.text.contradictions import clear_conflicts, newer_of
from memory_pipeline.text.subject import with_subject


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
    kind: str = Field(description="How they differ: `number`, `unit`, `date`, `negation`, ...")
    detail: str = Field(description="The differing words.")
    similarity: float = Field(description="The cosine of the two memories.")
    found_at: Moment = Field(description="When it was found.")
    status: str = Field(description="`open`, or how it was settled: `keep_newer`, `keep_one`, `keep_both`, `series`.")
    newer_id: str | None = Field(
        default=None,
        description="The side that supersedes the other one, as a later value of a setting does; nothing if they "
        "contradict each other at one time.",
    )
    a: ConflictSide = Field(description="One side.")
    b: ConflictSide = Field(description="The other side.")
    resolved_at: Moment | None = Field(description="When it was settled.")
    resolved_by: str | None = Field(description="Who settled it.")
    kept_id: str | None = Field(description="The memory that was kept, if only one was.")
    note: str | None = Field(description="The person's note.")
    run_id: str | None = Field(description="The run that settled it.")
    alike: int | None = Field(
        default=None,
        exclude_if=lambda alike: alike is None,
        description="In a list: how many further conflicts the same memories have.",
    )


#: Kinds of conflicts by how likely they are a contradiction, most likely first; other kinds come last.
_KINDS_FIRST = {
    "contradiction": 0,
    "opposite": 0,
    "negation": 0,
    "order": 0,
    "quantifier": 1,
    "date": 1,
    "time": 1,
    "unit": 1,
}


def group_conflicts(conflicts: Sequence[Conflict]) -> list[list[Conflict]]:
    """Conflicts that share a memory, directly or through others, in one group; the clearest contradiction comes
    first, in each group and among the groups.

    Differences that are a contradiction whatever the subject come first; conflicts in which many figures differ come
    last, because they are often readings of one gauge. Equals stay in the given order.
    """
    if not conflicts:
        return []
    number: dict[str, int] = {}
    for conflict in conflicts:
        for side in (conflict.a, conflict.b):
            number.setdefault(side, len(number))
    a, b = (np.array([number[getattr(c, side)] for c in conflicts], dtype=np.int64) for side in ("a", "b"))
    labels = connected_components(len(number), a, b)
    groups: dict[int, list[Conflict]] = {}
    for conflict in sorted(conflicts, key=_plainness):
        groups.setdefault(int(labels[number[conflict.a]]), []).append(conflict)
    return list(groups.values())


def _plainness(conflict: Conflict) -> tuple[int, int]:
    return _KINDS_FIRST.get(conflict.kind, 2), conflict.detail.count(",")


def list_conflicts(
    store: Store, *, settled: bool = False, project: str | None = None, kind: str | None = None, each: bool = False
) -> list[DescribedConflict]:
    """The conflicts that await a decision, or, with `settled`, all of them; equals are newest first.

    Only the clearest of a group is shown, with the number of those that are `alike`; with `each`, and with
    `settled`, every one. Raises InputError for a kind that no conflict in the store has.
    """
    with store.reading() as tx:
        if kind is not None:
            kinds = sorted({case.conflict.kind for case in tx.conflicts.cases(settled=True)})
            if kind not in kinds:
                raise InputError(f"there is no conflict of kind '{kind}'; the store has {', '.join(kinds) or 'none'}")
        cases = {
            (case.conflict.a, case.conflict.b): case
            for case in tx.conflicts.cases(settled=settled, project_id=project)
            if kind in (None, case.conflict.kind)
        }
        conflicts = [case.conflict for case in cases.values()]
        if not settled:
            conflicts = clear_conflicts(conflicts, tx.memories.read({side for pair in cases for side in pair}))
        if each or settled:
            groups = [[conflict] for conflict in sorted(conflicts, key=_plainness)]
        else:
            groups = group_conflicts(conflicts)
        shown = describe_conflicts(tx, [cases[group[0].a, group[0].b] for group in groups])
    return [one.model_copy(update={"alike": len(group) - 1}) for one, group in zip(shown, groups, strict=True)]


def describe_conflicts(tx: Transaction, cases: Sequence[ConflictCase]) -> list[DescribedConflict]:
    """Conflicts for display: both sides with their content and times, and how each was settled."""
    memories = tx.memories.read_as_last_told(
        sorted({side for case in cases for side in (case.conflict.a, case.conflict.b)})
    )
    return [_described(case, memories) for case in cases]


def _described(case: ConflictCase, memories: Mapping[str, Memory]) -> DescribedConflict:
    conflict = case.conflict
    return DescribedConflict(
        id=case.id,
        project_id=conflict.project_id,
        kind=conflict.kind,
        detail=conflict.detail,
        similarity=round(conflict.score, 4),
        found_at=case.found_at,
        status=case.resolution or "open",
        newer_id=newer.id if (newer := newer_of(memories[conflict.a], memories[conflict.b])) else None,
        a=_side(memories[conflict.a], case.scope_a),
        b=_side(memories[conflict.b], case.scope_b),
        resolved_at=case.resolved_at,
        resolved_by=case.resolved_by,
        kept_id=case.kept_id,
        note=case.note,
        run_id=case.resolution_run,
    )


def _side(memory: Memory, scope: str | None) -> ConflictSide:
    return ConflictSide(
        id=memory.id,
        content=with_subject(memory),
        effective_date=memory.effective_date,
        day=None if memory.created_at_quality in UNDATED else memory.day,
        importance=memory.importance,
        abstraction_level=memory.abstraction_level,
        archived_into=memory.consolidated_into_id,
        scope=scope,
    )


def conflict_text(shown: DescribedConflict) -> str:
    """A described conflict as plain text, one side below the other."""
    lines = [f"{shown.id}  {shown.kind}: {shown.detail} (project {shown.project_id}, {shown.status})"]
    for name, side in (("a", shown.a), ("b", shown.b)):
        scope = f" [applies: {side.scope}]" if side.scope else ""
        gone = f" [archived into {side.archived_into}]" if side.archived_into else ""
        gone += " [newer: supersedes the other side]" if side.id == shown.newer_id else ""
        lines.append(f"  {name}  {side.day or 'undated':<10}  {' '.join(side.content.split())}{scope}{gone}")
        lines.append(f"     {side.id}")
    if shown.resolved_by and shown.resolved_at:
        lines.append(
            f"  settled by {shown.resolved_by} on {_minute(shown.resolved_at)}"
            + (f": {shown.note}" if shown.note else "")
        )
    return "\n".join(lines)


def _minute(moment: datetime) -> str:
    return moment.isoformat()[:16]
