"""What a statement says beyond its sources, or against them, each in words; nothing if they bear it out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from memory_pipeline.text.clauses import FRONTED, Clause, Statement, Word, read_statement
from memory_pipeline.text.entailment.evidence import (
    ANAPHORS,
    ORDER,
    TIMES,
    Evidence,
    Source,
    is_among,
    weighs,
    words_match,
)
from memory_pipeline.text.entailment.figures import unborne_quantities, unborne_values
from memory_pipeline.text.entailment.polarity import unborne_negation, unborne_state
from memory_pipeline.text.normalise import normalise
from memory_pipeline.text.sentences import split_statements, strip_lead_in

_JOINED = re.compile(r",|;|\(|\)|\b(?:and|or|in|plus)\b", re.IGNORECASE)
_PRONOUN = re.compile(r"(?:it|its|they|their|he|his|she|her)\b", re.IGNORECASE)
_SUBJECT = re.compile(r"(?:the|a|an|this|that|these|those|no|nobody|there|[A-Z]\w+|\d)\b")
_COORDINATES = re.compile(r",\s|\s(?:and|or)\s", re.IGNORECASE)
_MODIFIERS = re.compile(r"\s(?:with|without|at|on|for|by|in|after|before|during|using|from)\s", re.IGNORECASE)
#: At least this share of a clause's words must be what all its listed items have in common.
_CORE_SHARE = 0.4


def find_unborne(text: str, evidence: Evidence, before: Statement | None = None) -> list[str]:
    """Everything in a statement that the sources do not bear out. `before`: the statement before it, which its
    pronouns may refer to."""
    if normalise(strip_lead_in(text)) in evidence.sentences:
        return []
    statement = read_statement(text)
    problems: list[str] = []
    ends = {value.start for span in statement.spans for value in (span.low, span.high)}
    for number, clause in enumerate(statement.clauses):
        previous = statement.clauses[number - 1] if number else (before.clauses[0] if before else None)
        said = _of_one_subject(clause, previous, evidence)
        problems += _unborne_words(clause, ends, said)
        problems += unborne_roles(clause, said)
        problems += unborne_negation(clause, said)
        problems += unborne_state(clause, said)
    problems += unborne_values(statement, evidence)
    problems += unborne_quantities(statement, evidence)
    problems += unborne_links(statement, evidence)
    return list(dict.fromkeys(problems))


def find_unborne_in(text: str, evidence: Evidence) -> str | None:
    """The first thing in a text of several statements that the sources do not bear out, or None."""
    before: Statement | None = None
    for sentence in split_statements(text) or [text]:
        problems = find_unborne(sentence, evidence, before)
        if problems:
            return problems[0]
        before = read_statement(sentence)
    return None


def weighty(clause: Clause) -> list[Word]:
    """The words of a clause that a source must have."""
    return [word for word in clause.content if weighs(word)]


def _unborne_words(clause: Clause, ends: set[int], evidence: Evidence) -> Iterator[str]:
    words = [word for word in weighty(clause) if word.start not in ends]
    novel = [word for word in words if not evidence.knows(word)]
    yield from (f"no source says '{word.text}'" for word in novel)
    yield from (
        f"no source gives the order in time that '{word.text}' says"
        for word in clause.words
        if word.low in ORDER and word not in words and not evidence.knows(word)
    )
    known = [word for word in words if word not in novel]
    if not known or evidence.covering(known):
        return
    if not _parts_are_said(clause, known, evidence) and not _items_share(clause, known, evidence):
        yield f"no source says '{clause.shown}' as a whole"


def _needs_subject(clause: Clause) -> bool:
    """Whether a clause has no subject of its own: it starts with a pronoun, or with a verb after `and`."""
    text = re.sub(
        r"^[\s,;]*(?:and|or|but|which|who|so|because|since|as|when|if|while|therefore)\b[\s,]*",
        "",
        clause.text,
        flags=re.IGNORECASE,
    ).strip()
    joined = clause.connective.strip(" ,;") in ("and", "or", "but", "which", "who")
    return bool(_PRONOUN.match(text)) or (joined and not _SUBJECT.match(text))


def _opens_with_subject(clause: Clause, evidence: Evidence) -> bool:
    """Whether a clause starts as one of the sources' own does: with a subject, and not with a verb."""
    first = next(iter(clause.content), None)
    return first is not None and any(
        one.content and words_match(first, one.content[0]) and one.content[0].start <= one.words[0].end + 5
        for source in evidence.sources
        for statement in source.statements
        for one in statement.clauses[:1]
    )


def _of_one_subject(clause: Clause, previous: Clause | None, evidence: Evidence) -> Evidence:
    """The sources that speak of what the clause before is about, if a clause has no subject of its own."""
    if previous is None or not _needs_subject(clause) or _opens_with_subject(clause, evidence):
        return evidence
    subjects = [word for word in weighty(previous) if evidence.knows(word)]
    pronoun = any(word.low in ANAPHORS for word in clause.words[:3])
    about = [
        number
        for number, source in enumerate(evidence.sources)
        if not subjects
        or (all(source.says(word) for word in subjects[:2]) if pronoun else any(map(source.says, subjects)))
    ]
    return evidence.only(about) if about else evidence


def _parts_are_said(clause: Clause, known: Sequence[Word], evidence: Evidence) -> bool:
    """Whether every part of a clause (`the bus leaves at 07:25, lunch is at 12:30`) is said by some source."""
    parts = [part for part in _split(clause, _COORDINATES, clause.start, clause.end) if _within(known, part)]
    merged: list[tuple[int, int]] = []
    for start, end in parts:
        counted = any(start <= value.start < end for value in clause.values) or any(
            word.low in TIMES and start <= word.start < end for word in clause.words
        )
        small = len(_within(known, (start, end))) < 2 and not counted
        if small and merged:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return all(_part_is_said(clause, part, known, evidence) for part in merged)


