"""The gates of a compaction: what must hold before anything is written, and after."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from memory_pipeline.errors import OutputError
from memory_pipeline.files.markers import block_in
from memory_pipeline.reading.marks import own_sentences
from memory_pipeline.sessions.flush import Flush
from memory_pipeline.text.contradictions import find_contradiction
from memory_pipeline.text.facts import content_words
from memory_pipeline.workspace.session_pages import BLOCK, Promotion

Severity = Literal["rolls back", "warns"]
_QUESTION_MARKS = ("?", "？")
_FIGURE = re.compile(r"\d[\w.,:/-]*")
_LEAST_SHARED, _MOST_COMPARED = 2, 5_000
#: A warning names so many pairs, and counts the others.
_MOST_NAMED = 5
#: Of a session of fewer tokens, most may be worth keeping.
SHORT = 1_000
#: What is kept of a longer one should be shorter by this share.
_LEAST_REDUCTION = 0.3


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: its name, whether it passed, what happens if it did not, and what it found."""

    name: str
    phase: Literal["before", "after"]
    passed: bool
    severity: Severity
    found: str


def curated_captured(flush: Flush) -> Gate:
    """Every note with `[CURATE]` is among what is kept."""
    missed = "; ".join(flush.missed)
    found = f"not captured: {missed}" if missed else "every note with [CURATE] is captured"
    return Gate("curated_captured", "before", not missed, "rolls back", found)


def no_open_decisions(flush: Flush) -> Gate:
    """No question is open: none is among what is kept as open, and the last thing that was said is none."""
    open_ = [one.text for one in flush.of("open") if one.text.rstrip().endswith(_QUESTION_MARKS)]
    last = [said.quote for turn in flush.session.turns[-1:] for said in own_sentences(turn.words)[-1:]]
    open_ += [" ".join(quote.split()) for quote in last if quote.rstrip().endswith(_QUESTION_MARKS)]
    found = f"open: {'; '.join(dict.fromkeys(open_))}" if open_ else "no decision is open"
    return Gate("no_open_decisions", "before", not open_, "warns", found)


def no_contradicting_facts(new: Sequence[Promotion], before: Sequence[Promotion]) -> Gate:
    """What is promoted contradicts neither itself nor what stands in the file."""
    words = {one.key: frozenset(content_words(one.text)) for one in (*new, *before)}
    pairs = [*combinations(new, 2), *((one, other) for one in new for other in before if one.key != other.key)]
    likely = [(one, other) for one, other in pairs if _may_contradict(words[one.key], words[other.key])]
    found = [
        f"'{one.text}' and '{other.text}'"
        for one, other in likely[:_MOST_COMPARED]
        if _gives_another_value(one.text, other.text)
        or find_contradiction(one.text, other.text, same_day=False) is not None
    ]
    named = "; ".join(found[:_MOST_NAMED]) + (f"; and {len(found) - _MOST_NAMED:,} more" * (len(found) > _MOST_NAMED))
    told = f"contradictions, all of which are kept: {named}" if found else "no fact contradicts another"
    return Gate("no_contradicting_facts", "before", not found, "warns", told)


def _gives_another_value(one: str, other: str) -> bool:
    """Whether two statements are the same but for one figure, time or day."""
    figures, others = _FIGURE.findall(one), _FIGURE.findall(other)
    unlike = sum(a != b for a, b in zip(figures, others, strict=False))
    same_words = _FIGURE.sub("0", one).casefold() == _FIGURE.sub("0", other).casefold()
    return same_words and len(figures) == len(others) and unlike == 1


def _may_contradict(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two statements are about the same: they share half of the words of the shorter one."""
    shared = len(one & other)
    return shared >= _LEAST_SHARED and 2 * shared >= min(len(one), len(other))


def memory_parses(text: str, body: str) -> Gate:
    """`MEMORY.md` has the block as it was written, once. What others write beside it meanwhile is theirs."""
    problem = ""
    try:
        if (block_in(text, BLOCK) or "") != body.strip("\n"):
            problem = "its block is not what was written"
        elif "\0" in text:
            problem = "it holds a NUL"
    except OutputError as error:
        problem = str(error)
    return Gate("memory_parses", "after", not problem, "rolls back", problem or "MEMORY.md is whole")


def enough_reduction(before: int, after: int) -> Gate:
    """What is kept is shorter than the session by so much, if there was enough to be shortened."""
    share = 1 - after / before if before else 0.0
    found = f"{before} tokens became {after} ({abs(share):.0%} {'fewer' if share >= 0 else 'more'})"
    is_short = before < SHORT
    found += f"; of less than {SHORT:,}, nothing is expected" if is_short else ""
    return Gate("reduction", "after", share >= _LEAST_REDUCTION or is_short, "warns", found)
