"""What nights grow out of memories: causes and effects, the playbook, and principles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from memory_pipeline.records.columns import Column


@dataclass(frozen=True, slots=True)
class PlaybookEntry:
    """A piece of guidance, in the words of its source with the highest level and confidence."""

    id: Annotated[str, Column("Derived from the memory that came first.")]
    project_id: Annotated[str, Column("The project in which it applies.")]
    category: Annotated[str, Column("What it is about.")]
    content: Annotated[str, Column("The guidance.")]
    confidence: Annotated[float, Column("The confidence of its most reliable source, 0 to 1.")]
    source_ids: Annotated[tuple[str, ...], Column("The patterns and principles that support it.")]
    created_at: Annotated[datetime, Column("When the first of them was created.")]
    updated_at: Annotated[datetime, Column("When the last of them was created or archived.")]


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one pattern or principle did to the playbook: it `created` an entry or `updated` one."""

    memory_id: Annotated[str, Column("The pattern or principle.")]
    entry_id: Annotated[str, Column("The entry of the playbook.")]
    guidance: Annotated[str, Column("What the pattern or principle advises, in its words.")]
    category: Annotated[str, Column("What it is about.")]
    confidence: Annotated[float, Column("Its confidence, 0 to 1.")]
    level: Annotated[int, Column("Its abstraction level.")]
    status: Annotated[
        Literal["created", "updated"], Column("Whether it created an entry, or updated one with the same guidance.")
    ]


#: What became of a causal finding.
AtomStatus = Literal["created", "strengthened", "skipped", "not_causal"]


@dataclass(frozen=True, slots=True)
class Causal:
    """A cause and its effect."""

    subject: Annotated[str, Column("What the action was applied to.")]
    action: Annotated[str, Column("What was done.")]
    outcome: Annotated[str, Column("What resulted.")]
    consequences: Annotated[str, Column("What followed further on.")] = ""


@dataclass(frozen=True, slots=True)
class Atom:
    """A causal finding, supported by one or more memories."""

    id: Annotated[str, Column("Derived from project, subject and action, or given.")]
    project_id: Annotated[str, Column("The project in which it applies.")]
    causal: Annotated[Causal, Column("The cause and its effect.")]
    confidence: Annotated[
        float, Column("0.7 when a night creates it, 0.1 more for each further memory, 1 when someone states it here.")
    ]
    source_ids: Annotated[tuple[str, ...], Column("The abstractions or memories that support it.")]
    created_at: Annotated[datetime, Column("When it was first found or stated.")]
    strengthened_at: Annotated[datetime | None, Column("When another memory last supported it.")] = None
    retracted_at: Annotated[datetime | None, Column("When no supporting memory was left.")] = None
    stated_by: Annotated[str | None, Column("Who stated it.")] = None


@dataclass(frozen=True, slots=True)
class AtomDecision:
    """The result for the causal finding of one abstraction."""

    memory_id: Annotated[str, Column("The abstraction with the finding.")]
    project_id: str
    status: Annotated[AtomStatus, Column("created, strengthened, skipped or not_causal.")]
    atom_id: Annotated[str | None, Column("The atom that was created or strengthened.")]
    reason: Annotated[str | None, Column("Why it was skipped.")]
    causal: Annotated[Causal | None, Column("The cause and its effect; empty if the abstraction is not causal.")] = None
