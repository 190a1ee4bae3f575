"""Does one statement say what another one says? Compared word by word, with its figures aside.

Two tellings of one thing differ in their order, their synonyms and their light words. What one of them says beyond
that is its own, and must not be dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_pipeline.text.facts import NEGATORS, STOP_WORDS, content_words, unit_of, value_of
from memory_pipeline.text.languages import is_english, same_copy
from memory_pipeline.text.lexicon import FILLERS, LIGHT_WORDS, letters_of, mean_the_same, root_of
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import has_done
from memory_pipeline.text.sameness import tokens_of

_CAPITAL = re.compile(r"(?<![\w'’-])[A-Z][\w’'-]*")
_LIST = re.compile(r"[\[{]([^\[\]{}]*)[\]}]")
_SETTING = re.compile(r"(?<![\w.-])([\w.-]{1,80})=([\w.-]*)")
#: `Do A, or B happens` says what `B happens unless A is done` says.
_OTHERWISE = frozenset(("or", "else", "otherwise"))
#: Maximum number of pairs of words that are checked for synonyms.
_MOST_PAIRS = 40_000


#: Words that tell no two statements apart.
_EMPTY = (STOP_WORDS | FILLERS | LIGHT_WORDS | NEGATORS | {"otherwise", "whole", "entire"}) - {"each"}
#: Words that tell nothing apart, by what a typing slip in them leaves as it is.
_SLIPS_OF_EMPTY = {letters_of(word) for word in _EMPTY if len(word) >= 6}


@dataclass(frozen=True, slots=True)
class _Words:
    """The content words of a statement in their order, figures aside, as written and as stems."""

    written: tuple[str, ...]
    stems: frozenset[str]
    negated: bool


@remembered
def _read_words(statement: str) -> _Words:
    tokens = tokens_of(statement)
    written = tuple(
        token
        for token in tokens
        if value_of(token) is None
        and not unit_of(token)
        and token not in _EMPTY
        and not (len(token) >= 6 and letters_of(token) in _SLIPS_OF_EMPTY)
    )
    return _Words(written, frozenset(map(root_of, written)), any(token in NEGATORS for token in tokens))


def unsaid_words(statement: str, by: str) -> tuple[str, ...]:
    """The content words of a statement that another one has neither as they are nor in a synonym; light words,
    negators and figures aside."""
    mine, theirs = _read_words(statement), _read_words(by)
    spare = [word for word in theirs.written if root_of(word) not in mine.stems]
    if len(spare) * len(mine.written) > _MOST_PAIRS:
        spare = []  # of texts this different no word is another one's synonym
    return tuple(
        word
        for word in mine.written
        if root_of(word) not in theirs.stems and not any(mean_the_same(word, own) for own in spare)
    )


def says_the_same(statement: str, by: str) -> bool:
    """True if `by` says all that `statement` says, figures aside. It may leave out adverbs of manner, and no more.

    What is negated stays negated, and what is open is never what is ticked. A text of another language says only what
    its copy says.
    """
    if not (is_english(statement) and is_english(by)):
        return same_copy(statement, by)
    if has_done(statement) != has_done(by) or _find_states(statement) != _find_states(by):
        return False
    if _read_words(statement).negated and not _read_words(by).negated:
        return False
    otherwise = not _OTHERWISE.isdisjoint(by.lower().split())
    return all(word.endswith("ly") or (word == "unless" and otherwise) for word in unsaid_words(statement, by))


def keep_their_roles(one: str, other: str) -> bool:
    """True if the names and figures of two statements that share their words keep a neighbour: the word before or after
    them. `Dana pays Marco` and `Marco pays Dana` have the same words."""
    names = _find_names(one) | _find_names(other)
    mine, theirs = (
        {w: near for w, near in _find_neighbours(s).items() if w in names or value_of(w)} for s in (one, other)
    )
    return len(mine) < 2 or all(
        word not in theirs
        or any(before == others[0] or after == others[1] for before, after in places for others in theirs[word])
        for word, places in mine.items()
    )


@remembered
def _find_neighbours(statement: str) -> dict[str, list[tuple[str, str]]]:
    """By content word of a statement, the content words before and after each of its places; "" at an end."""
    tokens = ["", *(token for token in tokens_of(statement) if token not in _EMPTY), ""]
    neighbours: dict[str, list[tuple[str, str]]] = {}
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        neighbours.setdefault(token, []).append((before, after))
    return neighbours


@remembered
def _find_names(statement: str) -> frozenset[str]:
    """The words that are written as names, in lower case. The first word may be any."""
    return frozenset(match.lower() for match in _CAPITAL.findall(statement.lstrip()[1:]))


@remembered
def _find_states(statement: str) -> frozenset[str]:
    """The states that a statement sets: the items of lists in braces or brackets, and `key=value` without figures. They
    are states, and never a detail that the other side left out."""
    states = {f"{match[1]}={match[2]}" for match in _SETTING.finditer(statement) if not re.search(r"\d", match[2])}
    for match in _LIST.finditer(statement):
        if "," in match.group(1):
            states |= {item.strip(" '\"`") for item in match.group(1).split(",")}
    return frozenset(item.lower() for item in states)


def overlap(one: str, other: str) -> float:
    """The share of the shorter statement's content words that are in the other one, 0 to 1."""
    mine, theirs = set(content_words(one)), set(content_words(other))
    fewer = min(len(mine), len(theirs))
    return len(mine & theirs) / fewer if fewer else 0.0
