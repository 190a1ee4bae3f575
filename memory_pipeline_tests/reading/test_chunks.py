"""Chunks follow the turns and the topics of a conversation."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.reading.conversation_day import PAUSE, chunks_of
from memory_pipeline_tests.reading.saying import START, talk, turn

_GARDEN = ("The garden needs a new fence.", "a: A wooden fence fits the garden.", "The old fence fell in the storm.")
_TAXES = "My tax adviser wants every receipt from Lisbon."


def test_turns_about_one_thing_are_one_chunk() -> None:
    (chunk,) = chunks_of(talk(*_GARDEN), 800)
    assert len(chunk.turns) == 3
    assert "fence" in chunk.topics


def test_a_new_topic_of_the_human_begins_a_chunk() -> None:
    assert [len(chunk.turns) for chunk in chunks_of(talk(*_GARDEN, _TAXES), 800)] == [3, 1]


def test_an_answer_stays_with_its_question() -> None:
    turns = talk(*_GARDEN, "a: By the way, your parcel arrived at noon.")
    assert len(chunks_of(turns, 800)) == 1


def test_a_pause_begins_a_chunk() -> None:
    later = turn("The fence of the garden again.", line=9, at=START + PAUSE + timedelta(minutes=9))
    assert len(chunks_of([*talk(*_GARDEN), later], 800)) == 2


@given(st.lists(st.sampled_from([*_GARDEN, _TAXES, "ok", "a: sure"]), max_size=12), st.integers(1, 40))
def test_every_turn_is_in_one_chunk_whole(said: list[str], tokens: int) -> None:
    turns = talk(*said)
    chunks = chunks_of(turns, tokens)
    assert [one for chunk in chunks for one in chunk.turns] == turns
    assert all(chunk.token_count <= tokens or len(chunk.turns) == 1 for chunk in chunks)
