"""Chunks of a conversation: turns in order that belong together. A turn is never split from its speaker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from itertools import groupby

from memory_pipeline.records import Chunk, Turn
from memory_pipeline.wording.facts import content_words

#: Silence after which people begin something new.
PAUSE = timedelta(minutes=45)
#: The most tokens of a chunk.
CHUNK_TOKENS = 800
#: Turns of a chunk with which a new one is compared.
_WINDOW = 6
#: Fewer content words say nothing about a change of topic: `ok, do it`.
_LEAST_WORDS = 4
_LEAST_TURNS = 2
_MOST_TOPICS = 8
_ALIKE = 0.35

Likeness = Callable[[Turn, Turn], float]


def chunks_of(turns: Iterable[Turn], max_tokens: int = CHUNK_TOKENS, likeness: Likeness | None = None) -> list[Chunk]:
    """The chunks of some turns, in the order of these.

    A chunk ends where its conversation ends, after a pause, where it would exceed the number of tokens, and where a
    human brings up something that shares no content word with the last turns. `likeness`: the cosine of two turns, if
    their vectors are at hand; then such a turn stays where one of the last turns is like it. A turn that alone
    exceeds the number of tokens is a chunk of its own.

    Raises ValueError if `max_tokens` is less than 1.
    """
    if max_tokens < 1:
        raise ValueError(f"chunks of {max_tokens} tokens cannot be; the least is 1")
    chunks = []
    for _, spoken in groupby(turns, key=lambda turn: (turn.project_id, turn.conversation)):
        chunk: list[Turn] = []
        tokens = 0
        for turn in spoken:
            full = tokens + turn.token_count > max_tokens
            if chunk and (full or _is_apart(chunk, turn) or _is_new_topic(chunk, turn, likeness)):
                chunks.append(_chunk(chunk))
                chunk, tokens = [], 0
            chunk.append(turn)
            tokens += turn.token_count
        if chunk:
            chunks.append(_chunk(chunk))
    return chunks


def _is_apart(chunk: Sequence[Turn], turn: Turn) -> bool:
    return abs(turn.said_at - chunk[-1].said_at) > PAUSE or turn.day != chunk[-1].day


def _is_new_topic(chunk: Sequence[Turn], turn: Turn, likeness: Likeness | None) -> bool:
    """Whether a human brings up something else. An agent answers what was said before it."""
    words = set(content_words(turn.words))
    if turn.speaker != "human" or len(chunk) < _LEAST_TURNS or len(words) < _LEAST_WORDS:
        return False
    last = chunk[-_WINDOW:]
    if any(words & set(content_words(other.words)) for other in last):
        return False
    return likeness is None or all(likeness(turn, other) < _ALIKE for other in last)


def _chunk(turns: Sequence[Turn]) -> Chunk:
    counts = Counter(word for turn in turns for word in dict.fromkeys(content_words(turn.words)))
    shared = [word for word, times in counts.most_common() if times > 1 and len(word) > 2]
    return Chunk(tuple(turns), tuple(shared[:_MOST_TOPICS]))
