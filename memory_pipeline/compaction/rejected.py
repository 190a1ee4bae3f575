"""What a human rejected directly afterwards, so that a flush does not keep it: `No, not pgbouncer.`"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from memory_pipeline.conversations.own_words import own_sentences
from memory_pipeline.records import Turn
from memory_pipeline.wording.facts import content_words

_NO_OBJECTION = (
    r"(?! (?:problem|worr|need|idea|rush|doubt|matter|longer|one|more)\w*)(?!, (?:thanks|that's (?:fine|ok|right)))"
)
_REJECTS = re.compile(
    r"\W*(?:(?:actually|hmm+|wait|sorry|oh|well|but|and),? )*(?:"
    rf"(?:no|nope|nah)\b{_NO_OBJECTION}|"
    r"(?:please )?don't(?: do (?:that|it|this))?[.!]|"
    r"(?:scrap|revert|undo|forget|drop) (?:that|it|this)\b|never mind (?:that|the|it)\b|"
    r"(?:that|this|it)(?:'s| is| was) (?:not (?:the|it|right|true|correct)|wrong|incorrect)\b|"
    r"wrong\b|not (?:that|this|the)\b)",
    re.IGNORECASE,
)
#: The words of a rejection itself say nothing of what is rejected.
_ITS_OWN = frozenset(
    "never incorrect no nope nah actually please scrap revert undo forget drop mind wrong right true rule".split()
)
#: A rejection is of what was said in so many turns before it.
_REACH = 2


def rejected_in(turns: Sequence[Turn]) -> Mapping[int, Sequence[frozenset[str]]]:
    """By the number of each turn in its transcript, what a human rejected of it: the words that name it, which are none
    where the whole turn is meant."""
    found: dict[int, list[frozenset[str]]] = {}
    for place, turn in enumerate(turns):
        if turn.speaker != "human":
            continue
        for words in _rejections(turn):
            before = turns[max(0, place - _REACH) : place]
            for one in before if words else before[-1:]:
                found.setdefault(one.line, []).append(words)
    return found


def is_rejected(text: str, rejections: Sequence[frozenset[str]]) -> bool:
    """Whether one of the rejections of its turn names something of a text, or means all of the turn."""
    own = frozenset(content_words(text))
    return any(not words or words & own for words in rejections)


def _rejections(turn: Turn) -> Iterator[frozenset[str]]:
    sentences = own_sentences(turn.words)
    for place, said in enumerate(sentences):
        if not _REJECTS.match(said.read):
            continue
        named = frozenset(content_words(said.quote)) - _ITS_OWN
        if not named and place + 1 < len(sentences):  # `Please don't. No Redis.`: the next one says what
            following = sentences[place + 1]
            named = frozenset(content_words(following.quote)) - _ITS_OWN if _REJECTS.match(following.read) else named
        yield named
