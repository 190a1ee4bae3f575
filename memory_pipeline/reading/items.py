"""The material of a reader: numbered items, and the standing statements nearest to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from memory_pipeline.records import Memory, Speaker

#: Tokens of an item besides its words: number, day, heading.
_FRAME_TOKENS = 12


@dataclass(frozen=True, slots=True)
class Item:
    """One note, or one turn of a conversation.

    `under`: its headings and the words that lead in to it; `speaker`: who said it, None for a note; `is_protected`:
    whether it is critical or pinned, so that it can never be routine; `tokens`: of its words.
    """

    id: str
    words: str
    day: date
    tokens: int
    under: str = ""
    speaker: Speaker | None = None
    is_protected: bool = False

    @property
    def text(self) -> str:
        """The words with what they stand under."""
        return f"{self.under}: {self.words}" if self.under else self.words


@dataclass(frozen=True, slots=True)
class Standing:
    """A statement that holds as of the question. A thread can be finished without a new statement; what the human said
    (`of_human`) only the human's own words replace."""

    id: str
    text: str
    day: date
    is_thread: bool = False
    of_human: bool = False


def standing_of(memory: Memory) -> Standing:
    """The standing statement that a memory says."""
    return Standing(memory.id, memory.content, memory.day, is_thread="kind:thread" in memory.tags)


def split_into_questions(items: Iterable[Item], most_tokens: int) -> Iterator[list[Item]]:
    """The items in their order, as many together as one question takes, at most `most_tokens`. A day is divided only
    if it alone is longer.

    Raises ValueError if `most_tokens` is less than 1.
    """
    if most_tokens < 1:
        raise ValueError(f"a question of {most_tokens} tokens cannot be; the least is 1")
    group: list[Item] = []
    tokens = 0
    for _, of_day in groupby(items, key=lambda item: item.day):
        day = list(of_day)
        if group and tokens + sum(map(_size, day)) > most_tokens:
            yield group
            group, tokens = [], 0
        for item in day:
            if group and tokens + _size(item) > most_tokens:
                yield group
                group, tokens = [], 0
            group.append(item)
            tokens += _size(item)
    if group:
        yield group


def _size(item: Item) -> int:
    return item.tokens + len(item.under) // 4 + _FRAME_TOKENS
