"""The context of a memory in its source: its heading and the words that lead in to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol

from memory_pipeline.records import LEVEL_PATTERN, Memory
from memory_pipeline.text.normalise import one_line, without_time
from memory_pipeline.text.sentences import split_statements

#: A lead-in of at most so many bytes, about 60 tokens, is said with each item; a longer one stands beside, cut off.
_MOST_BYTES_JOINED, _MOST_BYTES_BESIDE = 240, 480
_END = re.compile(r"[.!。！．｡।؟][\"')\]*_»”]*\s*$")
_WRAPPED = re.compile(r"(\*\*\*|\*\*|__|\*|_)((?:(?!\1).)+)\1([:：]?)")
_PUNCTUATED = re.compile(r"[^\w\s\"'”»)\]*_`]\W*$")
#: Where a paragraph has the first items of the list below it: what leads in to them stands before.
_ITEMS_WITHIN = re.compile(r"(?<=[:：])\s+(?:[-*+•]|\d{1,2}[.)])\s.*", re.DOTALL)
#: Marks of Chinese and Japanese that need no blank behind them.
_WIDE = re.compile(r"[：。！？；、]$")
#: A mark in brackets before an item (`[ ]`, `[CURATE]`) is one of the item, and stays in front.
_MARK = re.compile(r"(?:\[[^\]\n]{1,20}\](?!\()[ \t]+)+")
_BLOCK = re.compile(r"```|~~~|\||>")


@dataclass(frozen=True, slots=True)
class LeadIn:
    """Words that lead in to something. `joins`: they and what they lead in to are said as one; `is_label`: a short line
    that only announces; `says_all`: whoever says them with what follows leaves nothing out."""

    words: str = ""
    joins: bool = False
    is_label: bool = False
    says_all: bool = False


NO_LEAD_IN = LeadIn()


def lead_in_from(text: str, around: LeadIn, *, is_label: bool = False) -> LeadIn:
    """The lead-in that a text is for what stands directly below it, within one that is `around` both. A line of a log
    leads in to nothing unless it ends in a colon: `Do not touch.` does."""
    alone = _ITEMS_WITHIN.sub("", _unwrapped(text))
    statements = split_statements(alone) or [alone]
    whole = " ".join(alone.split())
    if around.words:
        whole = with_lead_in(around.words, whole)
    is_open = not _END.search(whole)
    if _begins_with_time(text) and not alone.endswith((":", "：")):
        return around
    if len(whole.encode()) <= _MOST_BYTES_JOINED:
        return LeadIn(whole, is_open or len(statements) == 1, is_label, is_open and alone == _unwrapped(text))
    words = " ".join(statements.pop().split())
    while statements and len(f"{statements[-1]} {words}".encode()) <= _MOST_BYTES_JOINED:
        words = f"{statements.pop()} {words}"
    return LeadIn(_clipped(words, _MOST_BYTES_BESIDE), is_open and len(words.encode()) <= _MOST_BYTES_JOINED, is_label)


def join_lead_in(lead: LeadIn, text: str) -> str:
    """A text with the lead-in that is one with it; alone if it has a time or the form of a block of its own."""
    if not lead.joins or _BLOCK.match(text) or _begins_with_time(text):
        return text
    return with_lead_in(lead.words, text)


def _begins_with_time(text: str) -> bool:
    return without_time(text) != text


def with_lead_in(words: str, text: str) -> str:
    """A text behind words that lead in to it, with a colon between them unless the words end in a mark; a block of its
    own stands below them. Alone if there are none."""
    if not words:
        return text
    mark = _MARK.match(text)
    start = mark.end() if mark else 0
    separator = "" if _WIDE.search(words) else " " if _PUNCTUATED.search(words) else ": "
    separator = f"{separator.rstrip()}\n\n" if _BLOCK.match(text) else separator
    return f"{text[:start]}{words}{separator}{text[start:]}"


def words_alone(lead_in: str, content: str) -> str:
    """The words of a text itself, without the lead-in that `join_lead_in` put before it."""
    mark = _MARK.match(content)
    start = mark.end() if mark else 0
    if not lead_in or not content.startswith(lead_in, start):
        return content
    return content[:start] + content[start + len(lead_in) :].removeprefix(":").lstrip()


def _unwrapped(text: str) -> str:
    """The text without emphasis around all of it."""
    wrapped = _WRAPPED.fullmatch(text.strip())
    return wrapped[2] + wrapped[3] if wrapped else text


def _clipped(words: str, most_bytes: int) -> str:
    clipped = words.encode()[:most_bytes].decode(errors="ignore")
    return words if clipped == words else clipped.rstrip() + "…"


_MOMENT = re.compile(
    r"~?\d{4}-\d{2}-\d{2}|~?\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp][Mm])?(?:\s?(?:UTC|GMT|[A-Z]{2,4}T|[A-Z][a-z]+/[A-Z]\w+)\b)?"
)
_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")
_LETTER = re.compile(r"[^\W\d_]")
_ENDS = re.compile(r"^[^\w#`<\[(]+|[^\w`>\])!?%]+$")
#: A heading of fewer bytes says little without the one above it; a longer one than this is cut off.
_SHORT_BYTES, _MOST_BYTES = 12, 120
_BETWEEN = " › "
_WORD = re.compile(r"\w+")


class Titled(Protocol):
    """A text below headings."""

    @property
    def content(self) -> str:
        """The text."""

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings above it, the outermost first."""


