"""One thing that a flush keeps, whoever found it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from memory_pipeline.records import Turn
from memory_pipeline.wording.hidden import visible

Kind = Literal["decision", "rule", "dead_end", "fact", "config", "done", "open"]
Priority = Literal["HIGH", "MEDIUM", "LOW"]
#: How sure it is: what was marked, what was written down as a fact, and what else was said.
CURATED, NOTED, OTHER = 0.95, 0.85, 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One thing that is kept: what it is, the words as they were said, why (of a decision), the value (of a setting),
    and who said it where. `is_proposed`: a model found it."""

    kind: Kind
    text: str
    day: date
    speaker: str
    line: int
    confidence: float = 1.0
    rationale: str = ""
    value: str = ""
    is_curated: bool = False
    is_marked: bool = False
    is_proposed: bool = False

    @property
    def priority(self) -> Priority:
        """How much it matters that it is kept."""
        if self.kind in ("done", "open"):
            return "LOW"
        return "MEDIUM" if self.kind == "config" or self.is_curated else "HIGH"

    @property
    def source(self) -> str:
        """Who said it, and in which line of the transcript."""
        return f"{self.speaker}, line {self.line}"


def keep(
    turn: Turn,
    kind: Kind,
    text: str,
    *,
    confidence: float = 1.0,
    rationale: str = "",
    value: str = "",
    is_curated: bool = False,
    is_marked: bool = False,
    is_proposed: bool = False,
) -> Kept:
    """What a turn says of a kind, with its words, its reason and its value each on one line."""
    return Kept(
        kind=kind,
        text=one_line(text),
        day=turn.day,
        speaker=turn.speaker,
        line=turn.line,
        confidence=confidence,
        rationale=one_line(rationale),
        value=one_line(value),
        is_curated=is_curated,
        is_marked=is_marked,
        is_proposed=is_proposed,
    )


def one_line(text: str) -> str:
    """The words on one line; nothing in them hides what comes after them."""
    return " ".join(visible(text).split()).replace("<!--", "&lt;!--")
