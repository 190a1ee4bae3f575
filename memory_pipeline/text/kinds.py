"""The kind of knowledge that an entry is marked as: by its own label (`Decision: ...`), or by the heading above it.

Marks alone count, never what a sentence means: an entry without one has the usual type of its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import one_line
from memory_pipeline.text.templates import read_line

OTHER, LESSON = "other", "lesson"
#: Characters in which an entry says what it is.
_BEGINNING, _LONGEST_HEADING = 1200, 200
#: A line of which a third are figures is a reading.
_WORDS_OF_A_FIGURE = 3
#: What a label, or a part of a heading, names; `None`: tasks, which are of no kind.
_NAMES: dict[str, str | None] = {
    name: kind
    for kind, names in {
        "decision": "decision decisions decided agreed agreement agreements adr",
        LESSON: "lesson lessons learned learnt learnings takeaway takeaways rule rules guidelines principles tips",
        "warning": "warning warnings gotcha gotchas pitfall pitfalls caution caveat caveats traps risks",
        "error_fix": "fix fixes fixed bug bugs incident incidents troubleshooting postmortem outage outages solved",
        "discovery": "insight insights discovery discoveries finding findings research observations til",
        "feedback": "feedback complaints corrections praise",
        "fact": "fact facts",
        None: "todo todos task tasks pending backlog planned blocked next open tomorrow plan",
    }.items()
    for name in names.split()
}  # fmt: skip
_PARTS = re.compile(r"\s+[—–-]+\s+|[:|;,/]\s*|\s*&\s*|\s+and\s+")
_ASIDE = re.compile(r"\([^()]*\)?|\[[^\[\]]*\]?")
_WORD = re.compile(r"[^\W\d_]{2,}")
#: At most three words before a colon or a dash, behind a time of day.
_LABEL = re.compile(
    r"^[\W_]{0,8}(?:\d{1,2}:\d{2}\s+[\W_]{0,4})?([^\W\d_][\w'-]{0,40}(?: [\w'&-]{1,40}){0,2})"
    r"[*_`]{0,3}\s?(?::|—|–)[*_`]{0,3}(?:\s|$)"
)
_TASK_BOX = re.compile(r"^\s*(?:[-*]\s*)?\[ \]")
#: A line of a knowledge-base entry.
_ENTRY = re.compile(r"^[\W_]{0,8}recommendations?:", re.IGNORECASE | re.MULTILINE)


def kind_of(text: str, headings: Sequence[str] = (), usual: str = OTHER) -> str:
    """The memory type that an entry is marked as. `headings`: those above it, the outermost first; `usual`: the type of
    what has no mark, where it stands."""
    beginning = text[:_BEGINNING]
    if _TASK_BOX.match(beginning):
        return OTHER
    if beginning.lstrip("*_ ").startswith("⚠"):
        return "warning"
    label = _LABEL.match(beginning)
    named = _named(label[1]) if label else []
    if not named:
        if _ENTRY.search(beginning):
            return LESSON
        named = next((kinds for heading in reversed(headings) if (kinds := _heading_names(heading))), [])
    if not named:
        return usual
    return OTHER if named[0] is None or (not label and is_reading(beginning)) else named[0]


@remembered
def is_reading(text: str) -> bool:
    """True if a text is mostly figures and what they are of."""
    line = one_line(text)
    figures = sum(place.kind == "figure" for place in read_line(line).places)
    return figures > 0 and figures * _WORDS_OF_A_FIGURE >= len(_WORD.findall(line))


@remembered
def _heading_names(heading: str) -> list[str | None]:
    """The one kind that the parts of a heading name, in a list; empty for none and for several."""
    parts = _PARTS.split(_ASIDE.sub(" ", heading[:_LONGEST_HEADING]))
    kinds = {kind for part in parts for kind in _named(part)}
    return list(kinds) if len(kinds) == 1 else []


def _named(words: str) -> list[str | None]:
    """The kind that a label or a part of a heading is named for, in a list: by a plural that it begins with (`Lessons
    from the audit`), or by its last word (`Design decision`, but not `Decision engine`)."""
    terms = _WORD.findall(words.casefold())
    firsts = [word for word in terms[:1] if word.endswith("s")]
    return [_NAMES[word] for word in (*firsts, *terms[-1:]) if word in _NAMES][:1]
