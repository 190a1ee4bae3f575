"""Whether rollups keep their promises: their budgets, the memories and rollups that they stand on, and their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_pipeline.rollups.making import rollup_id
from memory_pipeline.rollups.periods import read_period
from memory_pipeline.rollups.running import MadeRollup
from memory_pipeline.store import Store


@dataclass(frozen=True, slots=True)
class RollupProblems:
    """What is wrong with rollups, in words."""

    over_budget: list[str]
    without_memory: list[str]
    not_written: list[str]


def find_problems(store: Store, made: Sequence[MadeRollup]) -> RollupProblems:
    """What is wrong with the rollups of a run, as they stand in the store and in their files now."""
    found = RollupProblems([], [], [])
    for project in sorted({one.project for one in made}):
        mine = {rollup_id(project, read_period(one.period)): one for one in made if one.project == project}
        with store.reading() as tx:
            kept = tx.rollups.read(project, mine)
            memories = tx.memories.existing(sorted({i for one in kept.values() for i in one.memory_ids}))
            below = tx.rollups.read(project, {i for one in kept.values() for i in one.below_ids})
        for known, one in mine.items():
            name = f"{project} {one.period}"
            row = kept.get(known)
            if one.problem:
                found.not_written.append(f"{name}: {one.problem}")
            if row is None:
                continue
            if row.token_count > row.budget_tokens:
                found.over_budget.append(f"{name}: {row.token_count} of {row.budget_tokens} tokens")
            lost = [i for i in row.memory_ids if i not in memories] + [i for i in row.below_ids if i not in below]
            if lost:
                found.without_memory.append(f"{name}: {lost[0]}")
            if one.file and not one.problem and row.content not in _text_of(Path(one.file)):
                found.not_written.append(f"{name}: '{one.file}' says something else")
    return found


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").replace("\r\n", "\n")
    except OSError:
        return ""
