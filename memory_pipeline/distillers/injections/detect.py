"""Detects memories that try to steer their reader. A suspected attempt is flagged, and its cluster is left alone.

This is the first of four lines of defence. The second is the prompt, which contains memories as JSON data; the third
is the judge, which accepts nothing that the sources do not support; the fourth is rendering, which quotes all
content of a memory with its source and gives nothing in it an effect. So a missing rule allows a sentence to be
quoted, and a rule that matches too often leaves a cluster unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from memory_pipeline.distillers.injections import first_sign
from memory_pipeline.distillers.injections.disguises import readings
from memory_pipeline.wording.hidden import hides_words
from memory_pipeline.wording.memo import remembered

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
