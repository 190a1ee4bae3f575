"""Was anything lost? Every fact of the sources must be in the abstraction or attached to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_pipeline.wording.conflicts import WORDING, find_conflict
from memory_pipeline.wording.facts import Fact, fact_keys, find_facts


@dataclass(frozen=True, slots=True)
class Preservation:
    """How many distinct facts the sources have, and where each is now."""

    found: int
    kept: int
    attached: int
    lost: tuple[Fact, ...]


def check_preservation(sources: Sequence[str], text: str, attached: Sequence[str]) -> Preservation:
    """Look up every fact of the sources in the abstraction's text and in the attached facts."""
    facts: dict[tuple[str, str], Fact] = {}
    for source in sources:
        for fact in find_facts(source):
            facts.setdefault(fact.key, fact)
    in_text = fact_keys(text)
    in_attached = frozenset[tuple[str, str]]().union(*(fact_keys(piece) for piece in attached))
    kept = sum(key in in_text for key in facts)
    beside = sum(key in in_attached and key not in in_text for key in facts)
    lost = tuple(fact for key, fact in facts.items() if key not in in_text and key not in in_attached)
    return Preservation(len(facts), kept, beside, lost)


#: For these kinds, sources may differ (episodes), as long as every value is kept; see `find_invention`.
FIGURES = frozenset(("number", "unit", "date", "time", "identifier"))
#: A single differing word is for clustering to weigh; a draft may replace a word with another.
_NO_CONTRADICTION = FIGURES | {WORDING}


def find_contradiction(sources: Sequence[str], text: str) -> str | None:
    """How the text contradicts a claim of a source, in words, or None. Figures are checked separately."""
    for source in sources:
        finding = find_conflict(text, source)
        if finding and finding.kind not in _NO_CONTRADICTION:
            return f"{finding.kind}: {finding.detail}"
    return None


def find_invention(sources: Sequence[str], content: str) -> Fact | None:
    """A figure or identifier of the abstraction that no source has, or None."""
    known = frozenset[tuple[str, str]]().union(*(fact_keys(source) for source in sources))
    said = (fact for fact in find_facts(content) if fact.kind in FIGURES)
    return next((fact for fact in said if fact.key not in known), None)
