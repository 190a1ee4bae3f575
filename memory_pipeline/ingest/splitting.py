"""Splits a long entry between its sentences, so that each part is short enough to be one memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory_pipeline.ingest.candidates import Candidate, Skipped
from memory_pipeline.ingest.markdown import Entry
from memory_pipeline.ingest.values import MAX_LABELS, MAX_NAME
from memory_pipeline.wording.lead_in import said_together
from memory_pipeline.wording.normalise import clean_text
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


@dataclass(frozen=True, slots=True)
class EntryPart:
    """A part of an entry of a note: what it says itself, and with the lead-in that is one with it."""

    own_words: str
    content: str
    entry: Entry

    def describe(self, candidate: Candidate) -> Candidate:
        """The candidate with the words of this part, and with what they hang on in the note."""
        return replace(
            candidate,
            content=self.content,
            own_words=clean_text(self.own_words).strip("\n"),
            headings=tuple(heading[:MAX_NAME] for heading in self.entry.path)[-MAX_LABELS:],
            lead_in=self.entry.lead.words[:MAX_NAME],
        )


def parts_of_entry(
    entry: Entry, max_tokens: int, skipped: Skipped, own_words: str | None = None
) -> Iterator[EntryPart]:
    """The parts of an entry: only a whole one is said with its lead-in. `own_words`: what is left of its text."""
    parts = parts_of(entry.text if own_words is None else own_words, max_tokens, skipped)
    for part in parts:
        yield EntryPart(part, said_together(entry.lead, part) if len(parts) == 1 else part, entry)
