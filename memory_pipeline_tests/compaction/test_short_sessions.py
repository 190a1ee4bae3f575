"""Whole sessions with labels: what a person would be angry to lose is kept, and nothing that the human denied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from memory_pipeline.compaction.compacting import compact_session
from memory_pipeline.compaction.flush import flush_of
from memory_pipeline.compaction.kept import Kept
from memory_pipeline.compaction.transcripts import Session
from memory_pipeline_tests.build import settings_for
from memory_pipeline_tests.compaction.more_sessions import MORE_SESSIONS
from memory_pipeline_tests.compaction.short_sessions import SESSIONS, Labelled
from memory_pipeline_tests.conversations.saying import talk


def session_of(one: Labelled) -> Session:
    """A session as it is read."""
    return Session("s", "claude-code", "app", "s.jsonl", tuple(talk(*one.said)))


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
    kept = flush_of(session_of(one)).kept
    lost = [label for label in one.wanted if not any(met(label, kept))]
    wrong = [f"{label}: {text}" for label in one.unwanted for text in met(label, kept)]
    assert (lost, wrong) == ([], [])


@pytest.mark.parametrize("one", SESSIONS, ids=[one.name for one in SESSIONS])
def test_a_session_full_of_what_matters_is_not_longer_when_it_is_compacted(one: Labelled, tmp_path: Path) -> None:
    session = session_of(one)
    done = compact_session(settings_for(tmp_path / "store.duckdb"), session)
    assert 0 < done.tokens_after <= done.tokens_before
    written = "\n".join(Path(file.file).read_text() for file in done.files)
    assert all(kept.text in written for kept in flush_of(session).kept if kept.kind == "rule" or kept.is_humans)


def test_of_sessions_that_no_rule_was_written_for_nine_of_ten_are_kept_and_nothing_denied() -> None:
    lost, wrong = 0, []
    for one in MORE_SESSIONS:
        kept = flush_of(session_of(one)).kept
        lost += sum(not any(met(label, kept)) for label in one.wanted)
        wrong += [f"{label}: {text}" for label in one.unwanted for text in met(label, kept)]
    assert wrong == [] and 10 * lost <= sum(len(one.wanted) for one in MORE_SESSIONS)
