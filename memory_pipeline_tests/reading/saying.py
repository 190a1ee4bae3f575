"""Builds turns, and what a reader may have found in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory_pipeline.consolidation import conversations
from memory_pipeline.consolidation.context import Night
from memory_pipeline.reading.extraction import Found, significance_of
from memory_pipeline.records import Extraction, ExtractionKind, Speaker, Turn, derived_id

START = datetime(2026, 3, 30, 9, 0, tzinfo=UTC)


def turn(words: str, speaker: Speaker = "human", line: int = 1, at: datetime = START, **fields: Any) -> Turn:
    """A turn of the conversation `talk`."""
    told: dict[str, Any] = {"conversation": "talk", "project_id": "p", "token_count": max(1, len(words) // 4)}
    told |= fields
    return Turn(memory_id=f"t-{told['conversation']}-{at:%d}-{line}", line=line, speaker=speaker, said_at=at,
                words=words, **told)  # fmt: skip


def talk(*said: str, at: datetime = START) -> list[Turn]:
    """Turns a minute apart; what begins with `a: ` is an agent's."""
    return [
        turn(
            words.removeprefix("a: "),
            "agent" if words.startswith("a: ") else "human",
            line,
            at + timedelta(minutes=line),
        )
        for line, words in enumerate(said, start=1)
    ]


def kept(words: str, kind: ExtractionKind = "fact", at: datetime = START, **fields: Any) -> Extraction:
    """An extraction of a turn of these words, as any reader may find it."""
    said = turn(words, at=at)
    told: dict[str, Any] = {"speaker": "human", "significance": significance_of(kind)} | fields
    return Extraction(
        id=derived_id("extraction", said.memory_id, kind, words),
        project_id="p",
        day=said.day,
        turn_id=said.memory_id,
        conversation=said.conversation,
        line=said.line,
        kind=kind,
        text=words,
        quote=words,
        **told,
    )


def reading_as(monkeypatch: pytest.MonkeyPatch, *told: tuple[str, ExtractionKind, str]) -> None:
    """Let nights read turns as a model would that finds these sentences: each with its kind, and with words of the
    statement that it takes the place of, or nothing."""

    def read_turns(night: Night, turns: Sequence[Turn], known: Sequence[Extraction], problems: object) -> Found:
        found: list[Extraction] = []
        for said in turns:
            for words, kind, old in told:
                if words == said.words:
                    gone = {i for one in found for i in one.withdraws}
                    replaced = [one.id for one in (*known, *found) if old and old == one.text and one.id not in gone]
                    one = kept_of(said, kind)
                    found.append(replace(one, withdraws=tuple(replaced)))
        return Found(tuple(found))

    monkeypatch.setattr(conversations, "read_turns", read_turns)


def kept_of(said: Turn, kind: ExtractionKind) -> Extraction:
    """The extraction of a whole turn."""
    return Extraction(
        id=derived_id("extraction", said.memory_id, kind),
        project_id=said.project_id,
        day=said.day,
        turn_id=said.memory_id,
        conversation=said.conversation,
        line=said.line,
        speaker=said.speaker,
        kind=kind,
        text=said.words,
        quote=said.words,
        significance=significance_of(kind),
    )
