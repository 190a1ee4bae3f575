"""The tag `[TEMPORARY]`: what it marks is passing, wherever in its entry the tag stands, and for the whole entry."""

from __future__ import annotations

import re
from collections.abc import Iterable

TEMPORARY = "temporary"
_TAG = re.compile(r"\[TEMPORARY\]", re.IGNORECASE)
_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])\s")
_WORD = re.compile(r"\S")


def is_temporary(text: str, tags: Iterable[str] = ()) -> bool:
    """Whether the tag stands in an entry, or among the tags that its source gave it."""
    return TEMPORARY in tags or _TAG.search(text) is not None


def blank_temporary(text: str) -> tuple[str, int]:
    """The text with spaces in the place of every entry that has the tag, and how many these are.

    An entry is a line with the lines below it that are indented more; a bullet among these is an entry of its own,
    which goes with the one that it hangs on. Every other character stays where it was.
    """
    if not is_temporary(text):
        return text, 0
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines) if not n or not line[:1].isspace() or _BULLET.match(line)]
    entries = [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]
    blanked, count, above = list[str](), 0, None
    for entry in entries:
        depth = len(entry[0]) - len(entry[0].lstrip())
        if is_tagged := _TAG.search("\n".join(entry)) is not None:
            count += 1
        if above is not None and depth <= above:
            above = None
        if is_tagged and above is None:
            above = depth
        blanked += entry if above is None else [_WORD.sub(" ", line) for line in entry]
    return "\n".join(blanked), count
