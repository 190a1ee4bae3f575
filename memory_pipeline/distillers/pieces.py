"""Pieces of sources, word for word: what is attached to an abstraction when its text cannot carry a fact."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_pipeline.wording.facts import Fact, fact_keys, find_facts
from memory_pipeline.wording.normalise import normalise
from memory_pipeline.wording.sentences import split_statements, strip_lead_in

_FRAGMENT_WORDS = 12
_CLAUSE_EDGE = re.compile(r"\s*(?:[;—–()\[\]]|,\s|\s-\s|:\s|\.\s)\s*")


def lost_facts_of(text: str, sources: Sequence[str]) -> tuple[str, ...]:
    """For every fact of the sources that a text lacks, the clause of a source that holds it, each once."""
    have = set(fact_keys(text))
    pieces: dict[str, str] = {}
    for source in sources:
        for written in split_statements(source) or [source.strip()]:
            statement = strip_lead_in(written)
            for fact in find_facts(statement):
                for piece in (fragment_around(statement, fact), statement):
                    if fact.key in have:
                        break
                    trimmed = trim_piece(piece)
                    if fact.key in fact_keys(trimmed):
                        pieces.setdefault(normalise(trimmed), trimmed)
                        have.update(fact_keys(trimmed))
    return tuple(pieces.values())


def fragment_around(statement: str, fact: Fact) -> str:
    """The clause of a statement that holds a fact, cut to a few words around it when it is long."""
    position = statement.find(fact.text)
    if position < 0:
        return statement
    start, end = 0, len(statement)
    for edge in _CLAUSE_EDGE.finditer(statement):
        if edge.end() <= position:
            start = edge.end()
        elif edge.start() >= position + len(fact.text):
            end = edge.start()
            break
    clause = statement[start:end]
    if len(clause.split()) <= _FRAGMENT_WORDS:
        return clause
    before = statement[start:position].split()[-3:]
    after = statement[position + len(fact.text) : end].split()[:3]
    return " ".join([*before, fact.text, *after])


def trim_piece(piece: str) -> str:
    """A piece without the punctuation at its ends, and without a bracket that has lost its partner."""
    piece = piece.strip(" ,;:.|-–—\n\t\"'")
    for opening, closing in ("()", "[]", "{}"):
        if piece.count(opening) != piece.count(closing):
            piece = piece.strip(opening + closing)
            if piece.count(opening) != piece.count(closing):
                piece = piece.replace(opening, "").replace(closing, "")
    return piece.strip(" ,;:.|-–—")
