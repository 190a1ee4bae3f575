"""Orders to the reader that one source alone gives: quoted as what was noted, never told as what holds.

A text that tells its reader what to run, fetch, ignore or keep may come from anybody. What several notes say in their
own words on days of their own is a lesson; the same words copied into all of them are one source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_pipeline.distillers.draft import Draft
from memory_pipeline.distillers.evidence import independent_tellings
from memory_pipeline.distillers.orders import tells_reader
from memory_pipeline.records import Memory
from memory_pipeline.wording.sentences import join_statements, split_statements

#: Sources that an order needs to be guidance.
_LEAST_SOURCES = 2
#: Begins a fact that is attached as a quotation.
QUOTE = "“"


def single_orders(text: str, witnesses: Sequence[Memory]) -> list[str]:
    """The statements of a text that tell its reader what to do, and that fewer than two of the raw memories behind it
    say independently."""
    return [
        statement
        for statement in split_statements(text)
        if tells_reader(statement) and independent_tellings(statement, witnesses) < _LEAST_SOURCES
    ]


def with_quotes(draft: Draft, witnesses: Sequence[Memory]) -> Draft:
    """The draft with such statements attached as quotations instead; its text is empty if it has no others."""
    alone = single_orders(draft.text, witnesses)
    if not alone:
        return draft
    rest = [statement for statement in split_statements(draft.text) if statement not in alone]
    quoted = tuple(f"{QUOTE}{statement}”" for statement in alone)
    return replace(draft, text=join_statements(rest), attached=(*draft.attached, *quoted))
