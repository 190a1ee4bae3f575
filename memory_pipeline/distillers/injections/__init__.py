"""Patterns of texts that try to steer their reader, by the kind of attempt.

A rule combines who is addressed (an AI, its answers, its instructions) with what is asked. An imperative alone is
never enough: memories are full of honest ones (`Always run the migrations before deploying`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from memory_pipeline.distillers.injections import actions, instructions, languages
from memory_pipeline.distillers.injections.needed import strings_needed


def _bounded(pattern: str) -> str:
    """A pattern whose gaps are limited to a few characters, so that matching time stays linear in the length of a
    text."""
    return pattern.replace(r"\s+", r"\s{1,3}").replace(r"\s*", r"\s{0,3}")


class Rule(NamedTuple):
    """One sign of an attempt: a description of the attempt, the pattern, and lower-case strings of which an ASCII
    text must contain one to match (None: no such restriction)."""

    kind: str
    pattern: str
    needed: frozenset[str] | None


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """Every rule, in order. Their patterns expect gaps of one space or line end.

    Compiled on first use: most commands, and a night that finds nothing to distil, never need them.
    """
    return tuple(
        Rule(kind, _bounded(pattern), strings_needed(_bounded(pattern)))
        for module in (instructions, actions, languages)
        for kind, patterns in module.RULES
        for pattern in patterns
    )


@lru_cache(maxsize=1)
def _telling() -> frozenset[str]:
    return frozenset[str]().union(*(rule.needed for rule in rules() if rule.needed))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def first_sign(text: str, *, look_at_all: bool = False) -> str | None:
    """The kinds of attempts in a text according to the first matching rule, in words. `look_at_all`: try every
    pattern, even those that cannot match."""
    lowered = text.lower()
    skips = not look_at_all and text.isascii()
    held = {string for string in _telling() if string in lowered} if skips else frozenset[str]()
    for rule in rules():
        if skips and rule.needed is not None and rule.needed.isdisjoint(held):
            continue
        if _compiled(rule.pattern).search(text):
            return rule.kind
    return None
