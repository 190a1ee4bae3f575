"""Does a statement say what holds until somebody says otherwise?

A person who is asked to decide between two statements needs two of that kind. A line of a log (`No new mail since
07:46`, `Email: thread still active, 21:25`) tells one moment, and the next line tells another one.
"""

from __future__ import annotations

import re

from memory_pipeline.wording.facts import find_facts
from memory_pipeline.wording.grammar import PRESENT, clauses_of, words_of
from memory_pipeline.wording.memo import remembered

#: A label before what is said: `**Email:** ...`.
_LABEL = re.compile(r"^[\W_]{0,4}[^\s:.][^:.]{0,40}?[:*_]{1,4}\s+")
#: Words that tie a statement to one moment; those of one day tie a rule to it as well.
_OF_ONE_DAY = r"this (?:time|round|run|week|morning|afternoon|evening)|today|tonight|yesterday|tomorrow"
NAMES_A_MOMENT = re.compile(
    rf"\b(?:again|another|now|so far|next|last (?:week|night|run|time)|{_OF_ONE_DAY})\b", re.IGNORECASE
)
_NAMES_A_DAY = re.compile(rf"\b(?:{_OF_ONE_DAY})\b", re.IGNORECASE)
_CLOSING = " \t*_\"'”’)"
#: Who talk: pronouns that need no sentence before them.
_SPEAKERS = frozenset("i me we us you".split())
_MOMENTS = frozenset(("date", "time"))


def are_decidable(kind: str, claims: tuple[str, str], *, rules: tuple[bool, bool], same_day: bool) -> bool:
    """Whether a person should be asked which of two claims that differ in one place is right.

    Both are rules, or both say what holds and name no moment but the one in which they differ. Two times of one day
    that no rule gives are two moments of a log, and how much or how often, said in words, is nothing to decide.
    `rules`: whether each is a rule; `same_day`: whether both are of one day.
    """
    if kind == "quantifier" or any(_NAMES_A_DAY.search(claim) or not is_whole(claim) for claim in claims):
        return False
    if all(rules):
        return True
    if (kind == "time" and same_day) or not all(map(max, rules, map(is_standing, claims))):
        return False
    return max(map(moments_in, claims)) <= (kind in _MOMENTS)


@remembered
def is_standing(statement: str) -> bool:
    """Whether it begins with a whole clause in the present tense."""
    clauses = clauses_of(_LABEL.sub("", statement))
    verb = next((word.tag for word in clauses[0].words if word.is_verb), None) if clauses else None
    return verb in PRESENT


@remembered
def is_whole(statement: str) -> bool:
    """Whether it says by itself what it speaks of: no question, no heading, and nothing that only a sentence before it
    names (`has him at 32`)."""
    if statement.rstrip(_CLOSING).endswith(("?", ":")):
        return False
    return not any(word.tag == "PNP" and word.low not in _SPEAKERS for word in words_of(statement))


@remembered
def moments_in(statement: str) -> int:
    """How many days and times of day it names."""
    return sum(fact.kind in _MOMENTS for fact in find_facts(statement))
