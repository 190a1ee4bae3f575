"""The places of a sentence that hold values: figures with their units, clock times, days, numbered names.

Sentences that say the same of several times differ in these places alone; their values are told in one sentence. And
texts that are about one thing may give different values for it.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.text.facts import STOP_WORDS, find_facts, locate_values, stem, value_of
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import without_clock
from memory_pipeline.text.sentences import split_statements

_WORD_BEFORE = re.compile(r"([^\W\d_][\w'’-]*)\W{0,3}$")


@dataclass(frozen=True, slots=True)
class Value:
    """One value in a sentence: where it stands, how it is written with its unit, and what it is a value of.

    `kind`: as of its fact; `unit`: of a number, or ""; `label`: the content word before it, as a stem, or "".
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
    """The values of a sentence that are written with figures, in order."""
    found = []
    for fact, start, end in locate_values(sentence):
        if any(c.isdigit() for c in fact.text):
            before = _WORD_BEFORE.search(sentence[max(0, start - 40) : start])
            word = before.group(1).lower() if before else ""
            unit = fact.value.partition(" ")[2] if fact.kind == "number" else ""
            label = "" if word in STOP_WORDS else stem(word)
            found.append(Value(start, end, sentence[start:end], fact.kind, unit, label))
    return tuple(found)


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


#: Two statements are about what is asked if they share so much of its words.
_OF_ASKED = 0.3
_Values = dict[tuple[str, str], set[str]]


def other_values(
    asked: Collection[str], texts: Sequence[str], terms_of: Callable[[str], Collection[str]]
) -> NDArray[np.bool_]:
    """Bool (n, n): whether the second of two texts gives a value for what is asked that the first does not give, of a
    kind and unit of which the first gives another. `asked`: words, in the form that `terms_of` gives those of a text.
    Compared are the statements that share enough of them."""
    wanted = set(asked)
    least = max(1.0, _OF_ASKED * len(wanted))
    read = [list(_answers(wanted, least, text, terms_of)) for text in texts]
    found = np.zeros((len(texts), len(texts)), dtype=bool)
    for i, j in itertools.permutations(range(len(texts)), 2):
        found[i, j] = any(
            len(words & others) >= least
            and any(not given[kind] <= values[kind] for kind in values.keys() & given.keys())
            for words, values in read[i]
            for others, given in read[j]
        )
    return found


def _answers(
    wanted: set[str], least: float, text: str, terms_of: Callable[[str], Collection[str]]
) -> Iterator[tuple[set[str], _Values]]:
    """Of the statements of a text that have enough of the words that are asked for, these, and their values by kind and
    unit."""
    told = without_clock(text)
    for statement in split_statements(told) or [told]:
        shared = wanted & set(terms_of(statement))
        values: _Values = {}
        for fact in find_facts(statement) if len(shared) >= least else ():
            if fact.kind in ("number", "date", "time"):
                value, _, unit = fact.value.partition(" ")
                values.setdefault((fact.kind, unit), set()).add(value)
        if values:
            yield shared, values


#: A name that no more of some texts have tells them apart.
_FEW = 2


def lacks_name(
    asked: Collection[str], texts: Sequence[str], terms_of: Callable[[str], Collection[str]]
) -> NDArray[np.bool_]:
    """Bool (n, n): whether the second of two texts lacks a name of the first that is asked for and that few of them
    have: it speaks of another thing. `asked`, `terms_of`: as in `other_values`."""
    told = [set(asked) & set(terms_of(text)) for text in texts]
    often = Counter(term for some in told for term in some)
    named = [
        {term for fact in find_facts(text) if fact.kind in ("name", "identifier") for term in terms_of(fact.text)} & has
        for text, has in zip(texts, told, strict=True)
    ]
    telling = [{term for term in some if often[term] <= _FEW} for some in named]
    lacks = [[not one <= other for other in told] for one in telling]
    return np.array(lacks, dtype=bool).reshape(len(texts), len(texts))
