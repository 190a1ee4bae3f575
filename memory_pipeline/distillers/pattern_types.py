"""The kind of pattern that memories make together: a failure, a gotcha, a decision, a workflow, a success, or none.

It follows from the members' types, and for a member without one from its wording.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from memory_pipeline.records import Memory
from memory_pipeline.wording.kinds import OTHER, gives_rule, is_machine_text, kind_of
from memory_pipeline.wording.lexicon import MISHAPS
from memory_pipeline.wording.sentences import split_statements, strip_lead_in

_PATTERN_OF = {"error_fix": "failure", "warning": "gotcha", "decision": "decision"}
_LESSONS = ("lesson", "learning", "feedback")
_WORKED = re.compile(
    r"\b(?:work(?:s|ed) (?:well|best|better|fine|at once)|helped|succeeded|paid off|successful(?:ly)?|did the trick)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+")


def pattern_type_of(members: Sequence[Memory]) -> str | None:
    """What most of the members are patterns of, or None."""
    counts = Counter(kind for member in members if (kind := _kind_of_member(member)))
    if not counts:
        return None
    kind, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
    return kind if count * 2 > len(members) else None


def _kind_of_member(memory: Memory) -> str | None:
    told = kind_of(memory.content)
    kind = told if memory.memory_type == OTHER else memory.memory_type
    if kind in _PATTERN_OF:
        return _PATTERN_OF[kind]
    statements = [strip_lead_in(statement) for statement in split_statements(memory.content)]
    if kind in _LESSONS:
        return "workflow" if any(map(gives_rule, statements)) else _PATTERN_OF.get(told)
    if kind != OTHER or is_machine_text(memory.content):
        return None
    if _WORKED.search(memory.content):
        return "success"
    return "failure" if MISHAPS.intersection(_WORD.findall(memory.content.lower())) else None
