"""How much an extraction matters, from its kind and from how it was said."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memory_pipeline.records import ExtractionKind

#: Of each kind, before how it was said counts.
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
#: What is added for a marker, a reason, words and signs that stress, and taken off for words of doubt; and for every
#: turn or day of a repetition beyond those that make one.
MARKED, REASONED, STRESSED, DOUBTED, AGAIN = 0.2, 0.1, 0.05, -0.1, 0.05
_STRESS = re.compile(
    r"\b(?:really|very|never|always|absolutely|extremely|deeply|so|totally|completely|definitely|strongly|furious|"
    r"devastated|terrified|overjoyed|heart-?broken|hate|love)\b|!",
    re.IGNORECASE,
)
_SHOUTED = re.compile(r"\b[A-Z]{4,}\b|!!")
_DOUBT = re.compile(
    r"\b(?:i think|i guess|i suppose|kinda|kind of|sort of|a bit|a little|somewhat|more or less|i believe)\b",
    re.IGNORECASE,
)


def significance_of(
    kind: ExtractionKind,
    quote: str,
    *,
    priority: bool = False,
    rationale: str = "",
    again: int = 0,
) -> float:
    """The significance of an extraction, 0 to 1.

    `again`: for a repetition, the turns and days beyond those that make one.
    """
    value = BASE[kind]
    value += MARKED if priority else 0.0
    value += REASONED if rationale else 0.0
    value += STRESSED if _STRESS.search(quote) else 0.0
    value += STRESSED if _SHOUTED.search(quote) else 0.0
    value += DOUBTED if _DOUBT.search(quote) else 0.0
    value += AGAIN * again
    return round(min(1.0, max(0.0, value)), 3)


def valued_by_use(significance: float, utility: float) -> float:
    """The significance, given how useful extractions of its kind have been, from -1 to 1: it moves by as much as a mark
    does, at most."""
    return round(min(1.0, max(0.0, significance + MARKED * utility)), 3)
