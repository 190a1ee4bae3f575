"""Entries of one rollup that say the same in nearly the same words: the best of them is told."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from memory_pipeline.rollups.entries import FIGURE, Entry
from memory_pipeline.wording.facts import content_words

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION = re.compile(r"\b(?:not|never|no|none|nor|without|cannot)\b|n['’]t\b", re.IGNORECASE)
#: The share of the shorter one's words that the longer one has.
_LEAST_SHARED = 0.85


@dataclass(frozen=True, slots=True)
class _Said:
    words: frozenset[str]
    numbers: frozenset[str]
    is_negated: bool

    def is_said_by(self, other: _Said) -> bool:
        """Whether another text has nearly all words and all numbers of this one, and denies what it denies."""
        shared = len(self.words & other.words)
        return (
            self.is_negated == other.is_negated
            and self.numbers <= other.numbers
            and shared >= _LEAST_SHARED * len(self.words)
        )


def without_copies(entries: Sequence[Entry]) -> list[Entry]:
    """The entries without those that a better one of their kind says too; figures stay, of which no two are alike."""
    said = {entry: _read(entry.words) for entry in entries if entry.kind != FIGURE}
    with_word: dict[str, list[Entry]] = defaultdict(list)
    dropped: set[Entry] = set()
    for entry in sorted(
        said, key=lambda one: (-one.weight, -len(said[one].words), -one.day.toordinal(), one.memory_id, one.words)
    ):
        mine = said[entry]
        near = {id(other): other for word in mine.words for other in with_word[word] if other.kind == entry.kind}
        if any(mine.is_said_by(said[other]) or said[other].is_said_by(mine) for other in near.values()):
            dropped.add(entry)
            continue
        for word in mine.words:
            with_word[word].append(entry)
    return [entry for entry in entries if entry not in dropped]


def _read(text: str) -> _Said:
    return _Said(frozenset(content_words(text)), frozenset(_NUMBER.findall(text)), _NEGATION.search(text) is not None)
