"""Names the places of a line of figures by the words beside them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from memory_pipeline.text.readings import Series
from memory_pipeline.text.templates import list_elements

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


#: A place with more different words names things.
MOST_WORDS = 8
#: So many readings for each word, where there are three or more words.
_READINGS_A_WORD = 3
#: A word of a program, in one case; titles and names of files are none.
_TOKEN = re.compile(r"[^\W\d]+(?:[_-][^\W\d]+)*")
#: A bare number that goes on from a word into other words: `Server 2 has`, `Ticket 812: closed`.
_AFTER_WORD, _GOES_ON = re.compile(r"[^\W\d_] $"), re.compile(r"[:,]? (?:[^\W\d_]|$)")
#: Numbers that were given in order rise in so many of their pairs.
_RISING_PAIRS = 3 / 4
_FEWEST_NUMBERS = 3


def holds_readings(series: Series) -> bool:
    """True if every place of a series that varies holds readings, and the lines are no facts that are said again."""
    columns = zip(*(reading.values for reading in series.readings), strict=True)
    varying = {place: column for place, column in enumerate(columns) if len(set(column)) > 1}
    fit = all(_holds_readings(series, place, column) for place, column in varying.items())
    return fit and not _repeats_facts(series, varying)


def is_closed_set(counts: Iterable[int]) -> bool:
    """True if words that stand in a place so many times each are a few states that return."""
    times = list(counts)
    return len(times) <= MOST_WORDS and sum(times) >= len(times) * min(len(times), _READINGS_A_WORD)


def _holds_readings(series: Series, place: int, values: Sequence[str]) -> bool:
    kind = series.places[place].kind
    if kind == "list":
        elements = Counter(word for text in values for word in list_elements(text) or ())
        are_tokens = all(_TOKEN.fullmatch(word) and word in (word.lower(), word.upper()) for word in elements)
        return are_tokens and sum(elements.values()) >= _READINGS_A_WORD * len(elements)
    if kind == "word":
        return is_closed_set(Counter(map(str.casefold, values)).values())
    return not (kind == "id" or (kind == "figure" and _numbers_things(series, place, values)))


def _numbers_things(series: Series, place: int, values: Sequence[str]) -> bool:
    """True if whole numbers without a unit stand in a sentence, another one in each different line, and were given in
    order or count from one: they number what the lines are about."""
    if not (_AFTER_WORD.search(series.between(place - 1)) and _GOES_ON.match(series.between(place))):
        return False
    texts = {reading.line.text.casefold(): text for reading, text in zip(series.readings, values, strict=True)}
    if not all(value.isdigit() for value in texts.values()) or len(set(texts.values())) < len(texts):
        return False
    numbers = [int(value) for value in texts.values()]
    if len(numbers) < _FEWEST_NUMBERS:
        return False
    pairs = [a < b for a, b in combinations(numbers, 2)]
    counts_up = min(numbers) <= 1 and max(numbers) - min(numbers) == len(numbers) - 1
    return counts_up or sum(pairs) >= _RISING_PAIRS * len(pairs)


def _repeats_facts(series: Series, varying: Mapping[int, Sequence[str]]) -> bool:
    """True if a place names what the other figures are about: each of its values returns, and always with the same."""
    columns = {place: [value.casefold() for value in column] for place, column in varying.items()}
    figures = [place for place in varying if series.places[place].kind == "figure"]
    for place in (place for place in varying if series.places[place].kind in ("figure", "word")):
        times = Counter(columns[place])
        others = [figure for figure in figures if columns[figure] != columns[place]]
        if not others or min(times.values()) < 2 or len(times) < (2 if series.places[place].kind == "word" else 3):
            continue
        if all(len({*zip(columns[place], columns[figure], strict=True)}) == len(times) for figure in others):
            return True
    return False
