"""The archived memory by whose words another one was found: what a search was for, where its answer does not say it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from memory_pipeline.distillers import marked
from memory_pipeline.recall.analysis import query_terms, terms_of
from memory_pipeline.records import Memory

_VALUE = re.compile(r"\d[\d.,:/-]*(?<=\d)")
#: How many archived memories are looked at for words, and for a value, which only one of them may say.
_FOR_WORDS, _FOR_VALUES = 20, 200
#: Characters that are given of a memory.
_LONGEST_EXCERPT = 240


def find_through(
    query: str, language: str, memory: Memory, sources: Callable[[int], Sequence[Memory]]
) -> Memory | None:
    """The archived memory that says most of what a query asks for and `memory` lacks, with the words around that; None
    if none says any of it. `sources`: so many of the archived memories that were found, best first."""
    terms = set(query_terms(query, language)) - set(terms_of(memory.content, language))
    values = [value for value in _VALUE.findall(query) if not _place_of(memory.content, value)]
    best, most = None, 0.0
    for source in sources(_FOR_VALUES if values else _FOR_WORDS) if terms or values else ():
        score = len(terms.intersection(terms_of(source.content, language))) / (len(terms) + 1)
        score += sum(_place_of(source.content, value) is not None for value in values)
        if score > most:
            best, most = source, score
    if best is None:
        return None
    mark = marked(best).removesuffix(best.content)
    return replace(best, content=mark + _around(best.content, terms, values, language))


def _place_of(content: str, value: str) -> re.Match[str] | None:
    """Where a text says a value, whatever unit follows."""
    return re.search(rf"(?<![\d.,:]){re.escape(value)}(?!\d|[.,:]\d)", content)


def _around(content: str, terms: set[str], values: Sequence[str], language: str) -> str:
    """A content on one line; of a long one, what stands around the first of these values or terms in it."""
    text = " ".join(content.split())
    if len(text) <= _LONGEST_EXCERPT:
        return text
    places = [place.start() for value in values if (place := _place_of(text, value))]
    words = (word for word in re.finditer(r"\S+", text) if not terms.isdisjoint(terms_of(word.group(), language)))
    at = min(places) if places else next((word.start() for word in words), 0)
    start = text.rfind(" ", 0, max(at - _LONGEST_EXCERPT // 2, 0)) + 1
    end = start + _LONGEST_EXCERPT
    return f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"
