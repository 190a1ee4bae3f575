"""Does a memory try to steer whoever reads it? What looks like an attempt is flagged, and its cluster left alone.

This is the first of four walls. The second is the prompt, in which memories stand as JSON data; the third is the
judge, which believes nothing that the sources do not say; the fourth is whatever is rendered, in which every
word of a memory is quoted with its source and nothing of it acts. So a rule that is missing here lets a
sentence be quoted, and one that fires too often costs a cluster that stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from memory_pipeline.distillers.injections import first_sign
from memory_pipeline.distillers.injections.disguises import readings
from memory_pipeline.wording.hidden import hides_words
from memory_pipeline.wording.memo import remembered

#: How the log and the report say that a cluster, a draft or an entry was left alone for this.
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
    """Why a text that somebody wrote from memories is not kept, or None: it reads like an attempt itself, whatever its
    sources looked like one by one."""
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
