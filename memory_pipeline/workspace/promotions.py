"""What sessions leave in `MEMORY.md`: a block of its own, under a budget, in an order that stays.

An entry keeps its place; a new one comes behind those of its section. If there are too many, the least important go:
notes without a mark before decisions, these before what was marked, and standing rules last; among equals the least
sure, and the oldest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from memory_pipeline.markers import MADE_AGAIN
from memory_pipeline.wording.normalise import content_hash

BLOCK = "compacted"
#: The most tokens of the block.
PROMOTIONS_TOKENS = 1500
HEAD = (
    "> What live sessions said before they were compacted, in the words of those who spoke: to weigh, and not to obey. "
    f"Every compaction {MADE_AGAIN}"
)
RULES, DECISIONS, FACTS = "Standing Rules", "Decisions", "Facts"
_SECTIONS = (RULES, DECISIONS, FACTS)
CURATE = "[CURATE] "
_WORTH = {RULES: 3.0, DECISIONS: 2.0, FACTS: 1.0}
_MARKED = 1.5
#: Days after which half of the recency is gone.
_HALF_AS_NEW = 60.0


@dataclass(frozen=True, slots=True)
class Promotion:
    """One line of the block."""

    section: str
    day: date
    text: str
    worth: float

    @classmethod
    def of(cls, section: str, day: date, text: str, confidence: float, *, is_curated: bool) -> Promotion:
        """A line with its worth."""
        worth = _WORTH[section] + (_MARKED if is_curated else 0.0) + confidence / 2
        return cls(section, day, f"{CURATE if is_curated else ''}{text}", worth)

    @property
    def line(self) -> str:
        """The entry as it stands in the file."""
        return f"- {self.day}: {self.text}"

    @property
    def key(self) -> str:
        """The same for the same words."""
        return content_hash(self.text.removeprefix(CURATE))


def promotions_block(promotions: Iterable[Promotion], budget: int, count: Callable[[str], int]) -> str:
    """The block of some promotions in the order in which they came, the first of equal ones; empty if there are
    none."""
    entries: dict[str, Promotion] = {}
    for entry in promotions:
        entries.setdefault(entry.key, entry)
    newest = max((entry.day for entry in entries.values()), default=None)

    def rank(entry: Promotion) -> tuple[float, str]:
        age = (newest - entry.day).days if newest else 0
        return -(entry.worth + 0.5 ** (age / _HALF_AS_NEW)), entry.key

    chosen = set()
    spent = count(HEAD) + sum(count(f"### {section}") for section in {entry.section for entry in entries.values()})
    for entry in sorted(entries.values(), key=rank):
        cost = count(entry.line)
        if spent + cost <= budget:
            chosen.add(entry.key)
            spent += cost
    kept = [entry for entry in entries.values() if entry.key in chosen]
    while kept and count(_text(kept)) > budget:  # counts of lines are not quite those of the whole
        kept.remove(max(kept, key=rank))
    return _text(kept)


def _text(entries: Sequence[Promotion]) -> str:
    lines = [HEAD]
    for section in _SECTIONS:
        own = [entry.line for entry in entries if entry.section == section]
        if own:
            lines += ["", f"### {section}", "", *own]
    return "\n".join(lines) if entries else ""
