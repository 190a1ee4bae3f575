"""What the answers of a model about turns amount to: proposals for the turns, and why chunks are left to the rules."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence

from memory_pipeline.conversations.proposals import Proposals, TurnKey
from memory_pipeline.conversations.questions import STEERS, Accepted, TurnsQuestion
from memory_pipeline.errors import ModelError
from memory_pipeline.models import Declined
from memory_pipeline.records import Extraction

_log = logging.getLogger(__name__)
NO_ANSWER = "the model gave no answer"
UNREADABLE = "the answer could not be read"

Answered = Accepted | Declined | Exception | None


def proposals_from(questions: Sequence[TurnsQuestion], answers: Sequence[Answered], hostile: int) -> Proposals:
    """The proposals from the answers to some questions, in their order; None is no answer. `hostile`: chunks that were
    not asked about because they try to steer their reader."""
    refused: Counter[str] = Counter()
    left: Counter[str] = Counter({STEERS: hostile})
    by_turn: dict[TurnKey, tuple[Extraction, ...]] = {}
    waiting = 0
    for one, answer in zip(questions, answers, strict=True):
        if isinstance(answer, Accepted):
            by_turn |= answer.by_turn
            refused.update(answer.refused)
        elif isinstance(answer, Declined):
            left[answer.reason.split(":")[0]] += one.chunks
            waiting += answer.again
        elif answer is None or isinstance(answer, ModelError):
            left[NO_ANSWER] += one.chunks
            waiting += 1
        else:
            _log.error("reading a model's answer about a conversation", exc_info=answer)
            left[UNREADABLE] += one.chunks
    return Proposals(by_turn, len(questions), refused, +left, waiting)
