"""Judges word by word if two texts say the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from memory_pipeline.text.lexicon import FILLERS
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import embedding_text
from memory_pipeline.text.sentences import strip_lead_in

_TOKEN = re.compile(
    r"https?://\S+|[$€£](?=\d)|\d[\d,]*(?:\.\d+)*(?:[:/–-]\d[\d.,]*)*|->|→|[^\W\d_][\w'’]*(?:[./_-][\w'’]+)*|\w+|[%°]"
)
_CONTRACTIONS = {"can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "let's": "let us"}
#: Maximum number of pairs of equal words in an alignment: some thousand words of ordinary text, or one word two
#: hundred times on both sides.
_MOST_MATCHES = 40_000
_PRONOUNS = frozenset("it that there what he she who here".split())
_SHORT_FORMS = {"n't": "not", "'re": "are", "'ve": "have", "'ll": "will", "'m": "am", "'d": "would"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two sentences: the words of each; one side may be empty."""

    left: tuple[str, ...]
    right: tuple[str, ...]


@remembered
def tokens_of(sentence: str) -> tuple[str, ...]:
    """Lower-case words, numbers and arrows of a sentence, with contractions expanded and fillers removed."""
    tokens: list[str] = []
    for match in _TOKEN.finditer(embedding_text(strip_lead_in(sentence))):
        word = match.group().lower().replace("’", "'").rstrip(".,'")
        tokens.extend(_written_out(word))
    return tuple(word for word in tokens if word not in FILLERS)


def _written_out(word: str) -> Iterator[str]:
    if word in _CONTRACTIONS:
        yield from _CONTRACTIONS[word].split()
        return
    for ending, full in _SHORT_FORMS.items():
        if word.endswith(ending) and len(word) > len(ending):
            yield word.removesuffix(ending)
            yield full
            return
    if word.endswith("'s"):
        yield word.removesuffix("'s")
        if word.removesuffix("'s") in _PRONOUNS:
            yield "is"
        return
    if "-" in word and not any(c.isdigit() for c in word) and len(word) > 3:
        yield from (part for part in word.split("-") if part)
        return
    yield "->" if word == "→" else word


def reaches(left: Sequence[str], right: Sequence[str], least: float) -> bool:
    """True if two sentences have at least this share of their words in common, in order, 0-1 (Ratcliff and Obershelp).
    For texts that are too long to be aligned, in any order."""
    if left == right:
        return True
    if not _may_reach(left, right, least):
        return False
    return _too_many_matches(left, right) or SequenceMatcher(None, left, right, autojunk=False).ratio() >= least


def _may_reach(left: Sequence[str], right: Sequence[str], least: float) -> bool:
    """True if two sentences share enough words in any order: no order raises their similarity above these."""
    shared = (Counter(left) & Counter(right)).total()
    return bool(left and right) and 2 * shared >= least * (len(left) + len(right))


def _too_many_matches(left: Sequence[str], right: Sequence[str]) -> bool:
    """True if an alignment has too many pairs of equal words."""
    if len(left) * len(right) <= _MOST_MATCHES:
        return False
    theirs = Counter(right)
    return sum(count * theirs[word] for word, count in Counter(left).items()) > _MOST_MATCHES


def differences(left: Sequence[str], right: Sequence[str], least: float) -> list[Difference] | None:
    """The differences of two sentences, in order, or None if they are less similar than `least`. Moved words are not
    a difference.

    Texts that are too long to be aligned have one difference: the words that one of them has more often.
    """
    if left == right and left:
        return []
    if not _may_reach(left, right, least):
        return None
    if _too_many_matches(left, right):
        gone, come = Counter(left) - Counter(right), Counter(right) - Counter(left)
        return [Difference(tuple(gone.elements()), tuple(come.elements()))] if gone or come else []
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if matcher.ratio() < least:
        return None
    changes = [(tuple(left[i:j]), tuple(right[k:m])) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]
    moved = {word for gone, _ in changes for word in gone} & {word for _, come in changes for word in come}
    remaining = [
        Difference(tuple(w for w in gone if w not in moved), tuple(w for w in come if w not in moved))
        for gone, come in changes
    ]
    return [difference for difference in remaining if difference.left or difference.right]
