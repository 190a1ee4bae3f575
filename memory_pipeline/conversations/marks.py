"""What the two of a conversation wrote down for later, in forms that say so: tags, labels, headings and check boxes.

`[CURATE] ...`, `Decision: ...`, `DEC-014: ... | Rationale: ...`, entries under `## Decisions`, `- [x] ...`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from memory_pipeline.conversations.own_words import without_others
from memory_pipeline.records import Turn
from memory_pipeline.wording.sentences import split_statements

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
_ID_LABEL = re.compile(
    r"^\s*(?:[-*+]\s+)?[*_]{0,2}(?P<label>DEC|FACT|CONFIG|RULE)-\d{1,4}[*_]{0,2}\s*:[*_]{0,2}\s+(?P<text>\S.*)"
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
#: Labels that stand before sentences of their own; the others are too common: `Done: ...` yes, `Important: ...` is a
#: marker, which extraction reads.
_LABELS: frozenset[Section] = frozenset(("decision", "rule", "dead_end", "fact", "config", "done", "open"))
_NO_LABELS = re.compile(r"(?:important|never|always|remember|settings?|left|changes made|open)$", re.I)


@dataclass(frozen=True, slots=True)
class Noted:
    """One thing that was written down: what it is, the words, why (of a decision), and whether it has the tag
    `[CURATE]`."""

    section: Section
    text: str
    rationale: str = ""
    is_curated: bool = False


def noted_in(turn: Turn) -> Iterator[Noted]:
    """What a turn notes. Code is nobody's note, and neither is what a human pasted."""
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
            under = _section_of((heading["a"] or heading["b"] or heading["c"]).strip())
            continue
        if not mine.strip() or mine.lstrip().startswith(">"):
            continue
        found = _in_line(line, under)
        if found is not None:
            yield found
        elif not line[:1].isspace() and not _BULLET.match(line):
            under = None  # a paragraph ends the list below a heading


def _in_line(line: str, under: Section | None) -> Noted | None:
    if tag := _TAG.match(line):
        return _noted("fact", tag["text"], is_curated=True)
    if box := _BOX.match(line):
        return Noted("done" if box["mark"] in "xX" else "open", _flat(box["text"]))
    label = _ID_LABEL.match(line) or _LABEL.match(line)
    if label and (section := _section_of(label["label"])) in _LABELS and not _NO_LABELS.match(label["label"]):
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


def _section_of(name: str) -> Section | None:
    return next((section for section, words in _NAMES if words.fullmatch(name.strip(" :.!"))), None)


def _flat(text: str) -> str:
    return " ".join(text.split())
