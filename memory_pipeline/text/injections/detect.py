"""Detects memories that try to steer their reader. A suspected attempt is flagged, and its cluster is left alone.

This is the first of four lines of defence. The second is the prompt, which contains memories as JSON data; the third
is the judge, which accepts nothing that the sources do not support; the fourth is rendering, which quotes all
content of a memory with its source and gives nothing in it an effect. So a missing rule allows a sentence to be
quoted, and a rule that matches too often leaves a cluster unchanged.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from memory_pipeline.records import Speaker
from memory_pipeline.text.hidden import as_read, hides_words, visible
from memory_pipeline.text.injections import first_sign
from memory_pipeline.text.memo import remembered

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
_ANSWERS = (
    r"(?:(?:single |new )?(?:answers?|repl(?:y|ies)|responses?|messages?|e?-?mails?|summar(?:y|ies)|reports?|updates?))"
)
#: Orders that are an attempt in a text, by what stands in their place where the human gave them.
_GIVEN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in (
        (
            rf"\b(?:begin|start|open|preface|end|finish|close)\b (?:off )?(?:your|every|each|all|any|all your|each of your) {_ANSWERS} (?:with|by)\b",
            "I like",
        ),
        (r"\b(?:from (?:now|here) on|henceforth|going forward|starting now),? (?:please )?(?:(?:you )?(?:always |only )?(?:answer|reply|respond))\b", "Write"),
        (r"\b(?:from (?:now|here) on|henceforth|going forward|starting now),? you\b", "You"),
        (r"\b(?:without|before) (?:asking|showing|telling|checking with|consulting|informing|waiting for)(?: (?:me|us|anyone|the human))?(?: first)?\b", "alone"),
        (r"\byou (?:must|should|have to|will) (?:always |only )?(?:answer|reply|respond)\b", "Write"),
        (r"\byour (?:answers?|replies|responses|summaries|reports|mails|messages) (?:must|should|shall|have to|are to)(?: always)?\b", "texts"),
        (r"\b(?:when(?:ever)?|if) (?:an? |the |any )?(?:users?|customers?|clients?|visitors?|somebody|someone|anyone) (?:asks?|wants?|calls?|writes?)\b", "When it rains"),
    )
)  # fmt: skip
#: What no rule of style or permission is about.
_NO_RULE = re.compile(
    r"[\"“”„«»`<>{}|$\\]|https?:|www\.|\b(?:passwords?|passphrases?|secrets?|tokens?|credentials?|(?:api|ssh|private|access)[ -]keys?|keys|system|"
    r"prompts?|instructions?|guidelines|directives?|safety|safeguards?|guardrails?|filters?|moderation|restrictions?|limits|backups?|logs?|"
    r"audit\w*|firewall|antivirus|memor(?:y|ies)|ignor\w+|disregard\w*|overrid\w+|bypass\w*|disabl\w+|circumvent\w*|hid(?:e|es|ing|den)|conceal\w*|leak\w*|"
    r"exfiltrat\w+|reveal\w*|disclos\w+|forward\w*|upload\w*|pretend\w*|jailbreak\w*|developer|admin\w*|root|sudo|curl|wget|bash|shell|rm|eval|"
    r"sure|absolutely|of course|certainly|yes|obey\w*|comply\w*|refus\w+|everyone|strangers?|wire|transfer\w*|payments?|bank|delet\w+|erase\w*|wip(?:e|es|ing))\b",
    re.IGNORECASE,
)
#: The phrase in the log and the report for a cluster, a draft or an entry that was left alone for this reason.
STEERS = "looks like an attempt to steer"
_GAPS = re.compile(r"[^\S\n]+")
_LINE_ENDS = re.compile(r"\n(?: ?\n)+")


def find_attempt(texts: Mapping[str, str]) -> str | None:
    """The first sign that one of these memories (content by id) tries to steer its reader, in words, or None."""
    for memory_id, text in texts.items():
        kind = attempt_in(text)
        if kind:
            return f"memory '{memory_id}' {kind}"
        named = next((other for other in texts if other != memory_id and len(other) >= 8 and other in text), None)
        if named:
            return f"memory '{memory_id}' names the id of another, '{named}'"
    return None


def steering_draft(text: str) -> str | None:
    """Why a text that was written from memories is not accepted, or None: it reads like an attempt itself, even if
    none of its sources does."""
    kind = attempt_in(text)
    return f"{STEERS}: the draft {kind}" if kind else None


@remembered
def attempt_in(text: str) -> str | None:
    """How a text tries to steer its reader, in words, or None."""
    if hides_words(text):
        return "hides characters"
    for reading in readings(text):
        close = _LINE_ENDS.sub("\n\n", _GAPS.sub(" ", reading))
        sign = first_sign(close)
        if sign:
            return sign
    return None


def attempt_by(speaker: Speaker, text: str) -> str | None:
    """How what somebody said in a conversation tries to steer its reader, in words, or None. What an agent said is read
    like every text."""
    found = attempt_in(text)
    if found is None or speaker != "human" or _NO_RULE.search(text):
        return found
    plain = text
    for pattern, instead in _GIVEN:
        plain = pattern.sub(instead, plain)
    return found if plain == text else attempt_in(plain)


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
