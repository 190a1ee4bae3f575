"""A principle from related patterns: the statement that most of them bear out, in the words of one."""

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
#: those of these kinds may be one rule for two subjects, which are no longer than so many words.
SUBJECT_KINDS = frozenset((WORDING, "name"))
_LONGEST_SUBJECT = 4


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, and the number of the pattern that makes it."""

    pattern: int
    text: str


@dataclass(frozen=True, slots=True)
class Principle:
    """What related patterns have in common: the text, who bears it out, and how near they lie (mean cosine)."""

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
    """The statement that at least `least` patterns bear out, or the reason why there is none.

    A pattern bears a statement out when one of its own lies within `similarity` (cosine) of it and says the same,
    or the same of another subject: then the subjects stand beside each other, `the gateway / the printer`. Saying the
    same takes SHARED_WORDS of its content words, or words that mean the same; for another subject three of them. What
    speaks against it bars it. Of several, the one with most supporters is taken; then the one with the fewest
    figures, for a principle holds beyond its cases; then the most central; then the shortest.
    """
    statements = statements_of(patterns)
    if not statements:
        return "the patterns hold no statement"
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
    return best[1] if best else f"no statement is borne out by {least} patterns"


def _borne_out(
    statement: Statement, near: Sequence[tuple[float, Statement]]
) -> dict[int, tuple[float, Statement]] | None:
    """By pattern, the nearest statement that bears this one out; None when one speaks against it."""
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
    """The one place in which two statements differ, as how many words they share before it and after it."""
    ours, theirs = text.lower().split(), other.lower().split()
    shorter = min(len(ours), len(theirs))
    before = next((n for n in range(shorter) if ours[n] != theirs[n]), shorter)
    after = next((n for n in range(shorter - before) if ours[-1 - n] != theirs[-1 - n]), shorter - before)
    mine, its = (words[before : len(words) - after] for words in (ours, theirs))
    bare_mine, bare_its = ({word.strip(".,;:!?") for word in words} for words in (mine, its))
    if bare_mine <= bare_its or bare_its <= bare_mine:  # one says more than the other, not the same of another subject
        return None
    return (before, after) if max(len(mine), len(its)) <= _LONGEST_SUBJECT else None


def _with_subjects(text: str, others: Sequence[Statement]) -> str:
    """The statement with every subject that it was made of, in the one place in which they differ. `others`: what
    bears it out, itself among them."""
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
