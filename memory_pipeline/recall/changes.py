"""Tells which of some memories give different values for what a query asks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.recall.words import query_terms, terms_of
from memory_pipeline.text.facts import find_facts
from memory_pipeline.text.sentences import split_statements

#: Two statements are about what a query asks if they share so much of its words.
_OF_QUERY = 0.4
_Values = dict[tuple[str, str], set[str]]


def other_values(query: str, texts: Sequence[str], language: str) -> NDArray[np.bool_]:
    """Bool (n, n): whether the second of two texts gives a value for what a query asks that the first does not give, of
    a kind and unit of which the first gives another. Compared are their statements with most words of the query."""
    asked = set(query_terms(query, language))
    read = [_answer(asked, text, language) for text in texts]
    found = np.zeros((len(texts), len(texts)), dtype=bool)
    for i, (words, values) in enumerate(read):
        for j, (others, given) in enumerate(read):
            if i != j and len(words & others) >= max(1.0, _OF_QUERY * len(asked)):
                found[i, j] = any(not given[kind] <= values[kind] for kind in values.keys() & given.keys())
    return found


def _answer(asked: set[str], text: str, language: str) -> tuple[set[str], _Values]:
    """The words of a query in the statement of a text that has most of them, and the values there by kind and unit."""
    statements = split_statements(text) or [text]
    shared = [asked & set(terms_of(statement, language)) for statement in statements]
    best = max(range(len(statements)), key=lambda n: len(shared[n]))
    values: _Values = {}
    for fact in find_facts(statements[best]):
        if fact.kind in ("number", "date", "time"):
            value, _, unit = fact.value.partition(" ")
            values.setdefault((fact.kind, unit), set()).add(value)
    return shared[best], values
