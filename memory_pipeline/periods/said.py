"""What was said in the conversations of a period: lasting facts, preferences and how the two work together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from memory_pipeline.periods.days import short
from memory_pipeline.periods.entries import SAID, Entry
from memory_pipeline.records import KeptExtraction
from memory_pipeline.text.injections.detect import attempt_by

#: What is told beside the memories that were made of conversations; decisions and what the work depends on are among
#: those.
_KINDS = frozenset(("fact", "preference", "trust", "boundary", "dynamic", "learning"))


def entries_of_conversations(
    standing: Sequence[KeptExtraction], first: date, last: date, count_tokens: Callable[[str], int]
) -> list[Entry]:
    """What was said from one night to another and had not been withdrawn by then.

    `standing`: the extractions of a project that stand, of any day.
    """
    withdrawn = {one for later in standing if later.night <= last for one in later.withdraws}
    found = []
    for one in standing:
        is_told = first <= one.night <= last and one.kind in _KINDS and one.memory_id is None
        if not is_told or one.id in withdrawn or attempt_by(one.speaker, one.text):
            continue
        words = short(one.text, count_tokens)
        if words is not None:
            place = f"{one.conversation}:{one.line:06}"
            weight = round(one.significance, 4)
            found.append(Entry(SAID, f"{one.speaker}: {words}", min(one.day, last), one.turn_id, weight, place))
    return found
