"""What the places of a line are called: the words that stand beside each value, between marks and other values."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from memory_pipeline.wording.readings import Series

#: A name has so many words before its value.
_MOST_WORDS = 3
#: What follows a value is its noun, if it is so short.
_MOST_OF_NOUN = 2
#: Marks between which words belong together, and those behind which a value has no name.
_MARK = re.compile(r"[,;|→=()\[\]{}，、；。：]|[.:!?](?=\W|$)|\s[-–—]\s")
_OPENING = frozenset(",;|→([{，、；。")
_TAIL = re.compile(r"[^\w)]*$")
_ASIDE = re.compile(r"\s*\([^()]*\)$")
_UNIT = re.compile(r"%|°?[^\W\d_]{1,5}(?:/[^\W\d_]{1,3})?(?!\w)")
_WORD = re.compile(r"\w[\w%.'/-]*(?<![.'/-])")


@dataclass(frozen=True, slots=True)
class PlaceName:
    """The words before a value, its sign of a currency, the unit that is written at it, and the noun behind it."""

    before: str = ""
    sign: str = ""
    unit: str = ""
    after: str = ""

    @property
    def name(self) -> str:
        """The name of the place alone."""
        return self.before or self.after

    def around(self, values: str) -> str:
        """Values with the words beside them."""
        return " ".join(filter(None, (self.before, f"{values}{self.unit}", self.after)))


def names_of(series: Series) -> tuple[PlaceName, ...]:
    """The name of each place, in their order."""
    gap, names = series.between(-1), []
    before = _name_at_end(gap)
    for place, value in enumerate(series.places):
        sign = gap[-1:] if gap and unicodedata.category(gap[-1]) == "Sc" else ""
        gap = series.between(place)
        unit = _UNIT.match(gap) if value.kind == "figure" else None
        rest = gap[unit.end() :] if unit else gap
        is_last, mark = place + 1 == len(series.places), _MARK.search(rest)
        words = _WORD.findall(rest[: mark.start()] if mark else rest)
        following = "" if is_last else _name_at_end(rest)
        is_noun = len(words) <= _MOST_OF_NOUN or not (before or unit)
        after = words[0] if words and is_noun else ""
        if not is_last and (mark is None or mark.group() in ("=", ":", "：")):  # the words lead to the next value
            after = "" if before or (mark and len(words) == 1) else after
            following = following if mark else " ".join(words[len(after.split()) :][-_MOST_WORDS:])
        names.append(PlaceName(before, sign, unit.group() if unit else "", after))
        before = following
    return tuple(names)


def _name_at_end(gap: str) -> str:
    """The words with which a text leads to a value."""
    tail = _TAIL.search(gap)
    if tail is None or not _OPENING.isdisjoint(tail.group()):
        return ""
    text = _ASIDE.sub("", gap[: tail.start()])
    marks = list(_MARK.finditer(text))
    words = _WORD.findall(text[marks[-1].end() :] if marks else text)
    is_value = bool(marks) and marks[-1].group() == "="
    return " ".join(words[is_value:][-_MOST_WORDS:])
