"""The places of a sentence that hold values: figures with their units, clock times, days, numbered names.

Sentences that say the same of several times differ in these places alone; their values are told in one sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memory_pipeline.text.facts import STOP_WORDS, days_in, stem, unit_of, value_of
from memory_pipeline.text.memo import remembered

_VALUE = re.compile(r"(?<![\w-])[$€£~≈<>≤≥+-]?[\w-]{0,80}?\d[\w,.:/%°+×-]*(?:\s?(?:%|°[CF]))?")
_NEXT_WORD = re.compile(r"[\s-]([^\W\d_]+)")
_WORD_BEFORE = re.compile(r"([^\W\d_][\w'’-]*)\W{0,3}$")
_TAIL = ".,:;-/+×"
_CLOCK = re.compile(r"[01]?\d:[0-5]\d|2[0-3]:[0-5]\d")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_PLAIN = re.compile(r"[$€£~≈<>≤≥+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Value:
    """One value in a sentence: where it stands, how it is written with its unit, and what it is a value of.

    `kind`: `number`, `time`, `date`, `identifier`; `unit`: of a number, or ""; `label`: the content word before it, as
    a stem, or "".
    """

    start: int
    end: int
    written: str
    kind: str
    unit: str
    label: str

    @property
    def place(self) -> tuple[str, str]:
        """What two values must share to stand in the same place of two sentences."""
        return self.kind, self.unit

    @property
    def labelled(self) -> tuple[str, str, str]:
        """The same, with the word before it."""
        return self.kind, self.unit, self.label


@remembered
def values_in(sentence: str) -> tuple[Value, ...]:
    """The values of a sentence in order."""
    days = days_in(sentence)
    ends = [end for _, end, _ in days]
    found = [Value(start, end, sentence[start:end], "date", "", "") for start, end, _ in days]
    for match in _VALUE.finditer(sentence):
        at = bisect_left(ends, match.start() + 1)
        if at < len(days) and days[at][0] < match.end():
            continue
        text = match.group()
        written = text.rstrip(_TAIL)
        if not any(c.isdigit() for c in written):
            continue
        start, end = match.start(), match.start() + len(written)
        unit, end = _unit_after(sentence, written, end)
        before = _WORD_BEFORE.search(sentence[max(0, start - 40) : start])
        word = before.group(1).lower() if before else ""
        label = "" if word in STOP_WORDS else stem(word)
        found.append(Value(start, end, sentence[start:end], _kind_of(written), unit, label))
    return tuple(sorted(found, key=lambda value: value.start))


def _kind_of(written: str) -> str:
    if _CLOCK.fullmatch(written):
        return "time"
    if _DAY.fullmatch(written):
        return "date"
    plain = written.rstrip("%°CF ")
    letters = re.sub(r"^.*\d", "", plain)
    if _PLAIN.fullmatch(plain) or (_PLAIN.match(plain) and unit_of(letters)):
        return "number"
    return "identifier"


def _unit_after(sentence: str, written: str, end: int) -> tuple[str, int]:
    """The unit of a value, and where the value ends with it: `14 minutes`, `40%`, `33s`."""
    glued = re.sub(r"^.*\d", "", written).strip()
    if glued and unit_of(glued):
        return str(unit_of(glued)), end
    following = _NEXT_WORD.match(sentence, end)
    unit = unit_of(following.group(1)) if following else None
    if unit is not None and following is not None and len(following.group(1)) > 1:
        return unit, following.end()
    return "", end


def paired(values: Sequence[Value], like: Sequence[Value]) -> tuple[Value, ...] | None:
    """The values in the order of the places of `like`, or None if they are not values of the same places.

    Places are told apart by unit, then by the word before the value.
    """
    if Counter(value.place for value in values) != Counter(value.place for value in like):
        return None
    left = list(values)
    found: list[Value] = []
    for place in like:
        same = [value for value in left if value.place == place.place]
        labelled = [value for value in same if value.label and value.label == place.label]
        if len(same) > 1 and not labelled:
            return None
        chosen = (labelled or same)[0]
        left.remove(chosen)
        found.append(chosen)
    return tuple(found)


def normal_value(value: Value) -> str:
    """The form in which two values are compared: `1,000` and `1000` are one."""
    return f"{value_of(value.written.split()[0].lower()) or value.written.lower()} {value.unit}".strip()
