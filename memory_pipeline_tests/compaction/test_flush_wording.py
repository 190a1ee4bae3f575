"""How a flush words what it keeps: whole, in its section, and with what the human said against it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from memory_pipeline.compaction.flush import Flush, flush_of
from memory_pipeline.compaction.summary import summary_of
from memory_pipeline.compaction.transcripts import read_session_file
from memory_pipeline.compaction.usage import estimated_tokens
from memory_pipeline.config.settings import Settings
from memory_pipeline_tests.compaction.sessions import said, transcript


def flushed(place: Path, *turns: str) -> Flush:
    """A flush of turns; what begins with `a: ` is the agent's."""
    lines = [
        said(number, "assistant" if words.startswith("a: ") else "user", words.removeprefix("a: "))
        for number, words in enumerate(turns, start=1)
    ]
    return flush_of(read_session_file(str(transcript(place / "a.jsonl", *lines)), Settings()))


def texts(flush: Flush, kind: str) -> list[str]:
    return [one.text for one in flush.kept if one.kind == kind]


def test_a_dead_end_has_its_subject_and_what_the_human_said_against_it(tmp_path: Path) -> None:
    flush = flushed(
        tmp_path,
        "a: I put the upload behind a queue first. This didn't help, because Celery 4.2 drops large messages.",
        "We run Celery 5.3, not 4.2.",
    )
    assert texts(flush, "dead_end") == [
        "I put the upload behind a queue first. This didn't help, because Celery 4.2 drops large messages. "
        "(the human: We run Celery 5.3, not 4.2.)"
    ]
    assert "We run Celery 5.3, not 4.2." in texts(flush, "fact")
    assert not any("This didn't help" in text for text in texts(flush, "fact"))


def test_what_fails_is_not_done_and_what_comes_next_is_open(tmp_path: Path) -> None:
    flush = flushed(
        tmp_path, "Go.", "a: Done: moved the cache to Valkey. 17 tests pass, 2 fail. Next: look at test_eviction."
    )
    assert texts(flush, "done") == ["moved the cache to Valkey."]
    assert texts(flush, "open") == ["17 tests pass, 2 fail.", "Next: look at test_eviction."]


def test_what_is_right_instead_is_kept(tmp_path: Path) -> None:
    flush = flushed(
        tmp_path,
        "a: The root cause is the retry loop in billing.py.",
        "That's wrong, the certificate of the mail relay has expired.",
        "a: I will use Kafka for the events.",
        "No, not Kafka. We have NATS on every host.",
    )
    assert texts(flush, "fact") == [
        "the certificate of the mail relay has expired.",
        "We have NATS on every host.",
    ]


def test_who_is_responsible_and_who_is_away_is_kept(tmp_path: Path) -> None:
    flush = flushed(
        tmp_path, "Ines owns the warehouse feed. She is away until 9 January. Ines likes owls.", "a: Noted."
    )
    assert "Ines owns the warehouse feed." in texts(flush, "fact")[0]
    assert any("away until 9 January" in text and "Ines" in text for text in texts(flush, "fact"))


@pytest.mark.parametrize("words", ["Never mind the naming rule, any case is fine.", "Never mind."])
def test_a_rule_that_is_given_up_is_no_fact(tmp_path: Path, words: str) -> None:
    flush = flushed(tmp_path, "Never name a branch in upper case.", "a: Fine.", words)
    assert not texts(flush, "fact")


def test_a_rejection_is_no_question_in_a_summary(tmp_path: Path) -> None:
    flush = flushed(
        tmp_path,
        "Set the timeout to 30 in app.toml.",
        "a: Set timeout = 30 in app.toml.",
        "No, undo that.",
        "a: Undone.",
    )
    summary = summary_of(flush, date(2026, 3, 1), 400, estimated_tokens)
    assert "- Set the timeout to 30 in app.toml." in summary and "undo that" not in summary
