"""Builds turns, and what a reader may have found in them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from memory_pipeline.conversations.significance import significance_of
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
