"""Was anything lost? Every fact of the sources must be in the abstraction or attached to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from memory_pipeline.wording.conflicts import WORDING, find_conflict
from memory_pipeline.wording.days import days_meant
from memory_pipeline.wording.facts import Fact, fact_keys, find_facts
from memory_pipeline.wording.keeping import keeps


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
    kept = [key for key, fact in facts.items() if keeps(text, fact)]
    rest = [fact for key, fact in facts.items() if key not in set(kept)]
    lost = tuple(fact for fact in rest if not any(keeps(piece, fact) for piece in attached))
    return Preservation(len(facts), len(kept), len(rest) - len(lost), lost)


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


def find_invention(sources: Sequence[str], content: str, written: Iterable[date] = ()) -> Fact | None:
    """A figure or identifier of the abstraction that no source has, or None.

    `written`: the days of the sources. An abstraction may name these, and the days that `tomorrow` and the like mean.
    """
    known = frozenset[tuple[str, str]]().union(*(fact_keys(source) for source in sources))
    days = {day for each in written for day in days_meant(each)}
    named = {("date", value) for day in days for value in (f"{day}", f"----{day:-%m-%d}")}
    said = (fact for fact in find_facts(content) if fact.kind in FIGURES)
    return next((fact for fact in said if fact.key not in known and fact.key not in named), None)
