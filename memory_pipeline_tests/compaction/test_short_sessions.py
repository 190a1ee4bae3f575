"""Whole sessions with labels: what a person would be angry to lose is kept, and nothing that the human denied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from memory_pipeline.compaction.flush import flush_of
from memory_pipeline.compaction.kept import Kept
from memory_pipeline.compaction.transcripts import Session
from memory_pipeline_tests.compaction.short_sessions import SESSIONS, Labelled
from memory_pipeline_tests.conversations.saying import talk


def met(label: str, kept: Sequence[Kept]) -> Iterator[str]:
    """What is kept that meets a label."""
    kinds, _, words = label.partition(": ")
    for one in kept:
        own = ("humans", one.kind) if one.is_humans else (one.kind,)
        text = f"{one.text} = {one.value}" if one.kind == "config" else one.text
        if set(own) & set(kinds.split("|")) and words in text:
            yield text


@pytest.mark.parametrize("one", SESSIONS, ids=[one.name for one in SESSIONS])
def test_what_is_kept_of_a_session_is_what_its_labels_say(one: Labelled) -> None:
    kept = flush_of(Session("s", "claude-code", "app", "s.jsonl", tuple(talk(*one.said)))).kept
    lost = [label for label in one.wanted if not any(met(label, kept))]
    wrong = [f"{label}: {text}" for label in one.unwanted for text in met(label, kept)]
    assert (lost, wrong) == ([], [])
