"""Values and names for what is asked: texts that are about one thing may give different values for it, or speak of
another one."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.text.facts import find_facts
from memory_pipeline.text.normalise import without_clock
from memory_pipeline.text.sentences import split_statements

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
    differs = np.zeros((len(texts), len(texts)), dtype=bool)
    for i, j in itertools.permutations(range(len(texts)), 2):
        differs[i, j] = any(
            len(words & others) >= least
            and any(not given[kind] <= values[kind] for kind in values.keys() & given.keys())
            for words, values in read[i]
            for others, given in read[j]
        )
    return differs


def _answers(
    wanted: set[str], least: float, text: str, terms_of: Callable[[str], Collection[str]]
) -> Iterator[tuple[set[str], _Values]]:
    """The statements of a text that have enough of the words asked for, and their values by kind and unit."""
    clockless = without_clock(text)
    for statement in split_statements(clockless) or [clockless]:
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
    asked_terms = [set(asked) & set(terms_of(text)) for text in texts]
    often = Counter(term for some in asked_terms for term in some)
    named = [
        {term for fact in find_facts(text) if fact.kind in ("name", "identifier") for term in terms_of(fact.text)} & has
        for text, has in zip(texts, asked_terms, strict=True)
    ]
    telling = [{term for term in some if often[term] <= _FEW} for some in named]
    lacks = [[not one <= other for other in asked_terms] for one in telling]
    return np.array(lacks, dtype=bool).reshape(len(texts), len(texts))
