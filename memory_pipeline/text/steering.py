"""Tells texts that try to steer whoever reads them: by a learned classifier, and by marks that no honest note has.

This is the first of four lines of defence. The second is the prompt, which contains memories as JSON data; the third
is the judge, which accepts nothing that the sources do not support; the fourth is rendering, which quotes all
content of a memory with its source and gives nothing in it an effect. So what the classifier misses is quoted, and a
note that it takes for an attempt stays as it is.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from memory_pipeline.records import EXTRACTED, Memory, PlaybookEntry, Speaker
from memory_pipeline.text.hidden import as_read, hides_words, visible
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.orders import is_attempt
from memory_pipeline.text.sentences import split_statements

#: The phrase in the log and the report for a cluster, a draft or an entry that was left alone for this reason.
STEERS = "looks like an attempt to steer"
#: Stands before the words of a memory that is shown although it tries to steer its reader.
MARK = "[tries to steer its reader]"
ORDERS_READER = "orders its reader about"

#: Marks of chat templates and tool calls, and markup that acts or sends: what programs read, not people.
_MARKS_OF_PROGRAMS = {
    "poses as the system": re.compile(
        r"<\|[\w ]{2,30}\|?>|<\s?/?(?:start|end)_of_turn\s?>|<<\s?/?SYS\s?>>|"
        r"\[\s?/?\s?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\s?\]|"
        r"</?\s?(?:system(?:[-_]\w+)*|instructions?|assistant|human|memory|members|cluster|prompt|untrusted|thinking|"
        r"(?:tool|function)_(?:call|result|response)s?|invoke|antml:\w+)\b[^>\n]{0,80}>|"
        r"[\"']role[\"']\s?:\s?[\"'](?:system|assistant|developer|tool)[\"']",
        re.IGNORECASE,
    ),
    "would use the reader's tools": re.compile(
        r"[\"'](?:tool|tool_name|function|name|action)[\"']\s?:\s?[\"'][\w.-]+[\"'][^{}\n]{0,80}"
        r"[\"'](?:arguments|args|parameters|params|input|\w+_input)[\"']\s?:|"
        r"[\"']type[\"']\s?:\s?[\"'](?:tool_use|tool_call|function_call)[\"']",
        re.IGNORECASE,
    ),
    "dictates the answer": re.compile(
        r"[\"'](?:abstraction|claims|is_causal|compression_ratio|pattern_type)[\"']\s?:", re.IGNORECASE
    ),
    "claims a rank of its own": re.compile(
        r"\b(?:importance|priority)[\"']?\s?[:=]\s?[\"']?(?:3(?:\.0+)?\b(?!\s?\w)|max|critical)|"
        r"\bpinned[\"']?\s?[:=]\s?true\b|\babstraction_level[\"']?\s?[:=]\s?\d",
        re.IGNORECASE,
    ),
    "carries markup that acts": re.compile(
        r"!?\[[^\]\n]{0,200}\]\(\s?(?:https?:)?//[^)\n]{0,300}(?:[{}$<]|\[[A-Z_]+\]|=[A-Z]+_[A-Z_]+)[^)\n]{0,300}\)|"
        r"<\s?(?:script|iframe|object|embed)\b[^>\n]{0,200}>|<\s?\w+[\s/][^>\n]{0,200}\bon\w{3,20}\s?=|"
        r"<\s?(?:form|meta|svg|img|link|base|a|video|audio|source)\b[^>\n]{0,200}=\s?[\"']?\s?(?:https?:)?//"
        r"[^>\n]{0,200}[?&][^>\n]{0,100}>|\bjavascript\s?:\s?\w+[.(]|\bdata:text/html|\]\(\s?(?:javascript|data):|"
        r"<\s?\w+[^>\n]{0,100}\bstyle\s?=\s?[\"'][^\"'\n]{0,120}(?:display\s?:\s?none|font-size\s?:\s?0|visibility\s?:\s?hidden|"
        r"opacity\s?:\s?0|color\s?:\s?(?:white|transparent|\#fff))",
        re.IGNORECASE,
    ),
    "would send something away": re.compile(
        r"https?://[^\s)\"'>]{3,200}[?&][\w-]*(?:key|token|secret|data|payload|leak|exfil|pass|memory|dump|chat|prompt|history|"
        r"conversation|context)[\w-]*=[^\s)\"'>]{0,200}?(?:\{|%7b|\$|\[REDACTED|\[[A-Z_]+\]|<|[A-Z]+_[A-Z_]+)"
    ),
}
#: Words which show that a text is one when it is read backwards or with its letters turned by thirteen.
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
_EMPHASIS = re.compile(r"(?<!\w)[*_~`]{1,3}(?=\w)|(?<=\w)[*_~`]{1,3}(?!\w)")
_LONGEST_DECODED = 4000


def find_attempt(texts: Mapping[str, str]) -> str | None:
    """The first sign that one of these memories (content by id) tries to steer its reader, in words, or None."""
    for memory_id, text in texts.items():
        kind = attempt_in(text)
        if kind:
            return f"memory '{memory_id}' {kind}"
        named = next(
            (other_id for other_id in texts if other_id != memory_id and len(other_id) >= 8 and other_id in text), None
        )
        if named:
            return f"memory '{memory_id}' names the id of another, '{named}'"
    return None


def steering_draft(text: str) -> str | None:
    """The reason why a text written from memories is not accepted, or None: it reads like an attempt itself, even if
    none of its sources does."""
    kind = attempt_in(text)
    return f"{STEERS}: the draft {kind}" if kind else None


def attempt_in(text: str) -> str | None:
    """Describes how a text tries to steer its reader; None if it does not."""
    return _signs(text)[0]


def attempt_by(speaker: Speaker, text: str) -> str | None:
    """Describes how what somebody said tries to steer its reader; None if it does not. A human may give their agent
    rules, which would be an attempt in a text of anybody else."""
    return _signs(text)[speaker == "human"]


@remembered
def _signs(text: str) -> tuple[str | None, str | None]:
    """How a text tries to steer its reader, if it is anybody's, and if it is what the agent's own human said."""
    if hides_words(text):
        return "hides characters", "hides characters"
    anybody = None
    for reading in readings(text):
        for kind, pattern in _MARKS_OF_PROGRAMS.items():
            if pattern.search(reading):
                return kind, kind
        sentences = split_statements(reading) or [reading]
        if is_attempt(sentences, by_human=True):
            return ORDERS_READER, ORDERS_READER
        if is_attempt(sentences):
            anybody = ORDERS_READER
    return anybody, None


def may_guide(memory: Memory) -> bool:
    """True if a memory may stand where its reader looks for guidance. A rule that a human gave their agent may."""
    is_of_human = memory.source.connector == EXTRACTED or (
        memory.memory_type == "conversation" and "human" in memory.tags
    )
    return attempt_by("human" if is_of_human else "agent", memory.content) is None


def marked(memory: Memory, words: str | None = None) -> str:
    """The text of a memory, as it is shown: behind a mark if it tries to steer its reader. `words`: its content with
    what stands above it, if that is shown too."""
    words = memory.content if words is None else words
    return words if may_guide(memory) else f"{MARK} {words}"


def guiding_entries(entries: Iterable[PlaybookEntry]) -> list[PlaybookEntry]:
    """The entries of a playbook without those that try to steer their reader: an earlier version let them in."""
    return [entry for entry in entries if attempt_in(entry.content) is None]


def readings(text: str) -> Iterator[str]:
    """The text as a reader sees it, without emphasis marks; in its own script; then without each disguise that it
    shows signs of."""
    plain, seen = _EMPHASIS.sub("", visible(text)), _EMPHASIS.sub("", as_read(text))
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
