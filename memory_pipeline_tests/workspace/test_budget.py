"""What fits into the files that an agent loads at every start."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from memory_pipeline.reading.relationship_patterns import patterns_of
from memory_pipeline.records import Destination, ExtractionKind, KeptExtraction
from memory_pipeline.workspace.conversation_pages import CHARACTERS_PER_TOKEN, fitting, relational_block, user_block

_DAY = date(2026, 3, 2)


def kept(
    number: int, text: str, *, day: date = _DAY, kind: ExtractionKind = "fact", destination: Destination = "user",
    significance: float = 0.6, priority: bool = False,
) -> KeptExtraction:  # fmt: skip
    """Something that was extracted and went to a file."""
    return KeptExtraction(
        id=f"x{number:05}", project_id="p", day=day, turn_id=f"t{number}", conversation="c", line=number,
        speaker="human", kind=kind, text=text, quote=text, significance=significance, priority=priority, night=day,
        run_id="r", destination=destination,
    )  # fmt: skip


def test_what_fits_stays_as_it_is() -> None:
    those = [kept(number, f"I live in town {number}.") for number in range(5)]
    assert fitting(those, 4_000) == those
    assert "earlier" not in user_block("p", those)


def test_what_matters_most_and_is_newest_stays_in_its_order() -> None:
    old = kept(1, "I feel a bit down.", kind="emotion", significance=0.45)
    rule = kept(2, "I am allergic to nuts.", significance=0.9)
    new = [kept(number, f"I live in town {number}.", day=_DAY + timedelta(days=70 + number)) for number in range(3, 60)]
    fits = fitting([old, rule, *new], 200)
    assert rule in fits and old not in fits and new[-1] in fits
    assert fits == sorted(fits, key=lambda one: one.line)


def test_a_block_keeps_its_tokens_and_says_how_many_it_leaves_out() -> None:
    those = [kept(number, f"I prefer item number {number}.") for number in range(3_000)]
    block = user_block("p", those, tokens=4_000)
    assert len(block) <= 4_000 * CHARACTERS_PER_TOKEN + 400
    assert "earlier or less significant: `memory-pipeline conversations show DAY` has them." in block


@pytest.mark.slow
def test_contradictions_keep_their_share() -> None:
    those = [
        kept(2 * n + k, words, kind="boundary", destination="relational", day=_DAY + timedelta(days=n))
        for n in range(200)
        for k, words in enumerate((f"Always deploy shop{n} on Friday.", f"Never deploy shop{n} on Friday."))
    ]
    patterns = patterns_of(those)
    assert sum(len(pattern.observed) for pattern in patterns) > 100
    block = relational_block("p", those, patterns, tokens=2_000)
    assert len(block) <= 2_000 * CHARACTERS_PER_TOKEN + 800
    assert "earlier contradictions: `memory-pipeline patterns list`." in block


def test_no_turn_and_no_day_pushes_the_others_out() -> None:
    earlier = [kept(number, f"I prefer tea number {number}.") for number in range(150)]
    later = _DAY + timedelta(days=1)
    pasted = [replace(kept(1000 + n, f"I prefer salad number {n}.", day=later), line=7) for n in range(2_000)]
    fits = fitting([*earlier, *pasted], 4_000)
    assert all(one in fits for one in earlier)
    assert len(fits) > 200  # what is left is filled
    fewer = fitting([*earlier, *pasted], 1_000)
    assert 27 <= sum(one.day == later for one in fewer) <= 33  # half of the tokens
    turns = [replace(one, line=one.line % 2 + 7) for one in pasted]
    small = fitting([*earlier, *turns], 2_000)
    assert sum(one.day == later for one in small) <= 66 < len(small)
    assert len(fitting(pasted, 4_000)) > 200


def test_a_sentence_of_two_kinds_is_told_once() -> None:
    text = "You may merge, but never on a Friday."
    fact, preference = kept(1, text), kept(2, text, kind="preference")
    assert user_block("p", [fact, preference]).count(text) == 1
    limit, leave = (kept(n, text, kind=kind, destination="relational") for n, kind in ((1, "boundary"), (2, "trust")))
    block = relational_block("p", [limit, leave])
    assert block.count(text) == 1 and "(boundary and trust, the human)" in block
