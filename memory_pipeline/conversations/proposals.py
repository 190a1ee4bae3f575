"""What a model proposes to keep of a day's turns, as far as the turns themselves bear it out.

Proposals stand beside what the rules find, and never in its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory_pipeline.records import Extraction, Turn

#: What names a turn: its memory, and where its words begin there.
TurnKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Proposals:
    """What a model was asked about a day, and what was accepted of its answers.

    `by_turn`: the accepted extractions; `questions`: how many were asked; `refused`: what was not accepted, by reason;
    `left`: the chunks that are left to the rules, by reason; `waiting`: how many of the questions have no answer yet.
    """

    by_turn: Mapping[TurnKey, Sequence[Extraction]] = field(default_factory=dict)
    questions: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0

    def of(self, turn: Turn) -> Sequence[Extraction]:
        """What is proposed for a turn."""
        return self.by_turn.get(key_of(turn), ())

    def coverage(self, extracted: int) -> dict[str, object]:
        """The counts for the coverage of the day. `extracted`: how much no rule found. How an answer came,
        and what it cost, is none of the day's: a day that is read again is the same."""
        return {
            "questions": self.questions,
            "extracted": extracted,
            "refused": dict(sorted(self.refused.items())),
            "left_to_rules": dict(sorted(self.left.items())),
            "waiting": self.waiting,
        }


def key_of(turn: Turn) -> TurnKey:
    """What names a turn."""
    return turn.memory_id, turn.offset


def united(turn: Turn, found: Sequence[Extraction], proposed: Sequence[Extraction]) -> list[Extraction]:
    """What the rules found in a turn, and what is proposed of the words that they left, in the order of the turn."""
    taken = [_span(turn, one) for one in found]
    added = []
    for one in proposed:
        start, end = _span(turn, one)
        if all(end <= left or right <= start for left, right in taken):
            added.append(one)
            taken.append((start, end))
    return sorted([*found, *added], key=lambda one: _span(turn, one)[0]) if added else list(found)


def _span(turn: Turn, one: Extraction) -> tuple[int, int]:
    """Where the quote stands in the turn; nowhere if it does not."""
    start = turn.words.find(one.quote)
    return (start, start + len(one.quote)) if start >= 0 else (0, 0)
