"""Whether a clause denies what the sources deny, affirms what they affirm, and tells done what is done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_pipeline.text.clauses import Clause, Word
from memory_pipeline.text.entailment.evidence import LIGHT, OPEN, Evidence, is_among
from memory_pipeline.text.facts import STOP_WORDS

_PASSIVE_PAST = re.compile(
    r"\b(?:was|were|has\s+been|have\s+been|had\s+been|got)\s+(?:\w+ly\s+|also\s+|then\s+)?([a-z]+(?:ed|en|ought|own|ut|old|ent|aid|ade|one))\b",
    re.IGNORECASE,
)
_TO_DO = re.compile(
    r"\b(?:todo|to\s+do|(?<!had\s)to\s+be|(?:still|yet)\s+(?:has|have|needs?|to)|(?:has|have)\s+to|pending|planned|open|not\s+yet|"
    r"wip|upcoming|scheduled)\b|\[ \]",
    re.IGNORECASE,
)


def unborne_negation(clause: Clause, evidence: Evidence) -> Iterator[str]:
    """A negation that no source has about the same predicate, or one that the sources have and the clause lacks."""
    for negator in clause.negators:
        scope = _scope(clause, negator)
        names = [word for word in clause.words if word.is_name and word.start < negator.start]
        denials = [
            other
            for source in evidence.sources
            for one in source.statements
            for other in one.clauses
            if _denies(other, scope) and (_leads_on(other) or all(is_among(name, other.words) for name in names))
        ]
        if scope and not (denials and _outweigh(clause, evidence)):
            yield f"no source denies '{' '.join(word.text for word in (negator, *scope[:3]))}'"
    if clause.negators:
        return
    words = [word for word in clause.content if word.low not in LIGHT or word.is_name]
    if not words:
        return
    denied = None
    for source in evidence.sources:
        for one in source.statements:
            for other in one.clauses:
                if not other.negators and all(is_among(word, other.words) for word in words):
                    return  # a clause of a source affirms it
                denied = denied or _denied(words, other)
    if denied:
        yield f"a source denies '{denied}'"


def _leads_on(clause: Clause) -> bool:
    """Whether a clause has no subject of its own before its negator."""
    first = min((negator.start for negator in clause.negators), default=0)
    return not any(word.is_name for word in clause.words if word.start < first)


def _outweigh(clause: Clause, evidence: Evidence) -> bool:
    """Whether the sources' denials are of what a clause is about, and nothing affirms just that. A clause of a source
    with the same words has as many negators."""
    words = [word for word in clause.content if word.low not in LIGHT or word.is_name]
    whole = [
        other
        for source in evidence.sources
        for one in source.statements
        for other in one.clauses
        if all(is_among(word, other.words) for word in words)
    ]
    return not whole or any(len(other.negators) == len(clause.negators) for other in whole)


def _scope(clause: Clause, negator: Word) -> list[Word]:
    """The words that a negator denies: those after it in its clause, or before it if none follow."""
    comma = clause.text.find(",", negator.end - clause.start)
    end = clause.start + comma if comma >= 0 else clause.end
    after = [word for word in clause.words if negator.start < word.start < end and word.low not in STOP_WORDS]
    before = [word for word in clause.words if word.start < negator.start and word.low not in STOP_WORDS]
    return after or before[-2:]


def _denies(clause: Clause, scope: Sequence[Word]) -> bool:
    """Whether a clause of a source denies at least one of these words, and most of them if they are few."""
    near = [word for negator in clause.negators for word in _scope(clause, negator)]
    found = sum(is_among(word, near) for word in scope)
    return found >= min(2, len(scope)) or (found > 0 and found >= 0.5 * len(scope))


def _denied(words: Sequence[Word], other: Clause) -> str | None:
    """What a clause of a source denies and the words affirm: the predicate after its negator, of the same subject or
    object."""
    for negator in other.negators:
        scope = [word for word in _scope(other, negator) if word.low not in LIGHT]
        if not scope:
            continue
        predicate, objects = scope[0], scope[1:]
        if not is_among(predicate, words):
            continue
        before = [w for w in other.content if w.start < negator.start and w.low not in LIGHT]
        shared = [word for word in objects if is_among(word, words)]
        if (shared and 2 * len(shared) >= len(objects)) or (
            not objects and (not before or any(is_among(word, words) for word in before))
        ):
            return " ".join(word.text for word in (negator, *scope[:4]))
    return None


def unborne_state(clause: Clause, evidence: Evidence) -> Iterator[str]:
    """Something told as done that the sources only tell to do, or the other way round."""
    words = [word for word in clause.content if word.low not in LIGHT or word.is_name]
    said = [
        (source, number)
        for source in evidence.covering(words)
        for number in range(len(source.statements))
        if all(source.says(word, number) for word in words)
    ]
    if not said:
        return
    is_open = bool(_TO_DO.search(clause.text))
    opens = [bool(_TO_DO.search(source.statements[number].text)) for source, number in said]
    if all(opens) and not is_open and (_PASSIVE_PAST.search(clause.text) or any(w.low in OPEN for w in words)):
        yield f"'{clause.shown}' is still to be done"
    if is_open and not any(opens):
        yield f"no source says that '{clause.shown}' is open"
