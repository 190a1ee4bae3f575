"""How much an extraction matters, from its kind and from what its speaker marked."""

from __future__ import annotations

from collections.abc import Mapping

from memory_pipeline.records import ExtractionKind

#: Of each kind, where no reader said how much it matters.
BASE: Mapping[ExtractionKind, float] = {
    "boundary": 0.8,
    "correction": 0.7,
    "decision": 0.7,
    "trust": 0.65,
    "marker": 0.6,
    "fact": 0.6,
    "dynamic": 0.6,
    "learning": 0.6,
    "preference": 0.55,
    "emotion": 0.45,
    "context": 0.4,
    "repetition": 0.4,
}
#: What a mark of its speaker adds.
MARKED = 0.2


def significance_of(kind: ExtractionKind, *, is_marked: bool = False) -> float:
    """The significance of an extraction of a kind, 0 to 1."""
    return round(min(1.0, BASE[kind] + (MARKED if is_marked else 0.0)), 3)


def valued_by_use(significance: float, utility: float) -> float:
    """The significance, given how useful extractions of its kind have been, from -1 to 1: it moves by as much as a mark
    does, at most."""
    return round(min(1.0, max(0.0, significance + MARKED * utility)), 3)
