"""The distiller without a model: it says what the sources say, in their own sentences, and nothing else.

What all members say is one sentence, in its fullest wording. What one member adds is a sentence of its own. Where
members give different values of one thing, or one of them is a task that is still open, no sentence of theirs holds for
all: that is declined, and the members stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import combinations

from memory_pipeline.consolidation.distillers.judge import Draft, Member, Task, evidence_confidence
from memory_pipeline.models import Declined, Session, conflicts
from memory_pipeline.text.days import names_another_day, with_days
from memory_pipeline.text.facts import FACT_FIGURES, content_words, fact_keys
from memory_pipeline.text.sentences import join_statements, split_statements, strip_lead_in
from memory_pipeline.text.threads import opens
from memory_pipeline.text.whole import facts_lacking

#: The members share what at least this share of them says.
SHARED_BY = 0.6
#: A shared statement has at least so many content words; fewer are a heading, a greeting, or who wrote it.
LEAST_WORDS = 2
#: Two statements speak of one thing from this share of the shorter one's content words on.
SAME_SUBJECT = 0.5
#: Who sent something, at the start of a line.
_ADDRESS = re.compile(
    r"^\s*(?:from|to|sender|author|by|subject|date|channel|chat|cc)\s*:.*$", re.IGNORECASE | re.MULTILINE
)

#: At most so many statements are tried as the wording of what others say: the most central ones.
_MOST_WORDINGS = 60

NOTHING_SHARED = "the members say nothing in common"
OTHER_VALUES = "the members give different values of one thing"
OPEN_AND_DONE = "one member is an open task, and another one is none"


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of one member: its place in it, the time and the day of the member, its text without lead-ins."""

    member: int
    place: int
    at: datetime
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
    return conflicts.says(best.text, statement.text, is_earlier=best.at < statement.at)


class Extractive:
    """Deterministic, offline, and honest: every statement of a draft is one of its sources'."""

    method = "heuristic"
    prompt_version = "extractive-14"

    def drafts(self, tasks: Iterable[Task], session: Session) -> Iterator[tuple[Task, Draft | Declined | Exception]]:
        """One draft per task, one after the other."""
        for task in tasks:
            session.keep_alive()
            try:
                yield task, self.draft(task)
            except Exception as error:  # one failing cluster leaves the others
                yield task, error

    def draft(self, task: Task) -> Draft | Declined:
        """Every distinct statement of the members once, what most of them say first; or why that cannot be told."""
        members = task.members
        sayings = _after_their_context(
            find_sayings(_list_statements(members), [member.centrality for member in members])
        )
        if not _is_shared(sayings, len(members)):
            return Declined(NOTHING_SHARED)
        if len({opens(member.memory) for member in members}) > 1:
            return Declined(OPEN_AND_DONE)
        if any(_give_other_values(one, other) for one, other in combinations(sayings, 2)):
            return Declined(OTHER_VALUES)
        return Draft(
            text=join_statements([with_days(saying.best.text, saying.best.day) for saying in sayings]),
            prompt_version=self.prompt_version,
            confidence=_confidence(sayings, members),
        )


def _list_statements(members: Sequence[Member]) -> list[Statement]:
    statements = []
    for index, member in enumerate(members):
        texts = list(map(strip_lead_in, split_statements(member.memory.content)))
        at, day = member.memory.effective_date, member.memory.day
        for place, text in enumerate(texts or [member.memory.content.strip()]):
            statements.append(Statement(index, place, at, day, text))
    return statements


def _after_their_context(sayings: Sequence[Saying]) -> list[Saying]:
    """The sayings in their order, but each directly after the one that tells what precedes it in its memory: whatever
    it refers to stands before it, as in its source."""
    saying_by_place = {(s.member, s.place): n for n, saying in enumerate(sayings) for s in saying.statements}
    following: dict[int | None, list[int]] = {}
    for n, saying in enumerate(sayings):
        before = saying_by_place.get((saying.best.member, saying.best.place - 1)) if n else None
        following.setdefault(None if before == n else before, []).append(n)
    ordered: dict[int, None] = {}
    waiting = [*reversed([*following.get(None, ()), *range(len(sayings))])]  # those in a circle come last
    while waiting:
        n = waiting.pop()
        if n not in ordered:
            ordered[n] = None
            waiting += reversed(following.get(n, ()))
    return [sayings[n] for n in ordered]


def _is_shared(sayings: Sequence[Saying], members: int) -> bool:
    """True if one statement is said by most members, and none of them speaks of something else alone."""
    joined: set[int] = set()
    for saying in sayings:
        if len(saying.members) > 1 or _overlap(saying.best.text, sayings[0].best.text) >= SAME_SUBJECT:
            joined |= saying.members
    says_something = len(content_words(_ADDRESS.sub("", sayings[0].best.text))) >= LEAST_WORDS
    return says_something and len(joined) == members and len(sayings[0].members) >= max(2, SHARED_BY * members)


def _give_other_values(one: Saying, other: Saying) -> bool:
    """True if two things that are said, by different members, are about one thing and each gives a figure of a kind and
    unit of which the other gives another."""
    if one.members & other.members or _overlap(one.best.text, other.best.text) < SAME_SUBJECT:
        return False
    mine, theirs = (
        {(fact.kind, fact.value.partition(" ")[2]) for fact in facts_lacking(text, of) if fact.kind in FACT_FIGURES}
        for text, of in ((other.best.text, one.best.text), (one.best.text, other.best.text))
    )
    return not mine.isdisjoint(theirs)


def _overlap(one: str, other: str) -> float:
    """The share of the shorter statement's content words that are in the other one, 0 to 1."""
    mine, theirs = set(content_words(one)), set(content_words(other))
    fewer = min(len(mine), len(theirs))
    return len(mine & theirs) / fewer if fewer else 0.0


def _confidence(sayings: Sequence[Saying], members: Sequence[Member]) -> float:
    """The `evidence_confidence` of every distinct statement, weighted by its words.

    It decreases with the share of statements that only one member makes (0.67). A cluster of three on one day falls
    below the default floor of 0.7 if less than two fifths of it is said by all members, and one on three days if
    less than a quarter is.
    """
    sure = whole = 0.0
    for saying in sayings:
        weight = max(1, len(content_words(saying.best.text)))
        witnesses = (witness for i in sorted(saying.members) for witness in members[i].witnesses)
        whole += weight
        sure += weight * evidence_confidence(witnesses)
    return round(sure / whole, 4)
