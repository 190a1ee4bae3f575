"""The kind of pattern that memories make together: a failure, a gotcha, a decision, a workflow or a success.

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
#: The types by how much they warn; the first of equals counts.
_BY_WARNING = ("failure", "gotcha", "decision", "workflow", "success")
_LESSONS = ("lesson", "learning", "feedback")
_WORKED = re.compile(
    r"\b(?:work(?:s|ed) (?:well|best|better|fine|at once)|helped|succeeded|paid off|successful(?:ly)?|did the trick)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+")


def pattern_type_of(members: Sequence[Memory]) -> str:
    """What most of the members that show it are patterns of; of several, what warns most.

    Facts that show nothing are a workflow: of the five, it alone claims neither an end nor a danger nor a choice, only
    that things are so and done so.
    """
    counts = Counter(kind for member in members if (kind := _kind_of_member(member)))
    return max(_BY_WARNING, key=lambda kind: counts[kind]) if counts else "workflow"


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
