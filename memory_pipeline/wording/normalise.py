"""Normal forms of a memory's text: for hashing (exact duplicates), for embedding, and for comparing words.

A leading clock stamp says when something was written down, not what it says, so every form drops it.
Numbers are always kept.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

_ZONE = r"(?:UTC|GMT|Z|[A-Z]{2,4}T|[A-Z][a-z]+/[A-Z][A-Za-z_]+|[+-]\d{2}:?\d{2})"
_DATE = r"\d{4}-\d{2}-\d{2}"
_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\.\d+)?(?:\s?[AaPp][Mm])?"
_STAMP_BODY = rf"(?:{_DATE}(?:[ T]{_CLOCK})?|{_CLOCK})(?:\s?{_ZONE})?"
#: A stamp at the start of a line, with the punctuation that sets it off: `[06:00 UTC]`, `2026-02-20 11:11 UTC - `.
LEADING_STAMP = re.compile(
    rf"^\s*(?:[\[(]\s*{_STAMP_BODY}\s*[\])]\s*(?:[-–—:|]\s*)?|\*\*{_STAMP_BODY}:?\*\*:?\s*(?:[-–—:|]\s+)?|{_STAMP_BODY}\s*(?:[-–—|]\s+|:\s+))"
)
LEADING_MARK = re.compile(r"^\s*(?:>\s*)*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|\[[ xX]\]\s+)")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\(([^)\s]*)\)")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|`+|~~")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SPACE = re.compile(r"\s+")
_FIGURE = re.compile(r"\d+(?:[.,:/-]\d+)*")
_ENTRY = re.compile(r"^[\s*_#>]*title\s*:.*^[\s*_#>]*recommendations?\s*:", re.IGNORECASE | re.MULTILINE | re.DOTALL)
_ENTRY_TAIL = re.compile(r"^[\s*_#>]*(?:merged from \d+ entries|examples?)\s*:", re.IGNORECASE | re.MULTILINE)
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "…": "...", " ": " "})


def clean_text(text: str) -> str:
    """The text as it is kept: Unicode NFC, one kind of newline, no lone surrogates, no control characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    if _SURROGATE.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = _CONTROL.sub("", text)
    return unicodedata.normalize("NFC", text)


def strip_leading(text: str) -> str:
    """The text without the list marks and clock stamps that stand before its first word."""
    while True:
        shorter = LEADING_STAMP.sub("", LEADING_MARK.sub("", text, count=1), count=1)
        if shorter == text or not shorter.strip():
            return text.strip()
        text = shorter


def plain_text(text: str) -> str:
    """The text without Markdown marks: links become their words, emphasis and code marks go."""
    return _EMPHASIS.sub("", _LINK.sub(r"\1", text))


def normalise(text: str) -> str:
    """Normal form for exact duplicates: NFC, case, white space, Markdown marks and leading stamps folded.

    Numbers are kept, and so is every punctuation mark between words, for it can carry meaning
    (`a/b`, `1.5`); only a full stop at the end goes.
    """
    lines = [strip_leading(line) for line in clean_text(text).translate(_QUOTES).split("\n") if line.strip()]
    folded = unicodedata.normalize("NFC", _SPACE.sub(" ", plain_text("\n".join(lines))).strip().casefold())
    return folded.rstrip(" .!") or folded


def content_hash(text: str) -> str:
    """SHA-256 of the normalised text, as 64 hexadecimal digits."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()


def shape_hash(text: str) -> str:
    """SHA-256 of the normalised text with every figure folded: readings of one kind share it."""
    return hashlib.sha256(_FIGURE.sub("#", normalise(text)).encode()).hexdigest()


def embedding_text(text: str) -> str:
    """What is embedded: the content alone, without leading stamps, list marks and emphasis.

    A date prefix pulls unrelated memories together and hurts recall; a clock stamp pushes true
    duplicates apart (docs/design.md). Of a knowledge-base entry it is the title and the recommendations: the
    stories behind one recommendation differ by nature.
    """
    if _ENTRY.search(text) and (tail := _ENTRY_TAIL.search(text)):
        text = text[: tail.start()]
    lines = [strip_leading(line) for line in text.split("\n") if line.strip()]
    return _SPACE.sub(" ", plain_text(" ".join(lines))).strip() or text.strip() or " "
