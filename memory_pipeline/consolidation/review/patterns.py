"""A person's review of the patterns of how a human and an agent work together: list, confirm, reject."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Literal

from pydantic import Field

from memory_pipeline.config.exports import RELATIONAL
from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.reading.relationship_patterns import PatternStatus, RelationshipPattern, Resolution
from memory_pipeline.records import PatternDecision
from memory_pipeline.store import Store
from memory_pipeline.store.rows import only_one
from memory_pipeline.workspace.conversation_pages import patterns_in, write_files
from memory_pipeline.workspace.exporting import problems_of, run_changed

#: What waits for a person.
_WAITING: tuple[PatternStatus, ...] = ("review", "fading")


class SeenContradiction(Document):
    """A statement that cannot hold beside a pattern."""

    previous: str = Field(description="What the pattern said.")
    new: str = Field(description="What was said.")
    day: date = Field(description="When it was said.")
    resolution: Resolution = Field(
        description="`corrected`, `revoked` and `repeated`: the new one holds; `noted`: said once, the previous one "
        "holds; `review`: uncertain."
    )


class DescribedPattern(Document):
    """A pattern of how the two work together."""

    id: str = Field(description="The pattern.")
    project_id: str = Field(description="The project.")
    kind: str = Field(description="The kind of what it began with.")
    text: str = Field(description="What holds.")
    score: float = Field(
        description="Its confidence: 1 for each day on which it was said, 2 less for each contradiction, 0.1 less for "
        "each day since it was last confirmed."
    )
    status: PatternStatus = Field(
        description="`active`, `confirmed` or `rejected` by a person, `fading` (below 1: to be removed?), or `review` "
        "(contradicted, but not surely)."
    )
    first_day: date = Field(description="When it was first said.")
    last_confirmed: date = Field(description="When it was last said or confirmed.")
    confirmations: int = Field(description="On how many days it was said or confirmed.")
    contradictions: int = Field(description="How often it was contradicted.")
    observed: tuple[SeenContradiction, ...] = Field(description="What contradicted it, and what became of it.")


def list_patterns(
    store: Store, project: str | None, as_of: date, *, everything: bool = False
) -> list[DescribedPattern]:
    """The patterns that wait for a person's decision, or all, by project, those with the least confidence first."""
    patterns = [
        _described(pattern, as_of)
        for pattern in _patterns(store, project)
        if everything or pattern.status(as_of) in _WAITING
    ]
    return sorted(patterns, key=lambda pattern: (pattern.project_id, pattern.score, pattern.first_day, pattern.id))


def decide_pattern(
    store: Store,
    settings: Settings,
    pattern_id: str,
    decision: Literal["confirmed", "rejected"],
    *,
    actor: str,
    now: datetime,
) -> tuple[DescribedPattern, list[str]]:
    """Confirm or reject a pattern, given its id, the start of it, or the handle of a memory that says it, and write the
    file that has it.

    Returns the pattern now, and what could not be written.
    Raises InputError for an unknown id.
    """
    pattern = only_one(_read_by_id(store), pattern_id, "pattern", "'memory-pipeline patterns list --all' has them")
    pattern_decision = PatternDecision(
        id=pattern.id,
        project_id=pattern.project_id,
        text=pattern.text,
        decision=decision,
        decided_at=now.astimezone(UTC),
        decided_by=actor,
    )
    with store.writing(actor) as tx:
        tx.opinions.decide(pattern_decision)
    problems = list(write_files(store, settings, actor, None).problems)
    problems += problems_of(run_changed(store, settings, pattern.project_id, (RELATIONAL,)))
    (after,) = [current for current in _patterns(store, pattern.project_id) if current.id == pattern.id]
    return _described(after, now.astimezone(UTC).date()), problems


def pattern_as_text(pattern: DescribedPattern) -> str:
    lines = [
        f"{pattern.id[:8]}  {pattern.project_id}  {pattern.status}, {pattern.score:+.1f}  {pattern.text}",
        f"          {pattern.kind}, said or confirmed on {pattern.confirmations}, "
        f"contradicted {pattern.contradictions} times, last on {pattern.last_confirmed}",
    ]
    for seen in pattern.observed:
        before = f"before it, until {seen.day} ({seen.resolution}): {seen.previous}"
        against = f"against it, {seen.day} ({seen.resolution}): {seen.new}"
        lines.append(f"          {before if seen.new == pattern.text else against}")
    return "\n".join(lines)


def _read_by_id(store: Store) -> dict[str, RelationshipPattern]:
    """The patterns by their ids, and by those of the memories that say them."""
    patterns: dict[str, RelationshipPattern] = {}
    with store.reading() as tx:
        for project in tx.conversations.projects():
            memory_of = {extraction.id: extraction.memory_id for extraction in tx.conversations.standing(project)}
            for pattern in patterns_in(tx, project):
                patterns |= {memory_id: pattern for member in pattern.members if (memory_id := memory_of.get(member))}
                patterns[pattern.id] = pattern
    return patterns


def _patterns(store: Store, project: str | None) -> list[RelationshipPattern]:
    with store.reading() as tx:
        names = [name for name in tx.conversations.projects() if project in (None, name)]
        return [pattern for name in names for pattern in patterns_in(tx, name)]


def _described(pattern: RelationshipPattern, as_of: date) -> DescribedPattern:
    observed = tuple(SeenContradiction.of_record(seen, day=seen.new_day) for seen in pattern.observed)
    score, status = pattern.score(as_of), pattern.status(as_of)
    return DescribedPattern.of_record(pattern, score=score, status=status, observed=observed)
