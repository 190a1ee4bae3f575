"""What led to what, as far as memories tell."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Causal:
    """What led to what: doing `action` to `subject` has `outcome`, with `consequences` further on."""

    subject: str
    action: str
    outcome: str
    consequences: str = ""


@dataclass(frozen=True, slots=True)
class Atom:
    """A causal finding that may rest on many memories.

    `confidence`: 0.7 when a night creates it, 0.1 more with each further memory, 1.0 when somebody states it
    (`stated_by`). `source_ids`: the abstractions or memories it rests on.
    """

    id: str
    project_id: str
    causal: Causal
    confidence: float
    source_ids: tuple[str, ...]
    created_at: datetime
    strengthened_at: datetime | None = None
    retracted_at: datetime | None = None
    stated_by: str | None = None


@dataclass(frozen=True, slots=True)
class AtomDecision:
    """What became of one abstraction's causal finding: `created`, `strengthened`, `skipped` or `not_causal`."""

    memory_id: str
    project_id: str
    status: str
    atom_id: str | None
    reason: str | None
    causal: tuple[str, ...] = ()
