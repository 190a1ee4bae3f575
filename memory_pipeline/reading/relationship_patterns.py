"""Patterns of how a human and an agent work together: what was said again, what speaks against it, and what holds now.

A pattern is confirmed when it is said again on another day (+1), and contradicted by a statement that cannot hold
beside it (-2); it loses a tenth for each day since it was last confirmed. A correction, or words of its human that take
it back, have its place at once. Below 1 it waits for a person's decision. All of it follows from what stands in the
store, and from what people decided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from memory_pipeline.models.conflicts import WORDING, find_conflict
from memory_pipeline.records import Extraction, PatternDecision, derived_id
from memory_pipeline.text.facts import content_words

CONFIRMED, CONTRADICTED, DECAY_PER_DAY, LEAST = 1.0, -2.0, 0.1, 1.0
#: Kinds of extractions that are patterns; all are of how the two work together, or of what the human wants.
KINDS = ("trust", "boundary", "dynamic", "preference")
#: Two statements that differ in one of these may be of two things: a person decides. A permission and a limit are of
#: the thing that they name, and another one is none of theirs.
_OTHER_THING = frozenset(("name", "identifier", "date", WORDING))
_OF_ONE_THING = frozenset(("trust", "boundary"))
_LEAST_SHARED = 2
#: A statement is compared with so many patterns: those that share the most words with it, and the latest of these.
_MOST_COMPARED, _MOST_OF_WORD = 40, 500
Resolution = Literal["corrected", "revoked", "noted", "repeated", "review"]
PatternStatus = Literal["active", "fading", "review", "confirmed", "rejected"]


@dataclass(frozen=True, slots=True)
class ObservedContradiction:
    """A statement that cannot hold beside a pattern, and what became of the pattern."""

    previous: str
    previous_day: date
    new: str
    new_day: date
    resolution: Resolution
    updated: str


@dataclass(slots=True)
class RelationshipPattern:
    """One pattern: its words now, the extractions behind it, and the evidence for and against it. `worded`: the words
    of each of its members; `rejected`: those that a person rejected."""

    id: str
    project_id: str
    kind: str
    text: str
    first_day: date
    last_confirmed: date
    confirmations: int = 1
    contradictions: int = 0
    members: list[str] = field(default_factory=list)
    worded: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    against: list[Extraction] = field(default_factory=list)
    observed: list[ObservedContradiction] = field(default_factory=list)
    decision: PatternDecision | None = None

    def score(self, as_of: date) -> float:
        """Its confidence as of a day."""
        days = max(0, (as_of - self.last_confirmed).days)
        value = CONFIRMED * self.confirmations + CONTRADICTED * self.contradictions - DECAY_PER_DAY * days
        return round(value, 2)

    def status(self, as_of: date) -> PatternStatus:
        """The status: it holds, fades (and may be removed), waits for a person, or what that one decided."""
        if self.decision is not None and self.decision.decision == "rejected":
            return "rejected"
        if any(observation.resolution == "review" for observation in self.observed) and self.decision is None:
            return "review"
        if self.score(as_of) < LEAST:
            return "fading"
        return "confirmed" if self.decision is not None else "active"


def patterns_of(
    extractions: Iterable[Extraction],
    repeats: Sequence[tuple[str, date]] = (),
    decisions: Mapping[str, PatternDecision] | None = None,
) -> list[RelationshipPattern]:
    """The patterns of one project, in the order in which they were first said.

    `extractions`: all that stand, in order, those that were withdrawn among them; `repeats`: the ids of those that
    were said again, with the day; `decisions`: those of people, by pattern.
    """
    events: list[tuple[date, int, Extraction | str]] = [
        (extraction.day, 0, extraction)
        for extraction in extractions
        if extraction.kind in KINDS or extraction.withdraws
    ]
    events += [(day, 1, extraction_id) for extraction_id, day in repeats]
    patterns: list[RelationshipPattern] = []
    by_word: dict[str, list[RelationshipPattern]] = defaultdict(list)
    of_member: dict[str, RelationshipPattern] = {}
    for day, _, event in sorted(events, key=lambda each: (each[0], each[1])):
        if isinstance(event, str):
            _confirm(of_member, event, day)
        else:
            _add_extraction(event, patterns, by_word, of_member)
    for pattern in patterns:
        _decide(pattern, (decisions or {}).get(pattern.id))
    return patterns


def _confirm(of_member: Mapping[str, RelationshipPattern], extraction_id: str, day: date) -> None:
    """A statement told again confirms its pattern; one that speaks against a pattern, told again, takes its place."""
    pattern = of_member.get(extraction_id)
    if pattern is None:
        return
    challenger = next((extraction for extraction in pattern.against if extraction.id == extraction_id), None)
    if challenger is not None and extraction_id not in pattern.members:
        if day > challenger.day:
            _update(pattern, challenger, day, "repeated")
    elif day > pattern.last_confirmed:
        pattern.confirmations += 1
        pattern.last_confirmed = day


def _add_extraction(
    extraction: Extraction,
    patterns: list[RelationshipPattern],
    by_word: dict[str, list[RelationshipPattern]],
    of_member: dict[str, RelationshipPattern],
) -> None:
    for old in extraction.withdraws:
        pattern = of_member.get(old)
        if pattern is None:
            continue
        if old in pattern.members:
            _update(pattern, extraction, extraction.day, "corrected" if extraction.kind == "correction" else "revoked")
            of_member[extraction.id] = pattern
        else:  # what only spoke against the pattern speaks no more
            pattern.against = [opposing for opposing in pattern.against if opposing.id != old]
            pattern.contradictions = max(0, pattern.contradictions - 1)
    if extraction.id in of_member or extraction.kind not in KINDS:
        return
    words = set(content_words(extraction.text))
    near: dict[str, RelationshipPattern] = {}
    shared: dict[str, int] = defaultdict(int)
    for word in words:
        for pattern in by_word[word][-_MOST_OF_WORD:]:
            near[pattern.id] = pattern
            shared[pattern.id] += 1
    against = sorted(
        (near[i] for i, count in shared.items() if count >= min(_LEAST_SHARED, len(words))),
        key=lambda pattern: (-shared[pattern.id], -pattern.last_confirmed.toordinal(), pattern.id),
    )
    for pattern in against[:_MOST_COMPARED]:
        certain = _contradicts(extraction, pattern)
        if certain is None:
            continue
        if certain:
            _oppose(pattern, extraction)
            of_member[extraction.id] = pattern
            return
        _observe(pattern, extraction, "review", pattern.text)
    pattern = RelationshipPattern(
        derived_id("pattern", extraction.id),
        extraction.project_id,
        extraction.kind,
        extraction.text,
        extraction.day,
        extraction.day,
        members=[extraction.id],
        worded=[extraction.text],
    )
    patterns.append(pattern)
    of_member[extraction.id] = pattern
    for word in words:
        by_word[word].append(pattern)


def _contradicts(extraction: Extraction, pattern: RelationshipPattern) -> bool | None:
    """True if a statement surely cannot hold beside a pattern, False if perhaps, None if it can."""
    finding = find_conflict(pattern.text, extraction.text)
    words, others = set(content_words(pattern.text)), set(content_words(extraction.text))
    if finding is None or 2 * len(words & others) < min(len(words), len(others)):
        return None
    if finding.kind in _OTHER_THING:
        return None if extraction.kind in _OF_ONE_THING else False
    return True


def _oppose(pattern: RelationshipPattern, extraction: Extraction) -> None:
    """A statement against a pattern: the first is noted, a second one takes its place."""
    earlier = [opposing for opposing in pattern.against if opposing.id not in pattern.members]
    pattern.against.append(extraction)
    if earlier:
        _update(pattern, extraction, extraction.day, "repeated")
        return
    pattern.contradictions += 1
    _observe(pattern, extraction, "noted", pattern.text)


def _update(pattern: RelationshipPattern, extraction: Extraction, day: date, resolution: Resolution) -> None:
    _observe(pattern, extraction, resolution, extraction.text)
    pattern.text, pattern.last_confirmed = extraction.text, day
    pattern.kind = extraction.kind if extraction.kind in KINDS else pattern.kind
    pattern.confirmations, pattern.contradictions = (2 if resolution == "repeated" else 1), 0
    pattern.members.append(extraction.id)
    pattern.worded.append(extraction.text)
    pattern.against.clear()


def _observe(pattern: RelationshipPattern, extraction: Extraction, resolution: Resolution, updated: str) -> None:
    pattern.observed.append(
        ObservedContradiction(
            pattern.text, pattern.last_confirmed, extraction.text, extraction.day, resolution, updated
        )
    )


def _decide(pattern: RelationshipPattern, decision: PatternDecision | None) -> None:
    """A person's decision holds for the words that were decided about, and not for those that took their place."""
    if decision is None:
        return
    is_earlier = decision.text != pattern.text and decision.text in pattern.worded
    if decision.decision == "rejected":
        last = len(pattern.worded) - 1 - pattern.worded[::-1].index(decision.text) if is_earlier else None
        pattern.rejected = pattern.members[: None if last is None else last + 1]
    if is_earlier:
        return
    pattern.decision = decision
    if decision.decision == "confirmed":
        pattern.confirmations += 1
        pattern.last_confirmed = max(pattern.last_confirmed, decision.decided_at.date())
