"""Splits a long entry between its sentences, so that each part is short enough to be one memory."""

from __future__ import annotations

from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.wording.sentences import split_statements

_CHARS_OF_TOKEN = 4


def parts_of(text: str, max_tokens: int, skipped: Skipped) -> list[str]:
    """The text, or, if it is longer than the limit, its statements packed into parts below the limit."""
    limit = max_tokens * _CHARS_OF_TOKEN
    if len(text) <= limit:
        return [text]
    skipped.split += 1
    parts: list[str] = []
    for statement in split_statements(text):
        for piece in (statement[i : i + limit] for i in range(0, len(statement), limit)):
            if parts and len(parts[-1]) + len(piece) < limit:
                parts[-1] += "\n" + piece
            else:
                parts.append(piece)
    return parts
