"""The notes that the two of a conversation wrote down for later, in forms that say so, and whose words they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import sentencex

from memory_pipeline.records import Turn
from memory_pipeline.text.hidden import without_scaffolding
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import strip_leading
from memory_pipeline.text.sentences import split_statements

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
    """True if a program wrote a turn, whoever's it is said to be: a report, a summary, a file of instructions."""
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


Section = Literal["decision", "rule", "dead_end", "fact", "config", "done", "open"]
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_TAG = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?[*_]{0,2}\[CURATE\][*_]{0,2}\s*(?P<text>\S.*)", re.I)
_BULLET = re.compile(r"^\s{0,12}(?:[-*+]|\d{1,3}[.)])\s+(?P<text>\S.*)")
_BOX = re.compile(r"^\s{0,12}[-*+]\s+\[(?P<mark>[ xX~/-])\]\s+(?P<text>\S.*)")
_HEADING = re.compile(
    r"^\s{0,3}(?:#{1,6}\s+(?P<a>[^#\n]{2,60}?)\s*#*|\*\*(?P<b>[^*\n]{2,50}?):?\*\*:?|(?P<c>[A-Z][\w' ]{2,40}?):)\s*$"
)
_LABEL = re.compile(
    r"^\s*(?:[-*+]\s+)?[*_]{0,2}(?P<label>[A-Za-z][A-Za-z' -]{2,30}?)(?:-\d{1,4})?[*_]{0,2}\s*:[*_]{0,2}\s+(?P<text>\S.*)"
)
_RATIONALE = re.compile(r"\s*\|\s*(?:Rationale|Reason|Why)\s*:\s*(?P<why>[^|]+)", re.I)
_SOURCE = re.compile(r"\s*\|\s*(?:Source|Confidence)\s*:[^|]*", re.I)
#: Words of headings and labels, in the order in which they are tried.
_NAMES: tuple[tuple[Section, re.Pattern[str]], ...] = (
    ("dead_end", re.compile(r"dead[- ]ends?|what (?:did not|didn't|does not|doesn't) work|failed (?:attempts?|approach(?:es)?)|"
                            r"(?:tried and )?abandoned|do not retry|not working", re.I)),
    ("decision", re.compile(r"(?:key |final |main |open )?decisions?(?: made| taken| log)?|decided|dec", re.I)),
    ("rule", re.compile(r"(?:standing |ground |house )?(?:rules?|orders?|instructions?)(?: to follow)?|constraints?|never|always", re.I)),
    ("config", re.compile(r"config(?:uration)?s?(?: changed| changes)?|settings?(?: changed)?", re.I)),
    ("fact", re.compile(r"facts?(?: learned)?|(?:key |main )?(?:lessons?|learnings?)(?: learned| learnt)?|remember|"
                        r"(?:key )?(?:findings?|insights?|takeaways?)|root cause|gotchas?|important(?: facts?| notes?)?|til", re.I)),
    ("done", re.compile(r"(?:session )?progress|done|completed|finished|what (?:was|is|i|we)(?: have|'ve)? (?:done|did|changed)|"
                        r"accomplished|changes made|shipped", re.I)),
    ("open", re.compile(r"in progress|next(?: steps?)?|to-?dos?|remaining|pending|open (?:items?|questions?|threads?|points?)|"
                        r"left(?: to do)?|still (?:open|to do)|follow-?ups?|blocked(?: on| by)?", re.I)),
)  # fmt: skip
#: Names of sections that are too common to be labels: `Done: ...` is a label, but `Important: ...` is a marker, which
#: extraction reads.
_NO_LABELS = re.compile(r"(?:important|never|always|remember|settings?|left|changes made|open)$", re.I)


@dataclass(frozen=True, slots=True)
class Noted:
    """One thing that was written down: what it is, the words, why (of a decision), and if it has the tag `[CURATE]`."""

    section: Section
    text: str
    rationale: str = ""
    is_curated: bool = False


def noted_in(turn: Turn) -> Iterator[Noted]:
    """The notes of a turn. Code is nobody's note, and neither is what a human pasted."""
    own = without_others(turn.words).split("\n") if turn.speaker == "human" else turn.words.split("\n")
    under: Section | None = None
    fenced = False
    for line, mine in zip(turn.words.split("\n"), own, strict=True):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or not line.strip():
            continue
        heading = _HEADING.match(line)
        if heading:
            under = _find_section((heading["a"] or heading["b"] or heading["c"]).strip())
            continue
        if not mine.strip() or mine.lstrip().startswith(">"):
            continue
        note = _read_line(line, under)
        if note is not None:
            yield note
        elif not line[:1].isspace() and not _BULLET.match(line):
            under = None  # a paragraph ends the list below a heading


def _read_line(line: str, under: Section | None) -> Noted | None:
    if tag := _TAG.match(line):
        return _noted("fact", tag["text"], is_curated=True)
    if box := _BOX.match(line):
        return Noted("done" if box["mark"] in "xX" else "open", _flat(box["text"]))
    label = _LABEL.match(line)
    if label and (section := _find_section(label["label"])) and not _NO_LABELS.match(label["label"]):
        of_work = section in ("done", "open")
        return _noted(section, (split_statements(label["text"]) or [""])[0] if of_work else label["text"])
    bullet = _BULLET.match(line)
    return _noted(under, bullet["text"]) if bullet and under else None


def _noted(section: Section | None, text: str, *, is_curated: bool = False) -> Noted | None:
    if section is None:
        return None
    why = _RATIONALE.search(text)
    text = _SOURCE.sub("", _RATIONALE.sub("", text))
    return Noted(section, _flat(text), _flat(why["why"]) if why else "", is_curated) if _flat(text) else None


def _find_section(name: str) -> Section | None:
    return next((section for section, words in _NAMES if words.fullmatch(name.strip(" :.!"))), None)


def _flat(text: str) -> str:
    return " ".join(text.split())
