"""What other programs put into notes that nobody said: the marks of their formats, exactly as they write them.

`[score=0.82 recalls=0 avg=0.62 source=memory/2026-05-01.md:3-4]` behind a line that OpenClaw promoted is taken off.
What OpenClaw wraps messages in (`Conversation info (untrusted metadata):` with its JSON), the texts of strangers
between `<<<EXTERNAL_UNTRUSTED_CONTENT>>>` and its end, the keys and ids of sessions, and entries without a letter or a
digit are no memories; what is left out is counted.
"""

from __future__ import annotations

import re

from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.wording.scaffolding import METADATA

WRAPPERS = "lines that another program put around messages"
SESSION_IDS = "keys and ids of sessions"
WORDLESS = "entries without words"
EMPTY_LABELS = "labels with nothing below them"

_SCORES = re.compile(r"[ \t]*\[score=\d+(?:\.\d+)?(?: \w+=[^\s\]]+)+\][ \t]*$", re.MULTILINE)
_EXTERNAL = re.compile(
    r"(?:^[ \t]*Untrusted context \(metadata[^\n]{0,200}\n\s{0,20})?"
    r"<<<EXTERNAL_UNTRUSTED_CONTENT((?: id=\"[^\"\n]{1,80}\")?)>>>",
    re.MULTILINE,
)
#: Characters behind the start of a stranger's text in which its end is looked for.
_LONGEST_EXTERNAL = 200_000
_SESSION_ID = re.compile(
    r"\W*(?:\*\*)?session (?:key|id)(?:\*\*)?\W.*"
    r"|\W*(?:agent:[\w-]+:\S+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\W*",
    re.IGNORECASE,
)


def blank_wrappers(text: str, skipped: Skipped) -> str:
    """The text with wrappers blanked, so that line numbers stay the same."""
    if "(untrusted" not in text and "EXTERNAL_UNTRUSTED" not in text:
        return text
    blanked = _without_external(METADATA.sub(lambda found: "\n" * found[0].count("\n"), text))
    if count := _lines_in(text) - _lines_in(blanked):
        skipped.add(WRAPPERS, count)
    return blanked


def _without_external(text: str) -> str:
    """The text without the texts of strangers; of one that never ends, without its mark."""
    pieces: list[str] = []
    done = 0
    for start in _EXTERNAL.finditer(text):
        if start.start() < done:
            continue
        closing = f"<<<END_EXTERNAL_UNTRUSTED_CONTENT{start[1]}>>>"
        place = text.find(closing, start.end(), start.end() + _LONGEST_EXTERNAL)
        end = start.end() if place < 0 else place + len(closing)
        pieces += [text[done : start.start()], "\n" * text.count("\n", start.start(), end)]
        done = end
    return "".join([*pieces, text[done:]])


def _lines_in(text: str) -> int:
    return sum(bool(line.strip()) for line in text.split("\n"))


def without_scores(text: str) -> str:
    """The text without the scores that another program put behind it."""
    return _SCORES.sub("", text) if "[score=" in text else text


def why_no_memory(text: str) -> str | None:
    """Why the text of an entry is no memory; None if it is one."""
    if not any(map(str.isalnum, text)):
        return WORDLESS
    return SESSION_IDS if _SESSION_ID.fullmatch(text) else None