def _part_is_said(clause: Clause, part: tuple[int, int], known: Sequence[Word], evidence: Evidence) -> bool:
    """Whether a source says a part of a clause, or its head, and sources that speak of that say what modifies it."""
    if evidence.covering(_within(known, part)):
        return True
    head, *others = [words for sub in _split(clause, _MODIFIERS, *part) if (words := _within(known, sub))]
    return (
        len(head) > 1
        and bool(evidence.covering(head))
        and all(any(any(map(source.says, head)) for source in evidence.covering(words)) for words in others)
    )


def _split(clause: Clause, edges: re.Pattern[str], start: int, end: int) -> list[tuple[int, int]]:
    text = " " * clause.start + clause.text
    inside = (match.start() for match in edges.finditer(text, start, end))
    return list(pairwise([start, *(place for place in inside if place > start), end]))


def _within(words: Sequence[Word], part: tuple[int, int]) -> list[Word]:
    return [word for word in words if part[0] <= word.start < part[1]]


def _items_share(clause: Clause, known: Sequence[Word], evidence: Evidence) -> bool:
    """Whether listed items are each said by a source that also says what the clause says of them all."""
    said = [(source, {word for word in known if source.says(word)}) for source in evidence.sources]
    best: list[set[Word]] = []
    left = set(known)
    while left:
        _, words = max(said, key=lambda item: (len(item[1] & left), len(item[1])))
        if not words & left:
            return False
        best.append(words)
        left -= words
    core = set.intersection(*best)
    if len(core) < _CORE_SHARE * len(known) or not all(
        source.covers([word for word in known if word in words]) for source, words in said if words in best
    ):
        return False
    items = sorted((word for word in known if word not in core), key=lambda word: word.start)
    for one, other in pairwise(items):
        together = any(one in words and other in words for words in best)
        between = clause.text[one.end - clause.start : other.start - clause.start]
        if not together and not _JOINED.search(between):
            return False
    return True


def unborne_roles(clause: Clause, evidence: Evidence) -> Iterator[str]:
    """Names that the sources have elsewhere."""
    for name in (word for word in clause.content if word.is_name):
        if not _is_in_place(name, clause, evidence):
            yield f"the sources have '{name.text}' elsewhere"


def _is_in_place(name: Word, clause: Clause, evidence: Evidence) -> bool:
    """Whether some source has the name in the clause that shares most words with this one, or no other name there."""
    words = [word for word in clause.content if weighs(word) and not word.is_name]
    found = False
    for source in evidence.sources:
        clauses = [one for statement in source.statements for one in statement.clauses]
        own = [one for one in clauses if is_among(name, one.content)]
        if not own or not all(map(source.says, words)):
            continue
        found = True
        rivals = [one for one in clauses if one not in own and _has_another_name(one, clause)]
        if max(_shared(words, one) for one in own) >= max((_shared(words, one) for one in rivals), default=0):
            return True
    return not found


def _has_another_name(one: Clause, clause: Clause) -> bool:
    return any(word.is_name and word.text.isalpha() and not is_among(word, clause.content) for word in one.content)


def _shared(words: Sequence[Word], clause: Clause) -> int:
    return sum(is_among(word, clause.words) for word in words)


#: A source states a link if one of its statements has at least this share of the words of both clauses.
_SHARE = 0.6
#: A source has a link the other way round if that reading shares this much more of the words, of 2.
_TURNED = 0.3
_Link = tuple[Clause, list[Word], list[Word]]


def unborne_links(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """The links that no source states, or that most sources state the other way round."""
    for clause, *sides in links_of(statement):
        cause, effect = ([word for word in side if evidence.knows(word)] for side in sides)
        told = [
            links_of(one)
            for source in evidence.sources
            for number, one in enumerate(source.statements)
            if _shares(source, number, cause) and _shares(source, number, effect)
        ]
        if not told:
            yield f"no source states the link '{clause.shown}'"
        elif 2 * sum(any(_is_turned(cause, effect, link) for link in links) for links in told) > len(told):
            yield f"the sources give cause and effect the other way round: '{clause.shown}'"


def links_of(statement: Statement) -> list[_Link]:
    """The clauses of a statement that give a cause or an effect, with the words of the cause and of the effect."""
    outer = [clause for clause in statement.clauses if clause.depth == 0]
    links = []
    for clause, before, after in zip(outer, [None, *outer], [*outer[1:], None], strict=False):
        other = after if after is not None and after.connective == FRONTED else before
        if clause.link in ("cause", "effect") and other is not None and (here := _words(clause)) and _words(other):
            pair = (_words(other), here) if clause.link == "effect" else (here, _words(other))
            links.append((clause, *pair))
    return links


def _words(clause: Clause) -> list[Word]:
    return [word for word in clause.content if weighs(word) and word.text.replace("-", "").isalpha()]


def _is_turned(cause: Sequence[Word], effect: Sequence[Word], link: _Link) -> bool:
    """Whether a link fits what a source tells better if it is turned round."""
    _, told_cause, told_effect = link
    straight = _share(cause, told_cause) + _share(effect, told_effect)
    return _share(cause, told_effect) + _share(effect, told_cause) > straight + _TURNED


def _share(words: Sequence[Word], others: Sequence[Word]) -> float:
    return sum(is_among(word, others) for word in words) / len(words) if words else 0.0


def _shares(source: Source, number: int, words: Sequence[Word]) -> bool:
    said = [source.says(word, number) for word in words]
    names = all(has for has, word in zip(said, words, strict=True) if word.is_name)
    return names and sum(said) >= _SHARE * len(words)
