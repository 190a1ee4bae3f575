"""What is extracted of conversations, and what is not."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from planted_conversations import plant_conversations

from memory_pipeline.conversations.chunks import chunks_of
from memory_pipeline.conversations.day import read_day
from memory_pipeline.conversations.extraction import (
    BEYOND,
    MOST_OF_MESSAGE,
    MOST_OF_TURN,
    QUESTIONS,
    TOLD_BEFORE,
    extract,
)
from memory_pipeline.conversations.patterns import patterns_of
from memory_pipeline.conversations.turns import MOST_TURNS, TOO_MANY, turns_of
from memory_pipeline.records import Source
from memory_pipeline_tests.build import memory
from memory_pipeline_tests.conversations.saying import START, found, only, read, talk
from memory_pipeline_tests.conversations.saying import turn as spoken_turn


def test_an_extraction_is_the_sentence_with_its_place() -> None:
    one = only("Thanks. I live in Utrecht with two cats. See you tomorrow then.")
    assert (one.kind, one.quote, one.speaker, one.line) == ("fact", "I live in Utrecht with two cats.", "human", 1)
    assert one.turn_id == "t-talk-30-1"
    assert "cats" in one.topics


def test_the_same_turns_give_the_same_extractions() -> None:
    turns = talk("I live in Utrecht.", "We decided to use Postgres, because the team knows it.")
    assert read(turns).extractions == read(turns).extractions


def test_a_day_that_is_read_again_gives_the_same_although_the_store_has_it() -> None:
    turns = talk("I live in Utrecht.", "I love long walks in the rain.")
    first = read(turns).extractions
    assert read(turns, known=first).extractions == first


def test_a_decision_has_its_reason() -> None:
    one = only("We decided to use Postgres, because the team already knows it.")
    assert one.rationale == "because the team already knows it"
    assert only("Let's go with the blue version. The reason is that it prints better.").rationale.startswith(
        "The reason"
    )


def test_relative_days_become_dates() -> None:
    assert "next Friday (3 April 2026)" in only("Important: the invoices go out next Friday.").text


def test_a_fact_about_a_human_is_never_an_agents() -> None:
    assert found("a: You live in Utrecht.", "a: I live in Utrecht.", "a: My name is Priya.") == []


@pytest.mark.parametrize(
    "said",
    [
        "Do I live in Utrecht?",
        "do i live in utrecht",
        "If I live in Utrecht next year I will buy a bike.",
        "I wish I lived in Utrecht.",
        "My sister says I live in Utrecht.",
        "She thinks that I live in Utrecht.",
        "I don't live in Utrecht.",
        "I used to live in Utrecht.",
        "Maybe I live in Utrecht soon.",
    ],
)
def test_what_is_not_stated_is_no_fact(said: str) -> None:
    assert found(said) == []


def test_a_mark_gives_priority_to_what_it_is_about() -> None:
    one = only("I want to be clear: I prefer tea to coffee.")
    assert (one.kind, one.priority) == ("preference", True)
    assert one.significance > only("I prefer tea to coffee.").significance


def test_a_mark_in_a_sentence_of_its_own_is_about_the_one_before() -> None:
    one = only("The parcel goes to Mrs. Kowalski. This is important!")
    assert (one.kind, one.priority) == ("marker", True)
    assert one.quote == "The parcel goes to Mrs. Kowalski."


def test_what_is_told_again_is_no_new_evidence() -> None:
    result = read(talk("I love green tea.", "a: ok", "i love green tea"))
    assert len(result.extractions) == 1
    assert result.dropped[TOLD_BEFORE] == 1
    again = read(talk("I love green tea!", at=START + timedelta(days=1)), known=result.extractions)
    assert not again.extractions


def test_questions_are_counted() -> None:
    assert read(talk("Where do I live?", "What is my name?")).dropped[QUESTIONS] == 2


def test_a_topic_returns_over_three_turns() -> None:
    said = ("The garden needs a fence.", "I read about raised beds for my garden.", "My garden gets forty tulips.")
    assert [one.topics for one in read(talk(*said)).extractions if one.kind == "repetition"] == [("garden",)]
    assert not [one for one in read(talk(*said[:2])).extractions if one.kind == "repetition"]


def test_a_topic_returns_on_a_later_day() -> None:
    said = ("The garden needs a fence.", "I read about raised beds for my garden.")
    result = read(talk(*said), topics_before={"garden": [START.date() - timedelta(days=1)]})
    assert "2 turns, 2 days" in next(one.text for one in result.extractions if one.kind == "repetition")


def test_what_a_life_is_made_of_and_whoever_is_in_it_is_no_topic() -> None:
    known = read(talk("I run a small veterinary clinic with two partners.", at=START - timedelta(days=1))).extractions
    said = ("The clinic opens at eight.", "We paint the clinic in spring.", "The clinic got a new sign.")
    assert not [one for one in read(talk(*said), known=known).extractions if one.kind == "repetition"]
    assert [one for one in read(talk(*said)).extractions if one.kind == "repetition"]
    of_marek = ("Marek owns the carrier contract.", "I met Marek at the door.", "The keys are with Marek.")
    assert not [one for one in read(talk(*of_marek)).extractions if one.kind == "repetition"]


def test_the_order_of_an_answer_is_no_limit() -> None:
    assert found("Give me the result first, then the reasons.")[0][0] == "dynamic"
    assert found("Send me the draft first, then I decide.")[0][0] == "boundary"


def test_what_is_broken_again_is_nothing_that_lasts() -> None:
    assert not found("Coffee machine is broken again, so expect typos.")
    assert found("The coffee machine stands in the kitchen on the second floor.")


def test_a_topic_of_the_agent_is_none_of_the_human() -> None:
    said = ("a: How is the garden?", "The garden is fine.", "My garden has a fence.", "I like to paint garden gates.")
    assert not [one for one in read(talk(*said)).extractions if one.kind == "repetition"]


@pytest.mark.slow
def test_a_day_of_two_thousand_turns_takes_seconds() -> None:
    said = [turn for planted in plant_conversations() for turn in planted.turns]
    turns = [
        replace(turn, memory_id=f"t{number}", line=number, conversation="talk", words=f"{turn.words} Item {number}.")
        for number, turn in enumerate(said * (2_000 // len(said) + 1))
    ][:2_000]
    began = time.process_time()
    read(turns)
    assert time.process_time() - began < 8


@pytest.mark.parametrize(("held_out", "least_found"), [(False, 0.9), (True, 0.75)])
def test_nine_of_ten_planted_extractions_are_right(held_out: bool, least_found: float) -> None:
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    expected = 0
    for planted in plant_conversations():
        if planted.held_out == held_out:
            kinds = {one.kind for one in extract(chunks_of(planted.turns, 800)).extractions}
            right.update(kinds & planted.kinds)
            wrong.update(kinds - planted.kinds)
            expected += len(planted.kinds)
    assert right.total() >= 0.9 * (right.total() + wrong.total())
    assert right.total() >= least_found * expected


def test_only_words_that_stress_make_a_sentence_matter_more() -> None:
    plain, loud = only("We decided to use Postgres."), only("We decided to use Postgres!")
    assert (plain.significance, loud.significance) == (0.7, 0.75)


def test_what_was_decided_is_not_its_own_reason() -> None:
    told = read(talk("We decided to keep the runbook in the repository because the team reads it there."))
    assert [one.rationale for one in told.extractions] == ["because the team reads it there"]
    told = read(talk("We decided to pin numpy to 1.26 to keep the build reproducible."))
    assert [one.rationale for one in told.extractions] == ["to keep the build reproducible"]


def test_the_forms_of_a_topic_are_one_topic() -> None:
    said = ("I saw a movie.", "The movies were long.", "That movie again.", "A recipe is here.", "These recipes work.")
    topics = [one.topics for one in read(talk(*said)).extractions if one.kind == "repetition"]
    assert topics == [("movie",)]


def test_the_same_words_about_another_number_are_not_told_before() -> None:
    told = read(
        talk("Never use port 5432 for staging.", "Never use port 5433 for staging.", "Never use port 5432 for staging!")
    )
    assert [one.quote for one in told.extractions] == [
        "Never use port 5432 for staging.",
        "Never use port 5433 for staging.",
    ]


def test_one_turn_gives_no_more_than_forty_extractions() -> None:
    many = " ".join(f"I like tea {number}." for number in range(100))
    (spoken,) = talk(many)
    result = read([spoken])
    assert len(result.extractions) == MOST_OF_TURN and result.dropped[BEYOND] == 100 - MOST_OF_TURN


def test_a_turn_that_is_cut_into_several_memories_gives_no_more_than_forty() -> None:
    parts = [" ".join(f"I like tea {part}{number:02}." for number in range(30)) for part in range(1, 6)]
    said = [replace(spoken_turn(words), memory_id=f"part-{place}") for place, words in enumerate(parts)]
    later = spoken_turn("I live in Lisbon.", line=2)
    quotes = [one.quote for one in read([*said, later]).extractions if one.kind != "repetition"]
    assert len(quotes) == MOST_OF_TURN + 1 and quotes[-1] == "I live in Lisbon."


def test_a_pasted_log_of_many_turns_gives_no_more_than_a_hundred_and_twenty() -> None:
    lines = "\n".join(f"user: I prefer item {number}." for number in range(600))
    pasted = memory("m", lines, START, source=Source("jsonl", "a.jsonl", 1), memory_type="conversation")
    found_in = read_day([pasted], chunk_tokens=800)
    assert len([one for one in found_in.extracted.extractions if one.kind != "repetition"]) == MOST_OF_MESSAGE
    assert found_in.extracted.dropped[BEYOND] == 600 - MOST_OF_MESSAGE


def test_of_a_log_of_very_many_turns_the_first_ones_are_read() -> None:
    lines = "\n".join(f"user: I prefer item {number}." for number in range(MOST_TURNS + 500))
    read_turns = turns_of([memory("m", lines, START, source=Source("jsonl", "a.jsonl", 1), memory_type="conversation")])
    assert len(read_turns.turns) == MOST_TURNS and read_turns.dropped == {TOO_MANY: 500}


@pytest.mark.slow
def test_a_day_of_many_turns_takes_time_in_proportion() -> None:
    said = [
        "I live in Town{} now.",
        "No, not Town{}, I said it wrong.",
        "I prefer tea number {}.",
        "Never touch file{}.",
    ]

    def seconds(turns: int) -> float:
        spoken = talk(*(said[number % len(said)].format(number) for number in range(turns)))
        began = time.process_time()
        patterns_of(read(spoken).extractions)
        return time.process_time() - began

    seconds(200)
    few, many = seconds(1_000), seconds(4_000)
    assert many < 8 * few
