"""What fits into a file that an agent loads at every start: what matters most, and of that the newest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from memory_pipeline.conversations.routing import MARKED
from memory_pipeline.records import KeptExtraction

#: English has about so many characters in a token.
CHARACTERS_PER_TOKEN = 4
#: What a line has beside its words: marks, kind and speaker, and a share of the heading of its day.
_BESIDE = 40
#: How much of its significance something loses in a week beside what is newer, and in the end.
_LOST_PER_WEEK, _MOST_LOST = 0.02, 0.2
#: Beside others, no day has more than this share, and no turn more lines than this: what has more was pasted.
_MOST_OF_DAY, _MOST_OF_TURN = 0.5, 40


@dataclass(frozen=True, slots=True)
class Fitting:
    """What fits, in the order of what was given, and how many do not."""

    kept: tuple[KeptExtraction, ...]
    left_out: int


def fitting(those: Sequence[KeptExtraction], tokens: int) -> Fitting:
    """Those that matter most within a number of tokens: what was marked and what is newer matters more. As long as
    there is anything else, no day takes more than a half, and no turn more than forty lines."""
    if sum(_cost(one) for one in those) <= tokens:
        return Fitting(tuple(those), 0)
    newest = max(one.day for one in those)

    def value(one: KeptExtraction) -> float:
        marked = MARKED if one.priority else 0.0
        lost = min(_MOST_LOST, _LOST_PER_WEEK * ((newest - one.day).days // 7))
        return round(one.significance + marked - lost, 3)

    ranked = sorted(those, key=lambda one: (-value(one), -one.day.toordinal(), -one.line, one.id))
    of_turn: Counter[object] = Counter()
    of_day: Counter[date] = Counter()
    first, of_full_days, pasted = (list[KeptExtraction]() for _ in range(3))
    for one in ranked:
        turn = (one.conversation, one.line, one.day) if one.line else one.turn_id
        cost = round(_cost(one))
        if of_turn[turn] >= _MOST_OF_TURN:
            pasted.append(one)
            continue
        of_turn[turn] += 1
        if of_day[one.day] + cost > tokens * _MOST_OF_DAY:
            of_full_days.append(one)
            continue
        of_day[one.day] += cost
        first.append(one)
    kept: set[str] = set()
    room = float(tokens)
    for one in [*first, *of_full_days, *pasted]:
        room -= _cost(one)
        if room < 0:
            break
        kept.add(one.id)
    return Fitting(tuple(one for one in those if one.id in kept), len(those) - len(kept))


def _cost(one: KeptExtraction) -> float:
    return (len(one.text) + _BESIDE) / CHARACTERS_PER_TOKEN
