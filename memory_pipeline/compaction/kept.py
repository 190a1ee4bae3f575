"""One thing that a flush keeps, whoever found it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from memory_pipeline.records import Turn
from memory_pipeline.wording.hidden import visible

Kind = Literal["decision", "rule", "dead_end", "fact", "config", "done", "open"]
Priority = Literal["HIGH", "MEDIUM", "LOW"]
#: How sure it is: what was marked, what was written down as a fact, what an agent found, and what else was said.
CURATED, NOTED, SAID_BY_AGENT, OTHER = 0.95, 0.85, 0.75, 0.7
#: Behind what an agent said: that its human agreed, or what the human said of it.
AGREED, _THE_HUMAN = " (agreed)", " (the human: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One thing that is kept: what it is, the words as they were said, why (of a decision), the value (of a setting),
    and who said it where. `is_proposed`: a model proposed it, and no rule found it; `is_humans`: a task that the human
    took on."""

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
    is_humans: bool = False

    @property
    def priority(self) -> Priority:
        """How much it matters that it is kept."""
        if self.kind in ("done", "open"):
            return "LOW"
        return "MEDIUM" if self.kind == "config" or self.is_curated else "HIGH"

    @property
    def has_answer(self) -> bool:
        """Whether it stands with what the human said of it."""
        return self.text.endswith(AGREED) or _THE_HUMAN in self.text

    @property
    def source(self) -> str:
        """Who said it, and in which line of the transcript."""
        return f"{self.speaker}, line {self.line}"


def with_reply(text: str, reply: str) -> str:
    """What an agent said, with what its human said of it."""
    return f"{text}{_THE_HUMAN}{one_line(reply)})"


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
    is_humans: bool = False,
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
        is_humans=is_humans,
    )


def one_line(text: str) -> str:
    """The words on one line; nothing in them hides what comes after them."""
    return " ".join(visible(text).split()).replace("<!--", "&lt;!--")
