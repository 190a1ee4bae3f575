"""The words that lead in to a list, an item or a block: `I may not do any of these:`, `Da Gino`, `Not today.`

A bullet often says the opposite, or nothing, without them. Structure alone decides, in any language: what stands
directly above a list leads in to it, and is said with each of its items if it is short and has no end of its own, or is
a single sentence; otherwise it stands beside them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_pipeline.wording.normalise import LEADING_STAMP
from memory_pipeline.wording.sentences import split_statements

#: A lead-in of at most so many bytes, about 60 tokens, is said with each item; a longer one stands beside, cut off.
_MOST_BYTES, _MOST_BYTES_BESIDE = 240, 480
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
    """The lead-in that a text is for what stands directly below it, within one that is `around` both."""
    alone = _ITEMS_WITHIN.sub("", _unwrapped(text))
    statements = split_statements(alone) or [alone]
    whole = " ".join(alone.split())
    if around.words:
        whole = with_lead_in(around.words, whole)
    is_open = not _END.search(whole)
    if len(whole.encode()) <= _MOST_BYTES:
        return LeadIn(whole, is_open or len(statements) == 1, is_label, is_open and alone == _unwrapped(text))
    words = " ".join(statements.pop().split())
    while statements and len(f"{statements[-1]} {words}".encode()) <= _MOST_BYTES:
        words = f"{statements.pop()} {words}"
    return LeadIn(_clipped(words), is_open and len(words.encode()) <= _MOST_BYTES, is_label)


def said_together(lead: LeadIn, text: str) -> str:
    """A text with the lead-in that is one with it; alone if it has a time or the form of a block of its own."""
    if not lead.joins or _BLOCK.match(text) or LEADING_STAMP.match(text):
        return text
    return with_lead_in(lead.words, text)


def with_lead_in(words: str, text: str) -> str:
    """A text behind words that lead in to it, with a colon between them unless the words end in a mark; alone
    if there are none."""
    if not words:
        return text
    mark = _MARK.match(text)
    start = mark.end() if mark else 0
    between = "" if _WIDE.search(words) else " " if _PUNCTUATED.search(words) else ": "
    return f"{text[:start]}{words}{between}{text[start:]}"


def words_alone(lead_in: str, content: str) -> str:
    """What a text says itself, without the lead-in that `said_together` put before it."""
    mark = _MARK.match(content)
    start = mark.end() if mark else 0
    if not lead_in or not content.startswith(lead_in, start):
        return content
    return content[:start] + content[start + len(lead_in) :].removeprefix(":").lstrip()


def _unwrapped(text: str) -> str:
    """The text without emphasis around all of it."""
    wrapped = _WRAPPED.fullmatch(text.strip())
    return wrapped[2] + wrapped[3] if wrapped else text


def _clipped(words: str) -> str:
    if len(words.encode()) <= _MOST_BYTES_BESIDE:
        return words
    return words.encode()[:_MOST_BYTES_BESIDE].decode(errors="ignore").rstrip() + "…"
