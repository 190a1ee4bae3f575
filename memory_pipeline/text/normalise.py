"""Normal forms of a memory's text: for hashing (exact duplicates), for embedding, and for comparing words.

A leading timestamp says when something was written down, not what it says, so every form drops it. Numbers are
always kept.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import datetime

from memory_pipeline.text.hidden import without_scaffolding
from memory_pipeline.text.templates import read_line

_ZONE = r"(?:UTC|GMT|Z|[A-Z]{2,4}T|[A-Z][a-z]+/[A-Z][A-Za-z_]+|[+-]\d{2}:?\d{2})"
_DATE = r"\d{4}-\d{2}-\d{2}"
_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\.\d+)?(?:\s?[AaPp][Mm])?"
_STAMP_BODY = rf"(?:{_DATE}(?:[ T]{_CLOCK})?|{_CLOCK})(?:\s?{_ZONE})?"
#: From one time or day to another: `09:00 UTC - 10:30 UTC`, `9:00 Uhr bis 10:30`. A word between two times is short.
_SPAN = (
    rf"(?:(?:{_DATE}[ T])?{_CLOCK}(?:\s?(?:{_ZONE}|[^\W\d_]{{1,3}}\b))?[\])*_`:]{{0,4}}"
    rf"(?:\s*[-–—]\s*|\s+[^\W\d_]{{1,3}}\s+)(?:{_DATE}[ T])?{_CLOCK}|{_DATE}\s*[-–—]\s*{_DATE})"
)
#: A timestamp with the punctuation that separates it, to be matched at the start of a line: `[06:00 UTC]`,
#: `2026-02-20 11:11 UTC - `; a span without brackets is none.
LEADING_STAMP = re.compile(
    rf"\s*(?:[\[(]\s*{_STAMP_BODY}\s*[\])]\s*(?:[-–—:|]\s*)?|\*\*{_STAMP_BODY}:?\*\*:?\s*(?:[-–—:|]\s+)?"
    rf"|(?!{_SPAN}){_STAMP_BODY}\s*(?:[-–—|]\s+|:\s+))"
)
LEADING_MARK = re.compile(r"\s*(?:>\s*)*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|\[[ xX]\]\s+)")
_TARGET_END = re.compile(r"[)\s]")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|`+|~~")
_EMPHASISED = re.compile(r"[*_`~]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_WORD_AHEAD = re.compile(r"\s*\S")
#: What a text of one line must hold, or begin with, for any of the above to find something in it.
_MARKED = re.compile(r"[*_`~\n]|\]\(")
_FIGURE = re.compile(r"\d+(?:[.,:/-]\d+)*")
_TITLE, _RECOMMENDATION, _TAIL = (
    re.compile(rf"^(?:(?!\n)[\s*_#>])*(?:{words})\s*:", re.IGNORECASE | re.MULTILINE)
    for words in ("title", "recommendations?", r"merged from \d+ entries|examples?")
)
_MARKS = "*_#>" + "".join(c for c in map(chr, range(0x3001)) if c.isspace())
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "…": "...", " ": " "})


def clean_text(text: str) -> str:
    """The text in its stored form: Unicode NFC, one kind of newline, no lone surrogates, no control characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    if _SURROGATE.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = _CONTROL.sub("", text)
    return unicodedata.normalize("NFC", text)


def strip_leading(text: str) -> str:
    """The text without list marks and timestamps before its first word."""
    start = 0
    while True:
        end = start
        for pattern in (LEADING_MARK, LEADING_STAMP):
            match = pattern.match(text, end)
            end = match.end() if match else end
        if end == start or not _WORD_AHEAD.match(text, end):
            return text[start:].strip()
        start = end


_LEADING_CLOCK = re.compile(r"^[\W_]{0,8}\d{1,2}:\d{2}(?::\d{2})?\s+(?=\D)")


def without_clock(text: str) -> str:
    """The text without a time of day at its beginning that nothing divides from it: mostly the time of writing."""
    return _LEADING_CLOCK.sub("", text)


def without_time(text: str) -> str:
    """The text without a timestamp or a time of day at its beginning."""
    stamp = LEADING_STAMP.match(text)
    return without_clock(text[stamp.end() :] if stamp else text)


_TIME_OF_LINE = re.compile(
    rf"((?:\[[^\]\n]{{1,20}}\]\s+)*)[\[(*_`]{{0,3}}(?!{_SPAN})(\d{{1,2}}):(\d{{2}})(?::\d{{2}})?(?:\s?[AaPp][Mm]\b)?"
    rf"(?:\s?{_ZONE}\b)?[\])*_`:]{{0,4}}\s+(?:[-–—|]\s+)?(?=\S)"
)


def without_time_of(text: str, at: datetime) -> str:
    """A line of a log without the time at its beginning, if it is that of `at`, when the line was written. A mark in
    brackets before it (`[ ]`) stays, and so does a span of two times (`09:00 - 10:30 dentist`)."""
    match = _TIME_OF_LINE.match(text)
    if match is None or (int(match[2]) % 12, int(match[3])) != (at.hour % 12, at.minute):
        return text
    return match[1] + text[match.end() :]


