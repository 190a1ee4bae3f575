"""What led to what, as far as memories tell."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from memory_pipeline.records.columns import Column

#: What became of a causal finding.
AtomStatus = Literal["created", "strengthened", "skipped", "not_causal"]


@dataclass(frozen=True, slots=True)
class Causal:
    """What led to what."""

    subject: Annotated[str, Column("What it was done to.")]
    action: Annotated[str, Column("What was done.")]
    outcome: Annotated[str, Column("What came of it.")]
    consequences: Annotated[str, Column("What follows further on.")] = ""


@dataclass(frozen=True, slots=True)
class Atom:
    """A causal finding that may rest on many memories."""

    id: Annotated[str, Column("Derived from project, subject and action, or given.")]
    project_id: Annotated[str, Column("The project that it holds in.")]
    causal: Annotated[Causal, Column("What led to what.")]
    confidence: Annotated[
        float, Column("0.7 when a night creates it, 0.1 more with each further memory, 1 when somebody states it.")
    ]
    source_ids: Annotated[tuple[str, ...], Column("The abstractions or memories that it rests on.")]
    created_at: Annotated[datetime, Column("When it was first found or stated.")]
    strengthened_at: Annotated[datetime | None, Column("When a further memory bore it out.")] = None
    retracted_at: Annotated[datetime | None, Column("When nothing was left for it to rest on.")] = None
    stated_by: Annotated[str | None, Column("Who stated it.")] = None


@dataclass(frozen=True, slots=True)
class AtomDecision:
    """What became of one abstraction's causal finding."""

    memory_id: Annotated[str, Column("The abstraction that says it.")]
    project_id: str
    status: Annotated[AtomStatus, Column("created, strengthened, skipped or not_causal.")]
    atom_id: Annotated[str | None, Column("The atom that the finding became or made surer.")]
    reason: Annotated[str | None, Column("Why it was skipped.")]
    causal: Annotated[
        tuple[str, ...],
        Column("Subject, action, outcome and consequences; empty when it says nothing of causes."),
    ] = ()
