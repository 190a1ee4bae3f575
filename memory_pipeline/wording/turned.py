"""Headings that turn what stands under them: `Never do these`, `Rejected`, `Anti-patterns`.

A note under such a heading means the opposite of what it says alone, so whoever shows it alone says the heading too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_TURNING = re.compile(
    r"\b(?:never|avoid(?:ed)?|don'?t ?s?|don ts?|do not|does not|must not|not to|not allowed|anti ?patterns?|forbidden|"
    r"prohibited|banned|rejected|declined|discarded|abandoned|ruled out|deprecated|obsolete|outdated|no longer|myths?|"
    r"mistakes?|bad (?:ideas?|practices?|habits?|examples?)|non ?goals?|out of scope|wrong|disproved|no ?gos?|"
    r"stop doing|hates?|dislikes?)\b",
    re.IGNORECASE,
)
#: Words at the beginning of a note that turns itself.
_TURNED = re.compile(r"\W*(?:never|avoid|don['’]?t|do not|no|not|stop|refuse|reject(?:ed)?|must not)\b", re.IGNORECASE)
_JOINED = re.compile(r"[-_\s]+")


def with_heading(text: str, headings: Sequence[str]) -> str:
    """A note with the innermost of its headings that turns it; alone if none does, or if it says so itself."""
    if _TURNED.match(text[:200]):
        return text
    for heading in reversed(headings):
        words = _JOINED.sub(" ", heading).strip()
        if _TURNING.search(words) and words.casefold() not in _JOINED.sub(" ", text).casefold():
            return f"{words[:1].upper()}{words[1:]}: {text}"
    return text
