"""Confidence in a statement, based on its witnesses: never on the similarity of wordings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from difflib import SequenceMatcher

from memory_pipeline.consolidation.distillers.draft import Draft
from memory_pipeline.records import QUOTE, Memory
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.normalise import normalise
from memory_pipeline.text.orders import tells_reader
from memory_pipeline.text.preservation import SAID_SHARE
from memory_pipeline.text.sentences import join_statements, split_statements

#: Two texts are copies of each other from this share of common runs of words on, and a run has so many words: the
#: resemblance of Broder (1997) with the values of Manning, Raghavan and Schuetze, Introduction to Information
#: Retrieval (2008), 19.6.
COPY_RESEMBLANCE = 0.9
_RUN = 4
_WORD = re.compile(r"\w+")
#: Of more different texts than this, only equal ones are taken for copies.
_MOST_COMPARED = 400


def evidence_confidence(witnesses: Iterable[Memory], against: int = 0) -> float:
    """Between 0 and 1: (k + 1) / (k + against + 2), Laplace's rule of succession (1774) for k supporting and
    `against` contradicting witnesses.

    k counts independent witnesses: the mean of the number of different texts and the number of their days, so that one
    event recorded three times on the same day counts less than one seen on three days. Copies and near-copies of one
    text count once, on the day of the first. One witness gives 0.67, three on one day 0.75, three on three days 0.80,
    ten on ten days 0.92; nothing is ever certain.
    """
    first = independent_witnesses(witnesses)
    days = len({memory.day for memory in first})
    borne_out = (len(first) + days) / 2
    return (borne_out + 1) / (borne_out + against + 2)


def independent_tellings(statement: str, witnesses: Iterable[Memory]) -> int:
    """How many sources say a statement independently: in words of their own, and on days of their own. The same words
    again, on whatever day and with whatever small word put in, are a copy."""
    meant = set(content_words(statement))
    wordings: dict[tuple[str, ...], date] = {}
    for memory in sorted(witnesses, key=lambda memory: (memory.effective_date, memory.id)):
        parts = split_statements(memory.content) or [memory.content]
        nearest = max(parts, key=lambda part: len(meant & set(content_words(part))))
        words = _words_of(nearest)
        if len(meant & set(content_words(nearest))) >= SAID_SHARE * len(meant) and not any(
            SequenceMatcher(None, words, other, autojunk=False).ratio() >= COPY_RESEMBLANCE for other in wordings
        ):
            wordings[words] = memory.day
    return min(len(wordings), len(set(wordings.values())))


def independent_witnesses(witnesses: Iterable[Memory]) -> list[Memory]:
    """The first memory of each text, in order of time, copies of an earlier one left out."""
    first: dict[str, Memory] = {}
    for memory in sorted(witnesses, key=lambda memory: (memory.effective_date, memory.id)):
        first.setdefault(memory.content_hash, memory)
    if len(first) > _MOST_COMPARED:
        return list(first.values())
    kept: list[tuple[Memory, frozenset[tuple[str, ...]]]] = []
    for memory in first.values():
        runs = _runs_of(memory.content)
        if not any(len(runs & other) >= COPY_RESEMBLANCE * len(runs | other) for _, other in kept):
            kept.append((memory, runs))
    return [memory for memory, _ in kept]


def _runs_of(content: str) -> frozenset[tuple[str, ...]]:
    words = _words_of(content)
    return frozenset(words[n : n + _RUN] for n in range(max(1, len(words) - _RUN + 1)))


def _words_of(content: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(normalise(content)))


#: Sources that an order needs to be guidance.
_LEAST_SOURCES = 2


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
