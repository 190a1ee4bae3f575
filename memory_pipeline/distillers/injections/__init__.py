"""What a text that tries to steer its reader looks like, by what it tries.

A rule joins who is spoken to (an AI, its answers, its instructions) with what is asked of it. An imperative
alone is never enough: memories are full of honest ones (`Always run the migrations before deploying`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from memory_pipeline.distillers.injections import actions, instructions, languages
from memory_pipeline.distillers.injections.needed import strings_needed


def _bounded(pattern: str) -> str:
    """A pattern whose gaps end after a few characters, so that no text takes longer than its length allows."""
    return pattern.replace(r"\s+", r"\s{1,3}").replace(r"\s*", r"\s{0,3}")


class Rule(NamedTuple):
    """One sign of an attempt: what is tried, in words, the pattern that shows it, and strings of which an ASCII text
    in which it matches holds one, in lower case (None: whatever it holds)."""

    kind: str
    pattern: str
    needed: frozenset[str] | None


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """Every rule, in order. Their patterns expect gaps of one space or line end.

    Looked through when they are first asked for: most commands, and a night that finds nothing to distil, never do.
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
    """What a text tries by the first rule that it breaks, in words. `look_at_all`: try every pattern, those too that
    cannot match."""
    lowered = text.lower()
    skips = not look_at_all and text.isascii()
    held = {string for string in _telling() if string in lowered} if skips else frozenset[str]()
    for rule in rules():
        if skips and rule.needed is not None and rule.needed.isdisjoint(held):
            continue
        if _compiled(rule.pattern).search(text):
            return rule.kind
    return None
