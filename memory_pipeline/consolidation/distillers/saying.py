"""Finds the distinct things that the statements of a cluster say, each with everyone who says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from memory_pipeline.text.agreement import says_the_same, tells_one_time
from memory_pipeline.text.conflicts import find_conflict
from memory_pipeline.text.days import names_another_day
from memory_pipeline.text.facts import FACT_FIGURES, fact_keys
from memory_pipeline.text.normalise import normalise
from memory_pipeline.text.values import Value, normal_value, paired, values_in
from memory_pipeline.text.whole import facts_lacking

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
    """One thing that is said: its fullest wording, and every telling of it with the values at the wording's places.

    `tellings`: by day; values are empty for a telling that gives none.
    """

    best: Statement
    tellings: tuple[tuple[Statement, tuple[Value, ...]], ...]

    @property
    def members(self) -> frozenset[int]:
        """Who says it."""
        return frozenset(statement.member for statement, _ in self.tellings)

    @property
    def varying(self) -> list[int]:
        """The places whose values differ between the tellings."""
        rows = [values for _, values in self.tellings if values]
        return [n for n, column in enumerate(zip(*rows, strict=True)) if len({normal_value(v) for v in column}) > 1]


def find_sayings(statements: Sequence[Statement], centrality: Sequence[float]) -> list[Saying]:
    """The distinct things that are said: what most members say first, then in the order in which they are told.

    Greedy: the wording that says what most members say is taken with all of those, then the next among the rest.
    """
    left = sorted(statements, key=lambda s: (-centrality[s.member], s.member, s.place))
    found: list[Saying] = []
    while left:
        tried = [_saying(best, left) for best in left[:_MOST_WORDINGS]]
        saying = min(tried, key=lambda s: _preference(s, centrality))
        found.append(saying)
        taken = {(statement.member, statement.place) for statement, _ in saying.tellings}
        left = [s for s in left if (s.member, s.place) not in taken and not _is_said(s, found)]
    return sorted(found, key=lambda s: (-len(s.members), s.best.place, s.best.day, s.best.member))


def _preference(saying: Saying, centrality: Sequence[float]) -> tuple[object, ...]:
    """Most members first; then the wording that holds for all times, has most facts, is central, and is short."""
    best = saying.best
    several = bool(saying.varying)
    return (
        -len(saying.members),
        several and tells_one_time(best.text),
        -len(fact_keys(best.text)),
        -centrality[best.member],
        len(best.text),
        best.text,
    )


def _saying(best: Statement, statements: Sequence[Statement]) -> Saying:
    tellings = [
        (statement, values)
        for statement in statements
        if (values := values_in(best.text) if statement is best else told_by(best, statement)) is not None
    ]
    tellings.sort(key=lambda telling: (telling[0].day, telling[0].member, telling[0].place))
    return Saying(best, tuple(tellings))


def told_by(best: Statement, statement: Statement) -> tuple[Value, ...] | None:
    """The values of a statement at the places of a wording that says the same, or None if it does not.

    Other figures of the same day are another claim, unless the statement gives none.
    """
    same_words = normalise(best.text) == normalise(statement.text)
    if not same_words and not says_the_same(statement.text, best.text):
        return None
    if best.day != statement.day and names_another_day(best.text) and names_another_day(statement.text):
        return None  # tomorrow is another day for each of them
    values = values_in(statement.text)
    if same_words:
        return values
    own = paired(values, values_in(best.text)) if values else ()
    if own is None:
        return () if not facts_lacking(best.text, statement.text) and _agree(best, statement) else None
    if values and _differ(values_in(best.text), own):
        return own if _tells_another_time(best, statement) else None
    return own if _agree(best, statement) and not facts_lacking(best.text, statement.text) else None


def _differ(one: Sequence[Value], other: Sequence[Value]) -> bool:
    return any(normal_value(a) != normal_value(b) for a, b in zip(one, other, strict=True))


def _agree(best: Statement, statement: Statement) -> bool:
    return find_conflict(best.text, statement.text) is None


def _tells_another_time(best: Statement, statement: Statement) -> bool:
    """Whether two statements that differ in figures tell of two times: they agree in everything else, either way."""
    if not says_the_same(best.text, statement.text):
        return False  # the wording would say of this time what only its own is said to have been
    finding = find_conflict(best.text, statement.text)
    return finding is None or (finding.kind in FACT_FIGURES and best.day != statement.day)


def _is_said(statement: Statement, sayings: Sequence[Saying]) -> bool:
    """Whether a wording that was taken says all of a statement already."""
    return any(
        (values := told_by(saying.best, statement)) is not None
        and not _differ(values_in(saying.best.text), values or values_in(saying.best.text))
        for saying in sayings
    )
