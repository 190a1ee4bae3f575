"""Whether the names of a clause stand where the sources have them: with these words, on this side of `after`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_pipeline.distillers.entailment.evidence import Evidence, weighs, words_match
from memory_pipeline.wording.clauses import Clause, Statement, Word

_DIRECTIONS = frozenset("after before than behind following replaces calls blocks triggers precedes follows".split())
#: So many words before and after a word of direction are compared.
_NEAR = 3


def unborne_roles(clause: Clause, evidence: Evidence) -> Iterator[str]:
    """Names that the sources have elsewhere, and words that they have on the other side of a word of direction."""
    for name in (word for word in clause.content if word.is_name):
        if not _is_in_place(name, clause, evidence):
            yield f"the sources have '{name.text}' elsewhere"
    for word in clause.words:
        if word.low in _DIRECTIONS and _is_turned(word, clause, evidence):
            yield f"the sources have it the other way round: '{' '.join(clause.text.split())[:70]}'"


def _is_in_place(name: Word, clause: Clause, evidence: Evidence) -> bool:
    """Whether some source has the name in the clause that shares most words with this one, or no other name there."""
    words = [word for word in clause.content if weighs(word) and not word.is_name]
    found = False
    for source in evidence.sources:
        clauses = [one for statement in source.statements for one in statement.clauses]
        own = [one for one in clauses if _among(name, one.content)]
        if not own or not all(map(source.says, words)):
            continue
        found = True
        rivals = [one for one in clauses if one not in own and _has_another_name(one, clause)]
        if max(_shared(words, one) for one in own) >= max((_shared(words, one) for one in rivals), default=0):
            return True
    return not found


def _has_another_name(one: Clause, clause: Clause) -> bool:
    return any(word.is_name and word.text.isalpha() and not _among(word, clause.content) for word in one.content)


def _is_turned(direction: Word, clause: Clause, evidence: Evidence) -> bool:
    left, right = _sides(direction, clause)
    if not left or not right:
        return False
    straight = turned = 0
    for source in evidence.sources:
        for statement in source.statements:
            for other, word in _same_direction(direction, statement):
                before, after = _sides(word, other)
                same = sum(_among(w, before) for w in left) + sum(_among(w, after) for w in right)
                swapped = sum(_among(w, after) for w in left) + sum(_among(w, before) for w in right)
                straight, turned = straight + (same >= swapped), turned + (swapped > same)
    return turned > straight


def _same_direction(direction: Word, statement: Statement) -> list[tuple[Clause, Word]]:
    return [(clause, word) for clause in statement.clauses for word in clause.words if word.low == direction.low]


def _sides(direction: Word, clause: Clause) -> tuple[list[Word], list[Word]]:
    before = [word for word in clause.content if word.start < direction.start and weighs(word)]
    after = [word for word in clause.content if word.start > direction.start and weighs(word)]
    return before[-_NEAR:], after[:_NEAR]


def _shared(words: Sequence[Word], clause: Clause) -> int:
    return sum(_among(word, clause.words) for word in words)


def _among(word: Word, words: Sequence[Word]) -> bool:
    return any(words_match(word, other) for other in words)
