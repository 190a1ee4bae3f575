"""Tells which of some texts give different values for what is asked, or for what another text is about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.text.facts import find_facts
from memory_pipeline.text.sentences import split_statements

#: Two statements are about what is asked if they share so much of its words.
_OF_ASKED = 0.4
_Values = dict[tuple[str, str], set[str]]


def other_values(
    asked: Collection[str], texts: Sequence[str], terms_of: Callable[[str], Collection[str]]
) -> NDArray[np.bool_]:
    """Bool (n, n): whether the second of two texts gives a value for what is asked that the first does not give, of a
    kind and unit of which the first gives another. `asked`: words, in the form that `terms_of` gives those of a text.
    Compared are the statements with most of them."""
    wanted = set(asked)
    read = [_answer(wanted, text, terms_of) for text in texts]
    found = np.zeros((len(texts), len(texts)), dtype=bool)
    for i, (words, values) in enumerate(read):
        for j, (others, given) in enumerate(read):
            if i != j and len(words & others) >= max(1.0, _OF_ASKED * len(wanted)):
                found[i, j] = any(not given[kind] <= values[kind] for kind in values.keys() & given.keys())
    return found


def _answer(wanted: set[str], text: str, terms_of: Callable[[str], Collection[str]]) -> tuple[set[str], _Values]:
    """The words that are asked for in the statement of a text that has most of them, and the values there by kind and
    unit."""
    statements = split_statements(text) or [text]
    shared = [wanted & set(terms_of(statement)) for statement in statements]
    best = max(range(len(statements)), key=lambda n: len(shared[n]))
    values: _Values = {}
    for fact in find_facts(statements[best]):
        if fact.kind in ("number", "date", "time"):
            value, _, unit = fact.value.partition(" ")
            values.setdefault((fact.kind, unit), set()).add(value)
    return shared[best], values
