"""Causes and effects in the words of a text: what is found is right, and when in doubt nothing is found."""

from __future__ import annotations

import time
from dataclasses import astuple

import pytest

from memory_pipeline.demo.texts import CAUSAL, LESSONS
from memory_pipeline.distillers.causality import find_cause, shared_cause
from memory_pipeline_tests.distillers.labelled_causes import CAUSES


def test_found_causes_are_right_and_most_are_found() -> None:
    found = [(told, astuple(causal)[:3]) for text, told in CAUSES if (causal := find_cause(text))]
    right = [told for told, mine in found if told == mine]
    assert len(right) >= 0.9 * len(found)
    assert len(right) >= 0.75 * sum(told is not None for _, told in CAUSES)


def test_no_subject_is_a_pronoun_or_the_action_and_no_outcome_is_advice() -> None:
    texts = [text for text, _ in CAUSES] + [text for _, episodes in CAUSAL for text in episodes]
    texts += [f"{wording} {detail}" for lesson in LESSONS for wording in lesson.wordings for detail in lesson.details]
    for text in texts:
        causal = find_cause(text)
        if causal is not None:
            assert causal.subject.lower() not in {
                "it",
                "this",
                "that",
                "they",
                "we",
                "nobody",
                "there",
                causal.action.lower(),
            }
            assert not causal.outcome.lower().startswith(("use ", "order ", "save ", "never ", "send ", "set ", "ask "))
            assert " must " not in causal.outcome and " should " not in causal.outcome


@pytest.mark.parametrize(
    "text",
    [
        "The shop is often out of stock, so order the food two weeks ahead.",
        "The CDN refuses files that are too large, so images must be resized.",
        "It overheated, so the fan stopped.",
        "The room is cold because of that.",
        "It failed because of internal DNS issues.",
    ],
)
def test_advice_pronouns_and_bare_nouns_make_no_cause(text: str) -> None:
    assert find_cause(text) is None


def test_half_of_the_members_must_state_a_cause() -> None:
    told = "The export failed because the disk was full."
    assert (
        shared_cause([told, told, "The export failed.", "The export failed twice."], [0.9, 0.8, 0.7, 0.6]) is not None
    )
    assert shared_cause([told, "The export failed.", "The export failed twice."], [0.9, 0.8, 0.7]) is None


@pytest.mark.parametrize("piece", ["because ", "a, so b ", "and ", "when x, ", "caused ", " ", "otherwise, "])
def test_no_repeated_piece_makes_reading_slow(piece: str) -> None:
    began = time.process_time()
    find_cause((piece * 12_000)[:12_000])
    assert time.process_time() - began < 2.0
