"""Drafts of an abstraction, and the confidence in what they say, based on its witnesses: never on how alike wordings
are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from difflib import SequenceMatcher
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.models import Declined, Session
from memory_pipeline.records import DETAILS_LABEL, QUOTE, Causal, Cluster, Disagreement, Memory
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.normalise import normalise
from memory_pipeline.text.orders import tells_reader
from memory_pipeline.text.preservation import SAID_SHARE
from memory_pipeline.text.sentences import join_statements, split_statements


@dataclass(frozen=True, slots=True)
class Member:
    """One memory of a cluster, with its mean cosine to the other members, and, for a merged memory, the raw memories
    it was made from."""

    memory: Memory
    centrality: float
    made_from: tuple[Memory, ...] = ()

    @property
    def witnesses(self) -> tuple[Memory, ...]:
        """The witnesses: the memory, or the raw memories it was made from."""
        return self.made_from or (self.memory,)


@dataclass(frozen=True, slots=True)
class Task:
    """One cluster to distil. `similarities`: float64 (n, n) cosines between the members, in their order, which is by
    effective date and id."""

    cluster: Cluster
    members: tuple[Member, ...]
    similarities: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed abstraction: its statements as one text, and facts attached below it word for word.

    `contradictions` are members that disagree, `causal` the cause and effect. `prompt_version` changes whenever the
    same cluster could give a different draft; it is part of the abstraction's id.
    """

    text: str
    prompt_version: str
    attached: tuple[str, ...] = ()
    pattern_type: str | None = None
    confidence: float = 0.0
    causal: Causal | None = None
    contradictions: tuple[Disagreement, ...] = ()

    @property
    def content(self) -> str:
        """The memory as it would be written: the text, then the attached facts on a line of their own."""
        return f"{self.text}\n{DETAILS_LABEL} {'; '.join(self.attached)}" if self.attached else self.text


class DistillationModel(Protocol):
    """The interface of models that turn clusters into memories."""

    @property
    def name(self) -> str:
        """Name of the model, as used in settings and reports."""

    @property
    def method(self) -> str:
        """`llm`, `heuristic` or `hybrid`."""

    @property
    def prompt_version(self) -> str:
        """The prompt version recorded for a cluster without a draft."""

    def drafts(self, tasks: Iterable[Task], session: Session) -> Iterator[tuple[Task, Draft | Declined | Exception]]:
        """The proposal for each task, in order; an exception fails only its own cluster.

        Raises ModelError if the model cannot be used at all; earlier proposals stay valid.
        """


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
