"""Entries of one rollup that make the same claim in nearly the same words: the best of them is told."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from memory_pipeline.rollups.entries import FACT, FIGURE, NOTE, PATTERN, Entry
from memory_pipeline.wording.facts import content_words
from memory_pipeline.wording.sentences import split_statements

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION = re.compile(r"\b(?:not|never|no|none|nor|without|cannot)\b|n['’]t\b", re.IGNORECASE)
#: The share of the shorter one's words that the longer one has.
_LEAST_SHARED = 0.85
#: The fewest words of a sentence that can be what a note is about.
_LEAST_CLAIM = 5
#: The kinds beside its own whose entries can say what one of a kind says.
_STRONGER = {FACT: {PATTERN}, NOTE: {PATTERN, FACT}}


@dataclass(frozen=True, slots=True)
class _Claim:
    words: frozenset[str]
    numbers: frozenset[str]
    is_negated: bool

    def is_said_by(self, other: _Claim) -> bool:
        """Whether another text has nearly all words and all numbers of this one, and denies what it denies."""
        shared = len(self.words & other.words)
        return (
            self.is_negated == other.is_negated
            and self.numbers <= other.numbers
            and shared >= _LEAST_SHARED * len(self.words)
        )


@dataclass(frozen=True, slots=True)
class _Said:
    """What an entry says: as a whole, and sentence by sentence."""

    whole: _Claim
    sentences: tuple[_Claim, ...]

    @property
    def main(self) -> _Claim | None:
        """The sentence with most words: what the entry is about; the others tell more of it."""
        main = max(self.sentences, key=lambda claim: len(claim.words), default=None)
        return main if main and len(main.words) >= _LEAST_CLAIM else None

    def repeats(self, other: _Said) -> bool:
        """Whether one of the two says the other, or what it is about."""
        return (
            self.whole.is_said_by(other.whole)
            or other.whole.is_said_by(self.whole)
            or _is_among(self.main, other.sentences)
            or _is_among(other.main, self.sentences)
        )


def without_copies(entries: Sequence[Entry]) -> list[Entry]:
    """The entries without those whose claim a better one makes too; figures stay, of which no two are alike."""
    said = {entry: _read(entry.words) for entry in entries if entry.kind != FIGURE}
    with_word: dict[str, list[Entry]] = defaultdict(list)
    dropped: set[Entry] = set()
    for entry in sorted(said, key=lambda one: _rank(one, said[one])):
        mine = said[entry]
        kinds = {entry.kind} | _STRONGER.get(entry.kind, set())
        near = {id(other): other for word in mine.whole.words for other in with_word[word] if other.kind in kinds}
        if any(mine.repeats(said[other]) for other in near.values()):
            dropped.add(entry)
            continue
        for word in mine.whole.words:
            with_word[word].append(entry)
    return [entry for entry in entries if entry not in dropped]


def _rank(entry: Entry, said: _Said) -> tuple[object, ...]:
    """Stronger kinds first, and of a kind the best."""
    strength = -sum(entry.kind in weaker for weaker in _STRONGER.values())
    return (strength, -entry.weight, -len(said.whole.words), -entry.day.toordinal(), entry.memory_id, entry.words)


def _is_among(claim: _Claim | None, others: Sequence[_Claim]) -> bool:
    return claim is not None and any(claim.is_said_by(other) for other in others)


def _read(text: str) -> _Said:
    return _Said(_claim(text), tuple(_claim(sentence) for sentence in split_statements(text)))


def _claim(text: str) -> _Claim:
    return _Claim(frozenset(content_words(text)), frozenset(_NUMBER.findall(text)), _NEGATION.search(text) is not None)