def subject_beside(memory: Memory) -> str:
    """The heading and the lead-in of a memory that its content does not say itself; empty if there is nothing to add,
    and of what was made of several memories."""
    if memory.abstraction_level >= LEVEL_PATTERN:
        return ""
    parts = (title_in(memory.headings), memory.lead_in)
    return _BETWEEN.join(part for part in parts if part and not _says(memory.content, part))


def with_subject(memory: Memory, content: str | None = None) -> str:
    """The text of a memory, behind its heading and lead-in. `content`: the words to show of it, if not all."""
    return with_lead_in(subject_beside(memory), memory.content if content is None else content)


def title_beside(text: Titled) -> str:
    """The heading of a text, if it says something that the text does not; else nothing."""
    title = title_in(text.headings)
    return "" if _says(text.content, title) else title


def titles_apart(a: Titled, b: Titled) -> tuple[str, str] | None:
    """The headings of two texts, if both say something that the texts do not, and not the same: the same words may say
    something of another thing."""
    one, other = title_beside(a), title_beside(b)
    return (one, other) if one and other and one.casefold() != other.casefold() else None


def shared_headings(memories: Sequence[Memory]) -> tuple[str, ...]:
    """The headings that stand above all of some memories, whatever times are in them."""
    shared = zip(*(memory.headings for memory in memories), strict=False)
    return tuple(level[0] for level in takewhile(lambda level: len({*map(heading_words, level)}) == 1, shared))


def shared_lead_in(memories: Sequence[Memory]) -> str:
    """The words that lead in to all of some memories; empty if they differ."""
    words = {memory.lead_in for memory in memories}
    return words.pop() if len(words) == 1 else ""


def heading_words(heading: str) -> str:
    """A heading without times, emphasis and ornaments; empty if nothing else is in it."""
    words = _without_moments(one_line(heading))
    return _clipped(_ENDS.sub("", " ".join(words.split())), _MOST_BYTES)


def _without_moments(heading: str) -> str:
    """A heading without times. Brackets that say more than a time stay as they are: a part of them would say less."""
    parts, last = [], 0
    for brackets in _BRACKETS.finditer(heading):
        parts.append(_MOMENT.sub(" ", heading[last : brackets.start()]))
        rest = _MOMENT.sub("", brackets[0])
        parts.append(brackets[0] if rest == brackets[0] or _LETTER.search(rest) else " ")
        last = brackets.end()
    return "".join([*parts, _MOMENT.sub(" ", heading[last:])])


def title_in(headings: Sequence[str]) -> str:
    """The innermost heading that says something, with the one above it if it is short."""
    titles = list(dict.fromkeys(words for heading in headings if (words := heading_words(heading))))
    if len(titles) > 1 and len(titles[-1].encode()) < _SHORT_BYTES:
        return _BETWEEN.join(titles[-2:])
    return titles[-1] if titles else ""


def _says(content: str, part: str) -> bool:
    """True if a text has every word of a heading or lead-in, in any order."""
    own = set(_WORD.findall(content.casefold()))
    words = _WORD.findall(part.casefold())
    return bool(words) and own.issuperset(words)
