"""The input and the proposal of a distillation model. The model proposes; the judge decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.models import Declined, Session
from memory_pipeline.records import DETAILS_LABEL, Causal, Cluster, Disagreement, Memory


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
