"""The possible readings of a text: as it appears, and with every disguise removed that it may use.

A disguise is removed only if there are signs of one, so that most texts have a single reading.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Iterator
from urllib.parse import unquote

from memory_pipeline.wording.hidden import as_read, visible

#: Words which show that a text was decoded into something readable.
_TELLING = ("ignore", "instruction", "disregard", "prompt", "forget", "reveal", "recommend", "assistant", "override")
_ROTATED = re.compile("|".join(codecs.encode(word, "rot13") for word in _TELLING), re.IGNORECASE)
_REVERSED = re.compile("|".join(word[::-1] for word in _TELLING), re.IGNORECASE)
_ENTITY = re.compile(r"&#?\w{2,8};")
_PERCENT = re.compile(r"(?:%[0-9a-f]{2}){4,}", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = re.compile(r"(?:(?:\\x|0x)?[0-9a-f]{2}[\s,:]?){12,}", re.IGNORECASE)
_SPACED = re.compile(r"(?<!\w)(?:\w[ .\-_*|]{1,4}){7,}\w(?!\w)")
_LEET_WORD = re.compile(r"\b(?=\w*[a-z])(?=\w*[013457@$!])[\w@$!]{3,}", re.IGNORECASE)
_LEET = str.maketrans("013457@$!", "oieastasi")
_QUOTED = re.compile(r"(['\"])([^'\"\n]{2,80})\1")
_MARKS = re.compile(r"(?<!\w)[*_~`]{1,3}(?=\w)|(?<=\w)[*_~`]{1,3}(?!\w)")
_LONGEST_DECODED = 4000


def readings(text: str) -> Iterator[str]:
    """The text as a reader sees it, without emphasis marks; in its own script; then without each disguise that it
    shows signs of."""
    plain, seen = _MARKS.sub("", visible(text)), _MARKS.sub("", as_read(text))
    yield seen
    if not plain.isascii() and plain != seen:
        yield plain
    if _ENTITY.search(seen) and (unescaped := html.unescape(seen)) != seen:
        yield as_read(unescaped)
    if _PERCENT.search(seen):
        yield as_read(unquote(seen, errors="replace"))
    yield from _decoded(seen)
    if _ROTATED.search(seen):
        yield codecs.encode(seen, "rot13")
    if _REVERSED.search(seen):
        yield seen[::-1]
    if len(_LEET_WORD.findall(seen)) > 1:
        yield _LEET_WORD.sub(lambda word: word.group().translate(_LEET), seen)
    if _SPACED.search(seen):
        yield _SPACED.sub(lambda run: _closed_up(run.group()), seen)
    if len(parts := _QUOTED.findall(seen)) > 1:
        yield "".join(part for _, part in parts)


def _decoded(text: str) -> Iterator[str]:
    """The decoded base64 or hexadecimal parts of a text, if they are words."""
    for run in _BASE64.findall(text):
        core = run.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            raw = base64.b64decode(core + "=" * (-len(core) % 4), validate=True)
        except (binascii.Error, ValueError):
            continue
        yield from _as_words(raw)
    for run in _HEX.findall(text):
        digits = re.sub(r"\\x|0x|[\s,:]", "", run, flags=re.IGNORECASE)
        yield from _as_words(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _as_words(raw: bytes) -> Iterator[str]:
    try:
        text = raw[:_LONGEST_DECODED].decode("utf-8")
    except UnicodeDecodeError:
        return
    letters = sum(char.isalpha() or char == " " for char in text)
    if letters > 0.8 * len(text):
        yield as_read(text)


def _closed_up(run: str) -> str:
    """Spaced letters joined to words: wider gaps separate words, or the marks between letters do."""
    words = re.split(r" {2,}", run) if "  " in run else run.split(" ") if re.search(r"\w[.\-_*|]\w", run) else [run]
    return " ".join(re.sub(r"[ .\-_*|]", "", word) for word in words)
