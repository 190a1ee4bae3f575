"""Finds the distinct things that the statements of a cluster say, each with everyone who says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from memory_pipeline.models import conflicts
from memory_pipeline.text.days import names_another_day
from memory_pipeline.text.facts import fact_keys

#: At most so many statements are tried as the wording of what others say: the most central ones.
_MOST_WORDINGS = 60


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of one member: its place in it, the day of the member, its text without lead-ins."""

    member: int
    place: int
    day: date
    text: str


@dataclass(frozen=True, slots=True)
class Saying:
    """One thing that is said: its fullest wording, and every statement that says it, that one included."""

    best: Statement
    statements: tuple[Statement, ...]

    @property
    def members(self) -> frozenset[int]:
        """The members that say it."""
        return frozenset(statement.member for statement in self.statements)


def find_sayings(statements: Sequence[Statement], centrality: Sequence[float]) -> list[Saying]:
    """The distinct things that are said: what most members say first, then in the order in which they are told.

    Greedy: the wording that says what most members say is taken with all of those, then the next among the rest.
    """
    left = sorted(statements, key=lambda s: (-centrality[s.member], s.member, s.place))
    sayings: list[Saying] = []
    while left:
        tried = [Saying(best, tuple(s for s in left if says(best, s))) for best in left[:_MOST_WORDINGS]]
        saying = min(tried, key=lambda s: _preference(s, centrality))
        sayings.append(saying)
        left = [statement for statement in left if not says(saying.best, statement)]
    return sorted(sayings, key=lambda s: (-len(s.members), s.best.place, s.best.day, s.best.member))


def _preference(saying: Saying, centrality: Sequence[float]) -> tuple[object, ...]:
    """Most members first; then the wording that has most facts, is central, and is short."""
    best = saying.best
    return -len(saying.members), -len(fact_keys(best.text)), -centrality[best.member], len(best.text), best.text


def says(best: Statement, statement: Statement) -> bool:
    """True if a wording says all that a statement says, with its figures, of the same day where they name one."""
    if best.day != statement.day and names_another_day(best.text) and names_another_day(statement.text):
        return False  # tomorrow is another day for each of them
    return conflicts.says(best.text, statement.text)
