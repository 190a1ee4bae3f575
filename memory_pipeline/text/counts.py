"""Counts in words, and of tokens."""

from __future__ import annotations


def how_many(count: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 memory`, `1,200 memories`. `many`: the plural, if it is irregular."""
    if count == 1:
        return f"1 {one}"
    regular = f"{one[:-1]}ies" if one.endswith("y") and one[-2:-1] not in "aeiou" else f"{one}s"
    return f"{count:,} {many or regular}"


#: About so many bytes are a token.
_BYTES_PER_TOKEN = 4


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has; more for scripts whose characters have more bytes."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)
