"""Checks whether sources support a statement, by words and facts."""

from __future__ import annotations

from collections.abc import Sequence

from memory_pipeline.text.conflicts import find_conflict
from memory_pipeline.text.facts import content_words, fact_keys, find_facts

#: At least this share of a statement's content words must be in what supports it, and
SUPPORT_SHARE = 0.5
#: at least this share if one source must support it on its own (measured in `attachments.SAID_SHARE`).
SHARED_WORDS = 0.62
#: Facts that a statement may not have beyond its sources.
_HARD_FACTS = frozenset(("number", "date", "time", "identifier", "name", "negation"))
_CLASHES = frozenset(("opposite", "negation", "quantifier", "order"))


def find_addition(statement: str, sources: Sequence[str]) -> str | None:
    """Words or facts of a statement, or of a part of one, that the sources do not have."""
    source_words = {word for source in sources for word in content_words(source)}
    if not _shares_words(statement, source_words):
        return f"'{_short(statement)}' is not what the sources say"
    have = frozenset[tuple[str, str]]().union(*(fact_keys(source) for source in sources))
    for fact in find_facts(statement):
        if fact.kind not in _HARD_FACTS or fact.key in have:
            continue
        if fact.kind == "name" and all(word in source_words for word in content_words(fact.text)):
            continue  # a word of the sources, capitalised
        if fact.kind == "negation" and any(kind == "negation" for kind, _ in have):
            continue  # the word it refers to differs between two wordings; `find_clash` compares them
        return f"no source has the {fact.kind} '{fact.text}'"
    return None


def _shares_words(statement: str, source_words: set[str], least: float = SUPPORT_SHARE) -> bool:
    words = content_words(statement)
    return sum(word in source_words for word in words) >= least * len(words)


def find_clash(statement: str, sources: Sequence[str]) -> str | None:
    """A source that a whole statement contradicts, in words."""
    for source in sources:
        finding = find_conflict(statement, source)
        if finding and finding.kind in _CLASHES:
            return f"'{_short(statement)}' contradicts a source ({finding.detail})"
    return None


def _short(text: str) -> str:
    return " ".join(text.split())[:80]
