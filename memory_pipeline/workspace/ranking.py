"""Which memories are worth loading at an agent's start, and the order in which they stand."""

from __future__ import annotations

from collections.abc import Sequence

from memory_pipeline.records import Memory, binds
from memory_pipeline.text.whole import is_cut_off
from memory_pipeline.workspace.contents import is_undated, level_name

#: How much importance, confidence, recency and use count; together 1.
_IMPORTANCE, _CONFIDENCE, _RECENCY, _USE = 0.35, 0.25, 0.2, 0.2
#: Confidence of a memory that states none.
_UNTOLD = 0.5
#: Days after which half of the recency is gone, and uses after which half of what they count is reached.
_HALF_AS_NEW, _HALF_AS_USED = 60.0, 3.0
#: What a memory counts beside others of the same rank: what its writer marked to be kept, what is only a line of a log,
#: and what a program has cut off.
_CURATED, _OTHER, _CUT_OFF = 1.25, 0.6, 0.4
_CURATE = "curate"


def ranked(memories: Sequence[Memory]) -> list[Memory]:
    """The memories, what the human wants or forbids first, then the one that is most worth knowing; equal ones by id.

    Recency is measured from the newest of them, so that the order does not depend on the clock.
    """
    newest = max((memory.effective_date for memory in memories), default=None)

    def worth(memory: Memory) -> float:
        age = (newest - memory.effective_date).total_seconds() / 86_400 if newest else 0.0
        age = max(age, _HALF_AS_NEW) if is_undated(memory) else age
        uses = memory.reuse_count + 2 * memory.useful_count
        return worth_of(memory, newness=0.5 ** (age / _HALF_AS_NEW), use=1 - 0.5 ** (uses / _HALF_AS_USED))

    return sorted(memories, key=lambda memory: (not binds(memory.tags), -worth(memory), memory.id))


def worth_of(memory: Memory, *, newness: float = 0.0, use: float = 0.0) -> float:
    """What a memory is worth knowing. `newness`, `use`: from 0 to 1; without them, it is the same at every time."""
    score = (
        _IMPORTANCE * memory.importance / 3
        + _CONFIDENCE * (_UNTOLD if memory.confidence_score is None else memory.confidence_score)
        + _RECENCY * newness
        + _USE * use
    )
    score *= _CURATED if _CURATE in memory.tags else 1.0
    score *= _CUT_OFF if is_cut_off(memory.content) else 1.0
    return float(score) * (_OTHER if level_name(memory) == "note" else 1.0)


def in_their_places(lines: Sequence[str], before: Sequence[str]) -> list[str]:
    """The lines in the order in which they stood before; new ones follow in their own order."""
    known = {line: place for place, line in enumerate(before)}
    stayed = sorted({line for line in lines if line in known}, key=known.__getitem__)
    return [*stayed, *(line for line in dict.fromkeys(lines) if line not in known)]
