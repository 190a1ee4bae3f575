"""A principle from related patterns: the statement that most of them bear out, in the words of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.knowledge.playbook import guidance_of
from memory_pipeline.records import Memory
from memory_pipeline.wording.conflicts import WORDING, find_conflict
from memory_pipeline.wording.facts import content_words, find_facts
from memory_pipeline.wording.normalise import embedding_text
from memory_pipeline.wording.sentences import split_statements

#: A statement of two words is no principle.
_LEAST_WORDS = 3
_FIGURES = frozenset(("number", "date", "time", "identifier"))
#: Conflicts of these kinds are contradictions whatever the subject;
CONTRADICTING = frozenset(("opposite", "negation", "quantifier", "order"))
#: those of these kinds may be one rule for two subjects, which are no longer than so many words.
SUBJECT_KINDS = frozenset((WORDING, "name"))
_LONGEST_SUBJECT = 4
#: At least this share of a statement's content words stands in whatever bears it out: of pairs that tell one story
#: in different words, 95% share as much (docs/design.md).
SHARED_WORDS = 0.62


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, and the number of the pattern that makes it."""

    pattern: int
    text: str


@dataclass(frozen=True, slots=True)
class Principle:
    """What related patterns have in common: the text, who bears it out, and how sure that is (0-1)."""

    text: str
    supporters: tuple[int, ...]
    confidence: float


def statements_of(patterns: Sequence[Memory]) -> list[Statement]:
    """The statements of patterns that could be a principle, attached facts left out."""
    return [
        Statement(number, text)
        for number, memory in enumerate(patterns)
        for text in split_statements(guidance_of(memory))
        if len(content_words(text)) >= _LEAST_WORDS
    ]


def find_principle(
    patterns: Sequence[Memory],
    embed: Callable[[Sequence[str]], NDArray[np.float32]],
    *,
    similarity: float,
    least: int,
) -> Principle | str:
    """The statement that at least `least` patterns bear out, or the reason why there is none.

    A pattern bears a statement out when one of its own lies within `similarity` (cosine) of it and says the same,
    or the same of another subject: then the subjects stand beside each other, `the gateway / the printer`. What
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
        if finding is not None and (finding.kind not in SUBJECT_KINDS or _slot(statement.text, other.text) is None):
            continue
        words, theirs = content_words(statement.text), set(content_words(other.text))
        if sum(word in theirs for word in words) >= SHARED_WORDS * len(words):
            found.setdefault(other.pattern, (score, other))
    return found


def _slot(text: str, other: str) -> tuple[int, int, str] | None:
    """The one place in which two statements differ: its words in the first (from, to), and what the other has there."""
    ours, theirs = text.split(), other.split()
    codes = SequenceMatcher(None, [w.lower() for w in ours], [w.lower() for w in theirs], autojunk=False).get_opcodes()
    changed = [code for code in codes if code[0] != "equal"]
    if len(changed) != 1 or changed[0][0] != "replace":
        return None
    _, i, j, k, m = changed[0]
    return (i, j, " ".join(theirs[k:m])) if max(j - i, m - k) <= _LONGEST_SUBJECT else None


def _with_subjects(text: str, others: Sequence[Statement]) -> str:
    """The statement with every subject that it was made of, in the one place in which they differ."""
    words = text.split()
    slots = [slot for other in others if (slot := _slot(text, other.text)) is not None]
    places = {(i, j) for i, j, _ in slots}
    if len(places) != 1:
        return text
    ((i, j),) = places
    tail = words[j - 1][len(words[j - 1].rstrip(".,;:!?")) :]
    subjects = [" ".join(words[i:j]), *(subject for _, _, subject in slots)]
    joined = " / ".join(dict.fromkeys(subject.rstrip(".,;:!?") for subject in subjects))
    return " ".join([*words[:i], joined + tail, *words[j:]])
