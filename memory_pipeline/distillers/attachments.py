"""Finds what the sources say and an abstraction does not: statements and clauses to attach to it word for word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_pipeline.wording.facts import Fact, content_words, fact_keys, find_facts
from memory_pipeline.wording.normalise import normalise
from memory_pipeline.wording.sentences import split_statements, strip_lead_in

#: A text covers a statement if it contains at least this share of its content words; otherwise the statement is
#: attached whole.
#: Measured on the demo: of 106 pairs that tell one story in different words, 95% share at least 0.62 and none less
#: than 0.5;
#: 95% of 500 unrelated pairs share at most 0.11.
SAID_SHARE = 0.6
_FRAGMENT_WORDS = 12
_CLAUSE_EDGE = re.compile(r"\s*(?:[;—–()\[\]]|,\s|\s-\s|:\s|\.\s)\s*")


def left_out_of(text: str, sources: Sequence[str]) -> tuple[str, ...]:
    """What sources say and a text does not: whole statements whose words it hardly has, and for every other missing
    fact the clause that contains it; each once, word for word."""
    said, facts = [text], set(fact_keys(text))
    pieces: dict[str, str] = {}

    def attach(piece: str) -> None:
        pieces.setdefault(normalise(piece), piece)
        facts.update(fact_keys(piece))
        said.append(piece)

    for source in sources:
        for statement in unsaid_statements("\n".join(said), source):
            attach(trim_piece(statement))
    for statement in (statement for source in sources for statement in _statements_of(source)):
        for fact in find_facts(statement):
            for piece in (fragment_around(statement, fact), statement):
                trimmed = trim_piece(piece)
                if fact.key not in facts and fact.key in fact_keys(trimmed):
                    attach(trimmed)
    return tuple(pieces.values())


def unsaid_statements(text: str, source: str) -> list[str]:
    """The statements of a source whose words hardly appear in a text."""
    words = set(content_words(text))
    found = []
    for statement in _statements_of(source):
        meant = content_words(statement)
        if meant and sum(word in words for word in meant) < SAID_SHARE * len(meant):
            found.append(statement)
    return found


def _statements_of(source: str) -> list[str]:
    return [strip_lead_in(written) for written in split_statements(source) or [source.strip()]]


def fragment_around(statement: str, fact: Fact) -> str:
    """The clause of a statement that contains a fact, shortened to a few words around it if it is long."""
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
    """A piece without the punctuation at its ends, and without an unmatched bracket."""
    piece = piece.strip(" ,;:.|-–—\n\t\"'")
    for opening, closing in ("()", "[]", "{}"):
        if piece.count(opening) != piece.count(closing):
            piece = piece.strip(opening + closing)
            if piece.count(opening) != piece.count(closing):
                piece = piece.replace(opening, "").replace(closing, "")
    return piece.strip(" ,;:.|-–—")
