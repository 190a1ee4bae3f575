"""Counts in words, and counts of tokens without a model."""

from __future__ import annotations


def how_many(count: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 memory`, `1,200 memories`. `many`: the plural, if it is irregular."""
    if count == 1:
        return f"1 {one}"
    regular = f"{one[:-1]}ies" if one.endswith("y") and one[-2:-1] not in "aeiou" else f"{one}s"
    return f"{count:,} {many or regular}"


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has: one for four bytes of English, more for scripts whose characters have more."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)
