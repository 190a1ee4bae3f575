"""Derives a principle from related patterns: the statement that most of them support, in the words of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.distillers import SHARED_WORDS
from memory_pipeline.wording.conflicts import WORDING, find_conflict
from memory_pipeline.wording.facts import content_words, find_facts
from memory_pipeline.wording.lexicon import mean_the_same
from memory_pipeline.wording.normalise import embedding_text
from memory_pipeline.wording.sentences import split_statements

#: A statement of two words is not a principle.
_LEAST_WORDS = 3
_FIGURES = frozenset(("number", "date", "time", "identifier"))
#: Conflicts of these kinds are contradictions whatever the subject;
CONTRADICTING = frozenset(("opposite", "negation", "quantifier", "order"))
#: conflicts of these kinds may be one rule for two subjects, which have at most this many words.
SUBJECT_KINDS = frozenset((WORDING, "name"))
_LONGEST_SUBJECT = 4


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, and the number of the pattern that makes it."""

    pattern: int
    text: str


@dataclass(frozen=True, slots=True)
class Principle:
    """The common statement of related patterns: its text, the supporting patterns, and their similarity (mean
    cosine)."""

    text: str
    supporters: tuple[int, ...]
    likeness: float


def statements_of(patterns: Sequence[str]) -> list[Statement]:
    """The statements of patterns, given without attached facts, that could be a principle."""
    return [
        Statement(number, text)
        for number, guidance in enumerate(patterns)
        for text in split_statements(guidance)
        if len(content_words(text)) >= _LEAST_WORDS
    ]


def find_principle(
    patterns: Sequence[str],
    embed: Callable[[Sequence[str]], NDArray[np.float32]],
    *,
    similarity: float,
    least: int,
) -> Principle | str:
    """The statement that at least `least` patterns support, or the reason why there is none.

    A pattern supports a statement if one of its own is within `similarity` (cosine) of it and says the same, or says
    the same about another subject: then the subjects are listed, `the gateway / the printer`. To say the same
    requires SHARED_WORDS of its content words, or words with the same meaning; for another subject, three of them. A
    pattern that contradicts it excludes it. Of several statements, the one with most supporters is taken; then the
    one with the fewest figures, because a principle applies beyond its cases; then the most central; then the
    shortest.
    """
    statements = statements_of(patterns)
    if not statements:
        return "the patterns contain no statement"
    vectors = embed([embedding_text(statement.text) for statement in statements]).astype(np.float64)
    cosines = vectors @ vectors.T
    best: tuple[tuple[object, ...], Principle] | None = None
    for here, statement in enumerate(statements):
        near = [(float(cosines[here, there]), other) for there, other in enumerate(statements)]
        borne = _borne_out(statement, [(score, other) for score, other in near if score >= similarity])
        if borne is None or len(borne) < least:
            continue
        mean = sum(score for score, _ in borne.values()) / len(borne)
        text = _with_subjects(statement.text, [other for _, (_, other) in sorted(borne.items())])
        figures = sum(fact.kind in _FIGURES for fact in find_facts(text))
        rank = (-len(borne), figures, -round(mean, 6), len(text), text)
        if best is None or rank < best[0]:
            best = rank, Principle(text, tuple(sorted(borne)), round(min(1.0, mean), 4))
    return best[1] if best else f"no statement is supported by {least} patterns"


def _borne_out(
    statement: Statement, near: Sequence[tuple[float, Statement]]
) -> dict[int, tuple[float, Statement]] | None:
    """By pattern, the nearest statement that supports this one; None if one contradicts it."""
    found: dict[int, tuple[float, Statement]] = {}
    for score, other in sorted(near, key=lambda item: (-item[0], item[1].text)):
        finding = find_conflict(statement.text, other.text)
        if finding is not None and finding.kind in CONTRADICTING and other.pattern != statement.pattern:
            return None
        other_subject = _slot(statement.text, other.text) is not None
        if finding is None or (other_subject and finding.kind in SUBJECT_KINDS):
            words, theirs = content_words(statement.text), set(content_words(other.text))
            shared = sum(any(mean_the_same(word, own) for own in theirs) for word in words)
            if shared >= (_LEAST_WORDS if other_subject else SHARED_WORDS * len(words)):
                found.setdefault(other.pattern, (score, other))
    return found


def _slot(text: str, other: str) -> tuple[int, int] | None:
    """The one position at which two statements differ, as the numbers of shared words before and after it."""
    ours, theirs = text.lower().split(), other.lower().split()
    shorter = min(len(ours), len(theirs))
    before = next((n for n in range(shorter) if ours[n] != theirs[n]), shorter)
    after = next((n for n in range(shorter - before) if ours[-1 - n] != theirs[-1 - n]), shorter - before)
    mine, its = (words[before : len(words) - after] for words in (ours, theirs))
    bare_mine, bare_its = ({word.strip(".,;:!?") for word in words} for words in (mine, its))
    if bare_mine <= bare_its or bare_its <= bare_mine:  # one says more than the other, not the same about another
        # subject
        return None
    return (before, after) if max(len(mine), len(its)) <= _LONGEST_SUBJECT else None


def _with_subjects(text: str, others: Sequence[Statement]) -> str:
    """The statement with every subject that it was made from, at the one position where they differ. `others`: the
    supporting statements, including itself."""
    slots = [slot for other in others if (slot := _slot(text, other.text)) is not None]
    if not slots:
        return text
    before, after = min(slot[0] for slot in slots), min(slot[1] for slot in slots)
    words = text.split()
    subjects = []
    for statement in (other.text for other in others):
        theirs = statement.split()
        subject = theirs[before : len(theirs) - after]
        same_around = [w.lower() for w in (*theirs[:before], *theirs[len(theirs) - after :])] == [
            w.lower() for w in (*words[:before], *words[len(words) - after :])
        ]
        if same_around and 0 < len(subject) <= _LONGEST_SUBJECT:
            subjects.append(" ".join(subject))
    end = len(words) - after
    tail = words[end - 1][len(words[end - 1].rstrip(".,;:!?")) :]
    joined = " / ".join(dict.fromkeys(subject.rstrip(".,;:!?") for subject in subjects))
    return " ".join([*words[:before], joined + tail, *words[end:]])