def _body(line: str) -> str:
    """`strip_leading`, without looking at a line that begins with a letter, as no mark or timestamp does."""
    return line.rstrip() if line[:1].isalpha() else strip_leading(line)


def plain_text(text: str) -> str:
    """The text without Markdown marks: links become their words, emphasis and code marks are removed."""
    words = _without_links(text)
    return _EMPHASIS.sub("", words) if _EMPHASISED.search(words) else words


def _without_links(text: str) -> str:
    """The text with `[words](target)` and `![words](target)` replaced with their words, in one pass however many
    brackets."""
    parts: list[str] = []
    done = seek = 0
    stop = re.search(_TARGET_END, text)
    while (middle := text.find("](", seek)) >= 0:
        after = max(text.rfind("]", seek, middle), text.rfind("\n", seek, middle), seek - 1) + 1
        start = text.find("[", after, middle)
        if stop is not None and stop.start() < middle + 2:
            stop = _TARGET_END.search(text, middle + 2)
        if start < 0 or stop is None or stop.group() != ")":
            seek = middle + 1
            continue
        mark = start - 1 if start > done and text[start - 1] == "!" else start
        parts += (text[done:mark], text[start + 1 : middle])
        done = seek = stop.end()
    return "".join([*parts, text[done:]])


def normalise(text: str) -> str:
    """Normal form for exact duplicates: NFC, case, white space, Markdown marks and leading timestamps folded.

    Numbers are kept, and so is every punctuation mark between words, because it can carry meaning (`a/b`, `1.5`);
    only a full stop at the end is removed.
    """
    folded = unicodedata.normalize("NFC", one_line(text).casefold())
    return folded.rstrip(" .!") or folded


def one_line(text: str) -> str:
    """The text on one line, without Markdown marks, list marks and leading timestamps, with plain quotes and dashes."""
    clean = clean_text(text)
    lines = [_body(line) for line in (clean if clean.isascii() else clean.translate(_QUOTES)).split("\n")]
    return " ".join(plain_text("\n".join(filter(None, lines))).split())


def content_hash(text: str) -> str:
    """SHA-256 of the normalised text, as 64 hexadecimal digits."""
    return hashes_of(text)[0]


def shape_hash(text: str) -> str:
    """SHA-256 of the normalised text with every figure folded: readings of one kind share it."""
    return hashes_of(text)[1]


#: A line with a ticked box, or struck out as a whole.
_DONE = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?(?:\[[xX]\][ \t]|~~[^~\n]+~~[ \t]*$)", re.MULTILINE)


def has_done(text: str) -> bool:
    """True if a line of a text is ticked or struck out."""
    return _DONE.search(text) is not None


def hashes_of(text: str) -> tuple[str, str]:
    """The hash of the content and that of the shape, from one normal form."""
    normal = normalise(text)
    shape = _FIGURE.sub("#", normal)
    content = hashlib.sha256(normal.encode()).hexdigest()
    return content, content if shape == normal else hashlib.sha256(shape.encode()).hexdigest()


def line_shape(text: str) -> str:
    """SHA-256 of the text with its values folded (templates.py): lines that differ only in figures, ids, clock times,
    dates and lists share it."""
    folded = unicodedata.normalize("NFC", read_line(one_line(text)).shape.casefold())
    return hashlib.sha256((folded.rstrip(" .!") or folded).encode()).hexdigest()


def embedding_text(text: str) -> str:
    """The text to embed: the content alone, without scaffolding, leading timestamps, list marks and emphasis.

    A date prefix pulls unrelated memories together and hurts recall; a timestamp pushes true duplicates apart
    (docs/design.md). For a knowledge-base entry, it is the title and the recommendations: the stories behind one
    recommendation naturally differ.
    """
    text = without_scaffolding(text)
    if text[:1].isalpha() and not _MARKED.search(text):
        return " ".join(text.split())  # no line end and no mark: the result of the steps below
    title = _TITLE.search(text)
    if title and _RECOMMENDATION.search(text, title.end()) and (tail := _TAIL.search(text)):
        text = _before(text, tail.start())
    lines = [strip_leading(line) for line in text.split("\n") if line.strip()]
    return " ".join(plain_text(" ".join(lines)).split()) or text.strip() or " "


def _before(text: str, end: int) -> str:
    """The text up to a line, without the lines of nothing but marks before it."""
    words = len(text[:end].rstrip(_MARKS))
    return text[: text.find("\n", words, end) + 1] if words else ""


#: Runs of scripts that put no spaces between words.
_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def spaced(text: str) -> str:
    """The text with pairs of characters instead of runs of a script without spaces."""
    return _WITHOUT_SPACES.sub(lambda run: f" {_pairs(run[0])} ", text)


def _pairs(run: str) -> str:
    return run if len(run) == 1 else " ".join(run[i : i + 2] for i in range(len(run) - 1))
