"""Splits a memory into statements: the units that the extractive distiller selects and joins.

A statement is never split inside code, a URL, a number, an abbreviation or a table row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from memory_pipeline.text.hidden import without_scaffolding
from memory_pipeline.text.normalise import strip_leading

_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|al|approx|incl|No|Mr|Mrs|Ms|Dr|St|Fig|Eq|Sec|resp|a\.m|p\.m)|\b[A-Z])\.$"
)
_BOUNDARY = re.compile(r"(?<=[.!?。！？])[\"')\]*_]*(?:\s+|(?<=[。！？]))")
#: Number of characters before a boundary in which an abbreviation is looked for.
_TAIL = 64
_FENCE = re.compile(r"^\s*(```|~~~)")
#: Fewer characters belong to the sentence beside them, but for two words or more that are one: `No emojis.`
_LEAST = 12
_SHORT_SENTENCE = re.compile(r"[A-Z][a-z']* [a-z][\w' -]*[.!]")


#: Words at the start of a statement that announce it and say nothing themselves.
_LEAD_IN = re.compile(
    r"^\s*(?:(?:(?:reminder|remember|noted?|lesson(?: learned)?|important|tip|fyi|nb|once|for|again|next|more|time|"
    r"learned)\s*){1,3}:|(?:as|like) (?:i |we |was )?(?:already )?(?:mentioned|noted|said|written|discussed|recorded)"
    r"(?: (?:earlier|before|above|already|previously))?,)\s+(?=\S)",
    re.IGNORECASE,
)
#: Words at its end that say only that it was written down.
_LEAD_OUT = re.compile(
    r"(?<!\s)\s*[(\[](?:logged|noted|recorded|see above|as above)(?: again)?[)\]](?=[.!]?\s*$)", re.IGNORECASE
)


def strip_lead_in(statement: str) -> str:
    """The statement without `Reminder:`, `Noted again:`, `As mentioned earlier, ...`, `(logged)` and the like."""
    shorter = _LEAD_IN.sub("", _LEAD_OUT.sub("", statement, count=1), count=1)
    return shorter[:1].upper() + shorter[1:] if shorter != statement else statement


def split_statements(text: str) -> list[str]:
    """The statements of a text in order, without list marks and scaffolding. Code blocks and tables stay whole."""
    statements: list[str] = []
    for block in _blocks(without_scaffolding(text)):
        if _is_verbatim(block):
            statements.append(block)
        else:
            statements.extend(_sentences(strip_leading(block)))
    return [statement for statement in statements if statement]


def join_statements(texts: Sequence[str]) -> str:
    """Sentences on one line, with the full stop that a bare clause lacks; code, tables and text after an open
    bracket or quotation on their own lines, so that splitting finds the same statements."""
    joined = ""
    for text in texts:
        line = joined.rsplit("\n", 1)[-1]
        is_open = line.count("(") > line.count(")") or line.count("`") % 2 == 1
        if not joined:
            joined = text
        elif is_open or _is_verbatim(text) or joined.endswith(("```", "~~~", "|")):
            joined += "\n" + text
        else:
            joined += (" " if joined.endswith((".", "!", "?", ":", ";", "。")) else ". ") + text
    return joined


def _blocks(text: str) -> list[str]:
    """Lines, with code fences and tables kept in one piece."""
    blocks: list[list[str]] = []
    within: Literal["", "code", "table"] = ""
    for line in text.split("\n"):
        is_fence, is_row = _FENCE.match(line) is not None, line.lstrip().startswith("|")
        if within == "code" or (within == "table" and is_row):
            blocks[-1].append(line)
            within = "" if within == "code" and is_fence else within
        elif line.strip():
            blocks.append([line])
            within = "table" if is_row else "code" if is_fence else ""
        else:
            within = ""
    return ["\n".join(block) for block in blocks]


def _is_verbatim(block: str) -> bool:
    return block.lstrip().startswith(("```", "~~~", "|"))


def _sentences(line: str) -> list[str]:
    sentences: list[str] = []
    start = seen = brackets = ticks = 0
    for match in _BOUNDARY.finditer(line):
        more = line[seen : match.end()]
        seen = match.end()
        brackets += more.count("(") - more.count(")")
        ticks += more.count("`")
        if brackets > 0 or ticks % 2 or _ABBREVIATION.search(line[max(start, match.start() - _TAIL) : seen].rstrip()):
            continue
        piece = line[start:seen].strip()
        if len(piece) < _LEAST:
            continue
        sentences.append(piece)
        start, brackets, ticks = seen, 0, 0
    rest = line[start:].strip()
    if rest and sentences and len(rest) < _LEAST and not _SHORT_SENTENCE.fullmatch(rest):
        sentences[-1] = f"{sentences[-1]} {rest}"
    elif rest:
        sentences.append(rest)
    return sentences
