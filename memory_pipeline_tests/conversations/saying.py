"""Builds turns and what is extracted of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from memory_pipeline.conversations.chunks import chunks_of
from memory_pipeline.conversations.extraction import Extracted, extract
from memory_pipeline.records import Extraction, Speaker, Turn

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


def read(turns: Sequence[Turn], **options: Any) -> Extracted:
    """What is extracted of some turns."""
    return extract(chunks_of(turns, 800), **options)


def found(*said: str) -> list[tuple[str, str]]:
    """The kind and the quote of what is extracted of a talk."""
    return [(one.kind, one.quote) for one in read(talk(*said)).extractions]


def only(*said: str) -> Extraction:
    """The one extraction of a talk."""
    (one,) = read(talk(*said)).extractions
    return one
