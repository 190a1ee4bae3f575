"""Memories that say different things in nearly the same words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from memory_pipeline.records.columns import Column


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories that say different things in nearly the same words."""

    project_id: Annotated[str, Column("The project of both.")]
    a: Annotated[str, Column("One memory.")]
    b: Annotated[str, Column("The other memory; its id sorts after the first.")]
    kind: Annotated[str, Column("What they disagree about: a number, a negation, a name, ...")]
    detail: Annotated[str, Column("The words that disagree.")]
    score: Annotated[float, Column("Cosine of the two.")]


@dataclass(frozen=True, slots=True)
class ConflictCase:
    """A conflict with its history; its id is derived from the pair."""

    id: str
    conflict: Annotated[Conflict, Column("The pair.")]
    found_at: Annotated[datetime, Column("The night in which it was found.")]
    resolution: Annotated[
        str | None,
        Column("`keep_newer`, `keep_one` or `keep_both` by a person, `series` or `compatible` by the pipeline; nothing "
               "while it is open."),
    ] = None  # fmt: skip
    resolved_at: Annotated[datetime | None, Column("When a person decided.")] = None
    resolved_by: Annotated[str | None, Column("Who decided.")] = None
    kept_id: Annotated[str | None, Column("The side that was kept.")] = None
    scope_a: Annotated[str | None, Column("Where side a applies, if both were kept.")] = None
    scope_b: Annotated[str | None, Column("Where side b applies.")] = None
    note: Annotated[str | None, Column("What the person noted.")] = None
    resolution_run: Annotated[str | None, Column("The run that applied the decision.")] = None
