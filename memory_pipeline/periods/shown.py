"""Rollups as people and programs see them, and whether they keep their promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.periods.calendar import Period, read_period
from memory_pipeline.periods.making import rollup_id
from memory_pipeline.periods.running import MadeRollup
from memory_pipeline.records.night import Rollup
from memory_pipeline.store import Store, Transaction


class ListedRollup(Document):
    """A rollup, as a list shows it."""

    id: str = Field(description="Its id.")
    project: str = Field(description="The project.")
    level: str = Field(description="`day`, `week`, `month` or `year`.")
    period: str = Field(description="The period.")
    notes: int = Field(description="Memories of the period.")
    entries: int = Field(description="Memories that it says.")
    tokens: int = Field(description="Its tokens.")
    budget: int = Field(description="The most tokens that it could have.")


class ShownRollup(ListedRollup):
    """A rollup with its words."""

    text: str = Field(description="What it says, as Markdown.")
    memory_ids: tuple[str, ...] = Field(description="The memories that say it.")
    below: tuple[str, ...] = Field(description="The ids of the rollups that it is made from.")


def list_rollups(tx: Transaction, project: str | None) -> list[ListedRollup]:
    """The rollups of one project or of all: by project, beginning and level."""
    return [ListedRollup.model_validate(_listed(one)) for one in tx.rollups.all(project)]


def show_rollups(tx: Transaction, period: Period, project: str | None) -> list[ShownRollup]:
    """The rollup of a period, of one project or of every one that has it. Raises InputError if there is none."""
    chosen = [project] if project else tx.memories.projects()
    found = [one for name in chosen for one in tx.rollups.read(name, [rollup_id(name, period)]).values()]
    if not found:
        raise InputError(
            f"there is no rollup of {period.key}; 'memory-pipeline rollups run --from {period.first} --to "
            f"{period.last}' makes it when the period has ended, if there is something to say"
        )
    return [
        ShownRollup.model_validate(
            {**_listed(one), "text": one.content, "memory_ids": one.memory_ids, "below": one.below_ids}
        )
        for one in found
    ]


def _listed(one: Rollup) -> dict[str, object]:
    return {
        "id": one.id,
        "project": one.project_id,
        "level": one.level,
        "period": one.period,
        "notes": one.notes,
        "entries": len(one.memory_ids),
        "tokens": one.token_count,
        "budget": one.budget_tokens,
    }


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
