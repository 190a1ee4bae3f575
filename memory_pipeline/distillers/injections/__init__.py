"""What a text that tries to steer its reader looks like, by what it tries.

A rule joins who is spoken to (an AI, its answers, its instructions) with what is asked of it. An imperative
alone is never enough: memories are full of honest ones (`Always run the migrations before deploying`).
"""

from __future__ import annotations

import re
from functools import lru_cache

from memory_pipeline.distillers.injections import actions, instructions, languages


def _bounded(pattern: str) -> str:
    """A pattern whose gaps end after a few characters, so that no text takes longer than its length allows."""
    return pattern.replace(r"\s+", r"\s{1,3}").replace(r"\s*", r"\s{0,3}")


@lru_cache(maxsize=1)
def rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """What is tried, in words, with the patterns that show it. They expect gaps of one space or line end.

    Compiled when they are first asked for: most commands, and a night that finds nothing to distil, never do.
    """
    return tuple(
        (kind, re.compile("|".join(f"(?:{_bounded(pattern)})" for pattern in patterns), re.IGNORECASE))
        for module in (instructions, actions, languages)
        for kind, patterns in module.RULES
    )
