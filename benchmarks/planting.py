"""What planting duplicates and planting conflicts share. The word lists are the benchmark's own, not the guard's.

A planter takes a text and returns a changed copy of it, or None for a text in which there is nothing to
change, so that every planted pair is what its kind says.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Planter = Callable[[str, random.Random], str | None]

SPELLED = "zero one two three four five six seven eight nine ten eleven twelve".split()
STAMP = re.compile(r"^\s*[-*\d.\s\[(]*(?:\d{4}-\d\d-\d\d|\d\d:\d\d)")


def swap_one(text: str, rng: random.Random, pairs: list[tuple[str, str]], *, both_ways: bool = True) -> str | None:
    """One word (or phrase) of a pair replaced by the other, keeping its capital. A marker such as `[TEMPORARY]` stays."""
    table = dict(pairs) | ({b: a for a, b in pairs} if both_ways else {})
    pattern = re.compile(
        r"(?<![\w/.`\[-])(" + "|".join(map(re.escape, sorted(table, key=len, reverse=True))) + r")(?![\w`/-]|\.\w)",
        re.I,
    )
    found = [
        m for m in pattern.finditer(text) if is_prose(text, m.start()) and not text[: m.start()].rstrip()[-1:].isdigit()
    ]
    if not found:
        return None
    match = rng.choice(found)
    new = table[match.group().lower()]
    new = new.capitalize() if match.group()[:1].isupper() else new
    return text[: match.start()] + new + text[match.end() :]


def is_prose(text: str, place: int) -> bool:
    """Whether a place lies outside of code."""
    return text[:place].count("`") % 2 == 0


def pairs_of(words: str) -> list[tuple[str, str]]:
    """Pairs from `one:other one_more:another`; an underscore stands for a space."""
    return [(a.replace("_", " "), b.replace("_", " ")) for a, b in (pair.split(":") for pair in words.split())]
