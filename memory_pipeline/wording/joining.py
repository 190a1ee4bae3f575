"""Sentences that become a part of another one: behind a colon, or in its brackets."""

from __future__ import annotations

from collections.abc import Sequence

from memory_pipeline.wording.facts import STOP_WORDS

#: Words with which a sentence begins, and which are no names.
_LIGHT = STOP_WORDS | frozenset("the a an this that these those because since when while if after before".split())


def inside(sentence: str) -> str:
    """A sentence as a part of another one: without the capital letter of a word that only had it as the first."""
    first = sentence.partition(" ")[0].rstrip(",").lower()
    return f"{sentence[:1].lower()}{sentence[1:]}" if first in _LIGHT and first != "i" else sentence


def can_hold(sentence: str) -> bool:
    """Whether a sentence can have others in brackets at its end."""
    return not sentence.rstrip().endswith((")", "?", ":", "`", "|")) and "\n" not in sentence


def with_asides(sentence: str, asides: Sequence[str]) -> str:
    """A sentence with others in brackets at its end."""
    if not asides:
        return sentence
    told = "; ".join(inside(aside.strip().rstrip(".!")) for aside in asides)
    text = sentence.rstrip()
    end = text[-1] if text.endswith((".", "!")) else "."
    return f"{text.rstrip('.!')} ({told}){end}"
