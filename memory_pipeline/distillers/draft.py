"""What a distillation model is given, and what it proposes. The model proposes; the judge decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.records import Cluster, Memory


@dataclass(frozen=True, slots=True)
class Member:
    """One memory of a cluster, with its mean cosine to the other members."""

    memory: Memory
    centrality: float


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed abstraction: its statements as one text, and facts attached below it word for word."""

    text: str
    attached: tuple[str, ...] = ()
    pattern_type: str | None = None
    confidence: float = 0.0
    is_causal: bool = False

    @property
    def content(self) -> str:
        """The memory as it would be written: the text, then the attached facts on a line of their own."""
        return f"{self.text}\n{DETAILS_LABEL} {'; '.join(self.attached)}" if self.attached else self.text


#: Opens the line of attached facts.
DETAILS_LABEL = "Details:"


class DistillationModel(Protocol):
    """Anything that can turn a cluster into one memory."""

    @property
    def name(self) -> str:
        """Name of the model, as settings and reports call it."""

    @property
    def method(self) -> str:
        """`llm`, `heuristic` or `hybrid`."""

    @property
    def prompt_version(self) -> str:
        """Changes whenever the same cluster could give another draft; part of the abstraction's id."""

    def draft(self, cluster: Cluster, members: Sequence[Member], similarities: NDArray[np.float64]) -> Draft:
        """Propose an abstraction. `similarities`: float64 (n, n) cosines between the members, in their order.

        Members come by effective date and id. Any exception fails this cluster alone.
        """
