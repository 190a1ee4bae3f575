"""The sentences of a turn that are its speaker's own words, told by marks alone: no code, no quoted or logged lines, and
nothing that a program put around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import sentencex

from memory_pipeline.wording.memo import remembered
from memory_pipeline.wording.normalise import strip_leading
from memory_pipeline.wording.scaffolding import without_scaffolding

#: A longer turn is pasted: of it the two ends are read. A longer sentence is none.
_LONGEST, _EDGE, _LONGEST_SENTENCE = 20_000, 4_000, 1_000
#: How turns begin that a program wrote, whoever's they are said to be.
_PROGRAM = re.compile(
    r"\s*(?:HEARTBEAT_OK\b|NO_REPLY\b|Read HEARTBEAT\.md|\[?cron\b|\[(?:system|scheduled|automated|request interrupted)\b|"
    r"System(?: note)?:|System \(|This session is being continued from|The conversation history before this point|"
    r"Caveat: The messages below|Base directory for this skill|\[?Subagent\b|"
    r"<(?:system|command|local-command|task-notification|environment_context|user_instructions|ide_|bash-)|"
    r"(?:#+ )?(?:AGENTS|SOUL|USER|MEMORY|RELATIONAL|CLAUDE|HEARTBEAT|TOOLS|IDENTITY|BOOTSTRAP)\.md\b|"
    r"\{\s*\"|\[\s*\{|<\?xml|<!doctype)",
    re.IGNORECASE,
)
_FENCED = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)")
#: Lines that nobody says: quotations, tables, headings, prompts, logs, traces, tags, and code.
_FOREIGN_LINE = re.compile(
    r"(?m)^[ \t]*(?:>|\||#{1,6}\s|\$ |% |>>>|[-=_*]{3,}[ \t]*$|<[/!\w]|[\w.-]{1,40}@[\w.-]{1,40}:[^\n$#]{0,80}[$#]|"
    r"at [\w.$]+\(|Traceback\b|File \"|[+-]{3} |@@ |diff --git|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|"
    r"(?:INFO|DEBUG|WARN(?:ING)?|ERROR|FATAL|TRACE|NOTICE)\b|[{}()\[\];]+[ \t]*$).*$"
)
_RUN = re.compile(r"\S+(?:[^\S\n]{1,40}\S+)*")
_WORD = re.compile(r"[^\W\d_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{4}")


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence of a turn, as it was said, and where it begins."""

    quote: str
    start: int


def is_nobodys(words: str) -> bool:
    """Whether a program wrote a turn, whoever's it is said to be: a report, a summary, a file of instructions."""
    return bool(_PROGRAM.match(words))


@remembered
def own_sentences(words: str) -> tuple[Said, ...]:
    """The sentences of a turn that its speaker says in words of his or her own, in any language."""
    return () if is_nobodys(words) else tuple(_sentences(without_others(words)))


def without_others(words: str) -> str:
    """The turn with spaces in the place of what is not its speaker's own; every other character stays where it was."""
    own = words
    stripped = without_scaffolding(words)
    if stripped != words:
        left = {line.strip() for line in stripped.split("\n")}
        own = "\n".join(line if line.strip() in left else " " * len(line) for line in words.split("\n"))
    if len(own) > _LONGEST:
        own = own[:_EDGE] + _blank(own[_EDGE:-_EDGE]) + own[-_EDGE:]
    for pattern in (_FENCED, _FOREIGN_LINE):
        own = pattern.sub(lambda match: _blank(match.group()), own)
    return own


def _blank(text: str) -> str:
    return "".join("\n" if char == "\n" else " " for char in text)


def _sentences(own: str) -> Iterator[Said]:
    """The sentences of what is left of a turn. Long gaps divide them: something was left out."""
    for run in _RUN.finditer(own):
        line = strip_leading(run.group())
        start = own.find(line, run.start())
        for piece in sentencex.segment("en", line):
            quote = piece.strip()
            place = own.find(quote, start) if quote else -1
            is_sentence = len(_WORD.findall(quote)) > 1 or _CJK.search(quote) is not None
            if place >= 0 and len(quote) <= _LONGEST_SENTENCE and is_sentence:
                yield Said(quote, place)
                start = place + len(quote)
