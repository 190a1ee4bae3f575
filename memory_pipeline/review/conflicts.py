"""The linked conflicts for a reader: the plainest first, those of the same memories together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from memory_pipeline.errors import InputError
from memory_pipeline.night.linkage import connected_components
from memory_pipeline.records import Conflict, ConflictCase, Memory
from memory_pipeline.store import Store, Transaction, read_memories

#: How likely a kind is a contradiction, likeliest first; kinds that are not named come last.
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
    """Conflicts that share a memory, directly or through others, in one group; the plainest contradiction first,
    in each group and among the groups.

    First comes what is a contradiction whatever the text is about, last that in which many figures differ, which
    are often readings of one gauge. Equals stay in the order in which they were given.
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
) -> list[dict[str, Any]]:
    """The conflicts that await a decision, with `settled` all of them, newest first among equals.

    Of a group the plainest is shown, with the number of those that are `alike`; with `each`, and with `settled`,
    every one. Raises InputError for a kind of which the store has none.
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
        if each or settled:
            groups = [[conflict] for conflict in sorted(conflicts, key=_plainness)]
        else:
            groups = group_conflicts(conflicts)
        shown = describe_conflicts(tx, [cases[group[0].a, group[0].b] for group in groups])
    return [{**one, "alike": len(group) - 1} for one, group in zip(shown, groups, strict=True)]


def describe_conflicts(tx: Transaction, cases: Sequence[ConflictCase]) -> list[dict[str, Any]]:
    """Conflicts for a reader: both sides with their words and times, and how each was settled."""
    memories = read_memories(tx, sorted({side for case in cases for side in (case.conflict.a, case.conflict.b)}))
    return [_described(case, memories) for case in cases]


def _described(case: ConflictCase, memories: Mapping[str, Memory]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": case.id,
        "project_id": case.conflict.project_id,
        "kind": case.conflict.kind,
        "detail": case.conflict.detail,
        "similarity": round(case.conflict.score, 4),
        "found_at": case.found_at.isoformat(),
        "status": case.resolution or "open",
    }
    for side, memory_id, scope in (("a", case.conflict.a, case.scope_a), ("b", case.conflict.b, case.scope_b)):
        memory = memories[memory_id]
        shown[side] = {
            "id": memory_id,
            "content": memory.content,
            "effective_date": memory.effective_date.isoformat(),
            "importance": memory.importance,
            "abstraction_level": memory.abstraction_level,
            "archived_into": memory.consolidated_into_id,
            "scope": scope,
        }
    return {
        **shown,
        "resolved_at": case.resolved_at.isoformat() if case.resolved_at else None,
        "resolved_by": case.resolved_by,
        "kept_id": case.kept_id,
        "note": case.note,
        "run_id": case.resolution_run,
    }


def conflict_text(shown: dict[str, Any]) -> str:
    """A described conflict as plain text, one side under the other."""
    lines = [f"{shown['id']}  {shown['kind']}: {shown['detail']} (project {shown['project_id']}, {shown['status']})"]
    for side in ("a", "b"):
        one = shown[side]
        scope = f" [holds: {one['scope']}]" if one["scope"] else ""
        gone = f" [archived into {one['archived_into']}]" if one["archived_into"] else ""
        lines.append(f"  {side}  {one['effective_date'][:16]}  {' '.join(one['content'].split())}{scope}{gone}")
        lines.append(f"     {one['id']}")
    if shown["resolved_by"]:
        lines.append(
            f"  settled by {shown['resolved_by']} on {shown['resolved_at'][:16]}"
            + (f": {shown['note']}" if shown["note"] else "")
        )
    return "\n".join(lines)
