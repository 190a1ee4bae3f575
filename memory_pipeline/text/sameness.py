"""Compares two texts word by word, in any language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher

from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import embedding_text
from memory_pipeline.text.sentences import strip_lead_in

#: Words, numbers, arrows; of scripts without spaces each character.
_TOKEN = re.compile(
    r"https?://\S+|[$€£](?=\d)|\d[\d,]*(?:\.\d+)*(?:[:/–-]\d[\d.,]*)*|->|→|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"|[^\W\d_][\w'’]*(?:[./_-][\w'’]+)*|\w+|[%°]"
)
#: Maximum number of pairs of equal words in an alignment: some thousand words of ordinary text, or one word two
#: hundred times on both sides.
_MOST_MATCHES = 40_000


@remembered
def tokens_of(sentence: str) -> tuple[str, ...]:
    """Lower-case words, numbers and arrows of a sentence, in order."""
    text = embedding_text(strip_lead_in(sentence)).replace("’", "'").replace("→", "->")
    return tuple(token.rstrip(".,'") for token in _TOKEN.findall(text.lower()))


def reaches(left: Sequence[str], right: Sequence[str], least: float) -> bool:
    """True if two sentences have at least this share of their words in common, in order, 0-1 (Ratcliff and Obershelp).
    For texts that are too long to be aligned, in any order."""
    if left == right:
        return True
    shared = (Counter(left) & Counter(right)).total()  # no order raises their similarity above these
    if not (left and right) or 2 * shared < least * (len(left) + len(right)):
        return False
    return has_too_many_matches(left, right) or SequenceMatcher(None, left, right, autojunk=False).ratio() >= least


def contains_in_order(tokens: Sequence[str], others: Sequence[str]) -> bool:
    """True if a sentence has all words of another one, in their order, whatever stands between them."""
    rest = iter(tokens)
    return all(token in rest for token in others)


def has_too_many_matches(left: Sequence[Hashable], right: Sequence[Hashable]) -> bool:
    """True if an alignment has too many pairs of equal words."""
    if len(left) * len(right) <= _MOST_MATCHES:
        return False
    theirs = Counter(right)
    return sum(count * theirs[word] for word, count in Counter(left).items()) > _MOST_MATCHES
