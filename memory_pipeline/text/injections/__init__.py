"""Patterns of texts that try to steer their reader, by the kind of attempt.

A rule combines who is addressed (an AI, its answers, its instructions) with what is asked. An imperative alone is
never enough: memories are full of honest ones (`Always run the migrations before deploying`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from memory_pipeline.text.injections import actions, instructions, languages
from memory_pipeline.text.injections.needed import Needed, folded, kept_strings, key_of


def _bounded(pattern: str) -> str:
    """A pattern whose gaps are limited to a few characters, so that matching time stays linear in the length of a
    text."""
    return pattern.replace(r"\s+", r"\s{1,3}").replace(r"\s*", r"\s{0,3}")


class Rule(NamedTuple):
    """One sign of an attempt: a description of the attempt, the pattern, and the strings that it needs."""

    kind: str
    pattern: str
    needed: Needed


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """Every rule, in order. Their patterns expect gaps of one space or line end."""
    kept, unknown = kept_strings(), Needed()
    return tuple(
        Rule(kind, bounded, kept.get(key_of(bounded), unknown))
        for module in (instructions, actions, languages)
        for kind, patterns in module.RULES
        for bounded in map(_bounded, patterns)
    )


@lru_cache(maxsize=1)
def _telling() -> frozenset[str]:
    return frozenset[str]().union(*(strings for rule in rules() for strings in rule.needed if strings))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def first_sign(text: str, *, look_at_all: bool = False) -> str | None:
    """The kinds of attempts in a text according to the first matching rule, in words. `look_at_all`: try every
    pattern, even those that cannot match."""
    is_ascii, small = text.isascii(), folded(text)
    held = {string for string in _telling() if string in small}
    for rule in rules():
        needed = rule.needed.in_ascii if is_ascii else rule.needed.anywhere
        if not look_at_all and needed is not None and needed.isdisjoint(held):
            continue
        if _compiled(rule.pattern).search(text):
            return rule.kind
    return None
